#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <vouch/core/double_double.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/types.hpp>
#include <vouch/reduce/batch_reduce.hpp>

namespace vouch::detail {
namespace {

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
__device__ T smaller(T a, T b) {
  if constexpr (std::is_same_v<T, float>)
    return fminf(a, b);
  else
    return b < a ? b : a;
}
template <class T>
__device__ T larger(T a, T b) {
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

/// As a result.
template <class T>
__device__ element_summary<T> summary_of(const block_part<T>& part) {
  if constexpr (std::is_integral_v<T>)
    return {part.min, part.max, part.sum, 0};
  else
    return {part.min, part.max, part.sum.hi, part.sum.lo};
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
__device__ bool last_to_arrive(unsigned* counter, unsigned blocks) {
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
__device__ pack<T> load(const pack<T>* from) {
  const int4 raw = __ldcs(reinterpret_cast<const int4*>(from));
  pack<T> p;
  memcpy(&p, &raw, sizeof p);
  return p;
}

/// Values before the first on a boundary of 16 bytes.
template <class T>
__device__ int values_to_boundary(const T* p) {
  return static_cast<int>((16 - reinterpret_cast<std::uintptr_t>(p) % 16) % 16 / sizeof(T));
}

constexpr std::int64_t few_elements = 1024;
constexpr std::size_t counter_bytes = 16384;  // in front of the scratch
constexpr int ahead = 4;                      // loads of 16 bytes that a thread has under way

// Shared memory of a block: the parts of all its threads' lanes, later those of a fold.
template <class T>
struct alignas(16) block_room {
  unsigned char bytes[threads * pack<T>::size * sizeof(thread_part<T>)];
  static_assert(sizeof(bytes) >= threads * sizeof(block_part<T>));

  __device__ thread_part<T>* lanes() { return reinterpret_cast<thread_part<T>*>(bytes); }
  __device__ block_part<T>* folds() { return reinterpret_cast<block_part<T>*>(bytes); }
};

// Matrix after matrix, few elements. Thread t takes 16 bytes at t, t + stride, ..., stride a multiple of the
// elements: the values of a lane all belong to one element. Then each block folds its lanes by element, and the
// last block to finish folds those of all. Bound by memory; the order of sums is fixed.
template <class T, unsigned Parts>
__global__ void __launch_bounds__(threads, blocks_a_processor)
    reduce_periodic(const T* data, std::int64_t values, int elements, std::int64_t stride, block_part<T>* parts,
                    unsigned* counter, view<element_summary<T>> results) {
  constexpr int width = pack<T>::size;
  __shared__ block_room<T> room;
  const std::int64_t head = values_to_boundary(data) < values ? values_to_boundary(data) : values;
  const std::int64_t packs = (values - head) / width;
  const auto* const in = reinterpret_cast<const pack<T>*>(data + head);
  const std::int64_t first = std::int64_t{blockIdx.x} * threads;
  const std::int64_t thread = first + threadIdx.x;

  thread_part<T> mine[width];
  const auto take = [&](const pack<T>& p) {
#pragma unroll
    for (int v = 0; v < width; ++v) mine[v].template take<Parts>(p.of[v]);
  };
  if (thread < stride) {
    std::int64_t k = thread;
    for (; k + (ahead - 1) * stride < packs; k += ahead * stride) {
      pack<T> p[ahead];
#pragma unroll
      for (int a = 0; a < ahead; ++a) p[a] = load(in + k + a * stride);
#pragma unroll
      for (int a = 0; a < ahead; ++a) take(p[a]);
    }
    for (; k < packs; k += stride) take(load(in + k));
  }
#pragma unroll
  for (int v = 0; v < width; ++v) room.lanes()[threadIdx.x * width + v] = mine[v];
  __syncthreads();

  // Lane l of the block holds element (start + l) % elements.
  const int start = static_cast<int>((head + first * width) % elements);
  const auto first_lane = [&](int e) { return e >= start ? e - start : e - start + elements; };
  const auto lanes_of = [&](int e) { return (threads * width - first_lane(e) + elements - 1) / elements; };
  fold_columns<Parts, T>(
      elements, room.folds(), lanes_of,
      [&](int e, int row) { return room.lanes()[first_lane(e) + row * elements]; },
      [&](int e, block_part<T> all) {
        if (blockIdx.x == 0) {  // the values before the first pack and behind the last
          for (std::int64_t k = 0; k < head; ++k)
            if (k % elements == e) all.template take<Parts>(data[k]);
          for (std::int64_t k = head + packs * width; k < values; ++k)
            if (k % elements == e) all.template take<Parts>(data[k]);
        }
        parts[std::int64_t{blockIdx.x} * elements + e] = all;
      });
  if (!last_to_arrive(counter, gridDim.x)) return;
  fold_columns<Parts, T>(
      elements, room.folds(), [&](int) { return static_cast<int>(gridDim.x); },
      [&](int e, int row) { return parts[std::int64_t{row} * elements + e]; },
      [&](int e, const block_part<T>& all) { results[e] = summary_of(all); });
}

// Matrix after matrix, many elements: a thread takes one element of the matrices y, y + rows, ... of gridDim
// rows * columns blocks; the last of the rows to finish folds them. Bound by memory.
template <class T>
__global__ void __launch_bounds__(threads, blocks_a_processor)
    reduce_columns(const T* data, std::int64_t count, std::int64_t elements, int rows, block_part<T>* parts,
                   unsigned* counter, view<element_summary<T>> results) {
  constexpr unsigned all_parts = static_cast<unsigned>(batch_parts::all);
  constexpr int together = 8;
  const std::int64_t column = blockIdx.x / static_cast<unsigned>(rows);
  const std::int64_t row = blockIdx.x % static_cast<unsigned>(rows);
  const std::int64_t e = column * threads + threadIdx.x;
  thread_part<T> mine;
  if (e < elements) {
    std::int64_t m = row;
    for (; m + (together - 1) * rows < count; m += together * rows) {
      T x[together];
#pragma unroll
      for (int a = 0; a < together; ++a) x[a] = __ldcs(data + (m + a * rows) * elements + e);
#pragma unroll
      for (int a = 0; a < together; ++a) mine.template take<all_parts>(x[a]);
    }
    for (; m < count; m += rows) mine.template take<all_parts>(__ldcs(data + m * elements + e));
  }
  block_part<T> all;
  all.template join<all_parts>(mine);
  if (rows == 1) {
    if (e < elements) results[e] = summary_of(all);
    return;
  }
  if (e < elements) parts[row * elements + e] = all;
  if (!last_to_arrive(counter + column, static_cast<unsigned>(rows)) || e >= elements) return;
  block_part<T> total;
  for (int r = 0; r < rows; ++r) total.template join<all_parts>(parts[r * elements + e]);
  results[e] = summary_of(total);
}

// What a thread of the block takes of n values that all belong to one element.
template <unsigned Parts, class T>
__device__ thread_part<T> take_run(const T* p, std::int64_t n) {
  constexpr int width = pack<T>::size;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t head = values_to_boundary(p) < n ? values_to_boundary(p) : n;
  const std::int64_t packs = (n - head) / width;
  const auto* const in = reinterpret_cast<const pack<T>*>(p + head);
  thread_part<T> mine;
  const auto take = [&](const pack<T>& values) {
#pragma unroll
    for (int v = 0; v < width; ++v) mine.template take<Parts>(values.of[v]);
  };
  if (thread < head) mine.template take<Parts>(p[thread]);
  std::int64_t k = thread;
  for (; k + (ahead - 1) * threads < packs; k += ahead * threads) {
    pack<T> values[ahead];
#pragma unroll
    for (int a = 0; a < ahead; ++a) values[a] = load(in + k + a * threads);
#pragma unroll
    for (int a = 0; a < ahead; ++a) take(values[a]);
  }
  for (; k < packs; k += threads) take(load(in + k));
  const std::int64_t tail = head + packs * width + thread;
  if (tail < n) mine.template take<Parts>(p[tail]);
  return mine;
}

// The parts of all threads of the block, joined: put(all) is called by one of them.
template <unsigned Parts, class T, class Put>
__device__ void fold_block(const thread_part<T>& mine, block_room<T>& room, Put put) {
  __syncthreads();
  room.lanes()[threadIdx.x] = mine;
  __syncthreads();
  fold_columns<Parts, T>(
      1, room.folds(), [](int) { return threads; }, [&](int, int row) { return room.lanes()[row]; },
      [&](int, const block_part<T>& all) { put(all); });
}

// Element after element, few elements: block b takes the values from b * share on, run by run of one element.
// The run of element e in block b is number b + e of all; the last block to finish folds the runs. Bound by
// memory.
template <class T, unsigned Parts>
__global__ void __launch_bounds__(threads, blocks_a_processor)
    reduce_segments(const T* data, std::int64_t count, int elements, std::int64_t share, block_part<T>* parts,
                    unsigned* counter, view<element_summary<T>> results) {
  __shared__ block_room<T> room;
  const std::int64_t values = count * elements;
  const std::int64_t begin = blockIdx.x * share;
  const std::int64_t end = begin + share < values ? begin + share : values;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t e = at / count;
    const std::int64_t run_end = (e + 1) * count < end ? (e + 1) * count : end;
    fold_block<Parts>(take_run<Parts>(data + at, run_end - at), room,
                      [&](const block_part<T>& all) { parts[blockIdx.x + e] = all; });
    at = run_end;
  }
  if (!last_to_arrive(counter, gridDim.x)) return;
  const auto first_block = [&](int e) { return e * count / share; };
  const auto blocks_of = [&](int e) {
    return static_cast<int>(((e + 1) * count - 1) / share - first_block(e) + 1);
  };
  fold_columns<Parts, T>(
      elements, room.folds(), blocks_of, [&](int e, int row) { return parts[first_block(e) + row + e]; },
      [&](int e, const block_part<T>& all) { results[e] = summary_of(all); });
}

// Element after element, many elements: a block takes whole elements.
template <class T>
__global__ void __launch_bounds__(threads, blocks_a_processor)
    reduce_long_segments(const T* data, std::int64_t count, std::int64_t elements,
                         view<element_summary<T>> results) {
  constexpr unsigned all_parts = static_cast<unsigned>(batch_parts::all);
  __shared__ block_room<T> room;
  for (std::int64_t e = blockIdx.x; e < elements; e += gridDim.x)
    fold_block<all_parts>(take_run<all_parts>(data + e * count, count), room,
                          [&](const block_part<T>& all) { results[e] = summary_of(all); });
}

std::int64_t resident_blocks(const device& gpu) { return std::int64_t{gpu.processors()} * blocks_a_processor; }

std::int64_t greatest_divisor(std::int64_t a, std::int64_t b) {
  return b == 0 ? a : greatest_divisor(b, a % b);
}

template <class T>
struct scratch_space {
  block_part<T>* parts;
  unsigned* counters;

  explicit scratch_space(std::byte* scratch)
      : parts(reinterpret_cast<block_part<T>*>(scratch + counter_bytes)),
        counters(reinterpret_cast<unsigned*>(scratch)) {}
};

template <class T, unsigned Parts>
void reduce_few(const device& gpu, const matrix_batch<T>& b, scratch_space<T> space,
                view<element_summary<T>> results) {
  const std::int64_t values = b.count * b.elements;
  const auto elements = static_cast<int>(b.elements);
  constexpr std::int64_t width = pack<T>::size;
  const std::int64_t blocks = std::min(resident_blocks(gpu), ceil_div<std::int64_t>(values, threads * width));
  if (b.layout == batch_layout::element_after_element) {
    const std::int64_t share = ceil_div(ceil_div(values, blocks), width) * width;
    launch(gpu, "reduce_segments", {ceil_div(values, share), threads}, reduce_segments<T, Parts>, b.data,
           b.count, elements, share, space.parts, space.counters, results);
    return;
  }
  // The fewest packs that are whole matrices.
  const std::int64_t period = b.elements / greatest_divisor(b.elements, width);
  const std::int64_t stride = std::max<std::int64_t>(blocks * threads / period, 1) * period;
  launch(gpu, "reduce_periodic", {ceil_div<std::int64_t>(stride, threads), threads}, reduce_periodic<T, Parts>,
         b.data, values, elements, stride, space.parts, space.counters, results);
}

template <class T>
void reduce_many(const device& gpu, const matrix_batch<T>& b, scratch_space<T> space,
                 view<element_summary<T>> results) {
  if (b.layout == batch_layout::element_after_element) {
    launch(gpu, "reduce_long_segments", {std::min(b.elements, 8 * resident_blocks(gpu)), threads},
           reduce_long_segments<T>, b.data, b.count, b.elements, results);
    return;
  }
  const std::int64_t columns = ceil_div<std::int64_t>(b.elements, threads);
  const std::int64_t rows = std::clamp<std::int64_t>(resident_blocks(gpu) / columns, 1, b.count);
  launch(gpu, "reduce_columns", {columns * rows, threads}, reduce_columns<T>, b.data, b.count, b.elements,
         static_cast<int>(rows), space.parts, space.counters, results);
}

}  // namespace

// Parts: a row of at most few_elements for each resident block; or a row for each of the blocks that share a
// column of `threads` elements, in all no more than that many blocks.
std::size_t batch_scratch_bytes(const device& gpu) {
  constexpr std::size_t most_part = sizeof(block_part<double>);
  static_assert(most_part >= sizeof(block_part<std::int64_t>));
  return counter_bytes + static_cast<std::size_t>((resident_blocks(gpu) + 1) * few_elements) * most_part;
}

template <batch_scalar T>
void reduce_batch_cuda(const device& gpu, const matrix_batch<T>& batch, batch_parts parts, std::byte* scratch,
                       view<element_summary<T>> results) {
  const scratch_space<T> space(scratch);
  if (batch.elements > few_elements) return reduce_many(gpu, batch, space, results);
  switch (parts) {
    case batch_parts::min:
      return reduce_few<T, min_part>(gpu, batch, space, results);
    case batch_parts::max:
      return reduce_few<T, max_part>(gpu, batch, space, results);
    case batch_parts::sum:
      return reduce_few<T, sum_part>(gpu, batch, space, results);
    case batch_parts::all:
      return reduce_few<T, static_cast<unsigned>(batch_parts::all)>(gpu, batch, space, results);
  }
}

template void reduce_batch_cuda(const device&, const matrix_batch<std::int32_t>&, batch_parts, std::byte*,
                                view<element_summary<std::int32_t>>);
template void reduce_batch_cuda(const device&, const matrix_batch<std::int64_t>&, batch_parts, std::byte*,
                                view<element_summary<std::int64_t>>);
template void reduce_batch_cuda(const device&, const matrix_batch<float>&, batch_parts, std::byte*,
                                view<element_summary<float>>);
template void reduce_batch_cuda(const device&, const matrix_batch<double>&, batch_parts, std::byte*,
                                view<element_summary<double>>);

}  // namespace vouch::detail
