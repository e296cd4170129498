#include <gtest/gtest.h>

#include <algorithm>

#include <vouch/core/error.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/sparse/fill.hpp>
#include <vouch/sparse/ordering.hpp>
#include <vouch/sparse/structure.hpp>

#include "matrices.hpp"

namespace vouch {
namespace {

using testing::entries;
using testing::matrix_of;

const device cpu = device::cpu(3);

bool is_permutation_of(const array<std::int32_t>& order, std::int64_t n) {
  std::vector<std::int32_t> sorted = order.to_vector();
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t i = 0; i < std::ssize(sorted); ++i)
    if (sorted[static_cast<std::size_t>(i)] != i) return false;
  return std::ssize(sorted) == n;
}

std::int64_t bandwidth_after_rcm(const csr<double>& A) {
  const array<std::int32_t> order = reverse_cuthill_mckee<double>(cpu, A);
  EXPECT_TRUE(is_permutation_of(order, A.rows));
  return structure<double>(cpu, permute<double>(cpu, A, order)).bandwidth();
}

TEST(permute, moves_every_entry) {
  const entries list = testing::random_entries(40, 40, 300, 2);
  const csr<double> A = matrix_of(40, 40, list);
  const array<std::int32_t> order = random_order(cpu, 40, 11);
  const array<std::int32_t> inverse = inverse_order(cpu, order);
  entries expected;
  for (const auto& [place, value] : list) expected[{inverse[place.first], inverse[place.second]}] = value;
  for (const int threads : {1, 4})
    EXPECT_EQ(testing::entries_of(permute<double>(device::cpu(threads), A, order)), expected);
  for (std::int64_t i = 0; i < 40; ++i) EXPECT_EQ(inverse[order[i]], i);
}

TEST(permute, refuses_what_is_no_permutation) {
  const csr<double> A = matrix_of(3, 3, {{{0, 0}, 1}});
  const std::vector<std::int32_t> twice{0, 1, 1}, beyond{0, 1, 3}, few{0, 1};
  EXPECT_THROW(permute<double>(cpu, A, array<std::int32_t>::from(cpu, twice)), value_error);
  EXPECT_THROW(permute<double>(cpu, A, array<std::int32_t>::from(cpu, beyond)), value_error);
  EXPECT_THROW(permute<double>(cpu, A, array<std::int32_t>::from(cpu, few)), shape_error);
}

TEST(random_order, is_a_permutation_that_keeps_blocks) {
  const array<std::int32_t> order = random_order(cpu, 3000, 5, 3);
  EXPECT_TRUE(is_permutation_of(order, 3000));
  std::int64_t fixed = 0;
  for (std::int64_t i = 0; i < 3000; i += 3) {
    EXPECT_EQ(order[i] % 3, 0);
    EXPECT_EQ(order[i + 1], order[i] + 1);
    EXPECT_EQ(order[i + 2], order[i] + 2);
    fixed += order[i] == i;
  }
  EXPECT_LT(fixed, 20);
  EXPECT_EQ(order.to_vector(), random_order(device::cpu(1), 3000, 5, 3).to_vector());
  EXPECT_NE(order.to_vector(), random_order(cpu, 3000, 6, 3).to_vector());
  EXPECT_THROW(random_order(cpu, 10, 1, 3), shape_error);
  EXPECT_EQ(random_order(cpu, 0, 1).size(), 0);
}

TEST(reverse_cuthill_mckee, finds_the_band_of_a_shuffled_path) {
  const csr<double> A = poisson_1d(cpu, 200);
  EXPECT_EQ(bandwidth_after_rcm(permute<double>(cpu, A, random_order(cpu, 200, 3))), 1);
}

TEST(reverse_cuthill_mckee, finds_the_short_side_of_a_shuffled_grid) {
  const csr<double> A = poisson_2d(cpu, 40, 7);
  EXPECT_LE(bandwidth_after_rcm(permute<double>(cpu, A, random_order(cpu, 280, 3))), 8);
}

// A star of n leaves: with the centre in the middle of the order the bandwidth is at least n / 2; levels from
// a leaf give n - 1.
TEST(reverse_cuthill_mckee, star) {
  entries list;
  for (std::int64_t i = 0; i < 11; ++i) list[{i, i}] = list[{i, 5}] = list[{5, i}] = 1;
  EXPECT_EQ(bandwidth_after_rcm(matrix_of(11, 11, list)), 9);
}

TEST(reverse_cuthill_mckee, small_shapes_and_components) {
  EXPECT_EQ(bandwidth_after_rcm(matrix_of(0, 0, {})), 0);
  EXPECT_EQ(bandwidth_after_rcm(matrix_of(1, 1, {})), 0);
  EXPECT_EQ(bandwidth_after_rcm(matrix_of(5, 5, {})), 0);
  entries pairs;  // 0-5, 1-4, 2-3
  for (std::int64_t i = 0; i < 3; ++i) pairs[{i, 5 - i}] = pairs[{5 - i, i}] = 1;
  EXPECT_EQ(bandwidth_after_rcm(matrix_of(6, 6, pairs)), 1);
  EXPECT_THROW(reverse_cuthill_mckee<double>(cpu, matrix_of(2, 3, {})), shape_error);
}

TEST(reverse_cuthill_mckee, unsymmetric_patterns_count_both_directions) {
  entries path;  // a directed path through 0, 7, 1, 8, 2, ...: entries on one side alone
  for (std::int64_t i = 0; i < 7; ++i) path[{i, i + 7}] = 1;
  for (std::int64_t i = 1; i < 7; ++i) path[{i, i + 6}] = 1;
  EXPECT_EQ(bandwidth_after_rcm(matrix_of(14, 14, path)), 1);
}

TEST(reverse_cuthill_mckee, keeps_blocks_together) {
  entries list;
  const csr<double> A = permute<double>(cpu, poisson_2d(cpu, 9, 4), random_order(cpu, 36, 8));
  for (const auto& [place, value] : testing::entries_of(A))
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) list[{3 * place.first + i, 3 * place.second + j}] = value;
  const csr<double> B = matrix_of(108, 108, list);
  const array<std::int32_t> nodes = reverse_cuthill_mckee<double>(cpu, A);
  const array<std::int32_t> order = reverse_cuthill_mckee<double>(cpu, B, 3);
  for (std::int64_t i = 0; i < 108; ++i) EXPECT_EQ(order[i], 3 * nodes[i / 3] + i % 3);
}

