#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/sparse/structure.hpp>

#include "devices.hpp"
#include "matrices.hpp"

namespace vouch {
namespace {

using testing::entries;
using testing::matrix_of;

structure_facts facts_of(std::int64_t rows, std::int64_t cols, const entries& list) {
  return structure<double>(device::cpu(3), matrix_of(rows, cols, list));
}

entries tridiagonal(std::int64_t n, double centre, double side) {
  entries list;
  for (std::int64_t i = 0; i < n; ++i) {
    list[{i, i}] = centre;
    if (i > 0) list[{i, i - 1}] = list[{i - 1, i}] = side;
  }
  return list;
}

TEST(structure, empty_and_one_by_one) {
  const structure_facts none = facts_of(0, 0, {});
  EXPECT_TRUE(none.square);
  EXPECT_TRUE(none.symmetric);
  EXPECT_FALSE(none.diagonal_positive);
  EXPECT_EQ(none.entries_min, 0);
  EXPECT_EQ(none.first_zero_diagonal, -1);

  const structure_facts one = facts_of(1, 1, {{{0, 0}, 2}});
  EXPECT_TRUE(one.symmetric);
  EXPECT_TRUE(one.diagonal_positive);
  EXPECT_EQ(one.dominant, dominance::strict);
  EXPECT_TRUE(std::isinf(one.dominance_ratio));
  EXPECT_EQ(one.weakest_row, -1);

  const structure_facts empty_row = facts_of(1, 1, {});
  EXPECT_EQ(empty_row.first_zero_diagonal, 0);
  EXPECT_EQ(empty_row.dominant, dominance::none);
  EXPECT_EQ(empty_row.dominance_ratio, 0);
  EXPECT_EQ(empty_row.empty_rows, 1);
  EXPECT_TRUE(empty_row.row_sums_zero);
}

TEST(structure, tridiagonal_facts) {
  const structure_facts facts = facts_of(10, 10, tridiagonal(10, 2, -1));
  EXPECT_TRUE(facts.symmetric && facts.pattern_symmetric && facts.diagonal_positive);
  EXPECT_FALSE(facts.diagonal_negative);
  EXPECT_EQ(facts.dominant, dominance::weak);
  EXPECT_EQ(facts.dominance_ratio, 1);
  EXPECT_EQ(facts.weakest_row, 1);
  EXPECT_EQ(facts.strictly_dominant_rows, 2);
  EXPECT_EQ(facts.bandwidth_lower, 1);
  EXPECT_EQ(facts.bandwidth_upper, 1);
  EXPECT_EQ(facts.entries_min, 2);
  EXPECT_EQ(facts.entries_max, 3);
  EXPECT_DOUBLE_EQ(facts.entries_mean, 2.8);
  EXPECT_EQ(facts.distinct_diagonals, 3);
  EXPECT_EQ(facts.block_size, 1);
  EXPECT_FALSE(facts.row_sums_zero);
  EXPECT_EQ(facts_of(10, 10, tridiagonal(10, 2.5, -1)).dominant, dominance::strict);
  EXPECT_EQ(facts_of(10, 10, tridiagonal(10, 1.9, -1)).dominant, dominance::none);
  EXPECT_TRUE(facts_of(10, 10, tridiagonal(10, -2, 1)).diagonal_negative);
}

TEST(structure, names_the_first_unsymmetric_entry) {
  entries list = tridiagonal(20, 2, -1);
  list[{12, 3}] = 7;  // stored below alone
  structure_facts facts = facts_of(20, 20, list);
  EXPECT_FALSE(facts.symmetric || facts.pattern_symmetric);
  ASSERT_TRUE(facts.first_unsymmetric.has_value());
  EXPECT_EQ(facts.first_unsymmetric->row, 12);
  EXPECT_EQ(facts.first_unsymmetric->col, 3);
  EXPECT_EQ(facts.first_unsymmetric->value, 7);
  EXPECT_EQ(facts.first_unsymmetric->mirrored, 0);

  list[{3, 12}] = 6;  // same pattern, other value: now met from above first
  facts = facts_of(20, 20, list);
  EXPECT_FALSE(facts.symmetric);
  EXPECT_TRUE(facts.pattern_symmetric);
  EXPECT_EQ(facts.first_unsymmetric->row, 3);
  EXPECT_EQ(facts.first_unsymmetric->mirrored, 7);

  list[{3, 12}] = 0;
  list.erase({12, 3});  // a stored zero without an image
  facts = facts_of(20, 20, list);
  EXPECT_TRUE(facts.symmetric);
  EXPECT_FALSE(facts.pattern_symmetric);
  EXPECT_FALSE(facts.first_unsymmetric.has_value());
}

TEST(structure, agrees_with_a_map_on_random_matrices) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::int64_t n = 60;
    entries list = testing::random_entries(n, n, seed % 2 ? 60 : 2400, seed);  // long rows use another search
    if (seed % 3 != 0)
      for (const auto& [place, value] : entries(list)) list[{place.second, place.first}] = value;
    if (seed % 3 == 1) list.begin()->second += 0.5;
    bool pattern = true;
    const std::pair<const std::pair<std::int64_t, std::int64_t>, double>* first = nullptr;
    std::set<std::int64_t> offsets;
    for (const auto& entry : list) {
      const auto mirror = list.find({entry.first.second, entry.first.first});
      pattern = pattern && mirror != list.end();
      if (first == nullptr && entry.second != (mirror == list.end() ? 0 : mirror->second)) first = &entry;
      offsets.insert(entry.first.second - entry.first.first);
    }
    for (const int threads : {1, 4}) {
      const structure_facts facts = structure<double>(device::cpu(threads), matrix_of(n, n, list));
      EXPECT_EQ(facts.pattern_symmetric, pattern) << seed;
      EXPECT_EQ(facts.symmetric, first == nullptr) << seed;
      EXPECT_EQ(facts.distinct_diagonals, std::min<std::int64_t>(65, std::ssize(offsets)));
      ASSERT_EQ(facts.first_unsymmetric.has_value(), first != nullptr);
      if (first != nullptr) {
        EXPECT_EQ(facts.first_unsymmetric->row, first->first.first);
        EXPECT_EQ(facts.first_unsymmetric->col, first->first.second);
      }
    }
  }
}

