#include <gtest/gtest.h>

#include <map>

#include <vouch/solve/precond/sliced.hpp>

#include "solve/precond/problems.hpp"

namespace vouch::testing {
namespace {

// Rows of very different lengths, one of them full.
sparse_rows uneven_triangle(std::int64_t n) {
  sparse_rows L;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j)
      if (i == n - 1 ||
          random_unit(7, static_cast<std::uint64_t>(i * n + j)) < 0.002 * static_cast<double>(i % 50)) {
        L.col.push_back(static_cast<std::int32_t>(j));
        L.val.push_back(static_cast<double>(i * n + j + 1));
      }
    L.row_ptr.push_back(static_cast<std::int64_t>(L.col.size()));
  }
  return L;
}

// Reads the layout as a warp does and gives every entry back.
entries decoded(const sliced_triangle<double>& S) {
  entries found;
  for (const sweep_set& set : S.sets)
    for (std::int64_t slice = 0; slice < set.slices(); ++slice) {
      const auto s = static_cast<std::size_t>(set.first_slice + slice);
      for (std::int64_t k = S.slice_ptr[s]; k < S.slice_ptr[s + 1]; ++k) {
        const std::int32_t col = S.col[static_cast<std::size_t>(k)];
        if (col < 0) continue;
        const std::int64_t lane = (k - S.slice_ptr[s]) % 32;
        const auto row = static_cast<std::int32_t>(set.first_row + slice * (32 / set.lanes) + lane / set.lanes);
        EXPECT_LT(row, set.end_row);
        EXPECT_TRUE(found.emplace(std::pair{row, col}, S.val[static_cast<std::size_t>(k)]).second);
      }
    }
  return found;
}

TEST(sliced, holds_every_entry_once_and_pads_little) {
  const std::int64_t n = 700;
  const sparse_rows L = uneven_triangle(n);
  entries expected;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = L.row_ptr[static_cast<std::size_t>(i)];
         k < L.row_ptr[static_cast<std::size_t>(i) + 1]; ++k)
      expected[{static_cast<std::int32_t>(i), L.col[static_cast<std::size_t>(k)]}] =
          L.val[static_cast<std::size_t>(k)];
  for (const std::int64_t threads : {1, 1024, 65536})
    for (const std::vector<std::int64_t>& start :
         {std::vector<std::int64_t>{0, n}, {0, 1, 33, 300, n - 1, n}, {0, 64, 128, n}}) {
      const auto S = make_sliced<double>(L, start, threads);
      ASSERT_EQ(S.sets.size(), start.size() - 1);
      for (std::size_t s = 0; s + 1 < S.slice_ptr.size(); ++s)
        ASSERT_EQ((S.slice_ptr[s + 1] - S.slice_ptr[s]) % 32, 0);
      EXPECT_EQ(decoded(S), expected);
      // Half of the entries and two steps a set, or 31 places a row where a row has a warp to itself.
      EXPECT_LE(S.slice_ptr.back(),
                L.nonzeros() * 3 / 2 + 32 * static_cast<std::int64_t>(start.size()) + 31 * n);
      for (const sweep_set& set : S.sets) EXPECT_TRUE(set.lanes >= 1 && set.lanes <= 32 && 32 % set.lanes == 0);
    }
}

TEST(sliced, of_nothing_is_nothing) {
  EXPECT_TRUE(make_sliced<double>({}, {0}, 1024).sets.empty());
  sparse_rows diagonal;
  diagonal.row_ptr.assign(101, 0);
  const auto S = make_sliced<double>(diagonal, {0, 100}, 1024);
  EXPECT_EQ(S.slice_ptr, std::vector<std::int64_t>(5, 0));
  EXPECT_EQ(S.sets.front().slices(), 4);
}

}  // namespace
}  // namespace vouch::testing
