// vouch/solve/driver/tridiagonal_form.hpp -- a tridiagonal matrix in CSR by its diagonals; private.
#pragma once
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Three diagonals of n elements; the first of dl and the last of du are 0.
template <real T>
struct diagonals {
  array<T> dl, d, du;

  diagonals to(const device& dev) const { return {dl.to(dev), d.to(dev), du.to(dev)}; }
};

/// Those of A, which lives on the CPU, rounded to T.
template <real T>
diagonals<T> diagonals_of(const device& cpu, csr_view<const double> A) {
  diagonals<T> of{array<T>::zeros(cpu, A.rows), array<T>::zeros(cpu, A.rows), array<T>::zeros(cpu, A.rows)};
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t j = A.col[k];
      (j < i ? of.dl : j == i ? of.d : of.du)[i] = static_cast<T>(A.val[k]);
    }
  return of;
}

}  // namespace vouch
