// tests/verify/proofs.hpp -- certificates against the oracle.
#pragma once
#include <gtest/gtest.h>

#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/verify/error_bound.hpp>

#include "verify/exact.hpp"

namespace vouch::testing {

/// A start near the exact solution, by a random number of bits.
inline std::vector<double> near(const std::vector<mpq_class>& exact, dice& die) {
  std::vector<double> x;
  for (const mpq_class& value : exact)
    x.push_back(value.get_d() * (1 + std::ldexp(die.unit(), -die.below(60))));
  return x;
}

/// Bounds the error of such a start: verified, and the exact solution lies within.
template <class Matrix>
error_bound expect_bound_holds(const device& dev, const Matrix& A, certificate& proof,
                               const std::vector<double>& b, const std::vector<mpq_class>& exact, dice& die,
                               double relative, int c) {
  const auto b_dev = array<double>::from(dev, b);
  auto x = array<double>::from(dev, near(exact, die));
  bound_options wish;
  wish.relative = relative;
  error_bound bound = bound_error(dev, A, proof, b_dev, x, wish);
  EXPECT_TRUE(bound.verified) << "case " << c;
  EXPECT_TRUE(contains(exact, x.to_vector(), bound.radius.to_vector())) << "case " << c;
  return bound;
}

/// The bound for all matrices within a relative radius holds at their corners.
inline void expect_covers_corners(const device& cpu, const csr<double>& A, certificate& proof, double radius,
                                  dice& die, int corners) {
  std::vector<double> rhs, start;
  for (std::int64_t i = 0; i < A.rows; ++i) rhs.push_back(static_cast<double>(i + 1));
  const auto b = array<double>::from(cpu, rhs);
  const auto exact = exact_solution(exactly(A), rhs);
  for (const mpq_class& value : *exact) start.push_back(value.get_d());
  auto x = array<double>::from(cpu, start);
  const error_bound bound = bound_error(cpu, A, proof, b, x, {{radius, 0}, 0, 0});
  ASSERT_TRUE(bound.verified);
  for (int c = 0; c < corners; ++c) {
    csr<double> corner = A.to(cpu);
    for (std::int64_t k = 0; k < corner.nonzeros(); ++k)
      corner.val[k] *= 1 + (die.below(2) * 2 - 1) * 0.99 * radius;
    EXPECT_TRUE(contains(*exact_solution(exactly(corner), rhs), x.to_vector(), bound.radius.to_vector()));
  }
}

}  // namespace vouch::testing