TEST(structure, diagonal_defects) {
  entries list = tridiagonal(9, 2, -1);
  list[{6, 6}] = -3;
  list.erase({7, 7});
  list[{8, 8}] = 0;
  const structure_facts facts = facts_of(9, 9, list);
  EXPECT_FALSE(facts.diagonal_positive || facts.diagonal_negative);
  EXPECT_EQ(facts.first_nonpositive_diagonal, 6);
  EXPECT_EQ(facts.first_zero_diagonal, 7);
  EXPECT_EQ(facts.weakest_row, 7);
}

TEST(structure, rectangular_and_empty_rows) {
  const structure_facts facts = facts_of(4, 6, {{{0, 5}, 1}, {{2, 0}, 2}, {{2, 1}, 3}});
  EXPECT_FALSE(facts.square || facts.symmetric || facts.diagonal_positive);
  EXPECT_EQ(facts.dominant, dominance::none);
  EXPECT_EQ(facts.empty_rows, 2);
  EXPECT_EQ(facts.bandwidth_upper, 5);
  EXPECT_EQ(facts.bandwidth_lower, 2);
  EXPECT_EQ(facts.distinct_diagonals, 3);
}

TEST(structure, zero_row_sums_up_to_rounding) {
  entries list;
  const double a = 0.1, b = 0.2, c = -(a + b);  // exact sum of the three is a rounding error, not 0
  for (std::int64_t i = 0; i < 3; ++i) list[{i, i}] = c, list[{i, (i + 1) % 3}] = a, list[{i, (i + 2) % 3}] = b;
  EXPECT_TRUE(facts_of(3, 3, list).row_sums_zero);
  list[{1, 1}] += 1e-13;
  EXPECT_FALSE(facts_of(3, 3, list).row_sums_zero);
}

TEST(structure, dense_blocks) {
  for (const int size : {2, 3, 6}) {
    entries list;
    for (std::int64_t block = 0; block < 4; ++block)
      for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) {
          list[{block * size + i, block * size + j}] = 1;
          list[{block * size + i, (block + 1) % 4 * size + j}] = 1;
        }
    EXPECT_EQ(facts_of(4 * size, 4 * size, list).block_size, size);
    list.erase({2 * size + 1, 2 * size});
    EXPECT_EQ(facts_of(4 * size, 4 * size, list).block_size, 1);
  }
}

