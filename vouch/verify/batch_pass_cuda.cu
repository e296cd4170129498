#include <algorithm>

#include <vouch/core/launch.cuh>
#include <vouch/verify/batch_pass.hpp>
#include <vouch/verify/tridiagonal_rows.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;
constexpr std::int64_t rows_a_block = 4 * block;  // of one system
constexpr std::int64_t rows_a_thread = 64;        // where systems lie side by side

// Non-negative doubles are ordered as their bits are, NaN above infinity.
__device__ unsigned long long bits_of(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(fabs(value)));
}

__device__ unsigned long long larger(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

__device__ void join(double* most, std::int64_t s, unsigned long long bits) {
  atomicMax(reinterpret_cast<unsigned long long*>(most) + s, bits);
}

// A block takes some rows of one system, each warp joins its largest value: an integer maximum, in any order.
// Neighbours read neighbours. Bound by memory.
template <class Body>
__global__ void __launch_bounds__(block)
    rows_of_a_system(__grid_constant__ const batch_shape shape, __grid_constant__ const Body body,
                     std::int64_t blocks_a_system, double* most) {
  const std::int64_t s = blockIdx.x / blocks_a_system, first = blockIdx.x % blocks_a_system * rows_a_block;
  const std::int64_t end = ::min(first + rows_a_block, shape.n);
  unsigned long long bits = 0;
  for (std::int64_t i = first + threadIdx.x; i < end; i += block)
    bits = larger(bits, bits_of(body.value(s, i)));
  for (int d = 16; d > 0; d /= 2) bits = larger(bits, __shfl_down_sync(~0u, bits, d));
  if (threadIdx.x % 32 == 0) join(most, s, bits);
}

// A thread takes some rows of its system, its neighbours those of the next systems. Bound by memory.
template <class Body>
__global__ void __launch_bounds__(block)
    systems_side_by_side(__grid_constant__ const batch_shape shape, __grid_constant__ const Body body,
                         std::int64_t blocks_a_row, double* most) {
  const std::int64_t s = blockIdx.x % blocks_a_row * block + threadIdx.x;
  const std::int64_t first = blockIdx.x / blocks_a_row * rows_a_thread;
  if (s >= shape.systems) return;
  unsigned long long bits = 0;
  for (std::int64_t i = first; i < ::min(first + rows_a_thread, shape.n); ++i)
    bits = larger(bits, bits_of(body.value(s, i)));
  join(most, s, bits);
}

// The system that holds row g of all.
__device__ std::int64_t system_of(const batch_shape& shape, std::int64_t g) {
  if (shape.offsets == nullptr) return g / shape.n;
  std::int64_t low = 0, high = shape.systems;  // offsets[low] <= g < offsets[high]
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (shape.offsets[middle] <= g ? low : high) = middle;
  }
  return low;
}

// A thread takes one row of all, for short systems and those of different lengths.
template <class Body>
__global__ void __launch_bounds__(block)
    rows_of_all(__grid_constant__ const batch_shape shape, __grid_constant__ const Body body, std::int64_t rows,
                double* most) {
  const std::int64_t g = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (g >= rows) return;
  const std::int64_t s = system_of(shape, g), i = g - (shape.offsets ? shape.offsets[s] : s * shape.n);
  join(most, s, bits_of(body.value(s, i)));
}

template <class Body>
__global__ void __launch_bounds__(block) each_system(std::int64_t count, __grid_constant__ const Body body) {
  const std::int64_t k = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (k < count) body(k);
}

}  // namespace

template <class Body>
void largest_of_systems_cuda(const device& dev, const batch_shape& host, const batch_shape& shape,
                             const Body& body, array<double>& most) {
  zero_bytes(dev, most.data(), static_cast<std::size_t>(most.size()) * sizeof(double));
  constexpr std::int64_t short_system = 128;
  const bool ragged = host.offsets != nullptr;
  if (!ragged && host.row_stride != 1 && host.systems >= 32) {
    const std::int64_t blocks_a_row = ceil_div<std::int64_t>(host.systems, block);
    launch(dev, "verify_systems_side_by_side", {blocks_a_row * ceil_div(host.n, rows_a_thread), block},
           systems_side_by_side<Body>, shape, body, blocks_a_row, most.data());
  } else if (!ragged && host.n >= short_system) {
    const std::int64_t blocks_a_system = ceil_div(host.n, rows_a_block);
    launch(dev, "verify_rows_of_a_system", {blocks_a_system * host.systems, block}, rows_of_a_system<Body>,
           shape, body, blocks_a_system, most.data());
  } else {
    const std::int64_t rows = ragged ? host.offsets[host.systems] : host.n * host.systems;
    launch(dev, "verify_rows_of_all", {ceil_div<std::int64_t>(rows, block), block}, rows_of_all<Body>, shape,
           body, rows, most.data());
  }
}

template <class Body>
void for_systems_cuda(const device& dev, std::int64_t count, const Body& body) {
  launch(dev, "verify_each_system", {ceil_div<std::int64_t>(count, block), block}, each_system<Body>, count,
         body);
}

#define VOUCH_PASS(Body)                                                                                    \
  template void largest_of_systems_cuda(const device&, const batch_shape&, const batch_shape&, const Body&, \
                                        array<double>&);
VOUCH_VERIFY_BATCH_PASSES(VOUCH_PASS)
#undef VOUCH_PASS
template void for_systems_cuda(const device&, std::int64_t, const tridiagonal_lu_body&);

}  // namespace vouch::detail
