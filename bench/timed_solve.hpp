// bench/timed_solve.hpp -- one system solved through the front door, with a limit on its time.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

#include <vouch/solve/options.hpp>

#include "suite.hpp"
#include "test_systems.hpp"

namespace vouch::bench {

struct timed_solve {
  std::string what;                                          // "cg, jacobi"
  double seconds = std::numeric_limits<double>::infinity();  // of a solve that converged
  std::string end;  // else how it ended; "refused" where it does not apply
  std::int64_t iterations = 0;
  double residual = std::numeric_limits<double>::quiet_NaN();  // true, relative, of the x returned
};

/// "cg, jacobi 1.2 ms", or how it ended.
std::string text_of(const timed_solve& solve);

/// From the matrix in memory to the checked solution, by a new solver, from a start of zero; asked to end once `limit`
/// seconds are over. The best of several (suite.repeat, else up to nine) where one is short.
timed_solve best_solve(const suite_options& suite, const test_system& system, const bench_device& d,
                       const solve_options& options, double limit);

}  // namespace vouch::bench
