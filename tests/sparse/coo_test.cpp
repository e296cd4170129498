#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/sparse/coo.hpp>

namespace vouch {
namespace {

struct triplets {
  std::vector<std::int32_t> row, col;
  std::vector<double> val;

  coo as(std::int64_t rows, std::int64_t cols, symmetry stored_as = symmetry::general) const {
    const device cpu = device::cpu(1);
    return {rows,
            cols,
            stored_as,
            array<std::int32_t>::from(cpu, row),
            array<std::int32_t>::from(cpu, col),
            array<double>::from(cpu, val)};
  }
  void add(std::int64_t i, std::int64_t j, double v) {
    row.push_back(static_cast<std::int32_t>(i));
    col.push_back(static_cast<std::int32_t>(j));
    val.push_back(v);
  }
};

// An ordered map adds one triplet after the other: the simplest reading of the contract.
void expect_as_map(const triplets& t, std::int64_t rows, std::int64_t cols, symmetry stored_as) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> expected;
  const auto add = [&](std::int32_t i, std::int32_t j, double v) {
    const auto [at, added] = expected.try_emplace({i, j}, v);
    if (!added) at->second += v;
  };
  for (std::size_t k = 0; k < t.val.size(); ++k) {
    add(t.row[k], t.col[k], t.val[k]);
    if (stored_as != symmetry::general && t.row[k] != t.col[k])
      add(t.col[k], t.row[k], stored_as == symmetry::symmetric ? t.val[k] : -t.val[k]);
  }
  for (const int threads : {1, 2, 7}) {
    const csr<double> A = to_csr(device::cpu(threads), t.as(rows, cols, stored_as));
    ASSERT_EQ(A.rows, rows);
    ASSERT_EQ(A.cols, cols);
    ASSERT_EQ(A.row_ptr.size(), rows + 1);
    ASSERT_EQ(A.row_ptr[0], 0);
    ASSERT_EQ(A.row_ptr[rows], static_cast<std::int64_t>(expected.size()));
    ASSERT_EQ(A.nonzeros(), static_cast<std::int64_t>(expected.size()));
    std::int64_t k = 0;
    for (const auto& [place, value] : expected) {
      ASSERT_LE(A.row_ptr[place.first], k);
      ASSERT_GT(A.row_ptr[place.first + 1], k);
      ASSERT_EQ(A.col[k], place.second);
      ASSERT_EQ(A.val[k++], value);
    }
  }
}

// Values whose sums depend on the order of the additions.
triplets random_triplets(std::uint64_t seed, std::uint64_t count, std::uint64_t rows, std::uint64_t cols,
                         symmetry stored_as) {
  triplets t;
  for (std::uint64_t k = 0; k < count; ++k) {
    std::uint64_t i = random_bits(seed, 3 * k) % rows;
    std::uint64_t j = random_bits(seed, 3 * k + 1) % cols;
    if (stored_as != symmetry::general && i < j) std::swap(i, j);
    if (stored_as == symmetry::skew_symmetric && i == j) continue;
    t.add(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j), random_unit(seed, 3 * k + 2) - 0.3);
  }
  return t;
}

TEST(ToCsr, AgreesWithAMap) {
  struct {
    std::uint64_t count, rows, cols;
  } const sizes[] = {{0, 5, 3},
                     {1, 1, 1},
                     {50, 4, 4},
                     {3000, 1, 40},
                     {3000, 4000, 1},
                     {70000, 300, 300},
                     {200000, 50000, 50000}};
  std::uint64_t seed = 1;
  for (const auto& [count, rows, cols] : sizes)
    for (const symmetry kind : {symmetry::general, symmetry::symmetric, symmetry::skew_symmetric}) {
      if (kind != symmetry::general && rows != cols) continue;
      expect_as_map(random_triplets(++seed, count, rows, cols, kind), static_cast<std::int64_t>(rows),
                    static_cast<std::int64_t>(cols), kind);
      if (HasFatalFailure()) return;
    }
}

TEST(ToCsr, TakesSortedTripletsAsTheyAre) {
  triplets t;
  t.add(1, 0, 0);
  t.add(1, 2, 5);
  t.add(4, 1, -1);
  expect_as_map(t, 7, 3, symmetry::general);
  t.add(4, 1, 3);  // sorted, but not strictly
  expect_as_map(t, 7, 3, symmetry::general);
}

