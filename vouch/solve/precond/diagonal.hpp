// vouch/solve/precond/diagonal.hpp -- the diagonal of a matrix that must be positive; private.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/precond/complex_rows.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// a_ii, 0 where the row stores none.
template <real T>
VOUCH_HOST_DEVICE inline T diagonal_entry(csr_view<const T> A, std::int64_t i) {
  return entry_at(A, i, i);
}

/// True where d > 0 and 1/d is a positive number too: not for NaN, infinity and the smallest subnormals.
template <real T>
VOUCH_HOST_DEVICE inline bool can_be_inverted(T d) {
  const T inverse = T(1) / d;
  return d > T{} && inverse > T{} && inverse <= std::numeric_limits<T>::max();
}

/// Throws  value_error  naming the row (counted from 1) and its diagonal entry
[[noreturn]] void throw_bad_diagonal(const std::string& who, std::int64_t row, double entry);

/// Throws  shape_error  A is not square
void check_square(const std::string& who, std::int64_t rows, std::int64_t cols);

/// 1/a_ii of every row, on dev, where A lives too.
///
/// Throws  shape_error  A is not square
///         value_error  the first diagonal entry that is not positive or has no finite inverse; `who` begins
///         the
///                      text
template <real T>
array<T> inverse_diagonal(const device& dev, csr_view<const T> A, const std::string& who);

/// The least and the largest a_ii of an A on dev, to rounding; the least is at least the least eigenvalue where A is
/// symmetric. Infinity where a diagonal entry is not positive or has no finite inverse.
struct diagonal_range {
  double least = std::numeric_limits<double>::infinity(), largest = std::numeric_limits<double>::infinity();
};
template <real T>
diagonal_range range_of_diagonal(const device& dev, csr_view<const T> A);
/// The same of the a_ii with these inverses; infinity where there is none.
template <real T>
diagonal_range range_of_inverse(const device& dev, const array<T>& inverse);

// The CUDA sides. bad receives the index of the first bad entry, or stays at A.rows; there out keeps a_ii
// itself.
template <real T>
void invert_diagonal_cuda(const device& dev, csr_view<const T> A, T* out, std::uint64_t* bad);
template <real T>
void multiply_elements_cuda(const device& dev, const T* d, view<const T> r, view<T> z);

}  // namespace vouch
