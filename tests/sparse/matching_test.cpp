// vouch/sparse/matching.hpp against all permutations, and by the scales that prove a matching best.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/io/matrix_market.hpp>
#include <vouch/sparse/matching.hpp>

#include "data.hpp"
#include "matrices.hpp"

namespace vouch {
namespace {

using testing::entries;
using testing::entries_of;
using testing::matrix_of;

const device cpu = device::cpu(3);

// log2 of the product that a permutation picks; minus infinity where it meets a zero.
double log_product(const entries& list, const std::vector<std::int32_t>& row_of) {
  double sum = 0;
  for (std::int64_t j = 0; j < std::ssize(row_of); ++j) {
    const auto found = list.find({row_of[static_cast<std::size_t>(j)], j});
    sum += found == list.end() ? -std::numeric_limits<double>::infinity() : std::log2(std::fabs(found->second));
  }
  return sum;
}

void expect_permutation(const array<std::int32_t>& row_of, std::int64_t n) {
  std::vector<std::int32_t> sorted = row_of.to_vector(), all(static_cast<std::size_t>(n));
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
}

// Nothing above 1, and a regular matrix's matched entries 1: any other permutation has a product of at most 1.
void expect_proved(const csr<double>& A, const product_matching& m, double most = 1, double least = 1) {
  expect_permutation(m.row_of, A.rows);
  std::int64_t matched = 0;
  for (const auto& [place, value] : entries_of(A)) {
    const double scaled = m.row_scale[place.first] * std::fabs(value) * m.column_scale[place.second];
    EXPECT_LE(scaled, most * (1 + 1e-12)) << place.first << ", " << place.second;
    if (m.row_of[place.second] != place.first || value == 0) continue;
    ++matched;
    EXPECT_GE(scaled, least * (1 - 1e-12)) << place.first << ", " << place.second;
  }
  EXPECT_EQ(matched, A.rows);
  EXPECT_EQ(m.rank, A.rows);
  EXPECT_EQ(m.deficient_row, -1);
}

TEST(matching, is_the_best_of_all_permutations) {
  int regular = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::int64_t n = 1 + static_cast<std::int64_t>(seed % 7);
    entries list = testing::random_entries(n, n, 3 * n, seed);
    for (auto& [place, value] : list)
      value *=
          std::exp2(40 * random_unit(seed, static_cast<std::uint64_t>(100 + 10 * place.first + place.second)));
    const csr<double> A = matrix_of(n, n, list);
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    double best = -std::numeric_limits<double>::infinity();
    do best = std::max(best, log_product(list, order));
    while (std::next_permutation(order.begin(), order.end()));
    const product_matching m = maximum_product_matching<double>(cpu, A);
    expect_permutation(m.row_of, n);
    if (std::isinf(best)) {
      EXPECT_LT(m.rank, n) << seed;
      EXPECT_GE(m.deficient_row, 0) << seed;
      continue;
    }
    ++regular;
    EXPECT_NEAR(log_product(list, m.row_of.to_vector()), best, 1e-10) << seed;
    expect_proved(A, m);
  }
  EXPECT_GT(regular, 40);
}

TEST(matching, of_large_matrices_is_proved_by_its_scales) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::int64_t n = 4000;
    entries list = testing::random_entries(n, n, 3 * n, seed);
    for (std::int64_t i = 0; i < n; ++i)
      list[{i, (i * 1237 + 5) % n}] = 1e-3 * (1 + static_cast<double>(i % 5));
    const csr<double> A = matrix_of(n, n, list);
    expect_proved(A, maximum_product_matching<double>(cpu, A));
    expect_proved(A, maximum_product_matching<double>(cpu, A, matching_scales::powers_of_two), 2, 0.5);
  }
}

TEST(matching, of_published_matrices_fills_the_diagonal) {
  for (const char* name :
       {"west0479.mtx", "gemat11.mtx.gz", "rajat19.mtx.gz", "fs_760_3.mtx.gz", "utm300.mtx"}) {
    const std::string path = testing::data_file(std::string("matrices/") + name);
    VOUCH_NEEDS_DATA(path);
    SCOPED_TRACE(name);
    const csr<double> A = read_csr(cpu, path);
    expect_proved(A, maximum_product_matching<double>(cpu, A));
  }
}

