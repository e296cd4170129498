// tests/dense/integer_cases.hpp -- matrices of small integers, in whose products nothing is rounded, and exact
// arithmetic on them.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/random.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/scalar.hpp>
#include <vouch/dense/types.hpp>

#include "devices.hpp"

namespace vouch::testing {

/// An interval of integers; a point where both ends agree.
struct whole {
  std::int64_t lo = 0, hi = 0;

  friend whole operator+(whole a, whole b) { return {a.lo + b.lo, a.hi + b.hi}; }
  friend whole operator*(whole a, whole b) {
    const auto [least, most] = std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
    return {least, most};
  }
  friend bool operator==(whole a, whole b) = default;
};

inline whole square(whole a) {
  const whole p = a * a;
  return {a.lo < 0 && a.hi > 0 ? 0 : std::min(a.lo * a.lo, a.hi * a.hi), p.hi};
}

template <class E>
E element(whole w) {
  using T = bound_of<E>;
  if constexpr (is_interval<E>)
    return E::unchecked(static_cast<T>(w.lo), static_cast<T>(w.hi));
  else
    return static_cast<E>(w.lo);
}

/// A value that no result may show: NaN, or the empty set.
template <class E>
E poison() {
  const bound_of<E> nan = std::numeric_limits<bound_of<E>>::quiet_NaN();
  if constexpr (is_interval<E>)
    return E::unchecked(nan, nan);
  else
    return nan;
}

template <class E>
::testing::AssertionResult is(E got, whole wanted) {
  if (detail::lower(got) == static_cast<bound_of<E>>(wanted.lo) &&
      detail::upper(got) == static_cast<bound_of<E>>(wanted.hi))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << '[' << detail::lower(got) << ", " << detail::upper(got)
                                       << "] is not [" << wanted.lo << ", " << wanted.hi << ']';
}

/// A random integer with |x| <= largest, or for intervals a random pair.
template <class E>
whole random_whole(std::uint64_t seed, std::uint64_t at, std::int64_t largest = 6) {
  const auto draw = [&](std::uint64_t stream) {
    return static_cast<std::int64_t>(random_bits(seed, 2 * at + stream) %
                                     static_cast<std::uint64_t>(2 * largest + 1)) -
           largest;
  };
  const std::int64_t a = draw(0), b = is_interval<E> ? draw(1) : a;
  return {std::min(a, b), std::max(a, b)};
}

/// A full matrix of exact entries.
struct exact_matrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<whole> entries;

  exact_matrix(std::int64_t m, std::int64_t n) : rows(m), cols(n), entries(static_cast<std::size_t>(m * n)) {}
  whole& operator()(std::int64_t i, std::int64_t j) { return entries[static_cast<std::size_t>(i + j * rows)]; }
  whole operator()(std::int64_t i, std::int64_t j) const {
    return entries[static_cast<std::size_t>(i + j * rows)];
  }
  exact_matrix transposed(bool really = true) const {
    if (!really) return *this;
    exact_matrix t(cols, rows);
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = 0; i < rows; ++i) t(j, i) = (*this)(i, j);
    return t;
  }
};

template <class E>
exact_matrix random_matrix(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  exact_matrix A(m, n);
  for (std::size_t k = 0; k < A.entries.size(); ++k) A.entries[k] = random_whole<E>(seed, k);
  return A;
}

inline exact_matrix product(const exact_matrix& A, const exact_matrix& B) {
  exact_matrix C(A.rows, B.cols);
  for (std::int64_t j = 0; j < B.cols; ++j)
    for (std::int64_t k = 0; k < A.cols; ++k)
      for (std::int64_t i = 0; i < A.rows; ++i) C(i, j) = C(i, j) + A(i, k) * B(k, j);
  return C;
}

inline exact_matrix combination(whole alpha, const exact_matrix& A, whole beta, const exact_matrix& B) {
  exact_matrix C(B.rows, B.cols);
  for (std::size_t k = 0; k < C.entries.size(); ++k) C.entries[k] = alpha * A.entries[k] + beta * B.entries[k];
  return C;
}

