// Proofs of complex systems against exact rational arithmetic.
#include <gtest/gtest.h>

#include <complex>
#include <optional>
#include <vector>

#include <vouch/solve/complex.hpp>
#include <vouch/sparse/coo.hpp>

#include "verify/exact.hpp"

namespace vouch {
namespace {

using complex = std::complex<double>;
using testing::dice;

// A Gaussian rational.
struct exact_complex {
  mpq_class re = 0, im = 0;

  bool is_zero() const { return re == 0 && im == 0; }
};
exact_complex operator*(const exact_complex& a, const exact_complex& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
exact_complex operator-(const exact_complex& a, const exact_complex& b) { return {a.re - b.re, a.im - b.im}; }
exact_complex operator/(const exact_complex& a, const exact_complex& b) {
  const mpq_class size = b.re * b.re + b.im * b.im;
  return {(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size};
}

// Gauss-Jordan; nothing for a singular matrix.
std::optional<std::vector<exact_complex>> exact_solution(std::vector<std::vector<complex>> matrix,
                                                         const std::vector<complex>& rhs) {
  const std::size_t n = rhs.size();
  std::vector<std::vector<exact_complex>> M(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (const complex& v : matrix[i]) M[i].push_back({v.real(), v.imag()});
    M[i].push_back({rhs[i].real(), rhs[i].imag()});
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    while (pivot < n && M[pivot][k].is_zero()) ++pivot;
    if (pivot == n) return {};
    std::swap(M[k], M[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k || M[i][k].is_zero()) continue;
      const exact_complex factor = M[i][k] / M[k][k];
      for (std::size_t j = k; j <= n; ++j) M[i][j] = M[i][j] - factor * M[k][j];
    }
  }
  std::vector<exact_complex> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(M[i][n] / M[i][i]);
  return x;
}

// Dominant, Hermitian, of whole numbers that are often singular, of widely different sizes.
std::vector<std::vector<complex>> random_matrix(dice& die, int n, int kind) {
  std::vector<std::vector<complex>> A(static_cast<std::size_t>(n),
                                      std::vector<complex>(static_cast<std::size_t>(n)));
  const auto part = [&] { return kind == 2 ? die.below(3) - 1.0 : die.number(kind == 3); };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (kind == 2 || i == j || die.unit() < 0.6)
        A[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = {part(), part()};
  for (int i = 0; i < n; ++i) {
    auto& row = A[static_cast<std::size_t>(i)];
    if (kind == 0) row[static_cast<std::size_t>(i)] += complex(0, 2.0 * n);
    if (kind != 1) continue;
    row[static_cast<std::size_t>(i)] = 1.5 * n;
    for (int j = 0; j < i; ++j)
      row[static_cast<std::size_t>(j)] = std::conj(A[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)]);
  }
  return A;
}

csr<complex> sparse(const std::vector<std::vector<complex>>& A) {
  std::vector<std::int32_t> row, col;
  std::vector<complex> val;
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t j = 0; j < A.size(); ++j)
      if (A[i][j] != 0.0) {
        row.push_back(static_cast<std::int32_t>(i));
        col.push_back(static_cast<std::int32_t>(j));
        val.push_back(A[i][j]);
      }
  const device cpu = device::cpu(1);
  const auto n = static_cast<std::int64_t>(A.size());
  return to_csr(cpu, complex_coo{n, n, symmetry::general, array<std::int32_t>::from(cpu, row),
                                 array<std::int32_t>::from(cpu, col), array<complex>::from(cpu, val)});
}

TEST(complex_proofs, hold_against_exact_arithmetic) {
  const int cases = testing::campaign(20000);
  int verified = 0, singular = 0;
  for (int seed = 0; seed < cases; ++seed) {
    dice die(static_cast<std::uint64_t>(seed) + 9000);
    const int n = 1 + die.below(12), kind = seed % 4;
    const auto A = random_matrix(die, n, kind);
    std::vector<complex> b, x(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) b.emplace_back(die.number(kind == 3), die.number(kind == 3));
    const auto exact = exact_solution(A, b);
    singular += !exact;
    complex_solver solver(device::cpu(1), sparse(A));
    const matrix_view<const complex> B{b.data(), n, 1, n};
    const matrix_view<complex> X{x.data(), n, 1, n};
    solver.solve(B, X);
    const solution_proof proof = solver.prove(B, X, {});
    if (!exact) {
      EXPECT_FALSE(proof.verified) << "a singular system, seed " << seed;
      continue;
    }
    if (!proof.verified) continue;
    ++verified;
    for (std::int64_t i = 0; i < n; ++i) {
      const exact_complex& of = (*exact)[static_cast<std::size_t>(i)];
      const complex found = x[static_cast<std::size_t>(i)];
      const double re = proof.radius[2 * i], im = proof.radius[2 * i + 1];
      EXPECT_TRUE(re > 1e308 || abs(of.re - mpq_class(found.real())) <= mpq_class(re)) << seed;
      EXPECT_TRUE(im > 1e308 || abs(of.im - mpq_class(found.imag())) <= mpq_class(im)) << seed;
      const mpq_class dre = of.re - mpq_class(found.real()), dim = of.im - mpq_class(found.imag());
      const mpq_class most(proof.max_absolute), relative(std::min(proof.max_relative, 1e300));
      EXPECT_LE(dre * dre + dim * dim, most * most) << seed;
      EXPECT_LE(dre * dre + dim * dim, relative * relative * (of.re * of.re + of.im * of.im)) << seed;
    }
  }
  EXPECT_GE(verified, cases / 2);
  EXPECT_GT(singular, 0);
}

}  // namespace
}  // namespace vouch
