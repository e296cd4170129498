#include <algorithm>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/parallel_for.cuh>
#include <vouch/verify/fingerprint_sums.hpp>
#include <vouch/verify/pass_bodies.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;

// Moves a whole state down by so many lanes, word by word.
template <class State>
__device__ State from_lane_above(const State& mine, int distance, int lanes) {
  if constexpr (sizeof(State) < sizeof(int)) {
    return mine;
  } else {
    constexpr int words = sizeof(State) / sizeof(int);
    static_assert(sizeof(State) % sizeof(int) == 0);
    int bits[words];
    memcpy(bits, &mine, sizeof mine);
    for (int w = 0; w < words; ++w) bits[w] = __shfl_down_sync(~0u, bits[w], distance, lanes);
    State other;
    memcpy(&other, bits, sizeof other);
    return other;
  }
}

// `lanes` threads a row, each every lanes-th entry, joined by a fixed shuffle tree: bits never change. Bound by
// memory: the matrix once.
template <int lanes, class T, class Body>
__global__ void __launch_bounds__(block) each_row(csr_view<const T> A, Body body) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * block + threadIdx.x) / lanes;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const bool present = i < A.rows;  // whole warps stay for the shuffles
  const std::int64_t begin = present ? A.row_ptr[i] : 0, end = present ? A.row_ptr[i + 1] : 0;
  typename Body::state row = body.begin();
  for (std::int64_t k = begin + lane; k < end; k += lanes) body.add(row, i, k, A.val[k], A.col[k]);
  for (int d = lanes / 2; d > 0; d /= 2) row.merge(from_lane_above(row, d, lanes));
  if (present && lane == 0) body.finish(row, i, end - begin);
}

// A thread has a row; count is how many diagonals there are, 0 if that is known at run time only. Neighbours
// read neighbouring values. Bound by memory: the diagonals once.
template <int count, class T, class Body>
__global__ void __launch_bounds__(block)
    each_row_of_diagonals(__grid_constant__ const dia_layout<T> A, __grid_constant__ const Body body) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= A.rows) return;
  const int diagonals = count > 0 ? count : A.count;
  typename Body::state row = body.begin();
#pragma unroll
  for (int k = 0; k < diagonals; ++k) {
    const std::int64_t j = i + A.offset[k];
    if (j >= 0 && j < A.cols) body.add(row, i, k, A.val[A.start[k] + i], static_cast<std::int32_t>(j));
  }
  body.finish(row, i, diagonals);
}

// A thread gathers one row's entries in some of the columns; neighbouring threads read neighbours in a column.
// Part p of row i is partial[p * rows + i]. Bound by memory: the matrix once.
template <class Body>
__global__ void __launch_bounds__(block)
    each_row_part(matrix_view<const double> A, Body body, std::int64_t width, std::int64_t row_blocks,
                  typename Body::state* partial) {
  const std::int64_t i = blockIdx.x % row_blocks * block + threadIdx.x, part = blockIdx.x / row_blocks;
  if (i >= A.rows) return;
  const std::int64_t begin = part * width, end = ::min(begin + width, A.cols);
  typename Body::state row = body.begin();
#pragma unroll 8
  for (std::int64_t j = begin; j < end; ++j) body.add(row, i, j, A(i, j), static_cast<std::int32_t>(j));
  partial[part * A.rows + i] = row;
}

// A thread joins the parts of a row, in their order.
template <class Body>
__global__ void __launch_bounds__(block)
    join_row_parts(std::int64_t rows, std::int64_t cols, std::int64_t parts, Body body,
                   const typename Body::state* partial) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= rows) return;
  typename Body::state row = partial[i];
  for (std::int64_t p = 1; p < parts; ++p) row.merge(partial[p * rows + i]);
  body.finish(row, i, cols);
}

// Non-negative doubles are ordered as their bits are, NaN above infinity, so that an integer maximum joins the
// blocks in any order. Bound by memory.
template <class Body>
__global__ void __launch_bounds__(block) largest_value(std::int64_t n, Body body, unsigned long long* result) {
  unsigned long long most = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block) {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(fabs(body.value(i))));
    most = bits > most ? bits : most;
  }
  for (int d = 16; d > 0; d /= 2) {
    const unsigned long long other = __shfl_down_sync(~0u, most, d);
    most = other > most ? other : most;
  }
  if (threadIdx.x % 32 == 0) atomicMax(result, most);
}

template <int lanes, class T, class Body>
void rows_with(const device& dev, csr_view<const T> A, const Body& body) {
  launch(dev, "verify_each_row", {ceil_div<std::int64_t>(A.rows * lanes, block), block},
         each_row<lanes, T, Body>, A, body);
}

