#include <algorithm>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/verify/elements.hpp>
#include <vouch/verify/pass.hpp>
#include <vouch/verify/rows.hpp>

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
template <int lanes, class Body>
__global__ void __launch_bounds__(block) each_row(csr_view<const double> A, Body body) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * block + threadIdx.x) / lanes;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const bool present = i < A.rows;  // whole warps stay for the shuffles
  const std::int64_t begin = present ? A.row_ptr[i] : 0, end = present ? A.row_ptr[i + 1] : 0;
  typename Body::state row = body.begin();
  for (std::int64_t k = begin + lane; k < end; k += lanes) body.add(row, i, k, A.val[k], A.col[k]);
  for (int d = lanes / 2; d > 0; d /= 2) row.merge(from_lane_above(row, d, lanes));
  if (present && lane == 0) body.finish(row, i, end - begin);
}

// A thread takes every (grid size)-th element. Bound by memory; bits do not depend on the grid.
template <class Body>
__global__ void __launch_bounds__(block) each_element(std::int64_t n, Body body) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block)
    body(i);
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

std::int64_t blocks_for(const device& dev, std::int64_t n) {
  return std::min<std::int64_t>(ceil_div<std::int64_t>(n, block), 8 * dev.processors());
}

template <int lanes, class Body>
void rows_with(const device& dev, csr_view<const double> A, const Body& body) {
  launch(dev, "verify_each_row", {ceil_div<std::int64_t>(A.rows * lanes, block), block}, each_row<lanes, Body>,
         A, body);
}

}  // namespace

template <class Body>
void for_rows_cuda(const device& dev, csr_view<const double> A, const Body& body) {
  if (A.nonzeros <= 12 * A.rows)
    rows_with<2>(dev, A, body);
  else if (A.nonzeros <= 96 * A.rows)
    rows_with<8>(dev, A, body);
  else
    rows_with<32>(dev, A, body);
}

template <class Body>
void for_elements_cuda(const device& dev, std::int64_t n, const Body& body) {
  launch(dev, "verify_each_element", {blocks_for(dev, n), block}, each_element<Body>, n, body);
}

template <class Body>
double largest_cuda(const device& dev, std::int64_t n, const Body& body) {
  if (n == 0) return 0;
  array<unsigned long long> result = array<unsigned long long>::zeros(dev, 1);
  launch(dev, "verify_largest", {blocks_for(dev, n), block}, largest_value<Body>, n, body, result.data());
  double value;
  copy_bytes(&value, device::cpu(1), result.data(), dev, sizeof value);
  return value;
}

template void for_rows_cuda(const device&, csr_view<const double>, const residual_body&);
template void for_rows_cuda(const device&, csr_view<const double>, const comparison_body&);
template void for_rows_cuda(const device&, csr_view<const double>, const off_diagonal_body&);
template void for_rows_cuda(const device&, csr_view<const double>, const scale_body&);
template void for_rows_cuda(const device&, csr_view<const double>, const scaled_comparison_body&);
template void for_elements_cuda(const device&, std::int64_t, const magnitude_body&);
template void for_elements_cuda(const device&, std::int64_t, const middle_body&);
template void for_elements_cuda(const device&, std::int64_t, const jacobi_body&);
template void for_elements_cuda(const device&, std::int64_t, const radius_body&);
template void for_elements_cuda(const device&, std::int64_t, const unscale_body&);
template void for_elements_cuda(const device&, std::int64_t, const fill_body<double>&);
template void for_elements_cuda(const device&, std::int64_t, const fill_body<float>&);
template void for_elements_cuda(const device&, std::int64_t, const improve_body&);
template void for_elements_cuda(const device&, std::int64_t, const widen_body&);
template void for_elements_cuda(const device&, std::int64_t, const relative_body&);
template double largest_cuda(const device&, std::int64_t, const quotient_body&);
template double largest_cuda(const device&, std::int64_t, const refutes_body&);
template double largest_cuda(const device&, std::int64_t, const size_body&);
template double largest_cuda(const device&, std::int64_t, const relative_body&);

}  // namespace vouch::detail
