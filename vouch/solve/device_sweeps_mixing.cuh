// vouch/solve/device_sweeps_mixing.cuh -- the vectors of Anderson's mixing in device_sweeps.cuh; private.
//
// All threads of all blocks go over the vectors, each element always to the same thread; what one pass leaves
// there the next one finds without a meeting.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/solve/mixing_weights.hpp>

namespace vouch::device_sweeps {

/// What mixing keeps beside the iterate: n values each, of changes and images depth times n; see mixing_course.
template <class T>
struct mixing_vectors {
  int depth = 0;
  std::int64_t n = 0;
  T *last_change = nullptr, *last_g = nullptr, *plain = nullptr;
  T *changes = nullptr, *images = nullptr;
};

/// An element's change in a sweep, for the facts that are found on the way.
__device__ inline void see_change(double* values, double moved, double value) {
  values[1] += moved;
  values[2] = fmax(values[2], moved);
  values[3] = fmax(values[3], fabs(value));
}

/// After a sweep from d to g: takes the differences to the sweep before. This thread's part of the products of
/// the newest with all held ones, then of these with the last change. facts: nullptr, or what sees the changes.
template <class T>
__device__ void take_differences(const mixing_vectors<T>& mix, const mixing_course& course, const T* d,
                                 const T* g, double* facts, double* products) {
  const int held = course.held(), slot = course.slot;
  const std::int64_t all = std::int64_t{blockDim.x} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < mix.n; i += all) {
    const T value = g[i], change = value - d[i];
    if (facts != nullptr) see_change(facts, fabs(static_cast<double>(change)), static_cast<double>(value));
    if (course.has_last) {
      mix.changes[slot * mix.n + i] = change - mix.last_change[i];
      mix.images[slot * mix.n + i] = value - mix.last_g[i];
    }
    mix.last_change[i] = change;
    mix.last_g[i] = value;
    const double newest = held > 0 ? static_cast<double>(mix.changes[slot * mix.n + i]) : 0.0;
    for (int k = 0; k < held; ++k) {
      const double kth = mix.changes[k * mix.n + i];
      products[k] += kth * newest;
      products[held + k] += kth * static_cast<double>(change);
    }
  }
}

/// The next iterate in the place of g, and in copy where that is not nullptr: the combination, g itself, or the
/// plain iterate before it.
template <class T>
__device__ void next_iterate(const mixing_vectors<T>& mix, bool worse, int differences, const double* weight,
                             T* g, T* copy) {
  const std::int64_t all = std::int64_t{blockDim.x} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < mix.n; i += all) {
    T x = worse ? mix.plain[i] : g[i];
    if (!worse) mix.plain[i] = x;
    for (int k = 0; k < differences; ++k) x -= static_cast<T>(weight[k]) * mix.images[k * mix.n + i];
    g[i] = x;
    if (copy != nullptr) copy[i] = x;
  }
}

}  // namespace vouch::device_sweeps
