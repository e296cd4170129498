#include <vouch/solve/distributed/petsc.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/module_file.hpp>
#include <vouch/core/require.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/distributed/petsc/petsc_engine.hpp>
#include <vouch/solve/distributed/petsc/petsc_ways.hpp>
#include <vouch/solve/distributed/row_engines.hpp>
#include <vouch/solve/distributed/row_problem.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>

namespace vouch {
namespace {

using namespace distributed;

const vouch_petsc& open_petsc(communicator& ranks) {
  const vouch_petsc* functions = nullptr;
  agree(ranks, [&] {
    const opened_module opened =
        open_module("vouch-petsc.so", VOUCH_PETSC_FUNCTION, "libpetsc-real-dev (make mpi)");
    if (opened.function == nullptr) throw file_error("--engine petsc needs PETSc, and " + opened.missing);
    functions = reinterpret_cast<vouch_petsc_function*>(opened.function)();
    if (functions->abi != VOUCH_PETSC_ABI)
      throw value_error("vouch-petsc.so is no module of this version of Vouch", "build both anew");
  });
  return *functions;
}

std::vector<std::string> checked_words(std::string_view text) {
  std::vector<std::string> words = split_words(text);
  if (!words.empty() && words.front().front() != '-')
    throw value_error("\"" + words.front() + "\" is no option of PETSc", "they begin with -, as -ksp_view");
  return words;
}

// PETSc itself would end by a dump.
void require_option_files(communicator& ranks, const std::vector<std::string>& words) {
  agree(ranks, [&] {
    for (std::size_t k = 0; k < words.size(); ++k) {
      if (words[k] != "-options_file" && words[k] != "-options_file_yaml") continue;
      if (k + 1 == words.size()) throw value_error(words[k] + " names no file");
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(words[k + 1], ignored))
        throw file_error("there is no file '" + words[k + 1] + "' of options for PETSc");
    }
  });
}

// A method's residual on its way, as our own methods have it.
double allowed_growth(const std::string& method) {
  if (method == "cg") return growth_of_gradients<double>;
  return method == "minres" || method == "bicgstab" ? 1e8 : 1e4;
}

class petsc_solve {
 public:
  petsc_solve(const vouch_petsc& functions, const std::vector<std::string>& own, const device& cpu,
              const row_matrix& A, view<const double> b, const petsc_options& options)
      : functions_(functions),
        own_(own),
        A_(A),
        options_(options),
        vectors_(cpu, A),
        residual_(vectors_, A, b),
        facts_(symmetry_facts(A)),
        singular_(facts_.symmetric && has_constants_in_null_space(vectors_, A)) {}

  // The ways one after another, each from the start, until one does not miss; else the one of the least residual.
  petsc_report run(view<double> x) {
    const std::vector<petsc_way> ways = plan_ways(options_, facts_, A_.all_rows(), own_);
    const std::vector<double> start(x.data(), x.data() + A_.rows());
    std::optional<petsc_report> best;
    std::vector<double> best_x;
    std::vector<std::string> missed;  // the others
    double setup = clock_.seconds(), solve = 0;
    for (std::size_t k = 0; k < ways.size(); ++k) {
      const stopwatch making;
      std::unique_ptr<petsc_engine> engine;
      try {
        engine = make_engine(ways[k]);
      } catch (const out_of_memory&) {  // of one rank
        throw;
      } catch (const error& e) {
        if (!best) throw;
        missed.push_back(ways[k].method + ": " + e.what());
        break;
      }
      setup += making.seconds();
      std::copy(start.begin(), start.end(), x.data());
      petsc_report report = attempt(ways[k], *engine, x, k + 1 == ways.size());
      solve += report.solve_seconds;
      const bool ends = goal_reached(report.status) || report.status == solve_status::interrupted;
      const bool wins = ends || !best || is_better(report, *best);
      const petsc_report& loses = wins && best ? *best : report;
      if (best) missed.push_back(line_of(loses));
      if (wins) {
        best = std::move(report);
        best_x.assign(x.data(), x.data() + A_.rows());
      }
      if (ends) break;
    }
    std::copy(best_x.begin(), best_x.end(), x.data());
    best->setup_seconds = setup;
    best->solve_seconds = solve;
    best->warnings.insert(best->warnings.begin(), missed.begin(), missed.end());
    warn_of_unused(*best);
    return std::move(*best);
  }

