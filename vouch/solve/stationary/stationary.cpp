#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>
#include <vouch/solve/stationary/async.hpp>
#include <vouch/solve/stationary/dominance.hpp>
#include <vouch/solve/stationary/gauss_seidel.hpp>
#include <vouch/solve/stationary/jacobi.hpp>
#include <vouch/solve/stationary/mixed_sweeps.hpp>
#include <vouch/solve/stationary/omega_estimate.hpp>
#include <vouch/solve/stationary/sor.hpp>
#include <vouch/solve/stationary/stationary_iteration.hpp>
#include <vouch/solve/stationary/stationary_options.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {

/// What makes the loop of a rule's sweeps, the matrix at hand; empty: the matrix itself does. A run may leave a
/// warning.
template <real T>
using engine_maker = std::function<std::unique_ptr<inner_solver<T>>(
    const iteration_matrix<T>& A, const sweep_rule& rule, std::string& warning)>;

struct sweep_request {
  sweep_rule rule;
  bool estimate_omega = false;
  std::string method;
};

/// Preflight, solve, verdict and proof.
///
/// Throws  shape_error  wrong lengths
///         value_error  as jacobi()
template <real T>
solve_report solve_by_sweeps(const device& dev, const iteration_matrix<T>& A, view<const T> b, view<T> x,
                             const sweep_request& request, const stopping_criterion& goal,
                             const acceleration& accelerate, const engine_maker<T>& mixed = {});

