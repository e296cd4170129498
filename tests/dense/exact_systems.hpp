// tests/dense/exact_systems.hpp -- determinants and solutions of systems of integers, exactly.
#pragma once
#include <mpfr.h>

#include <cstdint>
#include <utility>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch::testing {

__extension__ typedef __int128 long_integer;

/// Rows of integers.
using integer_rows = std::vector<std::vector<std::int64_t>>;

inline integer_rows random_integers(std::int64_t m, std::int64_t n, std::int64_t largest, std::uint64_t seed) {
  integer_rows A(static_cast<std::size_t>(m), std::vector<std::int64_t>(static_cast<std::size_t>(n)));
  std::uint64_t at = 0;
  for (auto& row : A)
    for (auto& a : row)
      a = static_cast<std::int64_t>(random_bits(seed, at++) % static_cast<std::uint64_t>(2 * largest + 1)) -
          largest;
  return A;
}

/// Elimination without fractions (Bareiss): every number on the way is a minor.
inline long_integer determinant(const integer_rows& A) {
  std::vector<std::vector<long_integer>> M;
  for (const auto& row : A) M.emplace_back(row.begin(), row.end());
  long_integer before = 1, sign = 1;
  for (std::size_t k = 0; k < M.size(); ++k) {
    std::size_t row = k;
    while (row < M.size() && M[row][k] == 0) ++row;
    if (row == M.size()) return 0;
    if (row != k) {
      std::swap(M[row], M[k]);
      sign = -sign;
    }
    for (std::size_t i = k + 1; i < M.size(); ++i)
      for (std::size_t j = k + 1; j < M.size(); ++j) M[i][j] = (M[i][j] * M[k][k] - M[i][k] * M[k][j]) / before;
    before = M[k][k];
  }
  return M.empty() ? 1 : sign * M.back().back();
}

/// The determinant with column j replaced by b: Cramer's numerator of x_j.
inline long_integer numerator(integer_rows A, const integer_rows& B, std::size_t j, std::size_t column) {
  for (std::size_t i = 0; i < A.size(); ++i) A[i][j] = B[i][column];
  return determinant(A);
}

/// Whether p/q, q not 0, lies in x; |p| and |q| below 2^100.
inline bool holds_quotient(interval<double> x, long_integer p, long_integer q) {
  if (q < 0) {
    p = -p;
    q = -q;
  }
  const auto set = [](mpfr_t to, long_integer v) {
    mpfr_set_si_2exp(to, static_cast<long>(v >> 50), 50, MPFR_RNDN);
    mpfr_add_si(to, to, static_cast<long>(v & ((long_integer{1} << 50) - 1)), MPFR_RNDN);
  };
  mpfr_t numerator, denominator, product;
  mpfr_inits2(160, numerator, denominator, product, static_cast<mpfr_ptr>(nullptr));
  set(numerator, p);
  set(denominator, q);
  mpfr_mul_d(product, denominator, x.lo(), MPFR_RNDN);  // exact
  bool inside = mpfr_cmp(product, numerator) <= 0;
  mpfr_mul_d(product, denominator, x.hi(), MPFR_RNDN);
  inside = inside && mpfr_cmp(product, numerator) >= 0;
  mpfr_clears(numerator, denominator, product, static_cast<mpfr_ptr>(nullptr));
  return inside;
}

template <class E>
matrix<E> matrix_of(const integer_rows& rows, std::int64_t half = 0) {
  const auto m = static_cast<std::int64_t>(rows.size());
  const auto n = m == 0 ? 0 : static_cast<std::int64_t>(rows[0].size());
  matrix<E> A(device::cpu(), m, n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t a = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      if constexpr (std::is_floating_point_v<E>)
        A(i, j) = static_cast<E>(a);
      else
        A(i, j) = E::unchecked(static_cast<typename E::bound_type>(a - half),
                               static_cast<typename E::bound_type>(a + half));
    }
  return A;
}

}  // namespace vouch::testing
