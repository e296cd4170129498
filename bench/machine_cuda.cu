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

double cuda_copy_speed(const device& gpu, std::byte* to, const std::byte* from, std::size_t bytes, int passes) {
  const auto stream = static_cast<cudaStream_t>(gpu.stream());
  const double seconds = cuda_seconds(gpu, passes, [&] {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
  });
  return 2 * static_cast<double>(bytes) / seconds;
}

}  // namespace vouch::bench
