// vouch/core/check.cuh -- the one place where a CUDA error code becomes an exception.
#pragma once
#include <cuda_runtime.h>

#include <string>

#include <vouch/core/error.hpp>

namespace vouch {

inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // a sticky error stays; any other is taken off the next caller's plate
  throw device_error(std::string(what) + ": " + cudaGetErrorString(code), static_cast<int>(code));
}

}  // namespace vouch
