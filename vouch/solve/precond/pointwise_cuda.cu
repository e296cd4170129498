// Preconditioners that take every row, or block of rows, by itself on a GPU. Bound by memory.
#include <algorithm>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/solve/precond/chebyshev_kernels.hpp>
#include <vouch/solve/precond/complex_diagonal.hpp>
#include <vouch/solve/precond/dense_block.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/scale_factor.hpp>

namespace vouch {
namespace {

constexpr unsigned block = 256;

// One thread a row. The least index wins by an integer atomic: the same whatever the order.
template <class T>
__global__ void __launch_bounds__(block)
    invert_diagonal_kernel(csr_view<const T> A, T* out, unsigned long long* bad) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= A.rows) return;
  const T d = diagonal_entry(A, i);
  const bool good = can_be_inverted(d);
  out[i] = good ? T(1) / d : d;
  if (!good) atomicMin(bad, static_cast<unsigned long long>(i));
}

// One thread a number; likewise.
template <class T>
__global__ void __launch_bounds__(block)
    invert_numbers_kernel(csr_view<const T> A, T* out, unsigned long long* bad) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (2 * i < A.rows && !invert_number(A, i, out)) atomicMin(bad, static_cast<unsigned long long>(i));
}

// One thread an element. Bound by memory: 3 sizeof T bytes an element.
template <class T>
__global__ void __launch_bounds__(block)
    multiply_elements_kernel(std::int64_t n, const T* d, const T* r, T* z) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i < n) z[i] = d[i] * r[i];
}

}  // namespace

template <real T>
void invert_diagonal_cuda(const device& dev, csr_view<const T> A, T* out, std::uint64_t* bad) {
  launch(dev, "invert_diagonal", {ceil_div<std::int64_t>(A.rows, block), block}, invert_diagonal_kernel<T>, A,
         out, reinterpret_cast<unsigned long long*>(bad));
}

template <real T>
void invert_numbers_cuda(const device& dev, csr_view<const T> A, T* out, std::uint64_t* bad) {
  launch(dev, "invert_numbers", {ceil_div<std::int64_t>(A.rows / 2, block), block}, invert_numbers_kernel<T>, A,
         out, reinterpret_cast<unsigned long long*>(bad));
}

template <real T>
void multiply_elements_cuda(const device& dev, const T* d, view<const T> r, view<T> z) {
  launch(dev, "multiply_elements", {ceil_div<std::int64_t>(r.size(), block), block},
         multiply_elements_kernel<T>, r.size(), d, r.data(), z.data());
}

template void invert_diagonal_cuda(const device&, csr_view<const float>, float*, std::uint64_t*);
template void invert_diagonal_cuda(const device&, csr_view<const double>, double*, std::uint64_t*);
template void invert_numbers_cuda(const device&, csr_view<const float>, float*, std::uint64_t*);
template void invert_numbers_cuda(const device&, csr_view<const double>, double*, std::uint64_t*);
template void multiply_elements_cuda(const device&, const float*, view<const float>, view<float>);
template void multiply_elements_cuda(const device&, const double*, view<const double>, view<double>);

namespace {

// One thread a row.
template <class T>
__global__ void __launch_bounds__(block)
    scale_factors_kernel(scale_rounding rounding, std::int64_t n, T* scale) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i < n) scale[i] = scale_factor(scale[i], rounding);
}

// Eight threads a row. Bound by memory: an entry is read and written once.
template <class T>
__global__ void __launch_bounds__(block)
    scale_entries_kernel(csr_view<const T> A, const T* __restrict__ scale, T* out) {
  const auto i = (std::int64_t{blockIdx.x} * block + threadIdx.x) / 8;
  if (i >= A.rows) return;
  for (std::int64_t k = A.row_ptr[i] + threadIdx.x % 8; k < A.row_ptr[i + 1]; k += 8)
    out[k] = scaled_entry(A.val[k], scale[i], scale[A.col[k]]);
}

}  // namespace

template <real T>
void scale_factors_cuda(const device& dev, scale_rounding rounding, std::int64_t n, T* scale) {
  launch(dev, "scale_factors", {ceil_div<std::int64_t>(n, block), block}, scale_factors_kernel<T>, rounding, n,
         scale);
}

template <real T>
void scale_entries_cuda(const device& dev, csr_view<const T> A, const T* scale, T* out) {
  launch(dev, "scale_entries", {ceil_div<std::int64_t>(A.rows * 8, block), block}, scale_entries_kernel<T>, A,
         scale, out);
}

#define VOUCH_INSTANTIATE(T)                                                         \
  template void scale_factors_cuda(const device&, scale_rounding, std::int64_t, T*); \
  template void scale_entries_cuda(const device&, csr_view<const T>, const T*, T*);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