template <class T, class Body>
void rows_of(const device& dev, const csr_view<const T>& A, const Body& body) {
  if (A.nonzeros <= 12 * A.rows)
    rows_with<2>(dev, A, body);
  else if (A.nonzeros <= 96 * A.rows)
    rows_with<8>(dev, A, body);
  else
    rows_with<32>(dev, A, body);
}

template <int count, class T, class Body>
void diagonals_with(const device& dev, const dia_layout<T>& A, const Body& body) {
  launch(dev, "verify_each_row_of_diagonals", {ceil_div<std::int64_t>(A.rows, block), block},
         each_row_of_diagonals<count, T, Body>, A, body);
}

template <class T, class Body>
void rows_of(const device& dev, const dia_layout<T>& A, const Body& body) {
  switch (A.count) {
    case 3:
      return diagonals_with<3>(dev, A, body);
    case 5:
      return diagonals_with<5>(dev, A, body);
    case 7:
      return diagonals_with<7>(dev, A, body);
    default:
      return diagonals_with<0>(dev, A, body);
  }
}

template <class Body>
void rows_of(const device& dev, const matrix_view<const double>& A, const Body& body) {
  constexpr std::int64_t most_parts = 32, least_width = 32;
  const std::int64_t row_blocks = ceil_div<std::int64_t>(A.rows, block);
  const std::int64_t width = std::max(least_width, ceil_div(A.cols, most_parts));
  const std::int64_t parts = std::max<std::int64_t>(1, ceil_div(A.cols, width));
  array<typename Body::state> partial(dev, parts * A.rows);
  launch(dev, "verify_each_row_part", {row_blocks * parts, block}, each_row_part<Body>, A, body, width,
         row_blocks, partial.data());
  launch(dev, "verify_join_row_parts", {row_blocks, block}, join_row_parts<Body>, A.rows, A.cols, parts, body,
         static_cast<const typename Body::state*>(partial.data()));
}

}  // namespace

template <class Matrix, class Body>
void for_rows_cuda(const device& dev, const Matrix& A, const Body& body) {
  rows_of(dev, A, body);
}

template <class Body>
void for_elements_cuda(const device& dev, std::int64_t n, const Body& body) {
  parallel_for(dev, "verify_each_element", n, body);
}

template <class Body>
double largest_cuda(const device& dev, std::int64_t n, const Body& body) {
  if (n == 0) return 0;
  array<unsigned long long> result = array<unsigned long long>::zeros(dev, 1);
  const std::int64_t blocks = std::min<std::int64_t>(ceil_div<std::int64_t>(n, block), 8 * dev.processors());
  launch(dev, "verify_largest", {blocks, block}, largest_value<Body>, n, body, result.data());
  double value;
  copy_bytes(&value, device::cpu(1), result.data(), dev, sizeof value);
  return value;
}

#define VOUCH_PASS(Matrix, Body) template void for_rows_cuda(const device&, const Matrix&, const Body&);
VOUCH_VERIFY_ROW_PASSES(VOUCH_PASS)
#undef VOUCH_PASS
#define VOUCH_PASS(Body) template void for_elements_cuda(const device&, std::int64_t, const Body&);
VOUCH_VERIFY_ELEMENT_PASSES(VOUCH_PASS)
#undef VOUCH_PASS
#define VOUCH_PASS(Body) template double largest_cuda(const device&, std::int64_t, const Body&);
VOUCH_VERIFY_LARGEST(VOUCH_PASS)
#undef VOUCH_PASS

// ---- fingerprints

namespace {

// Whole numbers are added by atomics in any order. Bound by memory: the elements once.
template <class Elements>
__global__ void __launch_bounds__(block)
    add_mixed(std::int64_t n, Elements elements, unsigned long long* result) {
  unsigned long long sum = 0;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block + threadIdx.x; k < n;
       k += std::int64_t{gridDim.x} * block)
    sum += mixed(bits_of(elements[k]), k);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(result, sum);
}

}  // namespace

template <class Elements>
std::uint64_t sum_mixed_cuda(const device& dev, std::int64_t n, const Elements& elements) {
  auto result = array<unsigned long long>::zeros(dev, 1);
  const std::int64_t blocks = std::min<std::int64_t>(ceil_div<std::int64_t>(n, block), 8 * dev.processors());
  launch(dev, "verify_fingerprint", {blocks, block}, add_mixed<Elements>, n, elements, result.data());
  unsigned long long sum;
  copy_bytes(&sum, device::cpu(1), result.data(), dev, sizeof sum);
  return sum;
}

#define VOUCH_SUM(Elements) template std::uint64_t sum_mixed_cuda(const device&, std::int64_t, const Elements&);
VOUCH_FINGERPRINT_ELEMENTS(VOUCH_SUM)
#undef VOUCH_SUM

}  // namespace vouch::detail
