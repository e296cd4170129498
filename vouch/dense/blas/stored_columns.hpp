// vouch/dense/blas/stored_columns.hpp -- the matrices of BLAS level 2 as columns, their shapes checked; private.
#pragma once
#include <cstdint>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas/columns.hpp>
#include <vouch/dense/blas/vectors.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>

namespace vouch::detail {

inline void require_diagonals(const char* routine, std::int64_t count) {
  if (count < 0)
    throw value_error(std::string(routine) + ": " + std::to_string(count) + " diagonals beside the main one");
}

template <class T>
columns<T> checked_band(const char* routine, std::int64_t rows, std::int64_t kl, std::int64_t ku,
                        matrix_view<T> A) {
  require_diagonals(routine, kl);
  require_diagonals(routine, ku);
  require_shape(routine, "A", A, kl + ku + 1, A.cols);
  return band_columns(rows, kl, ku, A);
}

template <class T>
columns<T> checked_triangle_band(const char* routine, triangle stored, std::int64_t k, matrix_view<T> A) {
  require_diagonals(routine, k);
  require_shape(routine, "A", A, k + 1, A.cols);
  return triangle_band_columns(stored, k, A);
}

template <class T>
columns<T> checked_triangle(const char* routine, triangle stored, matrix_view<T> A) {
  require_square(routine, "A", A);
  return triangle_columns(stored, A);
}

template <class T>
columns<T> checked_packed(const char* routine, triangle stored, std::int64_t n, view<T> A) {
  require_size(routine, "A", A.size(), n * (n + 1) / 2);
  if (A.size() > 1 && A.stride() != 1)
    throw value_error(std::string(routine) + ": the packed triangle is not contiguous");
  return packed_columns(stored, n, A.data());
}

}  // namespace vouch::detail
