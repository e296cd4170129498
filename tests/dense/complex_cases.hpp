// tests/dense/complex_cases.hpp -- rectangles of small integers, exact arithmetic on them, and their layouts.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <vouch/interval/complex_interval.hpp>

#include "dense/integer_cases.hpp"

namespace vouch::testing {

inline constexpr transpose all_transposes[] = {transpose::no, transpose::yes, transpose::conjugate};

inline whole operator-(whole a) { return {-a.hi, -a.lo}; }

// A matrix of rectangles with integer corners.
struct exact_complex {
  exact_matrix real, imag;

  exact_complex(std::int64_t m, std::int64_t n) : real(m, n), imag(m, n) {}
  exact_complex(std::int64_t m, std::int64_t n, std::uint64_t seed)
      : real(random_matrix<interval<double>>(m, n, seed)),
        imag(random_matrix<interval<double>>(m, n, seed + 50)) {}
  exact_complex transposed(transpose trans) const {
    exact_complex t = *this;
    if (trans == transpose::no) return t;
    t.real = real.transposed();
    t.imag = imag.transposed();
    if (trans == transpose::conjugate)
      for (whole& w : t.imag.entries) w = -w;
    return t;
  }
};

inline exact_matrix plus(const exact_matrix& a, const exact_matrix& b, bool minus = false) {
  exact_matrix c = a;
  for (std::size_t k = 0; k < c.entries.size(); ++k)
    c.entries[k] = a.entries[k] + (minus ? -b.entries[k] : b.entries[k]);
  return c;
}
inline exact_complex times(const exact_complex& a, const exact_complex& b) {
  exact_complex c(a.real.rows, b.real.cols);
  c.real = plus(product(a.real, b.real), product(a.imag, b.imag), true);
  c.imag = plus(product(a.real, b.imag), product(a.imag, b.real));
  return c;
}
inline exact_complex sum(const exact_complex& a, const exact_complex& b) {
  exact_complex c = a;
  c.real = plus(a.real, b.real);
  c.imag = plus(a.imag, b.imag);
  return c;
}
// Every entry times z.
inline exact_complex scaled(whole re, whole im, const exact_complex& a) {
  exact_complex c = a;
  for (std::size_t k = 0; k < c.real.entries.size(); ++k) {
    c.real.entries[k] = re * a.real.entries[k] + -(im * a.imag.entries[k]);
    c.imag.entries[k] = re * a.imag.entries[k] + im * a.real.entries[k];
  }
  return c;
}

template <class T>
complex_interval<T> number(whole re, whole im) {
  return {element<interval<T>>(re), element<interval<T>>(im)};
}
template <class T>
std::vector<complex_interval<T>> entries(const exact_complex& a) {
  std::vector<complex_interval<T>> all;
  for (std::size_t k = 0; k < a.real.entries.size(); ++k)
    all.push_back(number<T>(a.real.entries[k], a.imag.entries[k]));
  return all;
}

/// Points: a column of integers; a matrix whose diagonal elements have a size of 1 or 2^(1/2), so that
/// quotients of what they multiply are exact.
inline exact_complex point_column(std::int64_t n, std::uint64_t seed) {
  exact_complex x(n, 1);
  x.real = random_matrix<double>(n, 1, seed);
  x.imag = random_matrix<double>(n, 1, seed + 50);
  return x;
}
inline exact_complex solvable_complex(std::int64_t n) {
  exact_complex A(n, n);
  A.real = random_matrix<double>(n, n, 7);
  A.imag = random_matrix<double>(n, n, 57);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t re = i % 4 == 1 ? 0 : i % 4 == 2 ? -1 : 1, im = i % 4 == 0 ? 0 : i % 4 == 3 ? -1 : 1;
    A.real(i, i) = {re, re};
    A.imag(i, i) = {im, im};
  }
  return A;
}

/// The Hermitian matrix of one triangle of A, its diagonal taken as real; the triangular one; what is left of A
/// within kl diagonals below and ku above the main one.
inline exact_complex hermitian_of(exact_complex A, triangle stored) {
  for (std::int64_t j = 0; j < A.real.cols; ++j)
    for (std::int64_t i = 0; i < A.real.rows; ++i)
      if (i == j) {
        A.imag(i, i) = {};
      } else if ((stored == triangle::lower) == (i < j)) {
        A.real(i, j) = A.real(j, i);
        A.imag(i, j) = -A.imag(j, i);
      }
  return A;
}
inline exact_complex symmetric_of(exact_complex A, triangle stored) {
  for (std::int64_t j = 0; j < A.real.cols; ++j)
    for (std::int64_t i = 0; i < A.real.rows; ++i)
      if (i != j && (stored == triangle::lower) == (i < j)) {
        A.real(i, j) = A.real(j, i);
        A.imag(i, j) = A.imag(j, i);
      }
  return A;
}
inline exact_complex triangular_of(exact_complex A, triangle stored, diagonal unit) {
  A.real = triangular_of(A.real, stored, unit);
  A.imag = triangular_of(A.imag, stored, diagonal::general);
  for (std::int64_t i = 0; i < A.real.rows && unit == diagonal::unit; ++i) A.imag(i, i) = {};
  return A;
}
inline exact_complex banded(exact_complex A, std::int64_t kl, std::int64_t ku) {
  for (std::int64_t j = 0; j < A.real.cols; ++j)
    for (std::int64_t i = 0; i < A.real.rows; ++i)
      if (i > j + kl || j > i + ku) A.real(i, j) = A.imag(i, j) = {};
  return A;
}