namespace {

constexpr std::int64_t blocks_at_once = 65536;  // work space: b^2 doubles for each

// One thread a diagonal block, its work space interleaved with its neighbours'. The least number wins by an
// integer atomic: the same whatever the order.
template <class T>
__global__ void __launch_bounds__(block)
    invert_blocks_kernel(csr_view<const T> A, int b, std::int64_t first, std::int64_t end, double* work,
                         std::int64_t stride, T* inverse, unsigned long long* bad) {
  const auto k = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (first + k >= end) return;
  if (!invert_block(A, b, first + k, work + k, stride, inverse))
    atomicMin(bad, static_cast<unsigned long long>(first + k));
}

// One thread a row.
template <class T>
__global__ void __launch_bounds__(block) compare_patterns_kernel(csr_view<const T> A, std::uint8_t* same) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i >= A.rows) return;
  same[i] = i > 0 && same_pattern_as_before(A, i);
}

// One thread a row; a column of all blocks is one stream. Bound by memory: b + 2 values a row.
template <class T>
__global__ void __launch_bounds__(block)
    apply_blocks_kernel(std::int64_t b, std::int64_t n, const T* __restrict__ inverse, const T* __restrict__ r,
                        T* z) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
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
    launch(dev, "invert_blocks", {ceil_div<std::int64_t>(end - first, block), block}, invert_blocks_kernel<T>,
           A, b, first, end, work.data(), stride, inverse, reinterpret_cast<unsigned long long*>(bad));
  }
  dev.synchronize();  // before the work space goes
}

template <real T>
void compare_patterns_cuda(const device& dev, csr_view<const T> A, std::uint8_t* same) {
  launch(dev, "compare_patterns", {ceil_div<std::int64_t>(A.rows, block), block}, compare_patterns_kernel<T>, A,
         same);
}

template <real T>
void apply_blocks_cuda(const device& dev, int b, std::int64_t n, const T* inverse, const T* r, T* z) {
  launch(dev, "apply_blocks", {ceil_div<std::int64_t>(n, block), block}, apply_blocks_kernel<T>,
         std::int64_t{b}, n, inverse, r, z);
}

#define VOUCH_INSTANTIATE(T)                                                                   \
  template void invert_blocks_cuda(const device&, csr_view<const T>, int, T*, std::uint64_t*); \
  template void compare_patterns_cuda(const device&, csr_view<const T>, std::uint8_t*);        \
  template void apply_blocks_cuda(const device&, int, std::int64_t, const T*, const T*, T*);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

namespace {

// One thread an element in all of these but the row sums. Bound by memory: 6 values an element.
template <class T>
__global__ void __launch_bounds__(block) three_terms_kernel(std::int64_t n, three_terms<T> step) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i < n) step(i);
}

template <class T>
__global__ void __launch_bounds__(block)
    first_iterate_kernel(std::int64_t n, T factor, const T* __restrict__ inverse, const T* __restrict__ r,
                         T* z) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i < n) z[i] = factor * (inverse[i] * r[i]);
}

template <class T>
__global__ void __launch_bounds__(block)
    products_kernel(std::int64_t n, const T* x, const T* y, const T* inverse, T* out) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i < n) out[i] = inverse != nullptr ? x[i] * y[i] / inverse[i] : x[i] * y[i];
}

// One thread a row. A sum is not negative, so its bits order as an integer does, a NaN above all: the maximum
// by an integer atomic is the same whatever the order. A warp goes to memory once.
template <class T>
__global__ void __launch_bounds__(block)
    largest_row_sum_kernel(csr_view<const T> A, const T* inverse, unsigned long long* most) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  const double sum = i < A.rows ? relative_row_sum(A, inverse, i) : 0.0;
  auto bits = static_cast<unsigned long long>(__double_as_longlong(fabs(sum)));
  for (unsigned d = 16; d > 0; d /= 2) {
    const unsigned long long other = __shfl_xor_sync(~0u, bits, static_cast<int>(d));
    bits = other > bits ? other : bits;
  }
  if (threadIdx.x % 32 == 0) atomicMax(most, bits);
}

launch_shape shape(std::int64_t n) { return {ceil_div<std::int64_t>(n, block), block}; }

}  // namespace

template <real T>
void three_terms_cuda(const device& dev, std::int64_t n, const three_terms<T>& step) {
  launch(dev, "three_terms", shape(n), three_terms_kernel<T>, n, step);
}

template <real T>
void first_iterate_cuda(const device& dev, std::int64_t n, T factor, const T* inverse, const T* r, T* z) {
  launch(dev, "first_iterate", shape(n), first_iterate_kernel<T>, n, factor, inverse, r, z);
}

template <real T>
void products_cuda(const device& dev, std::int64_t n, const T* x, const T* y, const T* inverse, T* out) {
  launch(dev, "products", shape(n), products_kernel<T>, n, x, y, inverse, out);
}

template <real T>
void largest_row_sum_cuda(const device& dev, csr_view<const T> A, const T* inverse, double* most) {
  launch(dev, "largest_row_sum", shape(A.rows), largest_row_sum_kernel<T>, A, inverse,
         reinterpret_cast<unsigned long long*>(most));
}

#define VOUCH_INSTANTIATE(T)                                                                  \
  template void three_terms_cuda(const device&, std::int64_t, const three_terms<T>&);         \
  template void first_iterate_cuda(const device&, std::int64_t, T, const T*, const T*, T*);   \
  template void products_cuda(const device&, std::int64_t, const T*, const T*, const T*, T*); \
  template void largest_row_sum_cuda(const device&, csr_view<const T>, const T*, double*);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
