// vouch/reduce/batch_fold.cuh -- what a thread and a block gather of a batch, and how it is put together;
// private.
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include <vouch/core/double_double.hpp>
#include <vouch/reduce/batch_reduce.hpp>

namespace vouch::batch {

constexpr int threads = 512;
constexpr int blocks_a_processor = 2;

constexpr unsigned min_part = static_cast<unsigned>(batch_parts::min);
constexpr unsigned max_part = static_cast<unsigned>(batch_parts::max);
constexpr unsigned sum_part = static_cast<unsigned>(batch_parts::sum);

/// The sum of a thread's values, below 2^31 of them; and of everybody's.
template <class T>
using thread_sum = std::conditional_t<
    std::is_same_v<T, std::int32_t>, std::int64_t,
    std::conditional_t<std::is_same_v<T, std::int64_t>, int128,
                       std::conditional_t<std::is_same_v<T, float>, double, double_double<double>>>>;
template <class T>
using total_sum = std::conditional_t<std::is_integral_v<T>, int128, double_double<double>>;

template <class T>
__device__ inline T smaller(T a, T b) {
  if constexpr (std::is_same_v<T, float>)
    return fminf(a, b);
  else
    return b < a ? b : a;
}
template <class T>
__device__ inline T larger(T a, T b) {
  if constexpr (std::is_same_v<T, float>)
    return fmaxf(a, b);
  else
    return b > a ? b : a;
}

/// min, max and sum of no values to begin with; Sum is one of the two above.
template <class T, class Sum>
struct gathered {
  T min = std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();
  T max = std::is_integral_v<T> ? std::numeric_limits<T>::min() : -std::numeric_limits<T>::infinity();
  Sum sum{};

  template <unsigned Parts>
  __device__ void take(T x) {
    if constexpr ((Parts & min_part) != 0) min = smaller(min, x);
    if constexpr ((Parts & max_part) != 0) max = larger(max, x);
    if constexpr ((Parts & sum_part) != 0) {
      if constexpr (std::is_same_v<Sum, double_double<double>>)
        sum = sum + static_cast<double>(x);
      else
        sum += static_cast<Sum>(x);
    }
  }
  template <unsigned Parts, class Other>
  __device__ void join(const gathered<T, Other>& other) {
    if constexpr ((Parts & min_part) != 0) min = smaller(min, other.min);
    if constexpr ((Parts & max_part) != 0) max = larger(max, other.max);
    if constexpr ((Parts & sum_part) != 0) {
      if constexpr (std::is_same_v<Sum, double_double<double>>)
        sum = sum + other.sum;
      else
        sum += other.sum;
    }
  }
};

template <class T>
using thread_part = gathered<T, thread_sum<T>>;
template <class T>
using block_part = gathered<T, total_sum<T>>;

/// As a result: a sum that has overflowed, or met a NaN, has lost its low part.
template <class T>
__device__ element_summary<T> summary_of(const block_part<T>& part) {
  if constexpr (std::is_integral_v<T>)
    return {part.min, part.max, part.sum};
  else
    return {part.min, part.max, part.sum.hi};
}

/// Joins the rows of each column in a fixed order: column c has rows(c) of them, get(c, row) is one, put(c,
/// all) takes what they make. Several threads share a column where there are fewer columns than threads.
///
/// Memory  scratch has `threads` parts in shared memory. What get reads may lie there too.
template <unsigned Parts, class T, class Rows, class Get, class Put>
__device__ void fold_columns(int columns, block_part<T>* scratch, Rows rows, Get get, Put put) {
  const int thread = static_cast<int>(threadIdx.x);
  if (columns >= threads) {
    for (int c = thread; c < columns; c += threads) {
      block_part<T> all;
      for (int row = 0, n = rows(c); row < n; ++row) all.template join<Parts>(get(c, row));
      put(c, all);
    }
    return;
  }
  const int groups = threads / columns;
  const int group = thread / columns, c = thread % columns;
  block_part<T> mine;
  if (group < groups)
    for (int row = group, n = rows(c); row < n; row += groups) mine.template join<Parts>(get(c, row));
  __syncthreads();
  scratch[thread] = mine;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (group < half && group + half < groups)
      scratch[thread].template join<Parts>(scratch[thread + half * columns]);
  }
  __syncthreads();
  if (thread < columns) put(c, scratch[thread]);
}

/// Whether all other blocks of the `blocks` that share this counter have come here: what they wrote before is
/// then there. Leaves the counter as it was. All threads of the block call it.
__device__ inline bool last_to_arrive(unsigned* counter, unsigned blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(counter, 1u) == blocks - 1;
    if (last) *counter = 0;
  }
  __syncthreads();
  __threadfence();
  return last;
}

/// 16 bytes of values.
template <class T>
struct alignas(16) pack {
  static constexpr int size = 16 / static_cast<int>(sizeof(T));
  T of[size];
};

/// Read once, past the first cache.
template <class T>
__device__ inline pack<T> load(const pack<T>* from) {
  const int4 raw = __ldcs(reinterpret_cast<const int4*>(from));
  pack<T> p;
  memcpy(&p, &raw, sizeof p);
  return p;
}

/// Values before the first on a boundary of 16 bytes.
template <class T>
__device__ inline int values_to_boundary(const T* p) {
  return static_cast<int>((16 - reinterpret_cast<std::uintptr_t>(p) % 16) % 16 / sizeof(T));
}

}  // namespace vouch::batch
