// Jacobi as a user writes it over cuBLAS gemv, and LU by cuSOLVER.
#include "cuda_dense.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>

#include "cuda_peer.cuh"

namespace {

using vouch::peer::buffer;
using vouch::peer::check;
using vouch::peer::now;

void check(cusolverStatus_t code, const char* what) {
  if (code != CUSOLVER_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": cuSOLVER status " + std::to_string(static_cast<int>(code)));
}

struct libraries {
  cudaStream_t stream = nullptr;
  cublasHandle_t blas = nullptr;
  cusolverDnHandle_t solver = nullptr;
  libraries() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cublasCreate(&blas), "cublasCreate");
    check(cublasSetStream(blas, stream), "cublasSetStream");
    check(cusolverDnCreate(&solver), "cusolverDnCreate");
    check(cusolverDnSetStream(solver, stream), "cusolverDnSetStream");
  }
};

template <class T>
__global__ void divide_and_add(long long n, const T* A, const T* r, T* x) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] += r[i] / A[i * n + i];
}

cublasStatus_t residual(cublasHandle_t h, int n, const float* A, const float* x, float* r) {
  const float minus = -1, one = 1;
  return cublasSgemv(h, CUBLAS_OP_T, n, n, &minus, A, n, x, 1, &one, r, 1);
}
cublasStatus_t residual(cublasHandle_t h, int n, const double* A, const double* x, double* r) {
  const double minus = -1, one = 1;
  return cublasDgemv(h, CUBLAS_OP_T, n, n, &minus, A, n, x, 1, &one, r, 1);
}
cublasStatus_t norm(cublasHandle_t h, int n, const float* r, float* result) {
  return cublasSnrm2(h, n, r, 1, result);
}
cublasStatus_t norm(cublasHandle_t h, int n, const double* r, double* result) {
  return cublasDnrm2(h, n, r, 1, result);
}

template <class T>
double time_sweeps(libraries& with, const vouch_peer_dense& system, int sweeps) {
  const int n = static_cast<int>(system.n);
  const auto* A = static_cast<const T*>(system.A);
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  buffer<T> x(static_cast<std::size_t>(n)), r(static_cast<std::size_t>(n));
  check(cudaMemsetAsync(x.data(), 0, bytes, with.stream), "cudaMemset");
  T length{};
  const double begin = now();
  for (int k = 0; k < sweeps; ++k) {
    check(cudaMemcpyAsync(r.data(), system.b, bytes, cudaMemcpyDeviceToDevice, with.stream), "cudaMemcpy");
    check(residual(with.blas, n, A, x.data(), r.data()), "gemv");
    divide_and_add<<<(n + 255) / 256, 256, 0, with.stream>>>(system.n, A, r.data(), x.data());
    check(norm(with.blas, n, r.data(), &length), "nrm2");
  }
  check(cudaStreamSynchronize(with.stream), "waiting");
  return (now() - begin) / sweeps;
}

template <class T>
double time_lu(libraries& with, const vouch_peer_dense& system) {
  const std::int64_t n = system.n;
  const cudaDataType type = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;
  buffer<T> A(static_cast<std::size_t>(n * n)), x(static_cast<std::size_t>(n));
  buffer<std::int64_t> pivots(static_cast<std::size_t>(n));
  buffer<int> info(1);
  std::size_t device_bytes = 0, host_bytes = 0;
  check(cusolverDnXgetrf_bufferSize(with.solver, nullptr, n, n, type, A.data(), n, type, &device_bytes,
                                    &host_bytes),
        "getrf_bufferSize");
  buffer<char> work(device_bytes);
  std::string host(host_bytes, '\0');
  double best = std::numeric_limits<double>::max();
  for (int k = 0; k < 2; ++k) {
    check(cudaMemcpyAsync(A.data(), system.A, static_cast<std::size_t>(n * n) * sizeof(T),
                          cudaMemcpyDeviceToDevice, with.stream),
          "cudaMemcpy");
    check(cudaMemcpyAsync(x.data(), system.b, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDeviceToDevice,
                          with.stream),
          "cudaMemcpy");
    check(cudaStreamSynchronize(with.stream), "waiting");
    const double begin = now();
    check(cusolverDnXgetrf(with.solver, nullptr, n, n, type, A.data(), n, pivots.data(), type, work.data(),
                           device_bytes, host.data(), host_bytes, info.data()),
          "getrf");
    check(cusolverDnXgetrs(with.solver, nullptr, CUBLAS_OP_T, n, 1, type, A.data(), n, pivots.data(), type,
                           x.data(), n, info.data()),
          "getrs");
    check(cudaStreamSynchronize(with.stream), "waiting");
    best = std::min(best, now() - begin);
  }
  return best;
}

template <class T>
void run(libraries& with, const vouch_peer_dense& system, int sweeps, int repeats, int with_lu,
         vouch_peer_dense_answer& answer) {
  time_sweeps<T>(with, system, 3);
  answer.sweep_seconds = std::numeric_limits<double>::max();
  for (int k = 0; k < repeats; ++k)
    answer.sweep_seconds = std::min(answer.sweep_seconds, time_sweeps<T>(with, system, sweeps));
  if (with_lu != 0) answer.lu_seconds = time_lu<T>(with, system);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int vouch_peer_cuda_dense(int device,
                                                                            const vouch_peer_dense* system,
                                                                            int sweeps, int repeats,
                                                                            int with_lu,
                                                                            vouch_peer_dense_answer* answer) {
  *answer = {};
  try {
    check(cudaSetDevice(device), "cudaSetDevice");
    static libraries with;
    if (system->is_double)
      run<double>(with, *system, sweeps, repeats, with_lu, *answer);
    else
      run<float>(with, *system, sweeps, repeats, with_lu, *answer);
    return 0;
  } catch (const std::exception& e) {
    std::snprintf(answer->message, sizeof answer->message, "%s", e.what());
    return 1;
  }
}
