#include <vouch/solve/distributed/petsc/petsc_ways.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <vouch/core/error.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

// Symmetric methods take symmetric preconditioners alone.
struct method_line {
  std::string_view name;
  const char* petsc;
  bool direct, symmetric;
  const char* words;
};

// Norms are those of the residual; MINRES has that of M r alone.
constexpr std::array<method_line, 6> method_lines{{
    {"cg", "cg", false, true, "-ksp_norm_type unpreconditioned"},
    {"minres", "minres", false, true, ""},
    {"gmres", "gmres", false, false, "-ksp_pc_side right -ksp_norm_type unpreconditioned"},
    {"bicgstab", "bcgs", false, false, "-ksp_pc_side right -ksp_norm_type unpreconditioned"},
    {"sparse-lu", "preonly", true, false,
     "-ksp_norm_type none -pc_type lu -pc_factor_mat_solver_type mumps -mat_mumps_icntl_14 80"},
    {"sparse-cholesky", "preonly", true, true,
     "-ksp_norm_type none -pc_type cholesky -pc_factor_mat_solver_type mumps -mat_mumps_icntl_14 80"},
}};

struct preconditioner_line {
  std::string_view name;
  const char* petsc;
  bool repeats;
  const char* words;
  const char* symmetric;  // besides, for a symmetric method
  const char* any;        // for the others
};

// HMIS and ext+i: the same bits on every run, and the least operators of those that scale.
constexpr const char* boomeramg =
    "-pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_coarsen_type HMIS "
    "-pc_hypre_boomeramg_interp_type ext+i -pc_hypre_boomeramg_P_max 4";

// A zero pivot is moved away, by a shift that changes no other factors.
constexpr const char* ilu = "-sub_pc_type ilu -sub_pc_factor_shift_type nonzero";

constexpr std::array<preconditioner_line, 8> preconditioner_lines{{
    {"none", "none", true, "-pc_type none", "", ""},
    {"jacobi", "jacobi", true, "-pc_type jacobi", "-pc_jacobi_abs", ""},
    {"block-jacobi", "bjacobi", true, "-pc_type bjacobi", "-sub_pc_type icc", ilu},
    {"ilu0", "bjacobi", true, "-pc_type bjacobi", ilu, ilu},
    {"ic0", "bjacobi", true, "-pc_type bjacobi", "-sub_pc_type icc", "-sub_pc_type icc"},
    {"asm", "asm", true, "-pc_type asm -pc_asm_overlap 1", "-pc_asm_type basic -sub_pc_type icc", ilu},
    {"gamg", "gamg", false, "-pc_type gamg", "", ""},
    {"boomeramg", "hypre boomeramg", true, boomeramg, "", ""},
}};

template <class Lines>
const auto& find_line(const Lines& lines, std::string_view name, const char* what) {
  for (const auto& line : lines)
    if (line.name == name) return line;
  std::string names;
  for (const auto& line : lines) names.append(names.empty() ? "" : ", ").append(line.name);
  throw value_error(std::string("PETSc knows no ") + what + " \"" + std::string(name) + "\" by Vouch's names",
                    "there are " + names);
}

const method_line& method_of(const distributed::petsc_way& way) {
  return find_line(method_lines, way.method, "method");
}

const preconditioner_line& preconditioner_of(const distributed::petsc_way& way) {
  return find_line(preconditioner_lines, way.preconditioner, "preconditioner");
}

bool has_word(const std::vector<std::string>& words, std::string_view name) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

// What suits the method where nothing is named.
std::string usual_preconditioner(std::string_view method, bool definite) {
  if (definite) return "boomeramg";
  return method == "minres" ? "jacobi" : "asm";
}

void check_matrix(const method_line& method, const structure_facts& facts) {
  if (!method.symmetric) return;
  const std::string reason =
      method.name == "minres" ? not_symmetric_reason(facts) : vouch::not_spd_reason(facts);
  if (reason.empty()) return;
  const char* const title = method.name == "minres" ? "MINRES"
                            : method.direct         ? "Cholesky's factorisation"
                                                    : "conjugate gradients";
  throw value_error(std::string(title) + " cannot solve this system: " + reason,
                    "--method gmres and sparse-lu take any matrix");
}

}  // namespace

