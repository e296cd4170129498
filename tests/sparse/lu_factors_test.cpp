// Orders of elimination against eliminating patterns by hand, factors against their products.
#include <vouch/sparse/lu_factors.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/sparse/fill.hpp>
#include <vouch/sparse/ordering.hpp>

#include "sparse/matrices.hpp"

namespace vouch {
namespace {

using order_list = std::vector<std::int32_t>;

order_list list_of(const array<std::int32_t>& order) { return {order.begin(), order.end()}; }

order_list natural(std::int64_t n) {
  order_list order;
  for (std::int64_t i = 0; i < n; ++i) order.push_back(static_cast<std::int32_t>(i));
  return order;
}

bool is_permutation(order_list order) {
  std::sort(order.begin(), order.end());
  return order == natural(std::ssize(order));
}

// The entries off the diagonal of the Cholesky factor of the pattern, by elimination of sets.
std::int64_t entries_of_factor(std::vector<std::set<std::int32_t>> neighbours, const order_list& order) {
  std::int64_t entries = 0;
  for (const std::int32_t p : order) {
    const std::set<std::int32_t> border = neighbours[static_cast<std::size_t>(p)];
    entries += std::ssize(border);
    for (const std::int32_t i : border) {
      auto& own = neighbours[static_cast<std::size_t>(i)];
      own.insert(border.begin(), border.end());
      own.erase(p);
      own.erase(i);
    }
  }
  return entries;
}

std::vector<std::set<std::int32_t>> symmetric_pattern(const testing::entries& list, std::int64_t n) {
  std::vector<std::set<std::int32_t>> neighbours(static_cast<std::size_t>(n));
  for (const auto& [place, value] : list) {
    if (place.first == place.second) continue;
    neighbours[static_cast<std::size_t>(place.first)].insert(static_cast<std::int32_t>(place.second));
    neighbours[static_cast<std::size_t>(place.second)].insert(static_cast<std::int32_t>(place.first));
  }
  return neighbours;
}

testing::entries grid(std::int64_t side) {
  testing::entries list;
  for (std::int64_t i = 0; i < side * side; ++i) {
    list[{i, i}] = 4;
    if (i % side > 0) list[{i, i - 1}] = list[{i - 1, i}] = -1;
    if (i >= side) list[{i, i - side}] = list[{i - side, i}] = -1;
  }
  return list;
}

TEST(minimum_degree, leaves_trees_without_fill) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    testing::entries list;
    const std::int64_t n = 200;
    for (std::int64_t i = 0; i < n; ++i) {
      list[{i, i}] = 1;
      const auto parent =
          static_cast<std::int64_t>(random_unit(seed, static_cast<std::uint64_t>(i)) * static_cast<double>(i));
      if (i > 0) list[{i, parent}] = 1;  // one triangle: the pattern is that of A + A^T
    }
    const auto order = list_of(minimum_degree<double>(device::cpu(1), testing::matrix_of(n, n, list)));
    ASSERT_TRUE(is_permutation(order));
    EXPECT_EQ(entries_of_factor(symmetric_pattern(list, n), order), n - 1);
  }
}

TEST(minimum_degree, keeps_grids_sparse) {
  const std::int64_t side = 30;
  const testing::entries list = grid(side);
  const auto order =
      list_of(minimum_degree<double>(device::cpu(1), testing::matrix_of(side * side, side * side, list)));
  ASSERT_TRUE(is_permutation(order));
  const auto pattern = symmetric_pattern(list, side * side);
  EXPECT_LT(entries_of_factor(pattern, order), entries_of_factor(pattern, natural(side * side)) * 2 / 5);
}

TEST(minimum_degree, orders_any_pattern) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::int64_t n = 1 + static_cast<std::int64_t>(seed);
    const testing::entries list =
        testing::random_entries(n, n, static_cast<std::int64_t>(seed * seed) / 8, seed);
    const csr<double> A = testing::matrix_of(n, n, list);
    EXPECT_TRUE(is_permutation(list_of(minimum_degree<double>(device::cpu(1), A)))) << seed;
    EXPECT_TRUE(is_permutation(list_of(minimum_column_degree<double>(device::cpu(1), A)))) << seed;
  }
}

TEST(minimum_degree, puts_dense_rows_last) {
  testing::entries list;
  const std::int64_t n = 500;
  for (std::int64_t i = 0; i < n; ++i) list[{i, i}] = list[{i, 7}] = list[{7, i}] = 1;
  const csr<double> A = testing::matrix_of(n, n, list);
  EXPECT_EQ(list_of(minimum_degree<double>(device::cpu(1), A)).back(), 7);
  EXPECT_EQ(list_of(minimum_column_degree<double>(device::cpu(1), A)).back(), 7);
}

TEST(fill, is_predicted_as_elimination_makes_it) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::int64_t n = 1 + static_cast<std::int64_t>(seed);
    testing::entries list = testing::random_entries(n, n, static_cast<std::int64_t>(seed), seed);
    for (const auto& [place, value] : testing::entries(list)) list[{place.second, place.first}] = value;
    const csr<double> A = testing::matrix_of(n, n, list);
    const array<std::int32_t> order = minimum_degree<double>(device::cpu(1), A);
    const std::int64_t off_diagonal = entries_of_factor(symmetric_pattern(list, n), list_of(order));
    const elimination_cost cost = predict_elimination<double>(A, order, off_diagonal);
    EXPECT_EQ(cost.entries, static_cast<double>(2 * off_diagonal + n)) << seed;
    if (off_diagonal > 0) {
      EXPECT_EQ(predict_elimination<double>(A, order, off_diagonal - 1).flops,
                std::numeric_limits<double>::infinity());
    }
  }
  // A dense matrix: one division and 2 m^2 flops for each column with m entries below its pivot.
  testing::entries list;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j) list[{i, j}] = 1;
  const csr<double> A = testing::matrix_of(4, 4, list);
  EXPECT_EQ(predict_elimination<double>(A, minimum_degree<double>(device::cpu(1), A), 100).flops,
            3 + 18 + 2 + 8 + 1 + 2);
  EXPECT_THROW(predict_elimination<double>(A, array<std::int32_t>(device::cpu(1), 3), 100), shape_error);
}

