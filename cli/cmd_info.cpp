// vouch info: what a matrix is like.
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <concepts>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include <cli/report/units.hpp>
#include <vouch/core/error.hpp>
#include <vouch/dense/sparsify.hpp>
#include <vouch/io/vectors.hpp>
#include <vouch/solve/complex.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/sparse/picture.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/text/file.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "json.hpp"
#include "solve_output.hpp"

namespace vouch::cli {
namespace {

constexpr int small_picture = 26;  // characters across
constexpr int large_picture = 80;
constexpr double forecast_goal = 1e-8;  // of the iterations with multigrid

struct info_options {
  common_options common;
  std::string file;
  std::string svg;
  bool picture = false;
  bool ascii = false;
  bool amg = false;
  bool inertia = false;
};

// The multigrid hierarchy of a matrix, and how conjugate gradients would do with it.
struct multigrid_facts {
  amg_hierarchy hierarchy;
  iteration_forecast forecast;  // of conjugate gradients to 1e-8
};

struct found {
  csr<double> A;                               // of a complex matrix the moduli of its entries
  std::optional<complex_symmetry> complex;     // of such
  csr<double> real;                            // the real form of such, where its inertia is asked for
  std::optional<matrix_market_header> header;  // of a Matrix Market file
  structure_facts facts;
  std::optional<std::int64_t> components;    // of a square matrix
  std::optional<multigrid_facts> multigrid;  // where it was asked for
  std::optional<inertia> signs;              // likewise
  double read_seconds = 0, structure_seconds = 0;
};

// A dense matrix without its zeros.
struct sparse_form {
  const device& cpu;

