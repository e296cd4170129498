#include <gtest/gtest.h>

#include <numbers>

#include <vouch/core/error.hpp>
#include <vouch/generate/plate.hpp>
#include <vouch/generate/poisson.hpp>

#include "dense.hpp"

namespace vouch {
namespace {

using testing::multiply;

const device cpu = device::cpu(3);

struct modes {
  std::int64_t n[3];
  int k[3];
  long double cosine(int d) const { return std::cos(std::numbers::pi_v<long double> * k[d] / (n[d] + 1)); }
  std::vector<long double> vector() const {
    std::vector<long double> v;
    for (std::int64_t z = 0; z < n[2]; ++z)
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t x = 0; x < n[0]; ++x) v.push_back(sine(0, x) * sine(1, y) * sine(2, z));
    return v;
  }

 private:
  long double sine(int d, std::int64_t i) const {
    return n[d] == 1 ? 1 : std::sin(std::numbers::pi_v<long double> * k[d] * (i + 1) / (n[d] + 1));
  }
};

void expect_eigenvalue(const csr<double>& A, const modes& m, long double lambda) {
  ASSERT_TRUE(testing::well_formed(A));
  const std::vector<long double> v = m.vector(), y = multiply(A, v);
  ASSERT_EQ(v.size(), static_cast<std::size_t>(A.rows));
  for (std::size_t i = 0; i < v.size(); ++i)
    ASSERT_NEAR(static_cast<double>(y[i]), static_cast<double>(lambda * v[i]), 1e-15);
}

TEST(poisson, sine_vectors_are_eigenvectors) {
  const modes line{{9, 1, 1}, {2, 1, 1}}, square{{7, 5, 1}, {3, 2, 1}}, box{{4, 5, 6}, {2, 1, 3}};
  expect_eigenvalue(poisson_1d(cpu, 9), line, 2 - 2 * line.cosine(0));
  const long double cx = square.cosine(0), cy = square.cosine(1);
  expect_eigenvalue(poisson_2d(cpu, 7, 5), square, 4 - 2 * cx - 2 * cy);
  expect_eigenvalue(poisson_2d(cpu, 7, 5, 9), square, 20 - 8 * cx - 8 * cy - 4 * cx * cy);
  const long double bx = box.cosine(0), by = box.cosine(1), bz = box.cosine(2);
  expect_eigenvalue(poisson_3d(cpu, 4, 5, 6), box, 6 - 2 * bx - 2 * by - 2 * bz);
  expect_eigenvalue(poisson_3d(cpu, 4, 5, 6, 27), box, 27 - (1 + 2 * bx) * (1 + 2 * by) * (1 + 2 * bz));
}

TEST(poisson, neumann_rows_sum_to_zero) {
  for (const csr<double>& A :
       {poisson_1d(cpu, 6, boundary::neumann), poisson_2d(cpu, 4, 3, 5, boundary::neumann),
        poisson_2d(cpu, 4, 3, 9, boundary::neumann), poisson_3d(cpu, 3, 4, 2, 7, boundary::neumann),
        poisson_3d(cpu, 3, 4, 2, 27, boundary::neumann)}) {
    EXPECT_TRUE(testing::exactly_symmetric(A));
    for (const long double sum : multiply(A, std::vector<long double>(static_cast<std::size_t>(A.rows), 1)))
      EXPECT_EQ(sum, 0);
  }
}

TEST(poisson, counts_of_entries) {
  EXPECT_EQ(poisson_1d(cpu, 10).nonzeros(), 28);
  EXPECT_EQ(poisson_2d(cpu, 6, 7).nonzeros(), 5 * 42 - 2 * 6 - 2 * 7);
  EXPECT_EQ(poisson_2d(cpu, 6, 7, 9).nonzeros(), (3 * 6 - 2) * (3 * 7 - 2));
  EXPECT_EQ(poisson_3d(cpu, 4, 5, 6).nonzeros(), 7 * 120 - 2 * (20 + 24 + 30));
  EXPECT_EQ(poisson_3d(cpu, 4, 5, 6, 27).nonzeros(), 10 * 13 * 16);
}

TEST(poisson, smallest_and_refused_sizes) {
  const csr<double> A = poisson_3d(cpu, 1, 1, 1);
  EXPECT_EQ(A.nonzeros(), 1);
  EXPECT_EQ(A.val[0], 6);
  EXPECT_EQ(poisson_1d(cpu, 1, boundary::neumann).val[0], 0);
  EXPECT_THROW(poisson_1d(cpu, 0), value_error);
  EXPECT_THROW(poisson_2d(cpu, 3, -1), value_error);
  EXPECT_THROW(poisson_2d(cpu, 3, 3, 7), value_error);
  EXPECT_THROW(poisson_3d(cpu, 3, 3, 3, 9), value_error);
  EXPECT_THROW(poisson_3d(cpu, 1291, 1291, 1291), value_error);
  EXPECT_THROW(poisson_3d(cpu, std::int64_t{1} << 40, std::int64_t{1} << 40, 1), value_error);
}

TEST(poisson, bits_do_not_depend_on_threads) {
  EXPECT_TRUE(testing::same_bits(poisson_3d(device::cpu(1), 5, 6, 7), poisson_3d(device::cpu(4), 5, 6, 7)));
}

TEST(plate, supported_is_the_square_of_the_laplacian) {
  for (const auto& [nx, ny] : {std::pair{6, 5}, {1, 1}, {1, 4}, {2, 3}}) {
    const testing::dense M = testing::to_dense(plate(cpu, nx, ny)),
                         L = testing::to_dense(poisson_2d(cpu, nx, ny));
    for (std::size_t i = 0; i < M.size(); ++i)
      for (std::size_t j = 0; j < M.size(); ++j) {
        long double square = 0;
        for (std::size_t k = 0; k < M.size(); ++k) square += L[i][k] * L[k][j];
        ASSERT_EQ(M[i][j], square) << nx << " by " << ny << ": " << i << ", " << j;
      }
  }
}

TEST(plate, clamped_is_stiffer_at_the_rim) {
  const csr<double> A = plate(cpu, 4, 3, plate_edge::clamped);
  EXPECT_TRUE(testing::well_formed(A));
  EXPECT_TRUE(testing::exactly_symmetric(A));
  EXPECT_TRUE(testing::positive_definite(testing::to_dense(A)));
  const testing::dense M = testing::to_dense(A);
  EXPECT_EQ(M[0][0], 22);  // a corner
  EXPECT_EQ(M[1][1], 21);  // an edge
  EXPECT_EQ(M[5][5], 20);
}

}  // namespace
}  // namespace vouch