// |L U - P S A Q| <= n u |L| |U| (Jeannerod, Rump 2013), with sums in long double.
template <class T>
void expect_factors(const csr<T>& A, const lu_factors<T>& f) {
  const auto n = static_cast<std::size_t>(A.rows);
  ASSERT_TRUE(is_permutation(f.row_order));
  ASSERT_TRUE(is_permutation(f.column_order));
  std::vector<std::size_t> row_place(n), column_place(n);
  for (std::size_t k = 0; k < n; ++k) {
    row_place[static_cast<std::size_t>(f.row_order[k])] = k;
    column_place[static_cast<std::size_t>(f.column_order[k])] = k;
  }
  std::vector<std::vector<long double>> difference(n, std::vector<long double>(n)), size(difference);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      difference[row_place[static_cast<std::size_t>(i)]][column_place[static_cast<std::size_t>(A.col[k])]] -=
          static_cast<long double>(A.val[k]) * f.scale[static_cast<std::size_t>(i)];
  const auto add = [&](std::size_t column, std::size_t middle, long double u) {
    const auto put = [&](std::size_t row, long double l) {
      difference[row][column] += l * u;
      size[row][column] += std::fabs(l * u);
    };
    put(middle, 1);
    for (std::int64_t e = f.lower.start[middle]; e < f.lower.start[middle + 1]; ++e) {
      const auto row = static_cast<std::size_t>(f.lower.row[static_cast<std::size_t>(e)]);
      ASSERT_GT(row, middle);
      put(row, f.lower.value[static_cast<std::size_t>(e)]);
    }
  };
  for (std::size_t k = 0; k < n; ++k) {
    add(k, k, f.pivots[k]);
    for (std::int64_t e = f.upper.start[k]; e < f.upper.start[k + 1]; ++e) {
      const auto row = static_cast<std::size_t>(f.upper.row[static_cast<std::size_t>(e)]);
      ASSERT_LT(row, k);
      add(k, row, f.upper.value[static_cast<std::size_t>(e)]);
    }
  }
  const long double unit = std::ldexp(1.01L, sizeof(T) == 4 ? -24 : -53) * static_cast<long double>(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      ASSERT_LE(std::fabs(difference[i][j]), unit * size[i][j]) << i << ' ' << j;
}

template <class T>
class lu_factors_of : public ::testing::Test {};
using precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(lu_factors_of, precisions);

// Small integers cancel often; every other matrix gets a diagonal and mirrored entries.
TYPED_TEST(lu_factors_of, multiply_to_the_matrix) {
  using T = TypeParam;
  int factorised = 0, singular = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::int64_t n = 1 + static_cast<std::int64_t>(seed % 40);
    testing::entries list = testing::random_entries(n, n, n * static_cast<std::int64_t>(2 + seed % 5), seed);
    if (seed % 2 == 0) {
      const testing::entries before = list;
      for (const auto& [place, value] : before) list[{place.second, place.first}] = value - 1;
      for (std::int64_t i = 0; i < n; ++i) list[{i, i}] = static_cast<double>(seed % 3 + 1);
    }
    for (auto& [place, value] : list)
      value = std::ldexp(value, static_cast<int>(seed % 11) * static_cast<int>(place.first % 3 - 1));
    const csr<T> A = testing::matrix_of<T>(n, n, list);
    const lu_factors<T> f = factorise<T>(device::cpu(1), A);
    if (f.failed > 0) {
      ++singular;
      continue;
    }
    ++factorised;
    expect_factors(A, f);
  }
  EXPECT_GT(factorised, 250);
  EXPECT_GT(singular, 20);
}

TYPED_TEST(lu_factors_of, keep_grids_sparse) {
  using T = TypeParam;
  const std::int64_t side = 40, n = side * side;
  testing::entries list = grid(side);
  for (auto& [place, value] : list)
    if (place.first > place.second) value *= 1.5;
  const lu_factors<T> f = factorise<T>(device::cpu(1), testing::matrix_of<T>(n, n, list));
  EXPECT_EQ(f.failed, 0);
  EXPECT_LT(f.entries(), n * side);  // the band would hold twice as many
}

TEST(lu_factors, refuse_what_has_none) {
  const device cpu = device::cpu(1);
  EXPECT_THROW(factorise<double>(cpu, testing::matrix_of(2, 3, {{{0, 0}, 1}})), shape_error);
  EXPECT_EQ(factorise<double>(cpu, testing::matrix_of(0, 0, {})).failed, 0);
  EXPECT_EQ(factorise<double>(cpu, testing::matrix_of(2, 2, {{{0, 0}, 1}, {{0, 1}, 1}})).failed, 2);
  EXPECT_EQ(factorise<double>(cpu, testing::matrix_of(1, 1, {})).failed, 1);
}

}  // namespace
}  // namespace vouch
