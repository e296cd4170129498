// bench/iteration_time.hpp -- the seconds of one iteration of a solver.
#pragma once
#include <algorithm>
#include <cstdint>

#include <vouch/core/memory.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>

#include "system_of_ones.hpp"

namespace vouch::bench {

/// By the difference of two counts: what a solve does before and after its iterations does not show. The best of
/// `times`; solve() takes the criterion and gives the report.
template <real T, class Solve>
double seconds_an_iteration(system_of_ones<T>& s, int times, const Solve& solve) {
  constexpr std::int64_t few = 50, many = 250;
  const auto seconds = [&](std::int64_t count) {
    zero_bytes(s.x.where(), s.x.data(), static_cast<std::size_t>(s.x.size()) * sizeof(T));
    stopping_criterion goal;
    goal.fixed_iterations = count;
    const solve_report report = solve(goal);
    return report.solve_seconds;
  };
  seconds(few);
  double least = seconds(few), most = seconds(many);
  for (int k = 1; k < times; ++k) {
    least = std::min(least, seconds(few));
    most = std::min(most, seconds(many));
  }
  return (most - least) / static_cast<double>(many - few);
}

}  // namespace vouch::bench
