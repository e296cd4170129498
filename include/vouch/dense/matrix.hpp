// vouch/dense/matrix.hpp -- dense matrices, column after column, as BLAS and LAPACK hold them.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// A matrix, or a block of one, that somebody else owns: entry (i, j) is data[i + j*ld], ld >= max(1, rows).
/// Passed by value; knows no device.
template <class T>
struct matrix_view {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 1;

  VOUCH_HOST_DEVICE constexpr T& operator()(std::int64_t i, std::int64_t j) const { return data[i + j * ld]; }
  VOUCH_HOST_DEVICE constexpr view<T> column(std::int64_t j) const { return {data + j * ld, rows}; }
  VOUCH_HOST_DEVICE constexpr view<T> row(std::int64_t i) const { return {data + i, cols, ld}; }
  VOUCH_HOST_DEVICE constexpr view<T> diagonal() const { return {data, rows < cols ? rows : cols, ld + 1}; }
  /// Rows i to i+m-1 and columns j to j+n-1, which must exist.
  VOUCH_HOST_DEVICE constexpr matrix_view block(std::int64_t i, std::int64_t j, std::int64_t m,
                                                std::int64_t n) const {
    return {data + i + j * ld, m, n, ld};
  }

  /// A view of mutable entries is one of constant entries.
  template <class Constant>
  requires(std::same_as<Constant, const T> && !std::is_const_v<T>) VOUCH_HOST_DEVICE constexpr
  operator matrix_view<Constant>() const {
    return {data, rows, cols, ld};
  }
};

/// "3-by-4", for the texts of shape errors.
inline std::string shape_text(std::int64_t rows, std::int64_t cols) {
  return std::to_string(rows) + "-by-" + std::to_string(cols);
}

/// An owning rows()-by-cols() matrix on where(). Move-only; copying is spelled out: a.to(dev). What was moved
/// from is 0-by-0.
///
/// Memory  Uninitialised unless made by zeros(), from() or to(). operator() and at() are for matrices on the
///         CPU.
/// Throws  value_error    a negative size
///         out_of_memory  with the bytes asked and free
template <class T>
class matrix {
 public:
  matrix() = default;
  matrix(const device& dev, std::int64_t rows, std::int64_t cols)
      : entries_(dev, entry_count(rows, cols)), rows_(rows), cols_(cols) {}
  matrix(matrix&& other) noexcept
      : entries_(std::move(other.entries_)),
        rows_(std::exchange(other.rows_, 0)),
        cols_(std::exchange(other.cols_, 0)) {}
  matrix& operator=(matrix&& other) noexcept {
    entries_ = std::move(other.entries_);
    rows_ = std::exchange(other.rows_, 0);
    cols_ = std::exchange(other.cols_, 0);
    return *this;
  }
  matrix(const matrix&) = delete;
  matrix& operator=(const matrix&) = delete;

  static matrix zeros(const device& dev, std::int64_t rows, std::int64_t cols) {
    return matrix(array<T>::zeros(dev, entry_count(rows, cols)), rows, cols);
  }
  /// A copy on dev of host entries, column after column.
  /// Throws  shape_error  not rows*cols entries
  static matrix from(const device& dev, std::int64_t rows, std::int64_t cols, std::span<const T> entries) {
    if (static_cast<std::int64_t>(entries.size()) != entry_count(rows, cols))
      throw shape_error("matrix: " + std::to_string(entries.size()) + " entries do not fill " +
                        shape_text(rows, cols));
    return matrix(array<T>::from(dev, entries), rows, cols);
  }
  /// A copy on dev, complete on return.
  matrix to(const device& dev) const { return matrix(entries_.to(dev), rows_, cols_); }
  /// A copy of the entries in host memory, column after column.
  std::vector<T> to_vector() const { return entries_.to_vector(); }

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  /// The distance of two neighbours in a row.
  std::int64_t ld() const { return std::max<std::int64_t>(1, rows_); }
  const device& where() const { return entries_.where(); }
  T* data() { return entries_.data(); }
  const T* data() const { return entries_.data(); }

  matrix_view<T> all() { return {data(), rows_, cols_, ld()}; }
  matrix_view<const T> all() const { return {data(), rows_, cols_, ld()}; }
  /// Constant also where the matrix is not: what template arguments of a BLAS routine are deduced from.
  matrix_view<const T> read() const { return all(); }
  operator matrix_view<T>() { return all(); }
  operator matrix_view<const T>() const { return all(); }

  T& operator()(std::int64_t i, std::int64_t j) { return data()[i + j * ld()]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return data()[i + j * ld()]; }
  /// Entry (i, j) of a matrix on the CPU.
  /// Throws  shape_error  there is no such entry
  ///         value_error  the matrix is on a GPU
  T& at(std::int64_t i, std::int64_t j) {
    check_entry(i, j);
    return (*this)(i, j);
  }
  const T& at(std::int64_t i, std::int64_t j) const {
    check_entry(i, j);
    return (*this)(i, j);
  }

 private:
  matrix(array<T>&& entries, std::int64_t rows, std::int64_t cols)
      : entries_(std::move(entries)), rows_(rows), cols_(cols) {}

  static std::int64_t entry_count(std::int64_t rows, std::int64_t cols) {
    if (rows < 0 || cols < 0) throw value_error("matrix: negative size " + shape_text(rows, cols));
    // More than memory holds; array says so.
    if (cols > 0 && rows > std::numeric_limits<std::int64_t>::max() / cols)
      return std::numeric_limits<std::int64_t>::max();
    return rows * cols;
  }
  void check_entry(std::int64_t i, std::int64_t j) const {
    if (i < 0 || i >= rows_ || j < 0 || j >= cols_)
      throw shape_error("matrix: no entry (" + std::to_string(i) + ", " + std::to_string(j) + ") in " +
                        shape_text(rows_, cols_));
    if (where().is_cuda())
      throw value_error("matrix: its entries are on a GPU", "copy it first: a.to(device::cpu())");
  }

  array<T> entries_;
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
};

}  // namespace vouch
