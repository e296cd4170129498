// bench/fastest.hpp -- the fastest of as many runs as the suite's options ask for.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "suite.hpp"
#include "timing.hpp"

namespace vouch::bench {

/// Seconds of the fastest of several calls, after one that warms the caches up: options.repeat of them, else
/// three and more until they have taken a second, nine at most.
template <class Body>
double fastest(const suite_options& options, Body body) {
  double best = std::numeric_limits<double>::infinity(), spent = 0;
  const std::int64_t least = options.repeat > 0 ? options.repeat : 3, most = options.repeat > 0 ? least : 9;
  body();
  for (std::int64_t k = 0; k < most && (k < least || spent < 1) && !options.stop(); ++k) {
    const double seconds = seconds_of(body);
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

}  // namespace vouch::bench
