// bench/peers/cuda_peer.cuh -- what peers on a GPU share: errors as exceptions, memory that frees itself, a
// clock.
#pragma once
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace vouch::peer {

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}
inline void check(cublasStatus_t code, const char* what) {
  if (code != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cublasGetStatusString(code));
}
inline void check(cusparseStatus_t code, const char* what) {
  if (code != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cusparseGetErrorString(code));
}

template <class T>
class buffer {
 public:
  explicit buffer(std::size_t size) {
    check(cudaMalloc(&data_, std::max<std::size_t>(size, 1) * sizeof(T)), "cudaMalloc");
  }
  ~buffer() { cudaFree(data_); }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  T* data() { return data_; }
  void fill_from(const void* host, std::size_t size) {
    check(cudaMemcpy(data_, host, size * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }

 private:
  T* data_ = nullptr;
};

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace vouch::peer
