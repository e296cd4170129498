// vouch/solve/stationary/dense_engine_cuda.cuh -- what the engines of dense sweeps on a GPU share; private.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <limits>
#include <vector>

#include <vouch/core/check.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/solve/loop/pinned_history.cuh>
#include <vouch/solve/stationary/dense_engines.hpp>
#include <vouch/solve/stationary/sweep_progress.hpp>

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

/// Clusters of `size` blocks of the kernel that run at once.
template <class Kernel>
std::int64_t clusters_at_once(const device& dev, Kernel kernel, unsigned size, unsigned threads,
                              const char* name) {
  if (!runs_sm90_code(dev)) return 0;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {size, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = size;
  config.blockDim = threads;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int running = 0;
  check(cudaSetDevice(dev.index()), name);
  check(cudaOccupancyMaxActiveClusters(&running, kernel, &config), name);
  return running;
}

/// Stages below this many bytes do not keep the memory busy.
inline constexpr std::int64_t least_ring = 48 << 10;

/// Of its stages in a sweep each block keeps so many in L2 for the next sweep; there is room besides for what
/// streams past them.
inline int stages_in_cache(const device& dev, std::int64_t blocks, std::int64_t stage_bytes) {
  constexpr double share = 0.4;
  int cache = 0;
  check(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, dev.index()), "size of the cache");
  return static_cast<int>(share * cache / static_cast<double>(blocks * stage_bytes));
}

/// Iterations between two looks at the mailbox: about two milliseconds, a power of two.
inline std::int64_t iterations_between_looks(std::int64_t bytes) {
  constexpr double bytes_in_a_look = 8e9;
  std::int64_t count = 512;
  while (count > 1 && static_cast<double>(count) * static_cast<double>(bytes) > bytes_in_a_look) count /= 2;
  return count;
}

template <class T>
double sum_of_squares(const device& dev, const T* r, std::int64_t n) {
  std::vector<T> v(static_cast<std::size_t>(n));
  copy_bytes(v.data(), device::cpu(1), r, dev, v.size() * sizeof(T));
  return detail::sum_of_squares(1, n, v.data());
}

template <class T>
sweep_progress progress_of(const stopping_rule& rule, double trigger, bool by_residual, std::int64_t n) {
  sweep_progress progress;
  progress.trigger = trigger;
  progress.diverged = rule.diverged_squared;
  progress.mean_change = rule.mean_change;
  progress.rounding = by_residual ? 64.0 * static_cast<double>(std::numeric_limits<T>::epsilon()) : 0.0;
  progress.limit = rule.limit;
  progress.unknowns = n;
  return progress;
}

/// What a run told; goes_back: it ends with the iterate of which the last sweep met the residual.
inline inner_outcome outcome_of(const pinned_history& box, bool goes_back) {
  const auto event = static_cast<solver_event>(box.event);
  const std::int64_t dropped = goes_back && event == solver_event::reached ? 1 : 0;
  return {event, box.iterations + 1 - dropped, box.last_squared, box.mean_change};
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

/// What a kernel of Jacobi sweeps takes besides the matrix, and one run of it.
template <class T>
class jacobi_runner {
 public:
  /// words: through which its blocks talk.
  jacobi_runner(const device& dev, std::int64_t n, std::int64_t padded, bool by_residual, std::int64_t words)
      : dev_(dev),
        n_(n),
        by_residual_(by_residual),
        r_(dev, n, padded),
        d_(dev, n, padded),
        words_(dev, words),
        box_(acquire_pinned_history()) {}

  std::uint64_t* words() { return words_.data(); }
  pinned_history* box() { return box_.get(); }

  /// From d = 0; start() launches the kernel, whose task has what belongs to this run by then.
  template <class Task, class Start>
  inner_outcome run(Task& task, T* r, T* d, const stopping_rule& rule, iteration_log& log, const Start& start) {
    zero_bytes(dev_, d, static_cast<std::size_t>(n_) * sizeof(T));
    if (rule.limit <= 0) return {solver_event::iteration_limit, 0, sum_of_squares(dev_, r, n_)};
    r_.bring(r);
    zero_bytes(dev_, words_.data(), static_cast<std::size_t>(words_.size()) * sizeof(std::uint64_t));
    task.r = r_.of(r);
    task.d = d_.of(d);
    task.progress = progress_of<T>(rule, residual_trigger<T>(rule, by_residual_), by_residual_, n_);
    task.goes_back = ends_where_met(rule, by_residual_);
    box_->progress = 0;
    box_->stop = 0;
    start();
    d_.take_back(d);
    follow(dev_, *box_, log);
    return outcome_of(*box_, task.goes_back);
  }

 private:
  device dev_;
  std::int64_t n_;
  bool by_residual_;
  padded_vector<T> r_, d_;
  array<std::uint64_t> words_;
  std::shared_ptr<pinned_history> box_;
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
