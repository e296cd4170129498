// vouch/solve/dense_seidel_mixing.cuh -- Anderson's mixing of the iterates in dense_seidel.cuh; private.
//
// Every block has the whole solution, so every block mixes by itself, all with the same numbers: nothing
// travels. A summing thread keeps the history of its own columns.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/solve/dense_seidel_rows.cuh>
#include <vouch/solve/mixing_weights.hpp>

namespace vouch::seidel_kernel {

/// Numbers that the summing threads of a block leave for each other.
struct mixing_numbers {
  double part[2 * most_mixed][warps];
  double total[2 * most_mixed];
  double products[most_mixed * most_mixed];
  double weight[most_mixed];
  int differences;  // that are mixed into the next iterate
};

/// Vectors of a block: the iterate before the sweep, the last change and the last iterate, the plain iterate
/// that the mixed one replaced, `depth` differences of each kind.
__host__ __device__ constexpr std::int64_t mixing_vectors(int depth) { return 4 + 2 * std::int64_t{depth}; }

/// What a summing thread does between two sweeps.
template <class T>
class mixing {
 public:
  __device__ mixing(const task<T>& task, const own_columns<T, T>& columns)
      : in_(task),
        x_(columns),
        length_(std::int64_t{pieces_of<T>(task.n)} * piece_columns<T>),
        own_(task.mixing + blockIdx.x * mixing_vectors(task.depth) * length_),
        numbers_(task.mixing_scratch[blockIdx.x]),
        course_{task.depth} {
    copy(x_, vector(before));
  }

  __device__ bool worse(double met) const { return course_.worse(met); }
  /// Puts the plain iterate in the place of the solution.
  __device__ void go_back() const { copy(vector(plain), x_); }

  /// Puts the next iterate there, after a sweep that met so much.
  __device__ void next(double met) {
    const bool worse = course_.worse(met);
    double products[2 * most_mixed] = {};
    take_differences(products);
    const int held = course_.held();
    for (int v = 0; v < 2 * held; ++v) {
      const double all = sum_over_warp(products[v]);
      if (threadIdx.x % 32 == 0) numbers_.part[v][threadIdx.x / 32] = all;
    }
    row_barrier();
    if (threadIdx.x < 32) decide(worse, held);
    row_barrier();
    const int differences = numbers_.differences;
    combine(worse, differences);
    course_.advance(worse, met, differences > 0);
  }

 private:
  static constexpr int lanes = lane_columns<T>;
  enum : int { before, last_change, last_g, plain, changes };

  __device__ own_columns<T, T> vector(int number) const { return {own_ + number * length_}; }
  __device__ int images() const { return changes + in_.depth; }
  /// The pieces in which this thread has columns are the first of all.
  __device__ bool has(int piece) const { return row_group<T>::column_of(piece) < in_.n; }

  __device__ void copy(const own_columns<T, T>& from, const own_columns<T, T>& to) const {
    for (int p = 0; has(p); ++p) {
      T v[lanes];
      load_lanes(from.piece(p), v);
      store_lanes(v, to.piece(p));
    }
  }

  // This thread's part of the products of the newest difference with all, then of all with the last change.
  __device__ void take_differences(double* products) const {
    const int held = course_.held(), slot = course_.slot;
    for (int p = 0; has(p); ++p) {
      T g[lanes], change[lanes], newest[lanes] = {}, v[lanes];
      load_lanes(x_.piece(p), g);
      load_lanes(vector(before).piece(p), v);
#pragma unroll
      for (int l = 0; l < lanes; ++l) change[l] = g[l] - v[l];
      if (course_.has_last) {
        load_lanes(vector(last_change).piece(p), v);
#pragma unroll
        for (int l = 0; l < lanes; ++l) newest[l] = change[l] - v[l];
        store_lanes(newest, vector(changes + slot).piece(p));
        load_lanes(vector(last_g).piece(p), v);
#pragma unroll
        for (int l = 0; l < lanes; ++l) v[l] = g[l] - v[l];
        store_lanes(v, vector(images() + slot).piece(p));
      }
      store_lanes(change, vector(last_change).piece(p));
      store_lanes(g, vector(last_g).piece(p));
      for (int k = 0; k < held; ++k) {
        load_lanes(vector(changes + k).piece(p), v);
#pragma unroll
        for (int l = 0; l < lanes; ++l) {
          products[k] += static_cast<double>(v[l]) * static_cast<double>(newest[l]);
          products[held + k] += static_cast<double>(v[l]) * static_cast<double>(change[l]);
        }
      }
    }
  }

  // One warp.
  __device__ void decide(bool worse, int held) const {
    const int v = static_cast<int>(threadIdx.x);
    if (v < 2 * held) {
      double all = 0;
      for (int w = 0; w < warps; ++w) all += numbers_.part[v][w];
      numbers_.total[v] = all;
    }
    __syncwarp();
    if (v != 0) return;
    const bool mixed = !worse && course_.weigh(numbers_.total, numbers_.products, numbers_.weight);
    numbers_.differences = mixed ? held : 0;
  }

  __device__ void combine(bool worse, int differences) const {
    for (int p = 0; has(p); ++p) {
      T x[lanes];
      load_lanes(worse ? vector(plain).piece(p) : x_.piece(p), x);
      if (!worse) store_lanes(x, vector(plain).piece(p));
      for (int k = 0; k < differences; ++k) {
        T image[lanes];
        load_lanes(vector(images() + k).piece(p), image);
        const T weight = static_cast<T>(numbers_.weight[k]);
#pragma unroll
        for (int l = 0; l < lanes; ++l) x[l] -= weight * image[l];
      }
      store_lanes(x, x_.piece(p));
      store_lanes(x, vector(before).piece(p));
    }
  }

  const task<T>& in_;
  const own_columns<T, T>& x_;
  std::int64_t length_;
  T* own_;
  mixing_numbers& numbers_;
  mixing_course course_;
};

}  // namespace vouch::seidel_kernel
