#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/valid_csr.hpp>

#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>

namespace vouch {

void detail::refuse_arrays(std::int64_t rows, std::int64_t offsets, std::int64_t columns, std::int64_t values) {
  throw shape_error("a matrix of " + std::to_string(rows) + " rows has " + std::to_string(offsets) +
                        " offsets, " + std::to_string(columns) + " columns and " + std::to_string(values) +
                        " values",
                    "there is one offset more than rows, and as many columns as values");
}

template <real T>
csr<T> copy(const device& to, const device& from, csr_view<const T> A) {
  const valid_csr valid("copy", from, A);
  csr<T> B{A.rows, A.cols, array<std::int64_t>(to, A.rows + 1), array<std::int32_t>(to, A.nonzeros),
           array<T>(to, A.nonzeros)};
  copy_bytes(B.row_ptr.data(), to, A.row_ptr, from, static_cast<std::size_t>(A.rows + 1) * 8);
  copy_bytes(B.col.data(), to, A.col, from, static_cast<std::size_t>(A.nonzeros) * 4);
  copy_bytes(B.val.data(), to, A.val, from, static_cast<std::size_t>(A.nonzeros) * sizeof(T));
  return B;
}

template VOUCH_PUBLIC csr<float> copy(const device&, const device&, csr_view<const float>);
template VOUCH_PUBLIC csr<double> copy(const device&, const device&, csr_view<const double>);

template <real T, real From>
csr<T> convert_values(const device& dev, csr_view<const From> A) {
  const ieee_environment here;
  const valid_csr valid("convert_values", dev, A);
  csr<T> B{A.rows, A.cols, array<std::int64_t>(dev, A.rows + 1), array<std::int32_t>(dev, A.nonzeros),
           array<T>(dev, A.nonzeros)};
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros))
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

template VOUCH_PUBLIC csr<float> convert_values(const device&, csr_view<const double>);
template VOUCH_PUBLIC csr<double> convert_values(const device&, csr_view<const float>);
template VOUCH_PUBLIC csr<double> convert_values(const device&, csr_view<const double>);
template VOUCH_PUBLIC csr<float> convert_values(const device&, csr_view<const float>);

}  // namespace vouch
