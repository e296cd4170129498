// cli/solve_watch.hpp -- follows a running solve: table of residuals, progress line, Ctrl-C.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <vouch/solve/options.hpp>

#include "console.hpp"
#include "solve_request.hpp"

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
/// The first run has a table for each of the first few groups of columns, all else a line at most.
class solve_watch : public solve_observer {
 public:
  solve_watch(const console& log, const solve_request& request, const linear_system& system);

  /// Which of --repeat runs comes next, from 0.
  void begin_run(std::int64_t run) { run_ = run; }
  /// Before others write to the log.
  void make_room() { progress_.erase(); }
  void begin(std::int64_t first, std::int64_t count) override;
  /// False once a signal has come.
  bool iteration(const iteration_record& record) override;
  void end(std::span<const solve_report> reports) override;

 private:
  std::string label(std::int64_t first, std::int64_t count) const;
  double relative(const iteration_record& record) const;
  void print_row(const iteration_record& record);

  const console& log_;
  const solve_request& request_;
  const linear_system& system_;
  std::int64_t run_ = 0;
  std::int64_t groups_ = 0;  // that have begun in this run
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
