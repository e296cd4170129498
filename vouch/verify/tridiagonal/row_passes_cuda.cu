#include <vouch/core/launch.cuh>
#include <vouch/verify/tridiagonal/bordered_factors.hpp>
#include <vouch/verify/tridiagonal/factors.hpp>
#include <vouch/verify/tridiagonal/row_passes.hpp>
#include <vouch/verify/tridiagonal/row_tally.cuh>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256, warps = block / 32;
constexpr std::int64_t rows_a_block = 16 * block;  // of one system
constexpr std::int64_t rows_a_thread = 64;         // where systems lie side by side

__device__ bool enough(const tridiagonal_ratio_body& body, const totals_memory* all) {
  return body.until_refuted && (*static_cast<const volatile unsigned*>(&all->flags) & 2u) != 0;
}
__device__ bool enough(const tridiagonal_radius_body&, const totals_memory*) { return false; }

__device__ void join_system(double* most, std::int64_t s, bits_type bits) {
  if (most != nullptr) raise(reinterpret_cast<bits_type*>(most) + s, bits);
}

// A block takes some rows of one system. Neighbours read neighbours. Bound by memory.
template <class Body>
__global__ void __launch_bounds__(block, 4)
    certify_rows_of_a_system(__grid_constant__ const Body body, std::int64_t blocks_a_system, double* most,
                             totals_memory* all) {
  const int given_up = threadIdx.x == 0 && enough(body, all);
  if (__syncthreads_or(given_up) != 0) return;
  const std::int64_t s = blockIdx.x / blocks_a_system, first = blockIdx.x % blocks_a_system * rows_a_block;
  const std::int64_t end = ::min(first + rows_a_block, body.vectors.n);
  auto tally = tally_of(body);
  for (std::int64_t i = first + threadIdx.x; i < end; i += block)
    tally.add(body.template certify<double>(s, i, lanes_hold::rows));
  const bits_type bits = join_block<warps>(tally, all);
  if (threadIdx.x == 0) join_system(most, s, bits);
}

