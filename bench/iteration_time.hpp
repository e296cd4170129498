// bench/iteration_time.hpp -- the seconds of one iteration of a solver.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include <vouch/core/memory.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>

#include "system_of_ones.hpp"

namespace vouch::bench {

/// By the difference of two counts, of iterations that were done: what a solve does before and after its iterations does
/// not show. Small systems have nothing left to iterate on soon behind. The best of `times`; solve() takes the criterion
/// and gives the report.
template <real T, class Solve>
double seconds_an_iteration(system_of_ones<T>& s, int times, const Solve& solve) {
  constexpr std::int64_t few = 30, many = 60;  // one cycle of GMRES, and two
  struct timed {
    double seconds;
    std::int64_t iterations;
  };
  const auto run = [&](std::int64_t count) -> timed {
    zero_bytes(s.x.where(), s.x.data(), static_cast<std::size_t>(s.x.size()) * sizeof(T));
    stopping_criterion goal;
    goal.fixed_iterations = count;
    const solve_report report = solve(goal);
    return {report.solve_seconds, report.iterations};
  };
  run(few);
  timed least = run(few), most = run(many);
  for (int k = 1; k < times; ++k) {
    least.seconds = std::min(least.seconds, run(few).seconds);
    most.seconds = std::min(most.seconds, run(many).seconds);
  }
  const std::int64_t between = most.iterations - least.iterations;  // none where the system ends before
  return between > 0 ? (most.seconds - least.seconds) / static_cast<double>(between)
                     : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace vouch::bench
