#include "solve_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interrupt.hpp"

namespace vouch::cli {

solve_watch::solve_watch(const console& log) : log_(log), progress_(log) {}

void solve_watch::begin(double rhs_norm, double tolerance, const std::string& label, bool with_table) {
  label_ = label;
  rhs_norm_ = rhs_norm;
  tolerance_ = tolerance;
  with_table_ = with_table && log_.level() >= verbosity::normal;
  clock_ = stopwatch();
  last_row_ = -1;
  next_power_ = 0;
  next_time_ = 1;
  if (!with_table_) return;
  if (!label.empty()) log_.line(fmt::format("\n{}", label));
  log_.line(fmt::format("\n{:>12}{:>14}{:>14}{:>11}", "iteration", "residual", "relative", "time"));
}

bool solve_watch::see(const iteration_record& record) {
  const bool row_due = with_table_ && (record.iteration >= next_power_ || clock_.seconds() >= next_time_);
  if (row_due) {
    progress_.erase();
    print_row(record.iteration, record.residual);
  }
  if (progress_.due())
    progress_.show(fmt::format("{}{}iteration {}, residual {:.2e} of {:.2e}, {:.0f} s", label_,
                               label_.empty() ? "" : ", ", record.iteration, relative(record.residual),
                               relative(tolerance_), clock_.seconds()));
  return interrupt_signal() == 0;
}

void solve_watch::end(const solve_report& report) {
  progress_.erase();
  if (with_table_ && report.iterations > last_row_) print_row(report.iterations, report.recurrence_residual);
}

double solve_watch::relative(double residual) const { return rhs_norm_ > 0 ? residual / rhs_norm_ : residual; }

void solve_watch::print_row(std::int64_t iteration, double residual) {
  const double seconds = clock_.seconds();
  log_.line(
      fmt::format("{:>12}{:>14.3e}{:>14.3e}{:>9.2f} s", iteration, residual, relative(residual), seconds));
  last_row_ = iteration;
  while (next_power_ <= iteration) next_power_ = std::max<std::int64_t>(1, 10 * next_power_);
  next_time_ = seconds + std::max(1.0, seconds / 20);
}

}  // namespace vouch::cli
