// vouch/solve/dense_jacobi_mixing.cuh -- the mixing of iterates in dense_jacobi.cuh; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/solve/dense_jacobi_rows.cuh>
#include <vouch/solve/mixing_weights.hpp>

namespace vouch::jacobi_kernel {

/// Anderson's mixing, every block on its own rows, by the warp that closes them. All blocks keep the same
/// products and take the same choices.
template <class T>
struct mixing {
  const own_rows<T>& own;
  std::int64_t rows, stride;
  mixing_course course;

  // Differences of this sweep to the one before; this lane's part of their products: with all differences, then
  // of these with the last change.
  __device__ int take(double* values) {
    const int held = course.held(), slot = course.slot;
    for (int k = 0; k < 2 * held; ++k) values[k] = 0;
    for (std::int64_t i = threadIdx.x % 32; i < rows; i += 32) {
      if (course.has_last) {
        own.changes[slot * stride + i] = own.change[i] - own.last_change[i];
        own.images[slot * stride + i] = own.g[i] - own.last_g[i];
      }
      own.last_change[i] = own.change[i];
      own.last_g[i] = own.g[i];
      for (int k = 0; k < held; ++k) {
        const double kth = own.changes[k * stride + i];
        values[k] += kth * static_cast<double>(own.changes[slot * stride + i]);
        values[held + k] += kth * static_cast<double>(own.change[i]);
      }
    }
    return held;
  }

  // The next iterate of the own rows into d.
  __device__ void next(shared_parts& shared, double met, int held) {
    const bool worse = course.worse(met);
    if (threadIdx.x % 32 == 0)
      shared.mixed = !worse && course.weigh(shared.total + sweep_facts::count, shared.products, shared.weight);
    __syncwarp();
    const bool mixed = shared.mixed != 0;
    course.advance(worse, met, mixed);
    for (std::int64_t i = threadIdx.x % 32; i < rows; i += 32) {
      if (!worse) own.plain[i] = own.g[i];
      T x = own.plain[i];
      for (int k = 0; k < held && mixed; ++k)
        x -= static_cast<T>(shared.weight[k]) * own.images[k * stride + i];
      own.d[i] = x;
    }
  }
};

}  // namespace vouch::jacobi_kernel