// One triangle in order, as writers of files have it, and the same with a place twice or one above the diagonal.
TEST(ToCsr, TakesSortedTriangles) {
  for (const bool by_rows : {true, false})
    for (const symmetry kind : {symmetry::symmetric, symmetry::skew_symmetric}) {
      std::map<std::pair<std::int64_t, std::int64_t>, double> places;
      for (std::uint64_t k = 0; k < 4000; ++k) {
        auto i = static_cast<std::int64_t>(random_bits(7, 2 * k) % 300);
        auto j = static_cast<std::int64_t>(random_bits(7, 2 * k + 1) % 300);
        if (i < j) std::swap(i, j);
        if (kind == symmetry::skew_symmetric && i == j) continue;
        places[by_rows ? std::pair(i, j) : std::pair(j, i)] = random_unit(8, k) - 0.5;
      }
      triplets t;
      for (const auto& [place, value] : places)
        t.add(by_rows ? place.first : place.second, by_rows ? place.second : place.first, value);
      expect_as_map(t, 300, 300, kind);
      expect_as_map(t, 90000, 90000, kind);  // more rows than entries
      t.add(t.row.back(), t.col.back(), 0.25);
      expect_as_map(t, 300, 300, kind);
      t.row.back() = 0;
      t.col.back() = 299;
      expect_as_map(t, 300, 300, kind);
    }
}

TEST(ToCsr, TakesArraysThatAreGivenAway) {
  triplets t;
  t.add(0, 1, 2);
  t.add(2, 0, 3);
  coo A = t.as(3, 3);
  const double* const values = A.val.data();
  const csr<double> B = to_csr(device::cpu(1), std::move(A));
  EXPECT_EQ(B.val.data(), values);
  EXPECT_EQ(B.row_ptr.to_vector(), (std::vector<std::int64_t>{0, 1, 1, 2}));
}

TEST(ToCsr, SumsLongRows) {
  triplets t;
  for (std::int64_t k = 0; k < 5000; ++k) {
    t.add(3, k * 7919 % 1000, 1.0 / static_cast<double>(k + 1));
    t.add(k % 10, 5, static_cast<double>(k));
  }
  expect_as_map(t, 10, 1000, symmetry::general);
}

TEST(ToCsr, KeepsEmptyMatrices) {
  for (const int threads : {1, 3}) {
    const csr<double> A = to_csr(device::cpu(threads), triplets{}.as(0, 0));
    EXPECT_EQ(A.row_ptr.to_vector(), std::vector<std::int64_t>{0});
    const csr<double> B = to_csr(device::cpu(threads), triplets{}.as(3, 0));
    EXPECT_EQ(B.row_ptr.to_vector(), (std::vector<std::int64_t>{0, 0, 0, 0}));
  }
}

// Entries are looked at in pieces of 2^16 behind the first: disorder and bad indices at both ends of a piece are seen.
TEST(ToCsr, SeesWhatIsWrongAtTheEndsOfItsPieces) {
  constexpr std::size_t piece = std::size_t{1} << 16, count = piece + 3;
  triplets in_order;
  for (std::size_t k = 0; k < count; ++k)
    in_order.add(static_cast<std::int64_t>(k / 3), static_cast<std::int64_t>(7 * (k % 3)),
                 0.1 * static_cast<double>(k));
  const std::int64_t rows = static_cast<std::int64_t>(count / 3 + 1), cols = 15;
  for (const std::size_t k : {std::size_t{1}, piece, piece + 1, count - 1}) {
    triplets swapped = in_order, outside = in_order;
    std::swap(swapped.row[k], swapped.row[k - 1]);
    std::swap(swapped.col[k], swapped.col[k - 1]);
    expect_as_map(swapped, rows, cols, symmetry::general);
    outside.col[k] = -1;
    EXPECT_THROW(to_csr(device::cpu(2), outside.as(rows, cols)), value_error) << k;
    outside.col[k] = 15;
    EXPECT_THROW(to_csr(device::cpu(2), outside.as(rows, cols)), value_error) << k;
  }
  triplets twice = in_order;  // the first entry of the second piece once more
  twice.row[piece + 1] = twice.row[piece];
  twice.col[piece + 1] = twice.col[piece];
  expect_as_map(twice, rows, cols, symmetry::general);
}

TEST(ToCsr, NamesTheTripletOutsideTheMatrix) {
  triplets t;
  t.add(0, 0, 1);
  t.add(1, 2, 1);
  t.add(-1, 0, 1);
  try {
    to_csr(device::cpu(2), t.as(2, 2));
    FAIL();
  } catch (const value_error& e) {
    EXPECT_STREQ(e.what(), "triplet 1: (1, 2) lies outside a 2 by 2 matrix");
  }
  t.col.pop_back();
  EXPECT_THROW(to_csr(device::cpu(1), t.as(2, 2)), shape_error);
}

}  // namespace
}  // namespace vouch
