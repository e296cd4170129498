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
  int depth;
  int kept = 0, slot = 0;  // differences there are; where the next goes
  bool has_last = false, accelerated = false;
  double accepted = 0;  // what the sweep before the mixed iterate met

  // Differences of this sweep to the one before; this lane's part of their products: with all differences, then
  // of these with the last change.
  __device__ int take(double* values) {
    const int held = has_last ? min(kept + 1, depth) : kept;
    for (int k = 0; k < 2 * held; ++k) values[k] = 0;
    for (std::int64_t i = threadIdx.x % 32; i < rows; i += 32) {
      if (has_last) {
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
    const bool worse = accelerated && !(met <= accepted);
    const int count = worse ? 0 : held;
    if (threadIdx.x % 32 == 0) solve(shared, count, held);
    __syncwarp();
    if (!worse && has_last) {
      kept = held;
      slot = (slot + 1) % depth;
    }
    if (worse) kept = slot = 0;
    has_last = !worse;
    accelerated = shared.mixed != 0;
    accepted = met;
    for (std::int64_t i = threadIdx.x % 32; i < rows; i += 32) {
      if (!worse) own.plain[i] = own.g[i];
      T x = own.plain[i];
      for (int k = 0; k < count && accelerated; ++k)
        x -= static_cast<T>(shared.weight[k]) * own.images[k * stride + i];
      own.d[i] = x;
    }
  }

 private:
  __device__ void solve(shared_parts& shared, int count, int held) {
    const double* const total = shared.total + sweep_facts::count;
    if (count > 0 && has_last)
      for (int k = 0; k < count; ++k)
        shared.products[slot * depth + k] = shared.products[k * depth + slot] = total[k];
    for (int k = 0; k < count; ++k) shared.weight[k] = total[held + k];
    shared.mixed = count > 0 && mixing_weights(shared.products, depth, count, shared.weight);
  }
};

}  // namespace vouch::jacobi_kernel
