#include <algorithm>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/solve/precond/dense_block.hpp>

namespace vouch {
namespace {

constexpr unsigned threads = 256;
constexpr std::int64_t blocks_at_once = 65536;  // work space: b^2 doubles for each

// One thread a diagonal block, its work space interleaved with its neighbours'. The least number wins by an
// integer atomic: the same whatever the order.
template <class T>
__global__ void __launch_bounds__(threads)
    invert_blocks_kernel(csr_view<const T> A, int b, std::int64_t first, std::int64_t end, double* work,
                         std::int64_t stride, T* inverse, unsigned long long* bad) {
  const auto k = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (first + k >= end) return;
  if (!invert_block(A, b, first + k, work + k, stride, inverse))
    atomicMin(bad, static_cast<unsigned long long>(first + k));
}

// One thread a row.
template <class T>
__global__ void __launch_bounds__(threads) compare_patterns_kernel(csr_view<const T> A, std::uint8_t* same) {
  const auto i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= A.rows) return;
  same[i] = i > 0 && same_pattern_as_before(A, i);
}

// One thread a row; a column of all blocks is one stream. Bound by memory: b + 2 values a row.
template <class T>
__global__ void __launch_bounds__(threads)
    apply_blocks_kernel(std::int64_t b, std::int64_t n, const T* __restrict__ inverse, const T* __restrict__ r,
                        T* z) {
  const auto i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= n) return;
  const std::int64_t first = i - static_cast<std::uint32_t>(i) % static_cast<std::uint32_t>(b);
  const std::int64_t size = n - first < b ? n - first : b;
  T sum{};
  for (std::int64_t j = 0; j < size; ++j) sum += inverse[j * n + i] * r[first + j];
  z[i] = sum;
}

}  // namespace

template <real T>
void invert_blocks_cuda(const device& dev, csr_view<const T> A, int b, T* inverse, std::uint64_t* bad) {
  const std::int64_t blocks = ceil_div<std::int64_t>(A.rows, b);
  const std::int64_t stride = std::min(blocks, blocks_at_once);
  array<double> work(dev, stride * b * b);
  for (std::int64_t first = 0; first < blocks; first += blocks_at_once) {
    const std::int64_t end = std::min(blocks, first + blocks_at_once);
    launch(dev, "invert_blocks", {ceil_div<std::int64_t>(end - first, threads), threads},
           invert_blocks_kernel<T>, A, b, first, end, work.data(), stride, inverse,
           reinterpret_cast<unsigned long long*>(bad));
  }
  dev.synchronize();  // before the work space goes
}

template <real T>
void compare_patterns_cuda(const device& dev, csr_view<const T> A, std::uint8_t* same) {
  launch(dev, "compare_patterns", {ceil_div<std::int64_t>(A.rows, threads), threads},
         compare_patterns_kernel<T>, A, same);
}

template <real T>
void apply_blocks_cuda(const device& dev, int b, std::int64_t n, const T* inverse, const T* r, T* z) {
  launch(dev, "apply_blocks", {ceil_div<std::int64_t>(n, threads), threads}, apply_blocks_kernel<T>,
         std::int64_t{b}, n, inverse, r, z);
}

#define VOUCH_INSTANTIATE(T)                                                                   \
  template void invert_blocks_cuda(const device&, csr_view<const T>, int, T*, std::uint64_t*); \
  template void compare_patterns_cuda(const device&, csr_view<const T>, std::uint8_t*);        \
  template void apply_blocks_cuda(const device&, int, std::int64_t, const T*, const T*, T*);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
