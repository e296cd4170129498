// vouch/core/event_timer.cuh -- the time of kernels on a stream, by events.
#pragma once
#include <cuda_runtime.h>

#include <vouch/core/check.cuh>
#include <vouch/core/device.hpp>

namespace vouch {

class event_timer {
 public:
  explicit event_timer(const device& gpu) : stream_(static_cast<cudaStream_t>(gpu.stream())) {
    check(cudaSetDevice(gpu.index()), "cudaSetDevice");
    for (cudaEvent_t& e : event_) check(cudaEventCreate(&e), "cudaEventCreate");
  }
  ~event_timer() {
    for (cudaEvent_t& e : event_) cudaEventDestroy(e);
  }
  event_timer(const event_timer&) = delete;
  event_timer& operator=(const event_timer&) = delete;

  /// 0 where it begins, 1 where it ends.
  void mark(int which) { check(cudaEventRecord(event_[which], stream_), "cudaEventRecord"); }
  double seconds() const {
    check(cudaEventSynchronize(event_[1]), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, event_[0], event_[1]), "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t event_[2] = {};
};

}  // namespace vouch