TEST(nested_dissection, keeps_factors_of_grids_in_space_sparse) {
  const csr<double> A = poisson_3d(cpu, 24, 24, 24);
  const std::optional<array<std::int32_t>> order = nested_dissection<double>(cpu, A);
  if (!order) GTEST_SKIP() << "there is no METIS";
  EXPECT_TRUE(is_permutation_of(*order, A.rows));
  constexpr std::int64_t most = std::int64_t{1} << 28;
  EXPECT_LT(predict_elimination<double>(A, *order, most).flops,
            predict_elimination<double>(A, minimum_degree<double>(cpu, A), most).flops);
  EXPECT_EQ(nested_dissection<double>(cpu, A)->to_vector(), order->to_vector());
}

TEST(nested_dissection, takes_what_has_no_edges_and_refuses_what_is_not_square) {
  entries diagonal;
  for (std::int64_t i = 0; i < 9; ++i) diagonal[{i, i}] = 1;
  if (const auto order = nested_dissection<double>(cpu, matrix_of(9, 9, diagonal))) {
    EXPECT_TRUE(is_permutation_of(*order, 9));
  }
  EXPECT_FALSE(nested_dissection<double>(cpu, matrix_of(0, 0, {})).has_value());
  EXPECT_THROW(nested_dissection<double>(cpu, matrix_of(3, 2, {{{0, 0}, 1}})), shape_error);
}

}  // namespace
}  // namespace vouch
