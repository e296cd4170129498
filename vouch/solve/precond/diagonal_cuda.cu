#include <vouch/core/launch.cuh>
#include <vouch/solve/precond/complex_diagonal.hpp>
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

}  // namespace vouch
