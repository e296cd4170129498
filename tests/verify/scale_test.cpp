// The size of a matrix, or of its rows and columns beside one another, is no reason to refuse: every proof on
// systems times powers of two, against rational arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <vouch/verify/dense/dense_inverse.hpp>
#include <vouch/verify/sparse/h_matrix.hpp>
#include <vouch/verify/sparse/positive_definite.hpp>
#include <vouch/verify/sparse/sparse_inverse.hpp>

#include "devices.hpp"
#include "sparse/matrices.hpp"
#include "verify/proofs.hpp"

namespace vouch {
namespace {

using testing::dice;

enum shape : int { grid, stiffness, general };

// A path with a few springs more, a beam's stiffness with entries of both signs, a matrix with no symmetry.
testing::entries matrix_entries(shape which, int n) {
  testing::entries list;
  dice die(static_cast<std::uint64_t>(n));
  const auto add = [&](int i, int j, double v) {
    if (i < n && j < n) list[{i, j}] += v;
  };
  for (int i = 0; i < n; ++i) {
    if (which == grid) {
      add(i, i, i == 0 ? 3 : 4);
      for (const int j : {i - 1, i + 1, i - 4, i + 4})
        if (j >= 0) add(i, j, -1);
    } else if (which == stiffness) {
      add(i, i, 6.5);
      for (const int k : {1, 2})
        for (const int j : {i - k, i + k})
          if (j >= 0) add(i, j, k == 1 ? -4 : 1);
    } else {
      add(i, (3 * i + 1) % n, 5 + die.below(9));
      for (int k = 0; k < 3; ++k) add(i, die.below(n), die.below(19) - 9);
    }
  }
  return list;
}

// 2^(left_i + right_j + all) times the entries.
struct powers {
  int all = 0, rows = 0, columns = 0;  // rows and columns go up and down by so much
  int of_row(int i) const { return (i % 3 - 1) * rows; }
  int of_column(int j) const { return (j % 3 - 1) * columns; }
};

csr<double> times(const testing::entries& list, int n, const powers& p) {
  testing::entries scaled;
  for (const auto& [place, value] : list)
    if (value != 0)
      scaled[place] = std::ldexp(
          value, p.all + p.of_row(static_cast<int>(place.first)) + p.of_column(static_cast<int>(place.second)));
  return testing::matrix_of(n, n, scaled);
}

std::unique_ptr<certificate> prove(const std::string& how, const device& dev, const csr<double>& A,
                                   bool symmetric, std::string& reason) {
  if (how == "h-matrix") return h_matrix::prove(dev, A, {{}, symmetric, symmetric}, reason);
  if (how == "cholesky") return positive_definite::prove(dev, A, {}, reason);
  if (how == "sparse inverse") return sparse_inverse::prove(dev, A, {}, reason);
  return dense_inverse::prove(dev, A, {}, reason);
}

// Twice: for an x of the size of 1, and for b of that size where x is a number then.
void expect_proof(const std::string& how, const device& dev, shape which, const powers& p) {
  constexpr int n = 13;
  const csr<double> A = times(matrix_entries(which, n), n, p);
  const csr<double> placed = A.to(dev);
  std::string reason;
  const auto proof = prove(how, dev, placed, p.rows == p.columns && which != general, reason);
  ASSERT_NE(proof, nullptr) << how << ' ' << p.all << ' ' << p.rows << ' ' << p.columns << ": " << reason;
  dice die(1);
  for (const int size : {p.all, 0}) {
    if (std::abs(p.all - size) + p.rows + p.columns > 1000) continue;
    std::vector<double> b;
    for (int i = 0; i < n; ++i) b.push_back(std::ldexp(i + 1, size + p.of_row(i)));
    const auto exact = testing::exact_solution(testing::exactly(A), b);
    ASSERT_TRUE(exact.has_value());
    const error_bound bound = testing::expect_bound_holds(dev, placed, *proof, b, *exact, die, 1e-10, p.all);
    EXPECT_LT(bound.max_relative, p.columns == 0 ? 1e-10 : 1e300) << how << ' ' << p.all << ' ' << size;
  }
}

TEST(scale, of_the_whole_matrix_is_no_reason_to_refuse) {
  for (const device& dev : testing::devices())
    for (const int all : {-950, -600, 0, 600, 950}) {
      for (const char* how : {"h-matrix", "cholesky", "sparse inverse", "dense inverse"})
        expect_proof(how, dev, grid, {all});
      for (const char* how : {"cholesky", "sparse inverse", "dense inverse"})
        expect_proof(how, dev, stiffness, {all});
      for (const char* how : {"sparse inverse", "dense inverse"}) expect_proof(how, dev, general, {all});
    }
}

TEST(scale, of_rows_beside_one_another_is_no_reason_to_refuse) {
  for (const device& dev : testing::devices())
    for (const int rows : {40, 300, 900})
      for (const shape which : {grid, stiffness, general})
        for (const char* how : {"sparse inverse", "dense inverse"}) expect_proof(how, dev, which, {0, rows});
}

TEST(scale, of_rows_and_columns_alike_is_no_reason_to_refuse) {
  for (const device& dev : testing::devices())
    for (const int both : {40, 200, 400}) {
      for (const char* how : {"cholesky", "sparse inverse", "dense inverse"})
        expect_proof(how, dev, stiffness, {0, both, both});
      for (const char* how : {"h-matrix", "cholesky", "sparse inverse"})
        expect_proof(how, dev, grid, {0, both, both});
    }
}

}  // namespace
}  // namespace vouch
