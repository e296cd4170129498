// vouch/solve/device_history.cuh -- the mailbox in pinned memory and the host's side of the talk; private.
#pragma once
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include <vouch/core/check.cuh>
#include <vouch/core/device.hpp>
#include <vouch/solve/device_history.hpp>

namespace vouch {

/// Iterations between two looks at the stop flag and two reports of progress; a power of two.
inline constexpr std::int64_t mailbox_interval = 512;

inline std::shared_ptr<device_mailbox> make_mailbox() {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, sizeof(device_mailbox), cudaHostAllocMapped | cudaHostAllocPortable),
        "allocating pinned memory");
  return {static_cast<device_mailbox*>(memory), [](device_mailbox* m) { cudaFreeHost(m); }};
}

/// Hands new history to the log until the work on dev's stream is done; passes on the wish to stop.
///
/// The host never waits inside an iteration: it polls, and sleeps between polls once the solve is a long one.
inline void follow(const device& dev, device_mailbox& box, cg_log& log) {
  using clock = std::chrono::steady_clock;
  const auto stream = static_cast<cudaStream_t>(dev.stream());
  const auto start = clock::now();
  std::int64_t noted = 0;
  const auto deliver = [&](std::int64_t until) {
    for (; noted < until; ++noted) {
      const std::int64_t slot = history_slot(noted);
      if (slot < 0) continue;
      if (!log.note(noted, std::sqrt(box.residual_squared[slot])))
        *static_cast<volatile std::int32_t*>(&box.stop) = 1;
    }
  };
  for (;;) {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state != cudaErrorNotReady) {
      check(state, "conjugate gradients");
      break;
    }
    deliver(*static_cast<volatile std::int64_t*>(&box.progress));
    if (clock::now() - start > std::chrono::milliseconds(2))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  deliver(box.iterations + 1);
}

}  // namespace vouch
