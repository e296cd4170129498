#include <gtest/gtest.h>

#include <vector>

#include <vouch/dense/matrix.hpp>

#include "devices.hpp"

namespace vouch {
namespace {

const std::vector<double> six{1, 2, 3, 4, 5, 6};

TEST(matrix, stands_column_after_column) {
  const auto A = matrix<double>::from(device::cpu(), 2, 3, six);
  EXPECT_EQ(A.at(0, 0), 1);
  EXPECT_EQ(A.at(1, 0), 2);
  EXPECT_EQ(A.at(0, 2), 5);
  EXPECT_EQ(A.all()(1, 2), 6);
  EXPECT_EQ(A.ld(), 2);
}

TEST(matrix, travels_between_devices) {
  for (const device& dev : testing::devices()) {
    const auto A = matrix<double>::from(dev, 2, 3, six);
    const matrix<double> back = A.to(device::cpu());
    EXPECT_EQ(back.to_vector(), six);
    EXPECT_EQ(A.to_vector(), six);
    EXPECT_EQ(A.where(), dev);
    EXPECT_EQ(matrix<double>::zeros(dev, 2, 2).to_vector(), std::vector<double>(4));
  }
}

TEST(matrix, moves_and_leaves_nothing_behind) {
  auto A = matrix<double>::from(device::cpu(), 2, 3, six);
  matrix<double> B = std::move(A);
  EXPECT_EQ(B.rows(), 2);
  EXPECT_EQ(A.rows(), 0);  // NOLINT(bugprone-use-after-move): documented
  EXPECT_EQ(A.cols(), 0);
  A = std::move(B);
  EXPECT_EQ(A.at(1, 2), 6);
}

TEST(matrix, has_empty_shapes) {
  for (const auto& [m, n] : {std::pair{0, 0}, {0, 3}, {3, 0}}) {
    const matrix<float> A(device::cpu(), m, n);
    EXPECT_EQ(A.rows(), m);
    EXPECT_EQ(A.cols(), n);
    EXPECT_GE(A.ld(), 1);
    EXPECT_TRUE(A.to_vector().empty());
  }
}

TEST(matrix, refuses_entries_that_do_not_exist) {
  auto A = matrix<double>::from(device::cpu(), 2, 3, six);
  for (const auto& [i, j] : {std::pair{-1, 0}, {0, -1}, {2, 0}, {0, 3}})
    EXPECT_THROW(A.at(i, j), shape_error) << i << ' ' << j;
  A.at(1, 1) = 7;
  EXPECT_EQ(A(1, 1), 7);
}

TEST(matrix, refuses_bad_sizes) {
  EXPECT_THROW(matrix<double>(device::cpu(), -1, 2), value_error);
  EXPECT_THROW(matrix<double>(device::cpu(), 1LL << 40, 1LL << 40), out_of_memory);
  EXPECT_THROW(matrix<double>::from(device::cpu(), 2, 2, six), shape_error);
}

TEST(matrix, entries_on_a_gpu_are_not_touched_from_the_host) {
  VOUCH_NEEDS_GPU();
  auto A = matrix<double>::zeros(testing::gpus().front(), 2, 2);
  EXPECT_THROW(A.at(0, 0), value_error);
}

TEST(matrix_view, blocks_rows_and_columns) {
  auto A = matrix<double>::from(device::cpu(), 2, 3, six);
  const matrix_view<double> B = A.all().block(1, 1, 1, 2);
  EXPECT_EQ(B(0, 0), 4);
  EXPECT_EQ(B(0, 1), 6);
  EXPECT_EQ(A.all().row(1)[2], 6);
  EXPECT_EQ(A.all().column(1)[0], 3);
  EXPECT_EQ(A.all().diagonal()[1], 4);
  EXPECT_EQ(A.all().diagonal().size(), 2);
  const matrix_view<const double> constant = B;
  EXPECT_EQ(constant(0, 1), 6);
}

}  // namespace
}  // namespace vouch
