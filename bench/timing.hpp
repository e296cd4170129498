// bench/timing.hpp -- the seconds of a piece of work that is repeated.
#pragma once
#include <algorithm>
#include <chrono>
#include <limits>

namespace vouch::bench {

/// Seconds of one body(), the best of as many batches as fit the budget and at least one, after one call that
/// warms up. wait() ends what body() has only begun; batches last a millisecond or more.
template <class Body, class Wait>
double best_seconds(double budget, Body&& body, Wait&& wait) {
  using clock = std::chrono::steady_clock;
  const auto since = [](clock::time_point t) {
    return std::chrono::duration<double>(clock::now() - t).count();
  };
  constexpr double shortest = 1e-3;
  body();
  wait();
  const auto begin = clock::now();
  double best = std::numeric_limits<double>::infinity();
  int batch = 1;
  do {
    const auto start = clock::now();
    for (int k = 0; k < batch; ++k) body();
    wait();
    const double seconds = since(start);
    best = std::min(best, seconds / batch);
    if (seconds < shortest) batch *= 4;
  } while (since(begin) < budget);
  return best;
}

/// Seconds of one call.
template <class Body>
double seconds_of(Body body) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  body();
  return std::chrono::duration<double>(clock::now() - start).count();
}

}  // namespace vouch::bench
