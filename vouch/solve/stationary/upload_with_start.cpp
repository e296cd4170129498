#include <vouch/solve/stationary/upload_with_start.hpp>

#include <string>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/stationary/dense_engines.hpp>

namespace vouch {

template <real T>
matrix<T> upload_with_start(const device& dev, transpose op, matrix_view<const T> A, view<const T> b,
                            view<T> x) {
  const ieee_environment here;
  if (A.rows != A.cols) throw shape_error("the matrix is " + shape_text(A.rows, A.cols) + ", not square");
  if (b.size() != A.rows || x.size() != A.rows)
    throw shape_error("the matrix has " + std::to_string(A.rows) + " rows, but b has " +
                      std::to_string(b.size()) + " elements and x " + std::to_string(x.size()));
  matrix<T> there(dev, A.rows, A.cols);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      send_matrix<T>(dev, A, there, op == transpose::yes ? b.data() : nullptr, x.data());
      return there;
    }
  const auto bytes = static_cast<std::size_t>(A.rows) * sizeof(T);
  for (std::int64_t j = 0; j < A.cols; ++j)
    copy_bytes(there.data() + j * A.rows, dev, A.column(j).data(), dev, bytes);
  return there;
}

template matrix<float> upload_with_start(const device&, transpose, matrix_view<const float>, view<const float>,
                                         view<float>);
template matrix<double> upload_with_start(const device&, transpose, matrix_view<const double>,
                                          view<const double>, view<double>);

}  // namespace vouch
