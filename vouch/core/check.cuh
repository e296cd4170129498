// vouch/core/check.cuh -- the one place where a CUDA error code becomes an exception.
#pragma once
#include <cuda_runtime.h>

namespace vouch {

/// Throws  device_error  "what: " and the code's text
[[noreturn]] void throw_device_error(cudaError_t code, const char* what);

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw_device_error(code, what);
}

}  // namespace vouch
