// vouch/dense/blas/columns.hpp -- one description of all the ways BLAS stores a matrix; private.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>

namespace vouch::detail {

/// The rows first to last - 1.
struct range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  VOUCH_HOST_DEVICE std::int64_t size() const { return std::max<std::int64_t>(0, last - first); }
  VOUCH_HOST_DEVICE range clipped(range to) const {
    return {std::max(first, to.first), std::min(last, to.last)};
  }
};

/// A general, band, triangular, symmetric or packed matrix as BLAS stores it: in every one of these layouts
/// the stored entries of a column are neighbours, so a column is a pointer and a range of rows.
///
/// Column j begins, counted to where its row 0 would stand, at data + shift + j*step + growth*j*(j-1)/2, and
/// stores rows j - above to j + below, cut to the matrix. With groups of g rows, those of a complex entry for
/// g = 2, the groups j - above to j + below.
template <class T>
struct columns {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t shift = 0;
  std::int64_t step = 0;
  std::int64_t growth = 0;
  std::int64_t above = 0;
  std::int64_t below = 0;
  std::int64_t group = 1;

  /// Entry (i, j) is from(j)[i], for i in stored(j). The offset alone may leave the storage.
  VOUCH_HOST_DEVICE T& operator()(std::int64_t i, std::int64_t j) const {
    return data[shift + i + j * step + growth * (j * (j - 1) / 2)];
  }
  VOUCH_HOST_DEVICE range stored(std::int64_t j) const {
    return {std::max<std::int64_t>(0, (j - above) * group), std::min(rows, (j + below + 1) * group)};
  }
  /// The columns that store something in the rows given, which are some.
  VOUCH_HOST_DEVICE range touching(range r) const {
    return {std::max<std::int64_t>(0, r.first / group - below),
            std::min(cols, (r.last - 1) / group + 1 + above)};
  }
  /// The most rows that a column stores.
  VOUCH_HOST_DEVICE std::int64_t most_stored() const { return std::min(rows, (above + below + 1) * group); }
  VOUCH_HOST_DEVICE bool is_lower() const { return above <= 0; }

  /// The same without the diagonal; for triangles.
  columns without_diagonal() const {
    columns strict = *this;
    if (is_lower())
      strict.above = -1;
    else
      strict.below = -1;
    return strict;
  }

  /// A description of mutable entries is one of constant entries.
  template <class Constant>
  requires(std::same_as<Constant, const T> && !std::is_const_v<T>) operator columns<Constant>() const {
    return {data, rows, cols, shift, step, growth, above, below, group};
  }
};

template <class T>
columns<T> general_columns(matrix_view<T> A) {
  return {A.data, A.rows, A.cols, 0, A.ld, 0, A.cols, A.rows};
}

/// Row ku + i - j of column j of A is entry (i, j).
template <class T>
columns<T> band_columns(std::int64_t rows, std::int64_t kl, std::int64_t ku, matrix_view<T> A) {
  return {A.data, rows, A.cols, ku, A.ld - 1, 0, ku, kl};
}

template <class T>
columns<T> triangle_columns(triangle stored, matrix_view<T> A) {
  const bool lower = stored == triangle::lower;
  return {A.data, A.rows, A.cols, 0, A.ld, 0, lower ? 0 : A.cols, lower ? A.rows : 0};
}

/// k diagonals beside the main one.
template <class T>
columns<T> triangle_band_columns(triangle stored, std::int64_t k, matrix_view<T> A) {
  const bool lower = stored == triangle::lower;
  return band_columns(A.cols, lower ? k : 0, lower ? 0 : k, A);
}

template <class T>
columns<T> packed_columns(triangle stored, std::int64_t n, T* data) {
  if (stored == triangle::lower) return {data, n, n, 0, n - 1, -1, 0, n};
  return {data, n, n, 0, 1, 1, n, 0};
}

}  // namespace vouch::detail
