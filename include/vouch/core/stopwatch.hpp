// vouch/core/stopwatch.hpp -- elapsed time.
#pragma once
#include <chrono>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Seconds since it was made.
class stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace vouch