TEST(structure, single_precision) {
  const structure_facts facts =
      structure<float>(device::cpu(2), matrix_of<float>(10, 10, tridiagonal(10, 0.2, -0.1)));
  EXPECT_TRUE(facts.symmetric);
  EXPECT_EQ(facts.dominant, dominance::weak);
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

void expect_same(const structure_facts& a, const structure_facts& b, const std::string& of) {
  EXPECT_EQ(a.rows, b.rows) << of;
  EXPECT_EQ(a.cols, b.cols) << of;
  EXPECT_EQ(a.nonzeros, b.nonzeros) << of;
  EXPECT_EQ(a.square, b.square) << of;
  EXPECT_EQ(a.pattern_symmetric, b.pattern_symmetric) << of;
  EXPECT_EQ(a.symmetric, b.symmetric) << of;
  ASSERT_EQ(a.first_unsymmetric.has_value(), b.first_unsymmetric.has_value()) << of;
  if (a.first_unsymmetric) {
    EXPECT_EQ(a.first_unsymmetric->row, b.first_unsymmetric->row) << of;
    EXPECT_EQ(a.first_unsymmetric->col, b.first_unsymmetric->col) << of;
    EXPECT_EQ(bits(a.first_unsymmetric->value), bits(b.first_unsymmetric->value)) << of;
    EXPECT_EQ(bits(a.first_unsymmetric->mirrored), bits(b.first_unsymmetric->mirrored)) << of;
  }
  EXPECT_EQ(a.diagonal_positive, b.diagonal_positive) << of;
  EXPECT_EQ(a.diagonal_negative, b.diagonal_negative) << of;
  EXPECT_EQ(a.first_zero_diagonal, b.first_zero_diagonal) << of;
  EXPECT_EQ(a.first_nonpositive_diagonal, b.first_nonpositive_diagonal) << of;
  EXPECT_EQ(bits(a.diagonal_least), bits(b.diagonal_least)) << of;
  EXPECT_EQ(bits(a.diagonal_largest), bits(b.diagonal_largest)) << of;
  EXPECT_EQ(a.dominant, b.dominant) << of;
  EXPECT_EQ(bits(a.dominance_ratio), bits(b.dominance_ratio)) << of;
  EXPECT_EQ(a.weakest_row, b.weakest_row) << of;
  EXPECT_EQ(a.strictly_dominant_rows, b.strictly_dominant_rows) << of;
  EXPECT_EQ(a.bandwidth_lower, b.bandwidth_lower) << of;
  EXPECT_EQ(a.bandwidth_upper, b.bandwidth_upper) << of;
  EXPECT_EQ(a.entries_min, b.entries_min) << of;
  EXPECT_EQ(a.entries_max, b.entries_max) << of;
  EXPECT_EQ(bits(a.entries_mean), bits(b.entries_mean)) << of;
  EXPECT_EQ(a.empty_rows, b.empty_rows) << of;
  EXPECT_EQ(a.row_sums_zero, b.row_sums_zero) << of;
  EXPECT_EQ(a.distinct_diagonals, b.distinct_diagonals) << of;
  EXPECT_EQ(a.block_size, b.block_size) << of;
}

// Of A and of A in single precision, on every device.
void expect_same_everywhere(const csr<double>& A, const std::string& of) {
  const device one = device::cpu(1);
  const csr<float> rounded = convert_values<float, double>(one, A);
  const structure_facts facts = structure<double>(one, A), facts_of_rounded = structure<float>(one, rounded);
  for (const device& dev : testing::devices()) {
    const std::string where = of + " on " + dev.kind();
    expect_same(structure<double>(dev, A.to(dev)), facts, where);
    expect_same(structure<float>(dev, rounded.to(dev)), facts_of_rounded, where + ", single");
  }
}

TEST(structure, is_the_same_on_every_device) {
  for (const std::int64_t n : {0, 1, 31, 300, 3000}) {
    const std::string size = std::to_string(n);
    expect_same_everywhere(matrix_of(n, n, tridiagonal(n, 2, -1)), "tridiagonal " + size);
    expect_same_everywhere(matrix_of(n, n, {}), "empty " + size);
    expect_same_everywhere(matrix_of(n, n + 3, tridiagonal(n, -2, 1.5)), "wide " + size);
    expect_same_everywhere(matrix_of(n + 3, n, tridiagonal(n, 0.1, 0.7)), "tall " + size);
  }
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const std::int64_t n = seed % 4 == 3 ? 400 : 120;
    entries list = testing::random_entries(n, n, n * (seed % 2 == 0 ? 3 : 40), seed);  // long rows have warps
    for (auto& [place, value] : list) value *= 0.1;
    if (seed % 3 != 0)
      for (const auto& [place, value] : entries(list)) list[{place.second, place.first}] = value;
    if (seed % 6 == 1) list.rbegin()->second += 0.5;
    if (seed % 6 == 2)
      for (std::int64_t i = 0; i < n; ++i) list[{i, i}] = 50 + 0.1 * static_cast<double>(i);
    expect_same_everywhere(matrix_of(n, n, list), "random " + std::to_string(seed));
  }
  for (const int size : {2, 3, 4, 6}) {
    entries list;
    for (std::int64_t i = 0; i < 12 * size; ++i)
      for (std::int64_t j = 0; j < size; ++j) list[{i, i / size * size + j}] = 1;
    expect_same_everywhere(matrix_of(12 * size, 12 * size, list), "blocks of " + std::to_string(size));
    list.erase({6 * size + 1, 6 * size});
    expect_same_everywhere(matrix_of(12 * size, 12 * size, list), "broken blocks of " + std::to_string(size));
  }
  for (const std::int64_t diagonals : {64, 65, 300}) {
    entries list;
    for (std::int64_t j = 0; j < diagonals; ++j) list[{0, j}] = 1;
    expect_same_everywhere(matrix_of(400, 400, list), std::to_string(diagonals) + " diagonals");
  }
}

