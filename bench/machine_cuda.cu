#include "machine_cuda.hpp"

#include <algorithm>

#include <vouch/core/check.cuh>

namespace vouch::bench {
namespace {

class event {
 public:
  event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~event() { cudaEventDestroy(event_); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  /// Seconds from the earlier event, once this one has happened.
  double seconds_since(const event& earlier) const {
    check(cudaEventSynchronize(event_), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

double cuda_copy_speed(const device& gpu, std::byte* to, const std::byte* from, std::size_t bytes, int passes) {
  check(cudaSetDevice(gpu.index()), "cudaSetDevice");
  const auto stream = static_cast<cudaStream_t>(gpu.stream());
  event begin, end;
  double best = 0;
  for (int pass = 0; pass <= passes; ++pass) {  // the first one warms up
    begin.record(stream);
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
    end.record(stream);
    const double seconds = end.seconds_since(begin);
    if (pass > 0) best = std::max(best, 2 * static_cast<double>(bytes) / seconds);
  }
  return best;
}

}  // namespace vouch::bench
