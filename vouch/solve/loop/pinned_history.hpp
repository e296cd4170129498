// vouch/solve/loop/pinned_history.hpp -- how a kernel that runs the whole solve communicates with the host; private.
#pragma once
#include <bit>
#include <cstdint>
#include <functional>

#include <vouch/core/types.hpp>
#include <vouch/solve/loop/inner_solver.hpp>

namespace vouch {

/// Place of a recorded iteration (history_rule) in a dense buffer; -1 for one that is not recorded.
VOUCH_HOST_DEVICE inline std::int64_t history_slot(std::int64_t iteration) {
  constexpr std::int64_t dense = std::int64_t{1} << 14;
  if (iteration < dense) return iteration;
#if defined(__CUDA_ARCH__)
  const int octave = 49 - __clzll(iteration);
#else
  const int octave = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(iteration))) - 15;
#endif
  if (iteration & ((std::int64_t{2} << octave) - 1)) return -1;
  return dense + octave * (dense / 2) + ((iteration - (dense << octave)) >> (octave + 1));
}

/// Pinned host memory that both sides see. The kernel writes; only stop is the host's.
struct pinned_history {
  static constexpr std::int64_t slots = (std::int64_t{1} << 14) + 30 * (std::int64_t{1} << 13);
  double residual_squared[slots];
  /// Steps of conjugate gradients, the last `steps` of them: what the host has not read by then is lost to it.
  static constexpr std::int64_t steps = std::int64_t{1} << 14;
  struct alignas(16) {
    double alpha, beta;
  } step[steps];
  std::int64_t progress;  // iterations below this are in residual_squared
  std::int32_t stop;      // the host asks the kernel to end
  std::int32_t event;     // solver_event at the end
  std::int64_t iterations;
  double last_squared;
  double mean_change;  // of sweeps: of an element of the solution in the last one
};

}  // namespace vouch
