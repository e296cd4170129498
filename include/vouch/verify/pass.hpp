// vouch/verify/pass.hpp -- passes of the verification over a matrix or vectors, on any device; a detail of public headers.
#pragma once
#include <variant>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_layouts.hpp>

namespace VOUCH_PUBLIC vouch {
namespace detail {

/// Gives every row of A to body (rows.hpp): A is a csr_view, a dia_layout or, dense, a matrix_view. The bits do
/// not depend on the number of threads.
template <class Matrix, class Body>
void for_rows(const device& dev, const Matrix& A, const Body& body);

/// body(i) for i below n (elements.hpp).
template <class Body>
void for_elements(const device& dev, std::int64_t n, const Body& body);

/// The largest body.value(i), 0 for none; NaN where there is one. Waits for the device.
template <class Body>
double largest(const device& dev, std::int64_t n, const Body& body);

// The same on a GPU.
template <class Matrix, class Body>
void for_rows_cuda(const device& dev, const Matrix& A, const Body& body);
template <class Body>
void for_elements_cuda(const device& dev, std::int64_t n, const Body& body);
template <class Body>
double largest_cuda(const device& dev, std::int64_t n, const Body& body);

/// One matrix in any of the forms that proofs read; somebody else owns it.
using matrix_rows = std::variant<csr_view<const double>, dia_layout<double>, matrix_view<const double>>;

template <class Body>
void for_rows(const device& dev, const matrix_rows& A, const Body& body) {
  std::visit([&](const auto& rows) { for_rows(dev, rows, body); }, A);
}

inline std::int64_t row_count(const matrix_rows& A) {
  return std::visit([](const auto& rows) { return std::int64_t{rows.rows}; }, A);
}
inline std::int64_t column_count(const matrix_rows& A) {
  return std::visit([](const auto& rows) { return std::int64_t{rows.cols}; }, A);
}

}  // namespace detail
}  // namespace vouch
