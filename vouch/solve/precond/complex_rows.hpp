// vouch/solve/precond/complex_rows.hpp -- entries of a complex matrix, read from its real form; private.
#pragma once
#include <complex>
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// A(row, col), 0 where it is not stored.
template <real T>
VOUCH_HOST_DEVICE inline T entry_at(csr_view<const T> A, std::int64_t row, std::int64_t col) {
  std::int64_t first = A.row_ptr[row], last = A.row_ptr[row + 1];
  while (first < last) {
    const std::int64_t middle = first + (last - first) / 2;
    if (A.col[middle] < col)
      first = middle + 1;
    else
      last = middle;
  }
  return first < A.row_ptr[row + 1] && A.col[first] == col ? A.val[first] : T{};
}

/// Entry (i, j) of the complex matrix with the real form A.
template <real T>
std::complex<double> number_at(csr_view<const T> A, std::int64_t i, std::int64_t j) {
  return {static_cast<double>(entry_at(A, 2 * i, 2 * j)), static_cast<double>(entry_at(A, 2 * i + 1, 2 * j))};
}

/// Calls visit(j, number) for every stored number of row i, by ascending j. The real form has its parts in row 2i as a and
/// -b, of which one may not be stored.
template <real T, class Visit>
void for_numbers_of_row(csr_view<const T> A, std::int64_t i, const Visit& visit) {
  for (std::int64_t k = A.row_ptr[2 * i]; k < A.row_ptr[2 * i + 1];) {
    const std::int64_t j = A.col[k] / 2;
    std::complex<double> number{};
    for (; k < A.row_ptr[2 * i + 1] && A.col[k] / 2 == j; ++k)
      number += A.col[k] % 2 == 0 ? std::complex<double>(A.val[k], 0) : std::complex<double>(0, -A.val[k]);
    visit(j, number);
  }
}

}  // namespace vouch
