// vouch/solve/dense_engine_cuda.cuh -- what the engines of dense sweeps on a GPU share; private.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <limits>

#include <vouch/core/check.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/solve/dense_engines.hpp>
#include <vouch/solve/device_history.cuh>
#include <vouch/solve/sweep_progress.hpp>

namespace vouch::dense_engine {

/// Bytes of dynamic shared memory that a block of the kernel may have, from now on.
template <class Kernel>
std::int64_t shared_room(const device& dev, Kernel kernel, const char* name) {
  cudaFuncAttributes facts{};
  check(cudaFuncGetAttributes(&facts, reinterpret_cast<const void*>(kernel)), name);
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, dev.index()), name);
  most -= static_cast<int>(facts.sharedSizeBytes);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most), name);
  return most;
}

/// Stages below this many bytes do not keep the memory busy.
inline constexpr std::int64_t least_ring = 48 << 10;

/// Iterations between two looks at the mailbox: about two milliseconds, a power of two.
inline std::int64_t iterations_between_looks(std::int64_t bytes) {
  constexpr double bytes_in_a_look = 8e9;
  std::int64_t count = 512;
  while (count > 1 && static_cast<double>(count) * static_cast<double>(bytes) > bytes_in_a_look) count /= 2;
  return count;
}

template <class T>
sweep_progress progress_of(const cg_rule& rule, double trigger, bool by_residual, std::int64_t n) {
  sweep_progress progress;
  progress.trigger = trigger;
  progress.diverged = rule.diverged_squared;
  progress.mean_change = rule.mean_change;
  progress.rounding = by_residual ? 64.0 * static_cast<double>(std::numeric_limits<T>::epsilon()) : 0.0;
  progress.limit = rule.limit;
  progress.unknowns = n;
  return progress;
}

// to[i] = i < n ? from[i] : 0.
template <class T>
__global__ void __launch_bounds__(256)
    copy_padded(const T* __restrict__ from, std::int64_t n, T* __restrict__ to, std::int64_t padded) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < padded) to[i] = i < n ? from[i] : T{};
}

/// A vector of a kernel that needs all `padded` elements: the caller's own where there are as many.
template <class T>
class padded_vector {
 public:
  padded_vector(const device& dev, std::int64_t n, std::int64_t padded)
      : dev_(dev), n_(n), padded_(padded), own_(dev, n == padded ? 0 : padded) {}

  T* of(T* given) { return n_ == padded_ ? given : own_.data(); }
  void bring(const T* given) {
    if (n_ != padded_) copy(given, n_, own_.data(), padded_);
  }
  void take_back(T* given) {
    if (n_ != padded_) copy(own_.data(), n_, given, n_);
  }

 private:
  void copy(const T* from, std::int64_t n, T* to, std::int64_t padded) {
    launch(dev_, "copy_padded", {ceil_div<std::int64_t>(padded, 256), 256}, copy_padded<T>, from, n, to,
           padded);
  }

  device dev_;
  std::int64_t n_, padded_;
  array<T> own_;
};

// omega over the diagonal, and the diagonal over omega.
template <class T>
__global__ void __launch_bounds__(256) relaxation(const T* __restrict__ diagonal, std::int64_t n, double omega,
                                                  T* __restrict__ factor, T* __restrict__ weight) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i >= n) return;
  if (factor != nullptr) factor[i] = static_cast<T>(omega / static_cast<double>(diagonal[i]));
  if (weight != nullptr) weight[i] = static_cast<T>(static_cast<double>(diagonal[i]) / omega);
}

template <class T>
void make_relaxation(const device& dev, const T* diagonal, std::int64_t n, double omega, T* factor, T* weight) {
  launch(dev, "relaxation", {ceil_div<std::int64_t>(n, 256), 256}, relaxation<T>, diagonal, n, omega, factor,
         weight);
}
template <class T>
void make_relaxation(const device& dev, const detail::aligned_rows<T>& A, double omega, T* factor, T* weight) {
  make_relaxation<T>(dev, diagonal_of(dev, A).data(), A.padded, omega, factor, weight);
}

}  // namespace vouch::dense_engine