TEST(structure, of_what_is_no_number_is_the_same_on_every_device) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinite = std::numeric_limits<double>::infinity();
  for (const double odd : {nan, infinite, -infinite, -0.0, 1e-320})
    for (const std::pair<std::int64_t, std::int64_t> place : {std::pair{7, 7}, std::pair{7, 8}}) {
      entries list = tridiagonal(40, 2, -1);
      list[place] = odd;
      expect_same_everywhere(matrix_of(40, 40, list), "with " + std::to_string(odd));
    }
}

// The first row that is weakest, or wrong, whatever block of a GPU meets it.
TEST(structure, of_many_rows_is_the_same_on_every_device) {
  problem_options options;
  options.nx = 14;
  for (const char* problem : {"poisson-3d", "elasticity-3d", "elements-3d"}) {
    csr<double> A = generate_problem(device::cpu(2), problem, options);
    expect_same_everywhere(A, problem);
    for (const std::int64_t row : {A.rows / 3, A.rows / 2}) A.val[A.row_ptr[row]] *= 1.5;
    expect_same_everywhere(A, std::string(problem) + " with two entries changed");
  }
}

std::int64_t components_by_flooding(std::int64_t n, const entries& list) {
  std::vector<std::int64_t> label(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) label[static_cast<std::size_t>(i)] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [place, value] : list) {
      std::int64_t& a = label[static_cast<std::size_t>(place.first)];
      std::int64_t& b = label[static_cast<std::size_t>(place.second)];
      changed = changed || a != b;
      a = b = std::min(a, b);
    }
  }
  return std::ssize(std::set<std::int64_t>(label.begin(), label.end()));
}

TEST(connected_components, counts) {
  const device cpu = device::cpu(4);
  EXPECT_EQ(connected_components<double>(cpu, matrix_of(0, 0, {})), 0);
  EXPECT_EQ(connected_components<double>(cpu, matrix_of(5, 5, {})), 5);
  EXPECT_EQ(connected_components<double>(cpu, matrix_of(50, 50, tridiagonal(50, 2, -1))), 1);
  EXPECT_THROW(connected_components<double>(cpu, matrix_of(2, 3, {})), shape_error);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const entries list = testing::random_entries(100, 100, 60 + 5 * static_cast<std::int64_t>(seed), seed);
    EXPECT_EQ(connected_components<double>(cpu, matrix_of(100, 100, list)), components_by_flooding(100, list));
  }
}

}  // namespace
}  // namespace vouch
