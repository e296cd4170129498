// cli/solve_column.hpp -- one system made ready on a device in a precision, to be solved for any columns.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/goal.hpp>
#include <vouch/solve/report.hpp>

#include "solve_request.hpp"
#include "solve_system.hpp"

namespace vouch::cli {

/// Seconds spent; every part of a run belongs to one of them.
struct solve_times {
  double setup = 0;
  double transfer = 0;
  double solve = 0;  // verification included
};

/// What an entry of a dense matrix takes on a GPU, all copies counted: as sent, in the form in which it is
/// read, what the method makes besides.
std::int64_t dense_bytes_on_gpu(const solve_request& request);

class column_solver {
 public:
  virtual ~column_solver() = default;
  /// How many columns it is best given at once.
  virtual std::int64_t at_once() const = 0;
  /// Solves for up to at_once() columns, which lie one after another in b and x, on the CPU; x holds the starts
  /// and receives the results. A report for each column.
  virtual std::vector<solve_report> solve(std::int64_t columns, view<const double> b, view<double> x,
                                          const solve_goal& goal, solve_times& times) = 0;
  /// Whether what was solved differs from what was read: the matrix, or the right-hand sides of the last call.
  virtual bool rounds() const = 0;
};

/// Rounds and copies the matrix as the precision and the device want it and sets the preconditioner up.
///
/// Memory  system must outlive the result.
/// Throws  value_error  the preconditioner refuses the matrix, a value overflows the precision: names the file
std::unique_ptr<column_solver> make_column_solver(const solve_request& request, const linear_system& system,
                                                  const device& cpu, const device& dev, solve_times& times);

/// Runs work and adds the seconds that it took.
template <class Work>
void timed(double& seconds, const Work& work) {
  const stopwatch clock;
  work();
  seconds += clock.seconds();
}

}  // namespace vouch::cli