 private:
  static bool is_better(const solve_report& later, const solve_report& earlier) {
    if (has_solution(later.status) != has_solution(earlier.status)) return has_solution(later.status);
    return !(earlier.true_residual <= later.true_residual);
  }

  static std::string line_of(const solve_report& report) {
    return report.method + ", " + report.preconditioner + ": " + name(report.status) + ", " + report.reason;
  }

  std::unique_ptr<petsc_engine> make_engine(const petsc_way& way) const {
    return std::make_unique<petsc_engine>(functions_, A_, vectors_, facts_, singular_, words_of(way, own_));
  }

  petsc_report attempt(const petsc_way& way, petsc_engine& engine, view<double> x, bool last) {
    petsc_report report;
    report.asked = way.method;
    report.method_reason = options_.method == "auto" ? way.why : "";
    report.symmetric = facts_.symmetric;
    report.precision = "double";
    report.method = way.method;
    report.preconditioner = way.preconditioner;
    report.backend = functions_.library;
    report.reproducible = report.repeats = repeats(way) && own_.empty();

    checked_problem<double> problem{
        vectors_.cpu(), A_.rows(),
        [this](const double* at, const double* low, double* r) { return residual_(at, low, r); }};
    problem.whole = &vectors_;
    problem.constants_in_null_space = singular_;
    problem.allowed_growth = allowed_growth(way.method);
    take_names(way, engine, report);
    report.engine = engine.name();
    residual_checked_solve(problem, engine, x, goal(last), report);
    if (report.status == solve_status::breakdown && !engine.said().empty())
      report.warnings.push_back("PETSc ended with " + engine.said());
    return report;
  }

  // What another one may do better is not waited for.
  stopping_criterion goal(bool last) const {
    stopping_criterion all = options_;
    constexpr std::int64_t enough = 1000;
    if (!last && all.by_residual())
      all.max_iterations = all.max_iterations > 0 ? std::min(all.max_iterations, enough) : enough;
    return all;
  }

  // The user's words may have put others in the place of what the names stand for.
  static void take_names(const petsc_way& way, const petsc_engine& engine, solve_report& report) {
    if (engine.method().empty()) return;
    if (engine.method() != petsc_name_of_method(way)) report.method = engine.method();
    if (engine.preconditioner() != petsc_name_of_preconditioner(way))
      report.preconditioner = engine.preconditioner();
  }

  void warn_of_unused(solve_report& report) const {
    const std::vector<std::string> unused = split_words(functions_.unused());
    for (const std::string& word : own_)
      if (std::find(unused.begin(), unused.end(), word) != unused.end())
        report.warnings.push_back("PETSc did not ask for the option " + word);
  }

  stopwatch clock_;
  const vouch_petsc& functions_;
  const std::vector<std::string>& own_;
  const row_matrix& A_;
  const petsc_options& options_;
  row_vectors vectors_;
  row_residual_of residual_;
  structure_facts facts_;
  bool singular_;
};

}  // namespace

petsc::petsc(communicator& ranks, std::string_view words) : petsc(ranks, open_petsc(ranks), words) {}

petsc::petsc(communicator& ranks, const vouch_petsc& functions, std::string_view words)
    : ranks_(ranks), functions_(functions), words_(checked_words(words)) {
  const ieee_environment here;
  require_option_files(ranks_, words_);
  std::vector<const char*> all;
  for (const std::string& word : words_) all.push_back(word.c_str());
  require_done(ranks_, functions_, functions_.start(static_cast<int>(all.size()), all.data()));
}

petsc::~petsc() {
  if (std::uncaught_exceptions() == exceptions_) functions_.stop();
}

std::string petsc::library() const { return functions_.library; }

petsc_report petsc::solve(const device& cpu, const row_matrix& A, view<const double> b, view<double> x,
                          const petsc_options& options) const {
  const ieee_environment here;
  require_rows("petsc::solve", A, b, x);
  check_krylov_stopping("petsc::solve", options);
  return petsc_solve(functions_, words_, cpu, A, b, options).run(x);
}

}  // namespace vouch