// A thread takes some rows of its system, its neighbours those of the next systems. Bound by memory.
template <class Body>
__global__ void __launch_bounds__(block)
    certify_interleaved_systems(__grid_constant__ const Body body, std::int64_t blocks_a_row, double* most,
                                totals_memory* all) {
  const int given_up = threadIdx.x == 0 && enough(body, all);
  if (__syncthreads_or(given_up) != 0) return;
  const std::int64_t s = blockIdx.x % blocks_a_row * block + threadIdx.x;
  const std::int64_t first = blockIdx.x / blocks_a_row * rows_a_thread;
  auto tally = tally_of(body);
  if (s < body.vectors.systems) {
    for (std::int64_t i = first; i < ::min(first + rows_a_thread, body.vectors.n); ++i)
      tally.add(body.template certify<double>(s, i, lanes_hold::rows));
    join_system(most, s, tally.most[0]);
  }
  join_block<warps>(tally, all);
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
    certify_rows_of_all(__grid_constant__ const Body body, std::int64_t rows, double* most,
                        totals_memory* all) {
  const int given_up = threadIdx.x == 0 && enough(body, all);
  if (__syncthreads_or(given_up) != 0) return;
  const batch_shape& shape = body.vectors;
  const std::int64_t g = std::int64_t{blockIdx.x} * block + threadIdx.x;
  auto tally = tally_of(body);
  if (g < rows) {
    const std::int64_t s = system_of(shape, g), i = g - (shape.offsets ? shape.offsets[s] : s * shape.n);
    tally.add(body.template certify<double>(s, i, lanes_hold::rows));
    join_system(most, s, tally.most[0]);
  }
  join_block<warps>(tally, all);
}

// A thread takes one row of all.
template <class Body>
__global__ void __launch_bounds__(block)
    each_row_of_systems(__grid_constant__ const batch_shape shape, __grid_constant__ const Body body,
                        std::int64_t rows) {
  const std::int64_t g = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (g >= rows) return;
  if (shape.offsets == nullptr && shape.system_stride == 1) return body(g % shape.systems, g / shape.systems);
  const std::int64_t s = system_of(shape, g);
  body(s, g - (shape.offsets ? shape.offsets[s] : s * shape.n));
}

template <class Body>
__global__ void __launch_bounds__(block) each_system(std::int64_t count, __grid_constant__ const Body body) {
  const std::int64_t k = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (k < count) body(k);
}

std::int64_t rows_of(const batch_shape& host) {
  return host.offsets != nullptr ? host.offsets[host.systems] : host.n * host.systems;
}

template <class Body>
totals_memory certify_on_gpu(const device& dev, const batch_shape& host, const Body& body, double* most) {
  array<totals_memory> totals = array<totals_memory>::zeros(dev, 1);
  constexpr std::int64_t short_system = 128;
  const bool ragged = host.offsets != nullptr;
  if (!ragged && host.row_stride != 1 && host.systems >= 32) {
    const std::int64_t blocks_a_row = ceil_div<std::int64_t>(host.systems, block);
    launch(dev, "certify_interleaved_systems", {blocks_a_row * ceil_div(host.n, rows_a_thread), block},
           certify_interleaved_systems<Body>, body, blocks_a_row, most, totals.data());
  } else if (!ragged && host.n >= short_system) {
    const std::int64_t blocks_a_system = ceil_div(host.n, rows_a_block);
    launch(dev, "certify_rows_of_a_system", {blocks_a_system * host.systems, block},
           certify_rows_of_a_system<Body>, body, blocks_a_system, most, totals.data());
  } else {
    const std::int64_t rows = rows_of(host);
    launch(dev, "certify_rows_of_all", {ceil_div<std::int64_t>(rows, block), block}, certify_rows_of_all<Body>,
           body, rows, most, totals.data());
  }
  totals_memory found;
  copy_bytes(&found, device::cpu(1), totals.data(), dev, sizeof found);
  return found;
}

}  // namespace

ratio_totals certify_cuda(const device& dev, const batch_shape& host, const tridiagonal_ratio_body& body,
                          array<double>& ratio) {
  zero_bytes(dev, ratio.data(), static_cast<std::size_t>(ratio.size()) * sizeof(double));
  return as_ratios(certify_on_gpu(dev, host, body, ratio.data()));
}
radius_totals certify_cuda(const device& dev, const batch_shape& host, const tridiagonal_radius_body& body) {
  const totals_memory found = certify_on_gpu(dev, host, body, nullptr);
  return {number(found.most[0]), number(found.most[1])};
}

template <class Body>
void for_rows_of_systems_cuda(const device& dev, const batch_shape& host, const batch_shape& shape,
                              const Body& body) {
  const std::int64_t rows = rows_of(host);
  launch(dev, "verify_each_row_of_systems", {ceil_div<std::int64_t>(rows, block), block},
         each_row_of_systems<Body>, shape, body, rows);
}

template <class Body>
void for_systems_cuda(const device& dev, std::int64_t count, const Body& body) {
  launch(dev, "verify_each_system", {ceil_div<std::int64_t>(count, block), block}, each_system<Body>, count,
         body);
}

#define VOUCH_PASS(Body) \
  template void for_rows_of_systems_cuda(const device&, const batch_shape&, const batch_shape&, const Body&);
VOUCH_VERIFY_BATCH_PASSES(VOUCH_PASS)
#undef VOUCH_PASS
#define VOUCH_PASS(Body) template void for_systems_cuda(const device&, std::int64_t, const Body&);
VOUCH_VERIFY_FACTOR_STEPS(VOUCH_PASS)
VOUCH_PASS(tridiagonal_border_body)
#undef VOUCH_PASS

}  // namespace vouch::detail
