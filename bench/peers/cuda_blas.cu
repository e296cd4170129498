// Plain BLAS by cuBLAS, timed with the data on the GPU.
#include "cuda_blas.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <string>

#include "../timing.hpp"
#include "cuda_peer.cuh"

namespace {

using vouch::peer::buffer;
using vouch::peer::check;

// Numbers in [-1/2, 1/2), all bits in use: the power that a product draws depends on them.
template <class T>
__global__ void fill(T* x, long long n, unsigned long long seed) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) {
    unsigned long long z = (static_cast<unsigned long long>(i) + seed) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    x[i] = static_cast<T>(static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53 - 0.5);
  }
}

// Numbers at random in memory of their own.
template <class T>
class operand : public buffer<T> {
 public:
  operand(long long size, unsigned long long seed) : buffer<T>(static_cast<std::size_t>(size)) {
    fill<<<1024, 256>>>(this->data(), size, seed);
    check(cudaGetLastError(), "fill");
  }
};

class handle {
 public:
  handle() { check(cublasCreate(&value), "cublasCreate"); }
  ~handle() { cublasDestroy(value); }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  cublasHandle_t value = nullptr;
};

cublasStatus_t axpy(cublasHandle_t h, long long n, float a, const float* x, float* y) {
  return cublasSaxpy_64(h, n, &a, x, 1, y, 1);
}
cublasStatus_t axpy(cublasHandle_t h, long long n, double a, const double* x, double* y) {
  return cublasDaxpy_64(h, n, &a, x, 1, y, 1);
}
cublasStatus_t dot(cublasHandle_t h, long long n, const float* x, const float* y, float* result) {
  return cublasSdot_64(h, n, x, 1, y, 1, result);
}
cublasStatus_t dot(cublasHandle_t h, long long n, const double* x, const double* y, double* result) {
  return cublasDdot_64(h, n, x, 1, y, 1, result);
}
cublasStatus_t gemv(cublasHandle_t h, long long n, const float* a, const float* x, float* y) {
  const float one = 1;
  return cublasSgemv_64(h, CUBLAS_OP_N, n, n, &one, a, n, x, 1, &one, y, 1);
}
cublasStatus_t gemv(cublasHandle_t h, long long n, const double* a, const double* x, double* y) {
  const double one = 1;
  return cublasDgemv_64(h, CUBLAS_OP_N, n, n, &one, a, n, x, 1, &one, y, 1);
}
cublasStatus_t gemm(cublasHandle_t h, long long n, const float* a, const float* b, float* c) {
  const float one = 1;
  return cublasSgemm_64(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &one, c, n);
}
cublasStatus_t gemm(cublasHandle_t h, long long n, const double* a, const double* b, double* c) {
  const double one = 1;
  return cublasDgemm_64(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &one, c, n);
}
cublasStatus_t transpose(cublasHandle_t h, long long n, const float* a, float* b) {
  const float one = 1, zero = 0;
  return cublasSgeam_64(h, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, a, n, &zero, b, n, b, n);
}
cublasStatus_t transpose(cublasHandle_t h, long long n, const double* a, double* b) {
  const double one = 1, zero = 0;
  return cublasDgeam_64(h, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, a, n, &zero, b, n, b, n);
}

template <class T>
double seconds_of(int routine, long long n) {
  const bool product = routine == vouch_peer_gemm, transposed = routine == vouch_peer_transpose;
  operand<T> a(product || transposed || routine == vouch_peer_gemv ? n * n : 0, 1);
  operand<T> x(product ? n * n : n, 2), y(product || transposed ? n * n : n, 3);
  handle h;
  T sum = 0;
  constexpr double budget = 0.05;
  return vouch::bench::best_seconds(
      budget,
      [&] {
        cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
        if (routine == vouch_peer_axpy) status = axpy(h.value, n, T(0.5), x.data(), y.data());
        if (routine == vouch_peer_dot) status = dot(h.value, n, x.data(), y.data(), &sum);
        if (routine == vouch_peer_gemv) status = gemv(h.value, n, a.data(), x.data(), y.data());
        if (product) status = gemm(h.value, n, a.data(), x.data(), y.data());
        if (transposed) status = transpose(h.value, n, a.data(), y.data());
        check(status, "cuBLAS");
      },
      [] { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int vouch_peer_cuda_blas(int device, int routine,
                                                                           int is_double, long long n,
                                                                           vouch_peer_blas_answer* answer) {
  *answer = {};
  try {
    check(cudaSetDevice(device), "cudaSetDevice");
    answer->seconds = is_double ? seconds_of<double>(routine, n) : seconds_of<float>(routine, n);
    return 0;
  } catch (const std::exception& e) {
    cudaGetLastError();
    std::snprintf(answer->message, sizeof answer->message, "%s", e.what());
    return 1;
  }
}
