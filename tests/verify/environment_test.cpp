// Every proof for callers and workers that flush subnormal numbers or round elsewhere. The solutions are small
// multiples of powers of two, so that right-hand sides are exact and so is the oracle.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include <vouch/generate/poisson.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/verify/dense/dense_inverse.hpp>
#include <vouch/verify/prove.hpp>
#include <vouch/verify/sparse/h_matrix.hpp>
#include <vouch/verify/sparse/positive_definite.hpp>
#include <vouch/verify/sparse/sparse_inverse.hpp>
#include <vouch/verify/tridiagonal_bound.hpp>

#include "hostile.hpp"
#include "verify/exact.hpp"

namespace vouch {
namespace {

using prover =
    std::function<std::unique_ptr<certificate>(const device&, const csr<double>&, std::string& reason)>;

struct proof_of {
  const char* name;
  prover prove;
};

std::vector<proof_of> proofs() {
  return {
      {"h-matrix", [](auto& dev, auto& A, auto& why) { return h_matrix::prove(dev, A, {}, why); }},
      {"cholesky", [](auto& dev, auto& A, auto& why) { return positive_definite::prove(dev, A, {}, why); }},
      {"sparse inverse", [](auto& dev, auto& A, auto& why) { return sparse_inverse::prove(dev, A, {}, why); }},
      {"dense inverse",
       [](auto& dev, auto& A, auto& why) { return dense_inverse::prove(dev, A.all(), {}, why); }},
  };
}

// How many components lie outside of their radius.
std::int64_t outside(const std::vector<double>& exact, const std::vector<double>& x,
                     const std::vector<double>& radius) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(abs(mpq_class(exact[i]) - mpq_class(x[i])) <= mpq_class(radius[i]))) ++count;
  return count;
}

// x_i = k_i 2^exponent with k_i from 1 to 9.
std::vector<double> small_multiples(std::int64_t n, int exponent) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; ++i) x.push_back(std::ldexp(static_cast<double>(1 + i * 7 % 9), exponent));
  return x;
}

// A x, exact for matrices of small integers.
std::vector<double> product(const csr<double>& A, const std::vector<double>& x) {
  std::vector<double> b(x.size());
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      b[static_cast<std::size_t>(i)] += A.val[k] * x[static_cast<std::size_t>(A.col[k])];
  return b;
}

TEST(environment, every_certificate_holds) {
  const device cpu = device::cpu(4);
  const csr<double> A = poisson_2d(cpu, 8, 8);
  for (const int exponent : {0, -1000, -1060, -1074}) {
    const std::vector<double> exact = small_multiples(A.rows, exponent);
    const auto b = array<double>::from(cpu, product(A, exact));
    for (const testing::hostile_environment& how : testing::hostile_environments())
      for (const proof_of& proof : proofs()) {
        auto x = array<double>::zeros(cpu, A.rows);
        const error_bound bound = testing::in(how, [&] {
          std::string reason;
          const auto certified = proof.prove(cpu, A, reason);
          if (certified == nullptr) throw value_error(reason);
          return bound_error(cpu, A, *certified, b, x);
        });
        EXPECT_TRUE(bound.verified) << proof.name << ", " << how.name << ", 2^" << exponent;
        EXPECT_EQ(outside(exact, x.to_vector(), bound.radius.to_vector()), 0)
            << proof.name << ", " << how.name << ", 2^" << exponent;
      }
  }
}

TEST(environment, tridiagonal_bounds_hold) {
  const device cpu = device::cpu(4);
  constexpr std::int64_t n = 50;
  for (const double lower : {-1.0, 3.0}) {  // dominant rows, and rows that are interchanged
    const auto A = tridiagonal<double>::constant(cpu, lower, 2, -1, n, 3);
    const batch_shape vectors = contiguous(n, 3);
    for (const int exponent : {-1000, -1074}) {
      const std::vector<double> exact = small_multiples(3 * n, exponent);
      std::vector<double> b(exact.size());
      for (std::size_t i = 0; i < b.size(); ++i) {
        b[i] = 2 * exact[i];
        if (i % n > 0) b[i] += lower * exact[i - 1];
        if (i % n + 1 < n) b[i] -= exact[i + 1];
      }
      const auto rhs = array<double>::from(cpu, b);
      for (const testing::hostile_environment& how : testing::hostile_environments()) {
        auto x = array<double>::zeros(cpu, 3 * n);
        auto radius = array<double>::zeros(cpu, 3 * n);
        const tridiagonal_bound bound = testing::in(how, [&] {
          return bound_error(cpu, A, {rhs.data(), vectors}, {x.data(), vectors}, {radius.data(), vectors});
        });
        EXPECT_TRUE(bound.verified) << how.name;
        EXPECT_EQ(outside(exact, x.to_vector(), radius.to_vector()), 0) << how.name << ", 2^" << exponent;
      }
    }
  }
}

// 3 x = 1e-310, and x = 0: radius 0 and 15 digits under FTZ.
TEST(environment, one_subnormal_equation) {
  const device cpu = device::cpu(1);
  const auto A = tridiagonal<double>::constant(cpu, 0, 3, 0, 1, 1);
  const auto b = array<double>::from(cpu, std::vector<double>{1e-310});
  for (const testing::hostile_environment& how : testing::hostile_environments()) {
    auto x = array<double>::zeros(cpu, 1);
    auto radius = array<double>::zeros(cpu, 1);
    testing::in(how, [&] {
      return bound_error(cpu, A, {b.data(), A.shape}, {x.data(), A.shape}, {radius.data(), A.shape}).verified;
    });
    EXPECT_LE(abs(mpq_class(1e-310) / 3 - mpq_class(x[0])), mpq_class(radius[0])) << how.name;
  }
}

// The workers were created under FTZ, the caller left it again: 19,520 of 40,000 components lay outside.
TEST(environment, a_solution_by_workers_that_flush) {
  const device cpu = device::cpu(4);
  const csr<double> A = poisson_2d(cpu, 30, 30);
  const std::vector<double> exact = small_multiples(A.rows, -1050);
  const auto b = array<double>::from(cpu, product(A, exact));
  for (const testing::hostile_environment& how : testing::hostile_environments()) {
    auto x = array<double>::zeros(cpu, A.rows);
    const error_bound bound = testing::in(how, [&] {
      cg<double>(cpu, A, b, x);
      std::string reason;
      const auto proof = prove_nonsingular(cpu, A, structure<double>(cpu, A), {}, reason);
      return bound_error(cpu, A, *proof, b, x);
    });
    EXPECT_TRUE(bound.verified) << how.name;
    EXPECT_EQ(outside(exact, x.to_vector(), bound.radius.to_vector()), 0) << how.name;
  }
}

}  // namespace
}  // namespace vouch
