#include "solve_band.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vouch/band/solve.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/cg_system.hpp>
#include <vouch/solve/spd_check.hpp>
#include <vouch/sparse/residual.hpp>

#include "rounded.hpp"

namespace vouch::cli {
namespace {

// The diagonals of a matrix in precision T, and the vectors.
template <real T>
struct diagonals {
  array<T> dl, d, du, b, x;
};

bool is_tridiagonal(csr_view<const double> A) {
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.col[k] < i - 1 || A.col[k] > i + 1) return false;
  return A.rows == A.cols;
}

// Conjugate gradients solve what has the constants as null space, where the right-hand side allows it.
bool is_for_iterations(const device& cpu, const linear_system& system) {
  return not_spd_reason(system.facts).empty() && rows_sum_to_zero<double>(cpu, system.A);
}

template <real T>
diagonals<T> take_diagonals(const device& cpu, const linear_system& system, const std::string& rhs) {
  const std::int64_t n = system.A.rows;
  const array<T> val = rounded<T>(cpu, {system.A.val.data(), system.A.nonzeros()}, system.file);
  diagonals<T> of{array<T>::zeros(cpu, n), array<T>::zeros(cpu, n), array<T>::zeros(cpu, n),
                  rounded<T>(cpu, {system.b.data(), system.b.size()}, rhs), array<T>(cpu, system.b.size())};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = system.A.row_ptr[i]; k < system.A.row_ptr[i + 1]; ++k) {
      const std::int64_t j = system.A.col[k];
      (j < i ? of.dl : j == i ? of.d : of.du)[i] = val[k];
    }
  return of;
}

tridiagonal_method band_method_of(const solve_request& request) {
  for (const tridiagonal_method m : {tridiagonal_method::thomas, tridiagonal_method::cyclic_reduction,
                                     tridiagonal_method::pcr, tridiagonal_method::partition})
    if (request.method == name(m)) return m;
  return tridiagonal_method::automatic;
}

solve_report as_solve_report(const tridiagonal_report& from, const solve_request& request) {
  solve_report report;
  report.status = from.status;
  report.reason = from.reason;
  report.method = from.method;
  report.engine = from.engine;
  report.precision = from.precision;
  report.preconditioner = "none";
  report.iterations = from.refinements;
  report.rhs_norm = from.rhs_norm;
  report.tolerance = std::max(request.relative_tolerance() * from.rhs_norm, request.atol);
  report.true_residual = from.true_residual;
  report.recurrence_residual = std::numeric_limits<double>::quiet_NaN();  // there is none
  report.backward_error = from.backward_error;
  report.warnings = from.warnings;
  return report;
}

// The verdict is about the system of the file, not about its rounding to single precision: that of the worst
// column, of those that miss the tolerance where some do.
void judge_by_file(const device& cpu, const linear_system& system, const solve_request& request,
                   solve_outcome& outcome) {
  const array<double>& x = outcome.x;
  solve_report& report = outcome.report;
  array<double> r(cpu, system.A.rows);
  bool missed = false;
  for (std::int64_t j = 0; j < system.columns && has_solution(report.status); ++j) {
    const residual_facts facts = residual<double>(cpu, system.A, system.column(system.b, j),
                                                  {x.data() + j * system.A.rows, system.A.rows}, nullptr, r);
    solve_report column = report;
    take_residual(facts, request.relative_tolerance(), request.atol, column);
    const bool misses = !(column.true_residual <= column.tolerance);
    if (j > 0 && (misses == missed ? column.relative_true() <= report.relative_true() : missed)) continue;
    missed = misses;
    report = std::move(column);
    outcome.column = j;
  }
  if (report.status != solve_status::converged || !missed) return;
  report.status = solve_status::stagnated;
  report.reason = "the system rounded to single precision is solved, that of the file misses the tolerance";
}

template <real T>
void solve_columns(const device& cpu, const device& dev, const solve_request& request,
                   const linear_system& system, solve_outcome& outcome) {
  diagonals<T> of;
  timed(outcome.times.setup, [&] { of = take_diagonals<T>(cpu, system, request.rhs); });
  if (dev.is_cuda())
    timed(outcome.times.transfer, [&] {
      for (array<T>* a : {&of.dl, &of.d, &of.du, &of.b, &of.x}) *a = a->to(dev);
    });
  const tridiagonal_view<const T> A{of.dl.data(), of.d.data(), of.du.data(), contiguous(system.A.rows)};
  const batch_shape shape = contiguous(system.A.rows, system.columns);
  for (std::int64_t k = 0; k < request.common.repeat; ++k) {
    const stopwatch clock;
    const tridiagonal_report report =
        solve<T>(dev, A, {of.b.data(), shape}, {of.x.data(), shape}, band_options(request));
    outcome.repeats.push_back(clock.seconds());
    outcome.times.solve += outcome.repeats.back();
    outcome.report = as_solve_report(report, request);
    outcome.column = report.worst_system;
  }
  timed(outcome.times.transfer, [&] {
    const array<T> back = of.x.to(cpu);
    outcome.x = array<double>(cpu, back.size());
    std::copy(back.begin(), back.end(), outcome.x.begin());
  });
  judge_by_file(cpu, system, request, outcome);
}

void log_run(const console& log, const linear_system& system, const band_run& run) {
  log.line(fmt::format("matrix     {}: {} x {}, {} nonzeros, tridiagonal{}", system.file, system.A.rows,
                       system.A.cols, system.A.nonzeros(), system.facts.symmetric ? ", symmetric" : ""));
  log.line(fmt::format("method     {}, {} precision: {}", run.outcome.report.method,
                       run.outcome.report.precision, run.outcome.report.engine));
  log.line(fmt::format("device     {}: {}", run.device.dev.name(), run.device.why));
}

}  // namespace

tridiagonal_options band_options(const solve_request& request) {
  tridiagonal_options options;
  options.method = band_method_of(request);
  options.mixed = request.common.precision == "mixed";
  options.rtol = std::max(request.relative_tolerance(), std::numeric_limits<double>::min());  // not its default
  options.atol = request.atol;
  return options;
}

std::optional<band_run> run_band(const solve_request& request, const device& cpu, const console& log,
                                 linear_system& system) {
  const bool asked = is_band_method(request.method);
  if (!asked && (request.method != "auto" || request.wants_iterations() || system.dense)) return std::nullopt;
  if (!is_tridiagonal(system.A)) {
    if (!asked) return std::nullopt;
    throw value_error(fmt::format("{}: the matrix is not tridiagonal", request.matrix),
                      fmt::format("--method {} solves tridiagonal systems only", request.method));
  }
  bool iterates = false;
  timed(system.setup_seconds, [&] { iterates = !asked && is_for_iterations(cpu, system); });
  if (iterates) return std::nullopt;
  const device_request wanted = parse_device(request.common.device);
  band_run run{{}, {wanted.cuda ? device::cuda(wanted.index) : cpu, "as asked"}};
  if (wanted.automatic) run.device.why = "reading the file costs more than solving";
  timed(system.read_seconds, [&] { take_rhs(cpu, request.rhs, system); });
  if (request.common.precision == "single")
    solve_columns<float>(cpu, run.device.dev, request, system, run.outcome);
  else
    solve_columns<double>(cpu, run.device.dev, request, system, run.outcome);
  log_run(log, system, run);
  return run;
}

}  // namespace vouch::cli
