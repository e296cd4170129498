#include <vouch/sparse/csr.hpp>

namespace vouch {

template <real T, real From>
csr<T> convert_values(const device& dev, csr_view<const From> A) {
  csr<T> B{A.rows, A.cols, array<std::int64_t>(dev, A.rows + 1), array<std::int32_t>(dev, A.nonzeros),
           array<T>(dev, A.nonzeros)};
#pragma omp parallel num_threads(dev.threads())
  {
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i <= A.rows; ++i) B.row_ptr[i] = A.row_ptr[i];
#pragma omp for schedule(static)
    for (std::int64_t k = 0; k < A.nonzeros; ++k) {
      B.col[k] = A.col[k];
      B.val[k] = static_cast<T>(A.val[k]);
    }
  }
  return B;
}

template csr<float> convert_values(const device&, csr_view<const double>);
template csr<double> convert_values(const device&, csr_view<const float>);
template csr<double> convert_values(const device&, csr_view<const double>);
template csr<float> convert_values(const device&, csr_view<const float>);

}  // namespace vouch