std::span<const std::string_view> petsc_method_names() {
  static const auto names = [] {
    std::array<std::string_view, method_lines.size() + 1> all{"auto"};
    for (std::size_t k = 0; k < method_lines.size(); ++k) all[k + 1] = method_lines[k].name;
    return all;
  }();
  return names;
}

std::span<const std::string_view> petsc_preconditioner_names() {
  static const auto names = [] {
    std::array<std::string_view, preconditioner_lines.size()> all;
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = preconditioner_lines[k].name;
    return all;
  }();
  return names;
}

namespace distributed {

bool is_direct(const petsc_way& way) { return method_of(way).direct; }

std::string petsc_name_of_method(const petsc_way& way) { return method_of(way).petsc; }

std::string petsc_name_of_preconditioner(const petsc_way& way) {
  if (is_direct(way)) return way.method == "sparse-lu" ? "lu mumps" : "cholesky mumps";
  return preconditioner_of(way).petsc;
}

// MUMPS adds up in the order in which parts arrive.
bool repeats(const petsc_way& way) { return !is_direct(way) && preconditioner_of(way).repeats; }

std::vector<petsc_way> plan_ways(const petsc_options& options, const structure_facts& facts, std::int64_t rows,
                                 const std::vector<std::string>& own) {
  const bool definite = vouch::not_spd_reason(facts).empty();
  const std::string& wanted = options.preconditioner;
  const auto way = [&](const char* method, const char* usual, const char* why) {
    return petsc_way{method, wanted.empty() ? usual : wanted, why};
  };
  if (options.method != "auto") {
    const method_line& method = find_line(method_lines, options.method, "method");
    check_matrix(method, facts);
    if (!wanted.empty()) {
      find_line(preconditioner_lines, wanted, "preconditioner");
      if (method.direct && wanted != "none")
        throw value_error(options.method + " factorises and takes no preconditioner");
    }
    if (method.direct && !options.by_residual())
      throw value_error("a direct method ends by the residual alone");
    if (method.direct) return {{options.method, "none"}};
    return {{options.method, wanted.empty() ? usual_preconditioner(method.name, definite) : wanted}};
  }

  std::vector<petsc_way> ways;
  if (definite) ways.push_back(way("cg", "boomeramg", "symmetric with a positive diagonal"));
  ways.push_back(way("gmres", "asm",
                     definite          ? "conjugate gradients did not end well"
                     : facts.symmetric ? "symmetric, not positive definite"
                                       : "not symmetric"));
  constexpr std::int64_t most_rows_for_factors = 200000;
  if (rows <= most_rows_for_factors)
    ways.push_back({"sparse-lu", "none", "iterations did not end well"});
  else
    ways.push_back(way("bicgstab", "asm", "GMRES did not end well"));
  if (!options.by_residual() || has_word(own, "-ksp_type") || has_word(own, "-pc_type")) ways.resize(1);
  for (const petsc_way& w : ways) find_line(preconditioner_lines, w.preconditioner, "preconditioner");
  return ways;
}

std::vector<std::string> words_of(const petsc_way& way, const std::vector<std::string>& own) {
  const method_line& method = method_of(way);
  // Another method may not have the side or the norm.
  std::string text = std::string("-ksp_type ") + method.petsc + ' ';
  if (!has_word(own, "-ksp_type")) text += method.words;
  if (!method.direct) {
    const preconditioner_line& M = preconditioner_of(way);
    text.append(" ").append(M.words).append(" ").append(method.symmetric ? M.symmetric : M.any);
  }
  std::vector<std::string> words = split_words(text);
  words.insert(words.end(), own.begin(), own.end());
  return words;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  tokens rest(text);
  for (token word; rest.next(word);) words.emplace_back(word.text);
  return words;
}

}  // namespace distributed
}  // namespace vouch
