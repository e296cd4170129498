// vouch/dense/transpose.hpp -- transposed copies of matrices, and matrices transposed in place.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>

namespace VOUCH_PUBLIC vouch {

namespace detail {

/// What the copies know of a matrix: where it is and how large its elements are.
template <class Byte>
struct element_grid {
  Byte* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 1;
};

void transpose_elements(const device& dev, int bytes, element_grid<const std::byte> from,
                        element_grid<std::byte> to);
void transpose_in_place(const device& dev, int bytes, element_grid<std::byte> A);

template <class T>
constexpr int transposable_bytes() {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16),
                "elements have 4, 8 or 16 bytes");
  return static_cast<int>(sizeof(T));
}

}  // namespace detail

/// B := A^T
///
/// Shapes  A is m-by-n, B is n-by-m.
/// Types   Elements of 4, 8 or 16 bytes that may be copied as bytes: numbers, intervals of them, complex ones.
/// Memory  On dev. B does not overlap A. On a GPU only enqueued.
/// Cost    Reads A once and writes B once.
/// Throws  shape_error  B is not n-by-m; the text has both
///         value_error  the matrices overlap, or a leading dimension below the rows
template <class T>
void transpose_into(const device& dev, matrix_view<const T> A, matrix_view<T> B) {
  detail::transpose_elements(dev, detail::transposable_bytes<T>(),
                             {reinterpret_cast<const std::byte*>(A.data), A.rows, A.cols, A.ld},
                             {reinterpret_cast<std::byte*>(B.data), B.rows, B.cols, B.ld});
}

/// A := A^T in the memory of A, and what it is then.
///
/// Shapes  A is m-by-n, the result n-by-m with the leading dimension of A where A is square, n where it is not.
/// Types   As transpose_into.
/// Memory  On dev; columns of a matrix that is not square follow each other without gaps (ld = m), and such a
///         one needs room for a copy of it besides. On a GPU only enqueued.
/// Cost    A square one: reads and writes A once, others twice.
/// Throws  value_error    a leading dimension below the rows, or gaps between the columns of a rectangle
///         out_of_memory  no room for the copy, with the bytes asked and free; A is as it was
template <class T>
matrix_view<T> transpose_in_place(const device& dev, matrix_view<T> A) {
  detail::transpose_in_place(dev, detail::transposable_bytes<T>(),
                             {reinterpret_cast<std::byte*>(A.data), A.rows, A.cols, A.ld});
  return {A.data, A.cols, A.rows, A.rows == A.cols ? A.ld : std::max<std::int64_t>(1, A.cols)};
}

}  // namespace vouch
