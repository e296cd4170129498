#include <cuda_runtime.h>

#include <vouch/core/device_cuda.hpp>
#include <vouch/core/reach_cuda.hpp>

namespace vouch {

bool cuda_reachable(const device& dev, const void* p) {
  const bool unused = !dev.is_cuda() && cuda_peak_bytes() == 0;
  if (p == nullptr || unused) return true;
  cudaPointerAttributes facts = {};
  if (cudaPointerGetAttributes(&facts, p) != cudaSuccess) {
    cudaGetLastError();
    return true;
  }
  if (facts.type == cudaMemoryTypeDevice) return dev.is_cuda() && facts.device == dev.index();
  return !dev.is_cuda() || facts.type != cudaMemoryTypeUnregistered;
}

}  // namespace vouch
