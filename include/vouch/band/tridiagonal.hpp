// vouch/band/tridiagonal.hpp -- tridiagonal matrices, one or a batch, and the vectors that go with them.
#pragma once
#include <cstdint>
#include <span>
#include <type_traits>

#include <vouch/core/array.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Where the rows of every system of a batch lie: element i of system s is at s * system_stride + i *
/// row_stride, or, with offsets, at offsets[s] + i.
///
/// Contiguous systems have strides 1 and n, interleaved ones strides `systems` and 1. A system_stride of 0
/// shares one system among all, a row_stride of 0 makes its coefficients constant.
struct batch_shape {
  std::int64_t n = 0;  // rows of every system; with offsets, of the longest
  std::int64_t systems = 1;
  std::int64_t row_stride = 1;
  std::int64_t system_stride = 0;
  const std::int64_t* offsets = nullptr;  // systems + 1 of them, in host memory, ascending from 0

  VOUCH_HOST_DEVICE constexpr std::int64_t rows(std::int64_t s) const {
    return offsets != nullptr ? offsets[s + 1] - offsets[s] : n;
  }
  VOUCH_HOST_DEVICE constexpr std::int64_t at(std::int64_t s, std::int64_t i) const {
    return (offsets != nullptr ? offsets[s] : s * system_stride) + i * row_stride;
  }
  /// Elements from the first to the last of all systems.
  constexpr std::int64_t extent() const {
    if (offsets != nullptr) return offsets[systems];
    return n == 0 || systems == 0 ? 0 : at(systems - 1, n - 1) + 1;
  }
};

constexpr batch_shape contiguous(std::int64_t n, std::int64_t systems = 1) {
  return {n, systems, 1, n, nullptr};
}
constexpr batch_shape interleaved(std::int64_t n, std::int64_t systems) {
  return {n, systems, systems, 1, nullptr};
}
/// Systems of different lengths one after another: system s has rows offsets[s] to offsets[s + 1] - 1.
///
/// Memory  offsets must outlive every shape and view made of it.
/// Throws  value_error  offsets that are empty, do not begin with 0 or descend
batch_shape ragged(std::span<const std::int64_t> offsets);

/// Vectors of a batch that somebody else owns.
template <class T>
struct batch_view {
  T* data = nullptr;
  batch_shape shape;

  VOUCH_HOST_DEVICE constexpr T& operator()(std::int64_t s, std::int64_t i) const {
    return data[shape.at(s, i)];
  }
  template <class Constant>
  requires(std::same_as<Constant, const T> && !std::is_const_v<T>) operator batch_view<Constant>() const {
    return {data, shape};
  }
};

/// Tridiagonal matrices that somebody else owns. Row i is dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1].
///
/// dl of a first row and du of a last one are never used, whatever they hold, unless the matrix is periodic:
/// then they couple the first row to the last unknown and the last row to the first (entries that fall on one
/// place, n <= 2, add up).
template <class T>
struct tridiagonal_view {
  T* dl = nullptr;
  T* d = nullptr;
  T* du = nullptr;
  batch_shape shape;
  bool periodic = false;

  template <class Constant>
  requires(std::same_as<Constant, const T> && !std::is_const_v<T>) operator tridiagonal_view<Constant>() const {
    return {dl, d, du, shape, periodic};
  }
};

/// Owning tridiagonal matrices on one device, stored as shape says (no offsets).
///
/// Memory  Uninitialised unless made by from() or constant().
template <real T>
struct tridiagonal {
  batch_shape shape;
  array<T> dl, d, du;
  bool periodic = false;

  tridiagonal() = default;
  /// Throws  value_error  a negative size or stride; offsets
  tridiagonal(const device& dev, batch_shape of);

  /// A copy of one matrix given by its diagonals, each of n elements.
  /// Throws  shape_error  lengths that differ
  static tridiagonal from(const device& dev, std::span<const T> dl, std::span<const T> d,
                          std::span<const T> du);
  /// The same three numbers in every row of every system; takes no more memory than they do.
  static tridiagonal constant(const device& dev, T dl, T d, T du, std::int64_t n, std::int64_t systems = 1);

  const device& where() const { return d.where(); }
  tridiagonal_view<const T> all() const { return {dl.data(), d.data(), du.data(), shape, periodic}; }
  tridiagonal_view<T> all() { return {dl.data(), d.data(), du.data(), shape, periodic}; }
  operator tridiagonal_view<const T>() const { return all(); }
};

/// What one pass over tridiagonal matrices finds.
struct tridiagonal_facts {
  bool symmetric = true;  // dl[i+1] == du[i] throughout
  bool positive_diagonal = true;
  double dominance =
      0;  // least |d| / (|dl| + |du|) of a row; infinite for a diagonal matrix, 0 for a row of zeros
  std::int64_t weakest_system = 0, weakest_row = 0;  // where that is
  double column_dominance = 0;                       // likewise of a column
  double largest = 0;                                // magnitude of an entry
};

/// Looks at every entry that is used; periodic ones included.
///
/// Memory  A lives on dev.
/// Result  Same bits for any number of threads. Waits for a GPU.
/// Throws  value_error  a NaN or infinity: the text names the element; a negative size or stride
template <real T>
tridiagonal_facts examine(const device& dev, tridiagonal_view<const T> A);

}  // namespace vouch