/// The entries in one triangle from sum, the others from A.
inline exact_complex one_triangle(const exact_complex& sum, exact_complex A, triangle stored) {
  for (std::int64_t j = 0; j < A.real.cols; ++j)
    for (std::int64_t i = 0; i < A.real.rows; ++i)
      if (stored == triangle::lower ? i >= j : i <= j) {
        A.real(i, j) = sum.real(i, j);
        A.imag(i, j) = sum.imag(i, j);
      }
  return A;
}

template <class T>
complex_interval<T> poisoned() {
  return poison<interval<T>>();
}

/// Entries on a device, each at its own place, poison in between.
template <class T>
class placed {
  using Z = complex_interval<T>;

 public:
  /// place(i, j) tells where an entry stands, or -1 where it does not.
  template <class Place>
  placed(const device& dev, const exact_complex& from, std::int64_t size, const Place& place)
      : dev_(dev), host_(static_cast<std::size_t>(size), poisoned<T>()) {
    for (std::int64_t j = 0; j < from.real.cols; ++j)
      for (std::int64_t i = 0; i < from.real.rows; ++i)
        if (const std::int64_t at = place(i, j); at >= 0)
          host_[static_cast<std::size_t>(at)] = number<T>(from.real(i, j), from.imag(i, j));
    there_ = array<Z>::from(dev, host_);
  }
  Z* data() { return there_.data(); }
  std::int64_t size() const { return there_.size(); }
  std::vector<Z> back() const { return there_.to_vector(); }
  /// What stands there is what stands in wanted, poison included.
  void expect(const placed& wanted, const char* what) const {
    const std::vector<Z> got = back(), all = wanted.back();
    ASSERT_EQ(got.size(), all.size()) << what;
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_TRUE(is_empty(all[i]) ? is_empty(got[i]) : got[i] == all[i]) << what << " at " << i;
  }

 private:
  device dev_;
  std::vector<Z> host_;
  array<Z> there_;
};

/// A matrix with a leading dimension.
template <class T>
placed<T> with_ld(const device& dev, const exact_complex& A) {
  const std::int64_t ld = A.real.rows + 2;
  return {dev, A, ld * A.real.cols + 1, [ld](std::int64_t i, std::int64_t j) { return i + j * ld; }};
}
template <class T>
matrix_view<complex_interval<T>> matrix_of(placed<T>& A, const exact_complex& shape) {
  return {A.data(), shape.real.rows, shape.real.cols, shape.real.rows + 2};
}

/// A column with a stride.
template <class T>
placed<T> with_stride(const device& dev, const exact_complex& x, std::int64_t stride) {
  const std::int64_t n = x.real.rows;
  return {dev, x, n * std::abs(stride) + 1, [n, stride](std::int64_t i, std::int64_t) {
            return stride < 0 ? (n - 1 - i) * -stride : i * stride;
          }};
}
template <class T>
view<complex_interval<T>> vector_of(placed<T>& x, std::int64_t n, std::int64_t stride) {
  return {x.data() + (stride < 0 && n > 0 ? (n - 1) * -stride : 0), n, stride};
}

/// One triangle with a leading dimension, or packed; a band as BLAS holds it, of a triangle for kl or ku 0.
template <class T>
placed<T> triangle_with_ld(const device& dev, const exact_complex& A, triangle stored,
                           diagonal unit = diagonal::general) {
  const std::int64_t ld = A.real.rows + 2;
  return {dev, A, ld * A.real.cols + 1, [=](std::int64_t i, std::int64_t j) {
            if (i == j && unit == diagonal::unit) return std::int64_t{-1};
            return (stored == triangle::lower ? i >= j : i <= j) ? i + j * ld : -1;
          }};
}
template <class T>
placed<T> packed(const device& dev, const exact_complex& A, triangle stored,
                 diagonal unit = diagonal::general) {
  const std::int64_t n = A.real.rows;
  return {dev, A, n * (n + 1) / 2, [=](std::int64_t i, std::int64_t j) {
            if (i == j && unit == diagonal::unit) return std::int64_t{-1};
            if (stored == triangle::lower) return i >= j ? i + j * n - j * (j + 1) / 2 : -1;
            return i <= j ? i + j * (j + 1) / 2 : -1;
          }};
}
template <class T>
placed<T> band(const device& dev, const exact_complex& A, std::int64_t kl, std::int64_t ku,
               diagonal unit = diagonal::general) {
  return {dev, A, (kl + ku + 1) * A.real.cols, [=](std::int64_t i, std::int64_t j) {
            if (i == j && unit == diagonal::unit) return std::int64_t{-1};
            return i <= j + kl && j <= i + ku ? ku + i - j + j * (kl + ku + 1) : -1;
          }};
}

}  // namespace vouch::testing
