#include "solve_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <vouch/dense/blas1.hpp>

#include "interrupt.hpp"

namespace vouch::cli {
namespace {

constexpr std::int64_t groups_with_table = 4;

}  // namespace

solve_watch::solve_watch(const console& log, const solve_request& request, const linear_system& system)
    : log_(log), request_(request), system_(system), progress_(log) {}

std::string solve_watch::label(std::int64_t first, std::int64_t count) const {
  std::string text;
  if (request_.common.repeat > 1) text = fmt::format("run {} of {}", run_ + 1, request_.common.repeat);
  if (system_.columns == 1) return text;
  if (!text.empty()) text += ", ";
  if (count == 1) return text + fmt::format("column {} of {}", first + 1, system_.columns);
  return text + fmt::format("columns {} to {} of {}; residuals of the first that is not done", first + 1,
                            first + count, system_.columns);
}

void solve_watch::begin(std::int64_t first, std::int64_t count) {
  groups_ = first == 0 ? 1 : groups_ + 1;
  label_ = label(first, count);
  columns_.clear();
  for (std::int64_t j = first; j < first + count; ++j) {
    const double rhs_norm = nrm2(device::cpu(1), system_.block_of_b().column(j));
    columns_.push_back(
        {rhs_norm, std::max(request_.relative_tolerance() * rhs_norm, request_.options.goal.atol)});
  }
  with_table_ = run_ == 0 && groups_ <= groups_with_table && log_.level() >= verbosity::normal;
  clock_ = stopwatch();
  last_seen_ = -1;
  last_row_ = -1;
  next_power_ = 0;
  next_time_ = 1;
}

bool solve_watch::iteration(const iteration_record& record) {
  if (record.iteration <= last_seen_) return goes_on();
  last_seen_ = record.iteration;
  const bool row_due = with_table_ && (record.iteration >= next_power_ || clock_.seconds() >= next_time_);
  if (row_due) {
    progress_.erase();
    print_row(record);
  }
  if (progress_.due()) {
    const watched_column& column = columns_[static_cast<std::size_t>(record.column)];
    const double goal = relative({record.iteration, column.tolerance, record.column});
    progress_.show(fmt::format("{}{}iteration {}, residual {:.2e} of {:.2e}, {:.0f} s", label_,
                               label_.empty() ? "" : ", ", record.iteration, relative(record), goal,
                               clock_.seconds()));
  }
  return goes_on();
}

void solve_watch::end(std::span<const solve_report> reports) {
  progress_.erase();
  const auto longest = std::max_element(
      reports.begin(), reports.end(),
      [](const solve_report& a, const solve_report& b) { return a.iterations < b.iterations; });
  const double residual =
      std::isnan(longest->recurrence_residual) ? longest->true_residual : longest->recurrence_residual;
  if (with_table_ && longest->iterations > last_row_ && !std::isnan(residual))
    print_row({longest->iterations, residual, longest - reports.begin()});
}

double solve_watch::relative(const iteration_record& record) const {
  const double rhs_norm = columns_[static_cast<std::size_t>(record.column)].rhs_norm;
  return rhs_norm > 0 ? record.residual / rhs_norm : record.residual;
}

void solve_watch::print_row(const iteration_record& record) {
  const double seconds = clock_.seconds();
  if (last_row_ < 0) {  // a system that is refused has no table
    if (!label_.empty()) log_.line(fmt::format("\n{}", label_));
    log_.line(fmt::format("\n{:>12}{:>14}{:>14}{:>11}", "iteration", "residual", "relative", "time"));
  }
  log_.line(fmt::format("{:>12}{:>14.3e}{:>14.3e}{:>9.2f} s", record.iteration, record.residual,
                        relative(record), seconds));
  last_row_ = record.iteration;
  while (next_power_ <= record.iteration) next_power_ = std::max<std::int64_t>(1, 10 * next_power_);
  next_time_ = seconds + std::max(1.0, seconds / 20);
}

}  // namespace vouch::cli
