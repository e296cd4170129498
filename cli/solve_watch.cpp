#include "solve_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "interrupt.hpp"

namespace vouch::cli {

solve_watch::solve_watch(const console& log) : log_(log), progress_(log) {}

void solve_watch::begin(std::vector<watched_column> columns, const std::string& label, bool with_table) {
  label_ = label;
  columns_ = std::move(columns);
  with_table_ = with_table && log_.level() >= verbosity::normal;
  clock_ = stopwatch();
  last_seen_ = -1;
  last_row_ = -1;
  next_power_ = 0;
  next_time_ = 1;
}

namespace {

// Whether to go on. A solver that hears of a signal returns what it has, which is worth waiting for.
bool goes_on() {
  if (interrupt_signal() == 0) return true;
  finish_in_peace();
  return false;
}

}  // namespace

bool solve_watch::see(const iteration_record& record) {
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

void solve_watch::end(const std::vector<solve_report>& reports) {
  progress_.erase();
  const auto longest = std::max_element(
      reports.begin(), reports.end(),
      [](const solve_report& a, const solve_report& b) { return a.iterations < b.iterations; });
  if (with_table_ && longest->iterations > last_row_)
    print_row({longest->iterations,
               std::isnan(longest->recurrence_residual) ? longest->true_residual : longest->recurrence_residual,
               longest - reports.begin()});
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