namespace {

using clock = std::chrono::steady_clock;

template <class... Values>
std::string text(const char* format, Values... values) {
  char line[320];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

void check_request(std::int64_t n, std::int64_t b, std::int64_t x, const sweep_rule& rule,
                   const stopping_criterion& goal, const acceleration& accelerate) {
  check_lengths(n, b, x);
  if (!(rule.omega > 0 && rule.omega < 2))
    throw value_error(text("omega is %.9g, it must lie between 0 and 2", rule.omega),
                      "outside of it no start converges");
  check_stopping(goal);
  if (accelerate.anderson < 0 || accelerate.anderson > 16)
    throw value_error("anderson keeps 1 to 16 earlier iterates, not " + std::to_string(accelerate.anderson));
  if (accelerate.anderson > 0 && accelerate.chebyshev)
    throw value_error("anderson and chebyshev exclude each other");
}

// No eigenvalue of the iteration, as far as it is real, lies below. Jacobi: |1 - lambda / omega| is at most the
// largest row sum of |D^-1 R|. Successive sweeps of a positive definite matrix have none below zero.
double lowest_eigenvalue(const sweep_rule& rule, const dominance_proof& proof) {
  if (!rule.simultaneous) return 0;
  const double reach = proof.kind == dominance_kind::none ? proof.row_ratio : proof.ratio;
  return 1 - rule.omega * (1 + reach);
}

long long number(std::int64_t row) { return static_cast<long long>(row + 1); }

std::string no_dominance(const dominance_proof& proof) {
  return text("row %lld breaks dominance: its other entries sum to %.3g times its diagonal entry",
              number(proof.worst_row), proof.row_ratio);
}

// What is known before the first sweep, where it is not convergence.
std::string warning_of(const dominance_proof& proof, double omega) {
  if (proof.kind == dominance_kind::none)
    return no_dominance(proof) + "; neither columns nor scaling prove convergence";
  if (omega < proof.proved_omega()) return "";
  return text("convergence is proved for omega below %.3f only",
              std::floor(1000 * proof.proved_omega()) / 1000);
}

const char* name(dominance_kind kind) {
  switch (kind) {
    case dominance_kind::rows:
      return "rows";
    case dominance_kind::columns:
      return "columns";
    case dominance_kind::scaled:
      return "scaled";
    case dominance_kind::none:
      break;
  }
  return "none";
}

std::string source_of(const dominance_proof& proof) {
  switch (proof.kind) {
    case dominance_kind::rows:
      return text("diagonal dominance of the rows, q = %.6g", proof.ratio);
    case dominance_kind::columns:
      return text("diagonal dominance of the columns, q = %.6g", proof.ratio);
    case dominance_kind::scaled:
      return text("diagonal dominance after scaling, q = %.6g", proof.ratio);
    case dominance_kind::none:
      break;
  }
  return no_dominance(proof);
}

convergence_facts facts_of(const dominance_proof& proof, std::int64_t rows, double omega) {
  const std::string warning = warning_of(proof, omega);
  return {.proved = warning.empty(),
          .dominance = name(proof.kind),
          .ratio = proof.ratio,
          .weakest_row = rows > 0 ? proof.worst_row : -1,
          .omega_below = proof.proved_omega(),
          .omega = omega,
          .reason = warning.empty() ? source_of(proof) : warning};
}

// The mean growth of an iteration over the last half of the history, where the fastest part has prevailed, but
// no more than 8 records of it, and an even number for what swings; 0 where that is too short.
double measured_factor(const solve_report& report) {
  const auto& all = report.history;
  if (all.size() < 2) return 0;
  const std::size_t half = (all.size() - 1) / 2;
  const std::size_t steps = std::min(std::clamp<std::size_t>(half - half % 2, 2, 8), all.size() - 1);
  const iteration_record& last = all.back();
  const iteration_record& first = all[all.size() - 1 - steps];
  if (!(first.residual > 0) || !std::isfinite(last.residual) || last.iteration <= first.iteration) return 0;
  return std::pow(last.residual / first.residual, 1.0 / static_cast<double>(last.iteration - first.iteration));
}

void explain_failure(solve_report& report, const dominance_proof& proof) {
  const bool failed = report.status == solve_status::diverged ||
                      report.status == solve_status::max_iterations || report.status == solve_status::stagnated;
  if (!failed) return;
  if (const double factor = measured_factor(report); factor > 0 && report.status != solve_status::stagnated)
    report.reason += text("; an iteration changes the residual by a factor of %.4g", factor);
  if (report.status == solve_status::diverged && proof.kind == dominance_kind::none)
    report.reason += "; " + no_dominance(proof);
}

// Settles what the request leaves open; the report tells what came of it.
template <real T>
sweep_rule settle_rule(const device& dev, const iteration_matrix<T>& A, const sweep_request& request,
                       const dominance_proof& proof, solve_report& report) {
  sweep_rule rule = request.rule;
  if (request.estimate_omega) {
    const omega_estimate estimate = estimate_omega(dev, A, rule, lowest_eigenvalue({true}, proof));
    rule.omega = estimate.omega;
    if (!estimate.warning.empty()) report.warnings.push_back(estimate.warning);
  }
  if (const std::string warning = warning_of(proof, rule.omega); !warning.empty())
    report.warnings.push_back(warning);
  report.convergence = facts_of(proof, A.rows(), rule.omega);
  rule.lowest_eigenvalue = lowest_eigenvalue(rule, proof);
  return rule;
}

}  // namespace

template <real T>
solve_report solve_by_sweeps(const device& dev, const iteration_matrix<T>& A, view<const T> b, view<T> x,
                             const sweep_request& request, const stopping_criterion& goal,
                             const acceleration& accelerate, const engine_maker<T>& mixed) {
  const ieee_environment here;
  const std::int64_t n = A.rows();
  check_request(n, b.size(), x.size(), request.rule, goal, accelerate);
  const auto begin = clock::now();
  solve_report report;
  report.method = request.method;
  report.precision = mixed ? "mixed" : sizeof(T) == 4 ? "single" : "double";
  report.preconditioner = "none";
  report.reproducible = report.repeats = !request.rule.asynchronous;
  A.announce(b, x.data());
  const dominance_proof proof = prove_dominance(dev, A);
  const sweep_rule rule = settle_rule(dev, A, request, proof, report);
  if (mixed && !goal.by_residual())
    report.warnings.push_back("mixed: this stopping rule is counted in double sweeps, so all are");
  std::string warning;
  const std::unique_ptr<inner_solver<T>> engine =
      mixed && goal.by_residual() ? mixed(A, rule, warning)
                                  : A.make_engine(dev, rule, goal.by_residual(), accelerate);
  checked_problem<T> problem{
      dev, n, [&](const T* at, const T* at_low, T* r) { return A.residual(dev, b, at, at_low, r); }};
  problem.advice = "take another method or acceleration";
  // Where rows differ much in scale the residual may grow first, though convergence is proved.
  problem.converges = report.convergence->proved;
  report.setup_seconds = std::chrono::duration<double>(clock::now() - begin).count();
  residual_checked_solve(problem, *engine, x, goal, report);
  report.engine = engine->name();  // with what became of the acceleration
  if (!warning.empty()) report.warnings.push_back(warning);
  if (request.estimate_omega) report.engine += text("; omega %.6g, estimated", rule.omega);
  explain_failure(report, proof);
  report.error_bound_source = source_of(proof);
  if (has_solution(report.status)) report.error_bound = dominance_error_bound<T>(dev, A, proof, b, x);
  return report;
}

namespace {

// A is one argument (sparse) or two (dense).
template <real T, class Options, class... Matrix>
solve_report sweep(const device& dev, view<const T> b, view<T> x, const sweep_request& request,
                   const acceleration& accelerate, const Options& o, Matrix... A) {
  engine_maker<T> mixed;
  if constexpr (std::same_as<T, double>) {
    if (o.mixed)
      mixed = [=, &accelerate, &dev](const iteration_matrix<double>& exact, const sweep_rule& rule,
                                     std::string& warning) {
        return mixed_sweeps(dev, A..., exact, rule, accelerate, warning);
      };
  } else if (o.mixed) {
    throw value_error("mixed sweeps start from a matrix in double precision");
  }
  return solve_by_sweeps<T>(dev, *make_iteration_matrix(dev, A...), b, x, request, o.goal, accelerate, mixed);
}

sweep_request request_of(const jacobi_options& o) {
  return {{true, sweep_order::forward, o.omega}, false, "jacobi"};
}
sweep_request request_of(const gauss_seidel_options& o) {
  return {{false, o.order, 1, o.ordering}, false, "gauss-seidel"};
}
sweep_request request_of(const sor_options& o) {
  return {{false, o.order, o.omega, o.ordering},
          o.estimate_omega,
          o.order == sweep_order::symmetric ? "ssor" : "sor"};
}
sweep_request request_of(const async_options& o) {
  sweep_request request{{false, sweep_order::forward, o.omega}, false, "async"};
  request.rule.asynchronous = true;
  return request;
}

}  // namespace

template <real T>
solve_report jacobi(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                    const jacobi_options& o) {
  const ieee_environment here;
  const valid_csr valid("jacobi", dev, A);
  return sweep<T>(dev, b, x, request_of(o), o.accelerate, o, A);
}
template <real T>
solve_report jacobi(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<T> x,
                    const jacobi_options& o) {
  const ieee_environment here;
  return sweep<T>(dev, b, x, request_of(o), o.accelerate, o, op, A);
}

template <real T>
solve_report gauss_seidel(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                          const gauss_seidel_options& o) {
  const ieee_environment here;
  const valid_csr valid("gauss_seidel", dev, A);
  return sweep<T>(dev, b, x, request_of(o), o.accelerate, o, A);
}
template <real T>
solve_report gauss_seidel(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<T> x,
                          const gauss_seidel_options& o) {
  const ieee_environment here;
  return sweep<T>(dev, b, x, request_of(o), o.accelerate, o, op, A);
}

template <real T>
solve_report sor(const device& dev, csr_view<const T> A, view<const T> b, view<T> x, const sor_options& o) {
  const ieee_environment here;
  const valid_csr valid("sor", dev, A);
  return sweep<T>(dev, b, x, request_of(o), o.accelerate, o, A);
}
template <real T>
solve_report sor(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<T> x,
                 const sor_options& o) {
  const ieee_environment here;
  return sweep<T>(dev, b, x, request_of(o), o.accelerate, o, op, A);
}

template <real T>
solve_report async_relaxation(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                              const async_options& o) {
  const ieee_environment here;
  const valid_csr valid("async_relaxation", dev, A);
  return sweep<T>(dev, b, x, request_of(o), {}, o, A);
}
template <real T>
solve_report async_relaxation(const device& dev, transpose op, matrix_view<const T> A, view<const T> b,
                              view<T> x, const async_options& o) {
  const ieee_environment here;
  return sweep<T>(dev, b, x, request_of(o), {}, o, op, A);
}

#define VOUCH_INSTANTIATE(T)                                                                                  \
  template solve_report solve_by_sweeps(const device&, const iteration_matrix<T>&, view<const T>, view<T>,    \
                                        const sweep_request&, const stopping_criterion&, const acceleration&, \
                                        const engine_maker<T>&);                                              \
  template VOUCH_PUBLIC solve_report jacobi(const device&, csr_view<const T>, view<const T>, view<T>,         \
                                            const jacobi_options&);                                           \
  template VOUCH_PUBLIC solve_report jacobi(const device&, transpose, matrix_view<const T>, view<const T>,    \
                                            view<T>, const jacobi_options&);                                  \
  template VOUCH_PUBLIC solve_report gauss_seidel(const device&, csr_view<const T>, view<const T>, view<T>,   \
                                                  const gauss_seidel_options&);                               \
  template VOUCH_PUBLIC solve_report gauss_seidel(const device&, transpose, matrix_view<const T>,             \
                                                  view<const T>, view<T>, const gauss_seidel_options&);       \
  template VOUCH_PUBLIC solve_report sor(const device&, csr_view<const T>, view<const T>, view<T>,            \
                                         const sor_options&);                                                 \
  template VOUCH_PUBLIC solve_report sor(const device&, transpose, matrix_view<const T>, view<const T>,       \
                                         view<T>, const sor_options&);                                        \
  template VOUCH_PUBLIC solve_report async_relaxation(const device&, csr_view<const T>, view<const T>,        \
                                                      view<T>, const async_options&);                         \
  template VOUCH_PUBLIC solve_report async_relaxation(const device&, transpose, matrix_view<const T>,         \
                                                      view<const T>, view<T>, const async_options&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
