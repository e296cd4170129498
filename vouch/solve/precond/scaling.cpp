#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/scale_factor.hpp>
#include <vouch/solve/precond/scaling.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

template <real T>
void scale_entries(const device& dev, csr_view<const T> A, const T* scale, T* out) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return scale_entries_cuda(dev, A, scale, out);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, A.rows)) schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      out[k] = scaled_entry(A.val[k], scale[i], scale[A.col[k]]);
}

}  // namespace

template <real T>
void scale_factors(const device& dev, scale_rounding rounding, array<T>& scale) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return scale_factors_cuda(dev, rounding, scale.size(), scale.data());
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, scale.size())) schedule(static)
  for (std::int64_t i = 0; i < scale.size(); ++i) scale[i] = scale_factor(scale[i], rounding);
}

template <real T>
jacobi_scaling<T> scale_symmetric(const device& dev, csr_view<const T> A, scale_rounding rounding) {
  const ieee_environment here;
  const valid_csr valid("scaling", dev, A);
  array<T> scale = inverse_diagonal(dev, A, "scaling");
  scale_factors(dev, rounding, scale);
  csr<T> B{A.rows, A.cols, array<std::int64_t>(dev, A.rows + 1), array<std::int32_t>(dev, A.nonzeros),
           array<T>(dev, A.nonzeros)};
  copy_bytes(B.row_ptr.data(), dev, A.row_ptr, dev,
             static_cast<std::size_t>(A.rows + 1) * sizeof(std::int64_t));
  copy_bytes(B.col.data(), dev, A.col, dev, static_cast<std::size_t>(A.nonzeros) * sizeof(std::int32_t));
  scale_entries(dev, A, scale.data(), B.val.data());
  return {std::move(B), std::move(scale)};
}

template void scale_factors(const device&, scale_rounding, array<float>&);
template void scale_factors(const device&, scale_rounding, array<double>&);
template jacobi_scaling<float> scale_symmetric(const device&, csr_view<const float>, scale_rounding);
template jacobi_scaling<double> scale_symmetric(const device&, csr_view<const double>, scale_rounding);

}  // namespace vouch
