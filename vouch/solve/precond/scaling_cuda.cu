#include <vouch/core/launch.cuh>
#include <vouch/solve/precond/scale_factor.hpp>

namespace vouch {
namespace {

constexpr unsigned block = 256;

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