TEST(matching, scales_are_powers_of_two_where_asked) {
  const csr<double> A = matrix_of(2, 2, {{{0, 0}, 1e-300}, {{0, 1}, 3e300}, {{1, 0}, 5e250}, {{1, 1}, 7}});
  const product_matching m = maximum_product_matching<double>(cpu, A, matching_scales::powers_of_two);
  EXPECT_EQ(m.row_of.to_vector(), (std::vector<std::int32_t>{1, 0}));
  for (const double s : {m.row_scale[0], m.row_scale[1], m.column_scale[0], m.column_scale[1]})
    EXPECT_EQ(std::exp2(std::ilogb(s)), s);
  expect_proved(A, m, 2, 0.5);
}

TEST(matching, what_is_structurally_singular_names_a_row) {
  const product_matching empty_row =
      maximum_product_matching<double>(cpu, matrix_of(3, 3, {{{0, 0}, 1}, {{2, 2}, 1}}));
  EXPECT_EQ(empty_row.rank, 2);
  EXPECT_EQ(empty_row.deficient_row, 1);
  // Three rows share two columns; a stored zero is no entry.
  const product_matching shared = maximum_product_matching<double>(
      cpu,
      matrix_of(4, 4,
                {{{0, 0}, 1}, {{0, 1}, 2}, {{1, 0}, 3}, {{1, 3}, 0}, {{2, 1}, 4}, {{3, 2}, 1}, {{3, 3}, 1}}));
  EXPECT_EQ(shared.rank, 3);
  EXPECT_EQ(shared.deficient_row, 2);
  expect_permutation(shared.row_of, 4);
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isfinite(shared.row_scale[i] * shared.column_scale[i]));
}

TEST(matching, small_shapes_dense_rows_and_bad_entries) {
  EXPECT_EQ(maximum_product_matching<double>(cpu, matrix_of(0, 0, {})).rank, 0);
  EXPECT_EQ(maximum_product_matching<double>(cpu, matrix_of(1, 1, {})).deficient_row, 0);
  expect_proved(matrix_of(1, 1, {{{0, 0}, -3}}),
                maximum_product_matching<double>(cpu, matrix_of(1, 1, {{{0, 0}, -3}})));
  const std::int64_t n = 600;
  entries arrow;  // a dense row and a dense column, no diagonal but for the corner
  for (std::int64_t i = 0; i < n; ++i) arrow[{0, i}] = arrow[{i, 0}] = 1;
  for (std::int64_t i = 1; i < n; ++i) arrow[{i, 1 + i % (n - 1)}] = 1e-9;
  expect_proved(matrix_of(n, n, arrow), maximum_product_matching<double>(cpu, matrix_of(n, n, arrow)));
  EXPECT_THROW(maximum_product_matching<double>(cpu, matrix_of(2, 3, {})), shape_error);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) try {
      maximum_product_matching<double>(cpu, matrix_of(2, 2, {{{0, 0}, 1}, {{1, 1}, bad}}));
      ADD_FAILURE() << bad;
    } catch (const value_error& e) {
      EXPECT_NE(std::string(e.what()).find("row 2 "), std::string::npos) << e.what();
    }
}

TEST(matching, extreme_entries_keep_their_order) {
  const entries list{{{0, 0}, 5e-324}, {{0, 1}, 1e-300}, {{1, 0}, 1e300}, {{1, 1}, 1.7e308}};
  const product_matching m = maximum_product_matching<double>(cpu, matrix_of(2, 2, list));
  EXPECT_EQ(m.row_of.to_vector(), (std::vector<std::int32_t>{1, 0}));
  expect_proved(matrix_of(2, 2, list), m);
}

TEST(matching, in_single_precision_is_that_of_the_same_numbers) {
  const csr<double> A = matrix_of(60, 60, testing::random_entries(60, 60, 600, 4));
  const csr<float> narrow = convert_values<float>(cpu, A.all());
  const product_matching wide = maximum_product_matching<double>(cpu, A);
  const product_matching same = maximum_product_matching<float>(device::cpu(1), narrow);
  EXPECT_EQ(same.row_of.to_vector(), wide.row_of.to_vector());
  EXPECT_EQ(same.row_scale.to_vector(), wide.row_scale.to_vector());
}

}  // namespace
}  // namespace vouch
