#include "machine_cuda.hpp"

#include <algorithm>
#include <limits>

#include <vouch/core/event_timer.cuh>

namespace vouch::bench {

double cuda_seconds(const device& gpu, int passes, const std::function<void()>& enqueue) {
  event_timer clock(gpu);
  double best = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass <= passes; ++pass) {
    clock.mark(0);
    enqueue();
    clock.mark(1);
    const double seconds = clock.seconds();
    if (pass > 0) best = std::min(best, seconds);
  }
  return best;
}

void enqueue_copy(const device& gpu, std::byte* to, const std::byte* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(gpu.stream())),
        "cudaMemcpyAsync");
}

double cuda_copy_speed(const device& gpu, std::byte* to, const std::byte* from, std::size_t bytes, int passes) {
  const double seconds = cuda_seconds(gpu, passes, [&] { enqueue_copy(gpu, to, from, bytes); });
  return 2 * static_cast<double>(bytes) / seconds;
}

}  // namespace vouch::bench
