#include "solve_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vouch/dense/residual.hpp>
#include <vouch/solve/dominance.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch::cli {
namespace {

// ||v||_2; no square leaves the range of a long double.
double norm(view<const double> v) {
  long double sum = 0;
  for (std::int64_t i = 0; i < v.size(); ++i) sum += static_cast<long double>(v[i]) * v[i];
  return static_cast<double>(std::sqrt(sum));
}

solve_goal goal_of(const solve_request& request, solve_watch& watch, patience* limit) {
  solve_goal goal;
  goal.rtol = request.relative_tolerance();
  goal.atol = request.atol;
  goal.max_iterations = request.max_iterations.value_or(0);
  goal.fixed_iterations = request.fixed_iterations;
  goal.stop_recurrence = request.stop_recurrence;
  goal.stop_mean_change = request.stop_mean_change;
  goal.on_iteration = [&watch, limit](const iteration_record& record) {
    return watch.see(record) && (limit == nullptr || limit->goes_on(record));
  };
  return goal;
}

// The bound that was proved is one of the rounded system.
void bound_unrounded(const device& cpu, const linear_system& system, std::int64_t j, view<const double> x,
                     solve_report& report) {
  if (!report.error_bound) return;
  const auto A = system.dense ? make_sweepable<double>(cpu, transpose::no, system.entries())
                              : make_sweepable<double>(system.A.all());
  const dominance_proof proof = prove_dominance(cpu, *A);
  report.error_bound = dominance_error_bound<double>(cpu, *A, proof, system.column(system.b, j), x);
}

// Of column j, in twice the precision.
residual_facts residual_of(const device& cpu, const linear_system& system, std::int64_t j,
                           view<const double> x) {
  array<double> r(cpu, system.rows());
  const view<const double> b = system.column(system.b, j);
  return system.dense ? residual<double>(cpu, transpose::no, system.entries(), b, x, nullptr, r)
                      : residual<double>(cpu, system.A, b, x, nullptr, r);
}

std::string residual_text(const solve_report& report) {
  return fmt::format("true residual {:.3g}, tolerance {:.3g}", report.true_residual, report.tolerance);
}

// The verdict is about the system of the files, not about its rounding to single precision.
void judge_unrounded(const device& cpu, const linear_system& system, std::int64_t j, const solve_goal& goal,
                     view<const double> x, solve_report& report) {
  if (!has_solution(report.status)) return;
  const residual_facts facts = residual_of(cpu, system, j, x);
  bound_unrounded(cpu, system, j, x, report);
  take_residual(facts, *goal.rtol, goal.atol, report);
  if (report.status == solve_status::stagnated)
    report.reason += "; all of the system rounded to single precision";
  if (report.status != solve_status::converged) return;
  if (report.true_residual <= report.tolerance) {
    if (report.iterations > 0) report.reason = residual_text(report);
    return;
  }
  report.status = solve_status::stagnated;
  report.reason = fmt::format(
      "the system rounded to single precision is solved, that of the files has relative residual {:.2g}",
      report.relative_true());
}

// interrupted first, since it says that the others were not finished.
int severity(solve_status status) {
  switch (status) {
    case solve_status::interrupted:
      return 8;
    case solve_status::diverged:
      return 7;
    case solve_status::breakdown:
      return 6;
    case solve_status::not_spd:
      return 5;
    case solve_status::stagnated:
      return 4;
    case solve_status::max_iterations:
      return 3;
    case solve_status::stopped:
      return 2;
    case solve_status::fixed:
      return 1;
    case solve_status::converged:
      return 0;
  }
  return 0;
}

bool worse(const solve_report& a, const solve_report& b) {
  if (a.status != b.status) return severity(a.status) > severity(b.status);
  return a.relative_true() > b.relative_true();
}

// What holds for the errors of all columns; nothing where one has nothing.
std::optional<double> joined(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return {};
  return std::max(*a, *b);
}

// Keeps the worst report, with the iterations, warnings and bounds of all.
void add_column(solve_outcome& outcome, solve_report report, std::int64_t j) {
  const auto iterations = (j > 0 ? outcome.report.iterations : 0) + report.iterations;
  std::vector<std::string> warnings = j > 0 ? outcome.report.warnings : std::vector<std::string>{};
  for (const std::string& w : report.warnings)
    if (std::find(warnings.begin(), warnings.end(), w) == warnings.end()) warnings.push_back(w);
  const solve_report& before = j > 0 ? outcome.report : report;
  const std::optional<double> bound = joined(before.error_bound, report.error_bound),
                              estimate = joined(before.error_estimate, report.error_estimate);
  if (j == 0 || worse(report, outcome.report)) {
    outcome.report = std::move(report);
    outcome.column = j;
  }
  outcome.report.error_bound = bound;
  outcome.report.error_estimate = estimate;
  outcome.report.iterations = iterations;
  outcome.report.warnings = std::move(warnings);
}

bool may_be_factorised(const solve_request& request) {
  return request.method == "auto" && !request.wants_iterations() && !parse_device(request.common.device).cuda;
}

// Why what conjugate gradients have come to calls for a factorisation; "" where it does not.
std::string reason_to_factorise(const solve_report& report, patience& limit) {
  switch (report.status) {
    case solve_status::interrupted:
      return limit.is_out() ? "predicted to be faster than conjugate gradients, which had not converged" : "";
    case solve_status::not_spd:
      return "not positive definite";
    case solve_status::breakdown:
      return report.iterations > 0 ? "not positive definite" : "";  // else there is no solution
    case solve_status::diverged:
      return "conjugate gradients diverged";
    case solve_status::stagnated:
    case solve_status::max_iterations:
      return limit.elimination_pays(report.iterations) ? "conjugate gradients did not converge" : "";
    default:
      return "";
  }
}

// Whether the factors' answer is to be kept, rather than what conjugate gradients ended with.
bool is_better(const solve_report& factors, const solve_report& iterations) {
  return !has_solution(iterations.status) || iterations.status == solve_status::interrupted ||
         factors.status == solve_status::interrupted || factors.status == solve_status::converged ||
         (has_solution(factors.status) && factors.true_residual < iterations.true_residual);
}

bool ends_all(solve_status status) { return status == solve_status::interrupted || !has_solution(status); }

std::string label(const solve_request& request, const linear_system& system, std::int64_t run,
                  std::int64_t first, std::int64_t count) {
  std::string text;
  if (request.common.repeat > 1) text = fmt::format("run {} of {}", run + 1, request.common.repeat);
  if (system.columns == 1) return text;
  if (!text.empty()) text += ", ";
  if (count == 1) return text + fmt::format("column {} of {}", first + 1, system.columns);
  return text + fmt::format("columns {} to {} of {}; residuals of the first that is not done", first + 1,
                            first + count, system.columns);
}

std::vector<watched_column> watched(const linear_system& system, std::int64_t first, std::int64_t count,
                                    const solve_goal& goal) {
  std::vector<watched_column> columns;
  for (std::int64_t j = first; j < first + count; ++j) {
    const double rhs_norm = norm(system.column(system.b, j));
    columns.push_back({rhs_norm, std::max(*goal.rtol * rhs_norm, goal.atol)});
  }
  return columns;
}

}  // namespace

