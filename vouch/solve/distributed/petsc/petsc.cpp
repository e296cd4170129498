#include <vouch/solve/distributed/petsc.hpp>

#include <algorithm>
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

  // The ways one after another, each from the start, until one does not miss.
  petsc_report run(view<double> x) {
    const std::vector<petsc_way> ways = plan_ways(options_, facts_, A_.all_rows(), own_);
    const std::vector<double> start(x.data(), x.data() + A_.rows());
    std::vector<std::string> missed;
    double setup = clock_.seconds(), solve = 0;
    for (std::size_t k = 0;; ++k) {
      const bool last = k + 1 == ways.size();
      petsc_report report = attempt(ways[k], x, last);
      report.setup_seconds = setup += report.setup_seconds;
      report.solve_seconds = solve += report.solve_seconds;
      if (last || goal_reached(report.status) || report.status == solve_status::interrupted) {
        report.warnings.insert(report.warnings.begin(), missed.begin(), missed.end());
        warn_of_unused(report);
        return report;
      }
      missed.push_back(report.method + ", " + report.preconditioner + ": " + name(report.status) + ", " +
                       report.reason);
      std::copy(start.begin(), start.end(), x.data());
    }
  }

 private:
  petsc_report attempt(const petsc_way& way, view<double> x, bool last) {
    const stopwatch clock;
    petsc_report report;
    report.asked = way.method;
    report.method_reason = options_.method == "auto" ? way.why : "";
    report.symmetric = facts_.symmetric;
    report.precision = "double";
    report.method = way.method;
    report.preconditioner = way.preconditioner;
    report.backend = functions_.library;
    report.reproducible = report.repeats = repeats(way) && own_.empty();
    if (singular_)
      report.warnings.emplace_back("every row sums to zero: singular, solved for the x that sums to zero");

    checked_problem<double> problem{
        vectors_.cpu(), A_.rows(),
        [this](const double* at, const double* low, double* r) { return residual_(at, low, r); }};
    problem.whole = &vectors_;
    problem.constants_in_null_space = singular_;
    problem.allowed_growth = allowed_growth(way.method);
    petsc_engine engine(functions_, A_, vectors_, facts_, singular_, words_of(way, own_));
    take_names(way, engine, report);
    report.engine = engine.name();
    report.setup_seconds = clock.seconds();
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
