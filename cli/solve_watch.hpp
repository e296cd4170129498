// cli/solve_watch.hpp -- follows a running solve: table of residuals, progress line, Ctrl-C.
#pragma once
#include <cstdint>
#include <string>

#include <vouch/solve/report.hpp>

#include "console.hpp"

namespace vouch::cli {

/// Lines of the table come at the powers of ten and by time: one a second, fewer when a solve takes long.
class solve_watch {
 public:
  explicit solve_watch(const console& log);

  /// A solve begins. label: "" or which one of several; the first of a kind has a table, others a line at most.
  void begin(double rhs_norm, double tolerance, const std::string& label, bool with_table);
  /// The solver's monitor; false once a signal has come.
  bool see(const iteration_record& record);
  /// It has ended: the last line of the table.
  void end(const solve_report& report);

 private:
  double relative(double residual) const;
  void print_row(std::int64_t iteration, double residual);

  const console& log_;
  progress_line progress_;
  stopwatch clock_;
  std::string label_;
  double rhs_norm_ = 0;
  double tolerance_ = 0;
  bool with_table_ = false;
  std::int64_t last_row_ = -1;
  std::int64_t next_power_ = 0;
  double next_time_ = 0;
};

}  // namespace vouch::cli