device open_device(const solve_request& request) {
  const device_request wanted = parse_device(request.common.device);
  return wanted.cuda ? device::cuda(wanted.index) : open_cpu(request.common);
}

device_choice choose_for(const solve_request& request, const linear_system& system, const device& opened) {
  if (!parse_device(request.common.device).automatic) return {opened, "as asked"};
  if (request.is_dense_direct()) {
    constexpr std::int64_t most_of_a_proof = 9 * sizeof(double);
    const bool verified = request.verification.asked();
    return choose_device({.rows = system.rows(),
                          .single = request.common.precision == "single",
                          .verified = verified,
                          .bytes_an_entry = dense_bytes_on_gpu(request) + (verified ? most_of_a_proof : 0)},
                         opened.threads());
  }
  if (request.is_direct()) return {opened, "sparse factorisations run there"};
  if (request.is_stationary()) return {opened, "a few sweeps cost less than sending the matrix to a GPU"};
  return choose_device(system.rows(), system.facts.nonzeros, opened.threads());
}

void take_residual(const residual_facts& facts, double rtol, double atol, solve_report& report) {
  const double unit_roundoff = report.precision == "single" ? 0x1p-24 : 0x1p-53;
  report.rhs_norm = facts.rhs_norm2;
  report.tolerance = std::max(rtol * facts.rhs_norm2, atol);
  report.true_residual = facts.norm2_at_most<double>();
  report.backward_error = facts.backward_error();
  report.attainable_relative = facts.rhs_norm2 > 0 ? unit_roundoff * facts.product_norm2 / facts.rhs_norm2 : 0;
}