  csr<double> operator()(csr<double>& A) const { return std::move(A); }
  csr<std::complex<double>> operator()(csr<std::complex<double>>& A) const { return std::move(A); }
  template <class Vectors>
  auto operator()(Vectors& v) const {
    const auto* const first = std::as_const(v.values).data();
    return sparsify(cpu, matrix_view{first, v.rows, v.cols, std::max<std::int64_t>(1, v.rows)});
  }
};

found examine(const device& cpu, const std::string& file, bool inertia) {
  found f;
  const stopwatch reading;
  any_matrix read = with_sign_of_life(console(verbosity::warnings), "reading",
                                      [&] { return read_any_matrix(cpu, file, &f.header); });
  std::visit(
      [&](auto& stored) {
        auto A = sparse_form{cpu}(stored);
        if constexpr (std::same_as<decltype(A), csr<double>>) {
          f.A = std::move(A);
        } else {
          f.complex = symmetry_of(cpu, A);
          f.A = moduli(cpu, A);
          if (inertia) f.real = real_form(cpu, A);
        }
      },
      read);
  f.read_seconds = reading.seconds();
  const stopwatch looking;
  f.facts = structure<double>(cpu, f.A);
  if (f.facts.square) f.components = connected_components<double>(cpu, f.A);
  f.structure_seconds = looking.seconds();
  return f;
}

// By the pivots of L D L^T, which zeros on the right-hand side need no solve with; by MUMPS, or on a GPU by cuDSS.
inertia count_eigenvalues(const device& cpu, const std::string& file, const found& f) {
  const csr<double>& A = f.complex ? f.real : f.A;
  if (A.rows != A.cols)
    throw value_error(printable(file) + ": a matrix that is not square has no inertia",
                      "leave out --inertia for the facts alone");
  if (f.complex && !f.complex->hermitian)
    throw value_error(printable(file) + ": a complex matrix that is not Hermitian has no inertia",
                      "leave out --inertia for the facts alone");
  solve_options how;
  how.method = "sparse-ldlt";
  how.names.matrix = f.complex ? file + ", by its real form" : file;
  const array<double> zeros = array<double>::zeros(cpu, A.rows);
  array<double> x = array<double>::zeros(cpu, A.rows);
  solve_result result = solve(cpu, A, zeros, x, how);
  if (f.complex) take_numbers(result);
  if (!result.signs && result.where.is_cuda())
    throw value_error(printable(file) + ": the pivots of " + result.backend + " do not tell the inertia",
                      "it is singular, or nearly so: MUMPS counts zeros");
  if (!result.signs)
    throw value_error(printable(file) + ": the matrix is singular in double precision, and " + result.backend +
                          " met a pivot of zero: there is no inertia by its pivots",
                      "vouch solve --method sparse-qr says the rank");
  return *result.signs;
}

// " (64 x 64 x 64)"
std::string grid_text(const amg_level& l) {
  if (l.grid[0] == 0) return "";
  std::string text = fmt::format(" ({} x {}", l.grid[0], l.grid[1]);
  if (l.grid[2] > 1) text += fmt::format(" x {}", l.grid[2]);
  return text + ")";
}

// Sets multigrid up with the defaults of --precond amg; the refusal names the file and says why.
multigrid_facts examine_multigrid(const device& cpu, const std::string& file, csr_view<const double> A,
                                  const structure_facts& facts) {
  const auto refuse = [&](const std::string& why) {
    throw value_error(printable(file) + ": no multigrid hierarchy: " + why,
                      "leave out --amg for the facts alone");
  };
  if (!facts.square) refuse("the matrix is not square");
  if (const std::string why = not_spd_reason(facts); !why.empty()) refuse(why);
  multigrid_facts m;
  std::unique_ptr<amg<double>> M;
  try {
    M = make_amg<double>(cpu, A);
  } catch (const value_error& e) {
    refuse(e.what());
  }
  m.hierarchy = M->hierarchy();
  m.forecast = forecast_cg(cpu, A, *M, forecast_goal, facts.row_sums_zero);
  return m;
}

std::string multigrid_text(const multigrid_facts& m) {
  const amg_hierarchy& h = m.hierarchy;
  std::string text = fmt::format(
      "  {:<16}{}, {} level{}, operator complexity {:.2f}, grid complexity {:.2f}, {}, set up in {}\n",
      "multigrid", h.type == amg_type::structured ? "structured" : "smoothed aggregation", h.levels.size(),
      h.levels.size() == 1 ? "" : "s", h.operator_complexity(), h.grid_complexity(),
      report::bytes_text(static_cast<double>(h.bytes)), report::seconds_text(h.setup_seconds));
  if (!h.why_not_structured.empty())
    text += fmt::format("  {:<16}no: {}\n", "  structured", h.why_not_structured);
  for (std::size_t k = 0; k < h.levels.size(); ++k) {
    const amg_level& l = h.levels[k];
    const bool last = k + 1 == h.levels.size();
    text += fmt::format("  {:<16}{} rows{}, {} nonzeros{}\n", fmt::format("  level {}", k + 1), l.rows,
                        grid_text(l), l.nonzeros,
                        !last               ? std::isinf(l.filter) ? ", prolongator not smoothed" : ""
                        : h.coarsest_solved ? ", solved"
                                            : ", smoothed: it does not coarsen");
  }
  const iteration_forecast& f = m.forecast;
  text += f.iterations ? fmt::format("  {:<16}about {} of conjugate gradients to {:g}, {}\n", "iterations",
                                     *f.iterations, forecast_goal, f.reason)
                       : fmt::format("  {:<16}not predicted: {}\n", "iterations", f.reason);
  return text;
}

json multigrid_json(const multigrid_facts& m) {
  const amg_hierarchy& h = m.hierarchy;
  json levels = json::array();
  for (const amg_level& l : h.levels)
    levels.push_back({{"rows", l.rows},
                      {"nonzeros", l.nonzeros},
                      {"grid", known_if(l.grid[0] > 0, l.grid)},
                      {"prolongator_smoothed", known_if(&l != &h.levels.back(), !std::isinf(l.filter))}});
  return {{"type", name(h.type)},
          {"why_not_structured", or_null(h.why_not_structured)},
          {"levels", levels},
          {"coarsest_solved", h.coarsest_solved},
          {"operator_complexity", h.operator_complexity()},
          {"grid_complexity", h.grid_complexity()},
          {"memory_bytes", h.bytes},
          {"cycle_bytes", h.cycle_bytes},
          {"setup_s", h.setup_seconds},
          {"predicted_iterations", or_null(m.forecast.iterations)},
          {"reduction", or_null(m.forecast.reduction)},
          {"reason", m.forecast.reason}};
}

std::string form_text(const found& r) {
  if (!r.header)
    return fmt::format("NumPy array{}, {} entries", r.complex ? ", complex" : "", r.A.rows * r.A.cols);
  const matrix_market_header& h = *r.header;
  return fmt::format("{}, {} {} {}, {} entries{}", h.container, name(h.field), name(h.stored_as),
                     name(h.format), h.entries,
                     h.rhs > 0 ? fmt::format(", {} right-hand side{}", h.rhs, h.rhs == 1 ? "" : "s") : "");
}

// Rows are counted from 1 where people and files see them.
std::string symmetry_text(const found& r) {
  const structure_facts& f = r.facts;
  if (!f.square) return "rectangular";
  if (r.complex)
    return r.complex->hermitian   ? "Hermitian"
           : r.complex->symmetric ? "complex symmetric"
                                  : "complex, unsymmetric";
  if (f.symmetric) return f.pattern_symmetric ? "symmetric" : "symmetric, some mirrored zeros not stored";
  const unsymmetric_entry& e = *f.first_unsymmetric;
  return fmt::format("unsymmetric{}: a({}, {}) = {} but a({}, {}) = {}",
                     f.pattern_symmetric ? " values, symmetric pattern" : "", e.row + 1, e.col + 1, e.value,
                     e.col + 1, e.row + 1, e.mirrored);
}

std::string diagonal_text(const structure_facts& f) {
  if (!f.square || f.rows == 0) return "none";
  if (f.diagonal_positive) return "positive";
  if (f.diagonal_negative) return "negative";
  if (f.first_zero_diagonal >= 0)
    return fmt::format("zero or not stored, first in row {}", f.first_zero_diagonal + 1);
  return fmt::format("of both signs, first negative in row {}", f.first_nonpositive_diagonal + 1);
}

std::string dominance_text(const structure_facts& f) {
  if (f.weakest_row < 0) return name(f.dominant);
  return fmt::format("{}; strict in {} rows; least |a_ii| / sum |a_ij| = {:.4g} in row {}", name(f.dominant),
                     f.strictly_dominant_rows, f.dominance_ratio, f.weakest_row + 1);
}

void print_text(const info_options& o, const found& r, const device& cpu) {
  const structure_facts& f = r.facts;
  const auto fact = [](const char* what, const std::string& value) { fmt::print("  {:<16}{}\n", what, value); };
  fmt::print("{}: {} by {}, {} nonzeros\n", printable(o.file), f.rows, f.cols, f.nonzeros);
  fact("file", form_text(r));
  fact("symmetry", symmetry_text(r));
  fact("diagonal", r.complex ? r.complex->diagonal : diagonal_text(f));
  fact("dominance", dominance_text(f));
  fact("bandwidth", fmt::format("{} below, {} above the diagonal", f.bandwidth_lower, f.bandwidth_upper));
  fact("entries a row", fmt::format("{} to {}, mean {:.2f}{}", f.entries_min, f.entries_max, f.entries_mean,
                                    f.empty_rows > 0 ? fmt::format(", {} rows empty", f.empty_rows) : ""));
  const bool many = f.distinct_diagonals > structure_facts::diagonals_cap;
  fact("diagonals", many ? fmt::format("more than {}", structure_facts::diagonals_cap)
                         : fmt::format("{}", f.distinct_diagonals));
  if (f.block_size > 1) fact("blocks", fmt::format("dense, {} by {}", f.block_size, f.block_size));
  if (r.components) fact("components", fmt::format("{}", *r.components));
  if (f.row_sums_zero && !r.complex) fact("null space", "constants: every row sums to 0");
  if (r.signs)
    fact("eigenvalues", fmt::format("{} positive, {} negative, {} zero, by the signs of pivots",
                                    r.signs->positive, r.signs->negative, r.signs->zero));
  if (r.multigrid) fmt::print("{}", multigrid_text(*r.multigrid));
  fmt::print("{}", pattern_text<double>(cpu, r.A, o.ascii ? picture_style::ascii : picture_style::braille,
                                        o.picture ? large_picture : small_picture));
}

json structure_json(const found& r) {
  const structure_facts& f = r.facts;
  const auto row = [](std::int64_t from_0) { return known_if(from_0 >= 0, from_0 + 1); };
  const auto& e = f.first_unsymmetric;
  json s{{"symmetric", f.symmetric},
         {"diagonal_positive", f.diagonal_positive},
         {"zero_diagonal", f.first_zero_diagonal >= 0},
         {"dominance", name(f.dominant)},
         {"bandwidth", f.bandwidth()},
         {"entries_per_row", {{"min", f.entries_min}, {"max", f.entries_max}, {"mean", f.entries_mean}}},
         {"square", f.square},
         {"pattern_symmetric", f.pattern_symmetric},
         {"first_unsymmetric",
          e ? json{{"row", e->row + 1}, {"col", e->col + 1}, {"value", e->value}, {"mirrored", e->mirrored}}
            : json()},
         {"diagonal_negative", f.diagonal_negative},
         {"first_zero_diagonal", row(f.first_zero_diagonal)},
         {"first_nonpositive_diagonal", row(f.first_nonpositive_diagonal)},
         {"dominance_ratio", f.square ? or_null(f.dominance_ratio) : json()},
         {"weakest_row", row(f.weakest_row)},
         {"strictly_dominant_rows", f.strictly_dominant_rows},
         {"bandwidth_lower", f.bandwidth_lower},
         {"bandwidth_upper", f.bandwidth_upper},
         {"empty_rows", f.empty_rows},
         {"row_sums_zero", f.row_sums_zero},
         {"components", or_null(r.components)},
         {"diagonals", known_if(f.distinct_diagonals <= structure_facts::diagonals_cap, f.distinct_diagonals)},
         {"block_size", f.block_size}};
  if (r.complex) {  // what moduli do not tell
    s["symmetric"] = r.complex->symmetric;
    s["hermitian"] = r.complex->hermitian;
    for (const char* key : {"first_unsymmetric", "diagonal_positive", "diagonal_negative",
                            "first_nonpositive_diagonal", "row_sums_zero"})
      s[key] = nullptr;
  }
  return s;
}

void print_object(const info_options& o, const found& r, const device& cpu, double total) {
  json object = object_of("info");
  object["matrix"] = matrix_json(o.file, r.A.rows, r.A.cols, r.A.nonzeros(),
                                 r.complex ? r.complex->symmetric : r.facts.symmetric, r.complex.has_value());
  object["structure"] = structure_json(r);
  if (r.multigrid) object["amg"] = multigrid_json(*r.multigrid);
  if (r.signs) object["inertia"] = described(*r.signs);
  object["device"] = to_json(cpu);
  object["time_s"] = {{"read", r.read_seconds}, {"structure", r.structure_seconds}, {"total", total}};
  print_json(object);
}

}  // namespace

int cmd_info(std::span<const char* const> arguments) {
  info_options o;
  command_line line("info", "facts of a matrix and a picture of its pattern");
  line.example("vouch info A.mtx", "a summary and a small picture");
  line.example("vouch info A.mtx --json", "the facts for programs; rows count from 1");
  line.example("vouch info A.mtx --amg", "and the hierarchy that --precond amg would make");
  line.example("vouch info A.mtx --svg A.svg", "the picture as a drawing");
  line.argument("A", o.file, matrix_files);
  line.text("--svg", "FILE", o.svg, "draw the pattern into this file");
  line.flag("--picture", o.picture, "a large picture, 80 characters wide");
  line.flag("--ascii", o.ascii, "draw it with plain ASCII characters");
  line.flag("--amg", o.amg, "set multigrid up and predict the iterations to 1e-8");
  line.flag("--inertia", o.inertia, "count positive, negative and zero eigenvalues by factors");
  add_threads_option(line, o.common);
  line.flag("--json", o.common.json, "print one JSON object instead of the summary");
  if (!line.parse(arguments)) return goal_reached;
  check_picture(o.svg);
  check_outputs({o.svg}, {o.file});

  const stopwatch clock;
  const device cpu = open_cpu(o.common);
  found r = examine(cpu, o.file, o.inertia);
  if (o.amg && r.complex)
    throw value_error(printable(o.file) + ": no multigrid hierarchy: the matrix is complex",
                      "leave out --amg for the facts alone");
  if (o.amg) r.multigrid = examine_multigrid(cpu, o.file, r.A.all(), r.facts);
  if (o.inertia) r.signs = count_eigenvalues(cpu, o.file, r);
  if (!o.svg.empty()) {
    atomic_file drawing(o.svg);
    drawing.write(pattern_svg<double>(cpu, r.A, std::filesystem::path(o.file).filename().string()));
    drawing.commit();
  }
  if (o.common.json)
    print_object(o, r, cpu, clock.seconds());
  else
    print_text(o, r, cpu);
  return goal_reached;
}

}  // namespace vouch::cli
