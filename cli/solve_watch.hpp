// cli/solve_watch.hpp -- follows a running solve: table of residuals, progress line, Ctrl-C.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <vouch/solve/report.hpp>

#include "console.hpp"

namespace vouch::cli {

/// What a column's residuals are held against.
struct watched_column {
  double rhs_norm = 0;
  double tolerance = 0;
};

/// Where several columns are solved at once their records are told apart by iteration_record::column; a line
/// shows the first column of those that have come farthest.
///
/// Lines of the table come at the powers of ten and by time: one a second, fewer when a solve takes long.
class solve_watch {
 public:
  explicit solve_watch(const console& log);

  /// A solve begins. label: "" or which one of several; the first of a kind has a table, others a line at most.
  void begin(std::vector<watched_column> columns, const std::string& label, bool with_table);
  /// The solver's monitor; false once a signal has come.
  bool see(const iteration_record& record);
  /// All columns have ended: the last line of the table.
  void end(const std::vector<solve_report>& reports);

 private:
  double relative(const iteration_record& record) const;
  void print_row(const iteration_record& record);

  const console& log_;
  progress_line progress_;
  stopwatch clock_;
  std::string label_;
  std::vector<watched_column> columns_;
  bool with_table_ = false;
  std::int64_t last_seen_ = -1;
  std::int64_t last_row_ = -1;
  std::int64_t next_power_ = 0;
  double next_time_ = 0;
};

}  // namespace vouch::cli