solve_outcome run_solve(const solve_request& request, const linear_system& system, const device& cpu,
                        const device& dev, solve_watch& watch, patience* limit) {
  solve_outcome outcome;
  const solve_goal goal = goal_of(request, watch, limit);
  const auto solver = make_column_solver(request, system, cpu, dev, outcome.times);
  for (std::int64_t run = 0; run < request.common.repeat; ++run) {
    timed(outcome.times.transfer, [&] { outcome.x = system.start.to(cpu); });
    double seconds = 0;
    const std::int64_t n = system.rows(), most = solver->at_once();
    for (std::int64_t first = 0; first < system.columns; first += most) {
      const std::int64_t count = std::min(most, system.columns - first);
      const view<const double> b(system.b.data() + first * n, count * n);
      const view<double> x(outcome.x.data() + first * n, count * n);
      watch.begin(watched(system, first, count, goal), label(request, system, run, first, count),
                  run == 0 && first < 4 * most);
      const double before = outcome.times.solve;
      std::vector<solve_report> reports = solver->solve(count, b, x, goal, outcome.times);
      seconds += outcome.times.solve - before;
      for (std::int64_t k = 0; k < count && solver->rounds(); ++k)
        timed(outcome.times.solve, [&] {
          judge_unrounded(cpu, system, first + k, goal, {x.data() + k * n, n},
                          reports[static_cast<std::size_t>(k)]);
        });
      watch.end(reports);
      for (std::int64_t k = 0; k < count; ++k)
        add_column(outcome, std::move(reports[static_cast<std::size_t>(k)]), first + k);
      if (ends_all(outcome.report.status)) break;
    }
    outcome.repeats.push_back(seconds);
    if (ends_all(outcome.report.status)) break;
  }
  return outcome;
}

void judge_improved(const solve_request& request, const linear_system& system, const device& cpu,
                    solve_outcome& outcome) {
  solve_report& report = outcome.report;
  report.error_bound.reset();
  const solve_report before = report;
  bool within = true;
  for (std::int64_t j = 0; j < system.columns; ++j) {
    solve_report column = before;
    const residual_facts facts =
        residual_of(cpu, system, j, {outcome.x.data() + j * system.rows(), system.rows()});
    take_residual(facts, request.relative_tolerance(), request.atol, column);
    if (before.true_residual > 0 && column.error_estimate)
      *column.error_estimate *= column.true_residual / before.true_residual;
    within = within && column.true_residual <= column.tolerance;
    if (j > 0 && column.relative_true() <= report.relative_true()) continue;
    report = std::move(column);
    outcome.column = j;
  }
  if (!request.by_residual()) return;
  const bool missed = report.status == solve_status::stagnated || report.status == solve_status::max_iterations;
  if (within && (missed || report.status == solve_status::converged)) {
    report.status = solve_status::converged;
    report.reason = residual_text(report) + ", of x as its proof has improved it";
  } else if (!within && report.status == solve_status::converged) {
    report.status = solve_status::stagnated;
    report.reason = "the solution as its proof has improved it misses the tolerance, as rounding has it";
  }
}

solve_outcome run_settled(solve_request& request, const linear_system& system, const device& cpu,
                          device_choice& chosen, solve_watch& watch) {
  if (!may_be_factorised(request)) return run_solve(request, system, cpu, chosen.dev, watch);
  patience limit(system.A.all());
  solve_outcome tried =
      run_solve(request, system, cpu, chosen.dev, watch, chosen.dev.is_cuda() ? nullptr : &limit);
  const std::string why = reason_to_factorise(tried.report, limit);
  if (why.empty()) return tried;
  solve_request direct = request;
  direct.method = "sparse-lu";
  direct.method_why = why;
  if (request.common.precision == "mixed") {
    direct.common.precision = "double";
    direct.precision_why = "mixed: factorisations are made in double";
  }
  solve_outcome settled = run_solve(direct, system, cpu, cpu, watch);
  if (limit.is_out() && !has_solution(settled.report.status)) {
    tried = run_solve(request, system, cpu, chosen.dev, watch);
  } else if (is_better(settled.report, tried.report)) {
    settled.report.warnings.insert(
        settled.report.warnings.begin(),
        limit.is_out()
            ? fmt::format("conjugate gradients had not converged after {} iterations, several times the "
                          "work predicted for a factorisation: went on with sparse-lu",
                          tried.report.iterations)
            : fmt::format("conjugate gradients ended, {}: went on with sparse-lu", tried.report.reason));
    std::swap(tried, settled);
    request = std::move(direct);
    chosen = {cpu, "sparse factorisations run there"};
  }
  tried.times.setup += settled.times.setup + settled.times.solve;
  tried.times.transfer += settled.times.transfer;
  return tried;
}

}  // namespace vouch::cli