/// Memory that is filled on the host, then lies on a device while a routine runs, then is looked at on the
/// host.
template <class E>
class mirrored {
 public:
  mirrored(const device& dev, std::int64_t size)
      : device_(dev), host_(static_cast<std::size_t>(size), poison<E>()) {}
  /// Before the routine.
  E* host() { return host_.data(); }
  /// For the routine.
  E* there() {
    if (there_.size() == 0) there_ = array<E>::from(device_, host_);
    return there_.data();
  }
  /// After it.
  const std::vector<E>& back() { return host_ = there_.to_vector(); }

 private:
  device device_;
  std::vector<E> host_;
  array<E> there_;
};

/// An exact matrix laid out with a leading dimension on a device, surrounded by poison.
template <class E>
class laid_out {
 public:
  explicit laid_out(const device& dev, const exact_matrix& from, std::int64_t more_rows = 3)
      : rows_(from.rows), cols_(from.cols), ld_(from.rows + more_rows), memory_(dev, ld_ * cols_ + 1) {
    for (std::int64_t j = 0; j < cols_; ++j)
      for (std::int64_t i = 0; i < rows_; ++i) host()(i, j) = element<E>(from(i, j));
  }
  matrix_view<E> host() { return {memory_.host(), rows_, cols_, ld_}; }
  matrix_view<E> all() { return {memory_.there(), rows_, cols_, ld_}; }
  matrix_view<const E> read() { return all(); }

  /// Every entry as wanted, and nothing but the matrix written.
  void expect(const exact_matrix& wanted, const char* what) {
    const std::vector<E>& got = memory_.back();
    for (std::int64_t j = 0; j < cols_; ++j)
      for (std::int64_t i = 0; i < ld_; ++i) {
        const E e = got[static_cast<std::size_t>(i + j * ld_)];
        if (i < rows_)
          ASSERT_TRUE(is(e, wanted(i, j)))
              << what << " at " << i << ", " << j << " of " << rows_ << "-by-" << cols_;
        else
          ASSERT_NE(detail::lower(e), detail::lower(e)) << what << " wrote beside the matrix";
      }
  }

 private:
  std::int64_t rows_, cols_, ld_;
  mirrored<E> memory_;
};

/// The symmetric matrix of one triangle of A; and the triangular one.
inline exact_matrix symmetric_of(const exact_matrix& A, triangle stored) {
  exact_matrix S = A;
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i)
      if (stored == triangle::lower ? i < j : i > j) S(i, j) = A(j, i);
  return S;
}
inline exact_matrix triangular_of(const exact_matrix& A, triangle stored, diagonal unit) {
  exact_matrix S = A;
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i) {
      if (stored == triangle::lower ? i < j : i > j) S(i, j) = {};
      if (i == j && unit == diagonal::unit) S(i, j) = {1, 1};
    }
  return S;
}

/// Poison where a routine must not look: the other triangle and, if unit, the diagonal.
template <class E>
void poison_unread(matrix_view<E> A, triangle stored, diagonal unit = diagonal::general) {
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i)
      if ((stored == triangle::lower ? i < j : i > j) || (i == j && unit == diagonal::unit))
        A(i, j) = poison<E>();
}

/// The CPU with two threads, and the GPU where there is one.
inline std::vector<device> tested_devices() {
  std::vector<device> all{device::cpu(2)};
  for (const device& gpu : gpus()) all.push_back(gpu);
  return all;
}

inline constexpr transpose both_transposes[] = {transpose::no, transpose::yes};
inline constexpr triangle both_triangles[] = {triangle::lower, triangle::upper};
inline constexpr side both_sides[] = {side::left, side::right};
inline constexpr diagonal both_diagonals[] = {diagonal::general, diagonal::unit};

/// The types of a product's operands and result.
template <class A, class B, class C>
struct types {
  using a = A;
  using b = B;
  using c = C;
};
using all_types = ::testing::Types<
    types<float, float, float>, types<double, double, double>, types<double, double, interval<double>>,
    types<double, interval<double>, interval<double>>, types<interval<double>, double, interval<double>>,
    types<interval<double>, interval<double>, interval<double>>, types<float, float, interval<float>>,
    types<float, interval<float>, interval<float>>, types<interval<float>, float, interval<float>>,
    types<interval<float>, interval<float>, interval<float>>>;

}  // namespace vouch::testing
