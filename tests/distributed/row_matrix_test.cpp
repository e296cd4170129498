#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <mutex>

#include <vouch/core/random.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/solve/distributed/block_sums.hpp>
#include <vouch/solve/distributed/residual.hpp>
#include <vouch/sparse/residual.hpp>

#include "distributed/split_systems.hpp"
#include "distributed/thread_ranks.hpp"

namespace vouch {
namespace {

using testing::numbers_of_ranks;
using testing::on_ranks;

TEST(row_partition, cuts_between_blocks_and_leaves_no_row_out) {
  for (const std::int64_t rows : {0, 1, 1023, 1024, 1025, 50000})
    for (const int ranks : {1, 2, 3, 16, 100}) {
      const std::vector<std::int64_t> entries(static_cast<std::size_t>(row_partition::blocks_of(rows)), 5000);
      const row_partition p(rows, ranks, entries);
      EXPECT_EQ(p.first_row(0), 0);
      EXPECT_EQ(p.first_row(ranks), rows);
      for (int r = 0; r < ranks; ++r) {
        EXPECT_LE(p.first_row(r), p.first_row(r + 1));
        EXPECT_TRUE(p.first_row(r) % 1024 == 0 || p.first_row(r) == rows);
        if (p.rows_of(r) > 0) {
          EXPECT_EQ(p.owner(p.first_row(r)), r);
          EXPECT_EQ(p.owner(p.first_row(r + 1) - 1), r);
        }
      }
    }
}

TEST(row_partition, gives_ranks_about_as_many_entries) {
  std::vector<std::int64_t> entries(400);
  for (std::size_t k = 0; k < entries.size(); ++k) entries[k] = k < 100 ? 70000 : 7000;
  const row_partition p(400 * 1024, 4, entries);
  std::array<std::int64_t, 4> weight{};
  for (int r = 0; r < 4; ++r)
    for (std::int64_t b = p.first_block(r); b < p.first_block(r + 1); ++b)
      weight[static_cast<std::size_t>(r)] += entries[static_cast<std::size_t>(b)] + 8 * 1024;
  for (const std::int64_t w : weight) EXPECT_NEAR(static_cast<double>(w), 3.1e6, 1e5);
}

// One value for every number of ranks, near the sum in a wider type.
TEST(block_sums, are_the_same_for_any_number_of_ranks) {
  for (const std::int64_t blocks : {0, 1, 2, 3, 31, 64, 100}) {
    std::vector<double> leaves(static_cast<std::size_t>(2 * blocks));
    long double exact = 0;
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      leaves[k] = random_unit(7, k) - 0.25;
      if (k % 2 == 0) exact += leaves[k];
    }
    std::vector<double> first;
    for (const int count : {1, 2, 3, 4, 7, 16, 130})
      on_ranks(count, [&](communicator& ranks) {
        const std::vector<std::int64_t> entries(static_cast<std::size_t>(blocks), 1);
        const row_partition p(blocks * 1024, ranks.size(), entries);
        block_sums sums(ranks, p);
        std::vector<double> mine(leaves.begin() + 2 * p.first_block(ranks.rank()),
                                 leaves.begin() + 2 * p.first_block(ranks.rank() + 1));
        std::array<double, 2> totals{};
        std::array<double, 1> most{static_cast<double>(ranks.rank())};
        sums.add_up(mine, totals, most);
        EXPECT_EQ(most[0], ranks.size() - 1);
        EXPECT_NEAR(totals[0], static_cast<double>(exact), 1e-13);
        static std::mutex one_at_a_time;
        const std::lock_guard lock(one_at_a_time);
        if (first.empty()) first.assign(totals.begin(), totals.end());
        EXPECT_EQ(first[0], totals[0]) << count;
        EXPECT_EQ(first[1], totals[1]) << count;
      });
  }
}

TEST(block_sums, pass_on_what_is_not_a_number) {
  on_ranks(3, [](communicator& ranks) {
    const std::vector<std::int64_t> entries(5, 1);
    const row_partition p(5 * 1024, 3, entries);
    block_sums sums(ranks, p);
    EXPECT_TRUE(std::isnan(sums.largest(ranks.rank() == 1 ? std::nan("") : 1.0)));
  });
}

TEST(row_matrix, sums_duplicates_in_the_order_of_ranks_and_sorts_columns) {
  on_ranks(3, [](communicator& ranks) {
    std::vector<matrix_entry> entries;
    const double values[] = {1, 0x1p-53, -1};  // in this order 0, in others 2^-53
    entries.push_back({2, 1, values[ranks.rank()]});
    entries.push_back({2, 4 - ranks.rank(), 1.0 + ranks.rank()});
    const row_matrix A = row_matrix::from_entries(ranks, 5, entries);
    EXPECT_EQ(A.all_rows(), 5);
    EXPECT_EQ(A.all_nonzeros(), 4);
    if (A.rows() == 0) return;
    const csr_view<const double> local = A.local();
    EXPECT_EQ(local.row_ptr[3] - local.row_ptr[2], 4);
    EXPECT_EQ(local.val[0], 0.0);
    for (std::int64_t k = 0; k < 4; ++k) EXPECT_EQ(A.column(local.col[k]), k + 1);
    EXPECT_EQ(local.val[3], 1.0);
  });
}

// Against the residual of one process, which is formed row by row in the same order.
TEST(row_residual, is_that_of_one_process) {
  for (const testing::named_matrix& m : testing::shared_matrices()) {
    const auto n = static_cast<std::size_t>(m.A.rows);
    std::vector<double> b(n), x(n), low(n), r(n);
    for (std::size_t i = 0; i < n; ++i) {
      b[i] = random_unit(1, i) - 0.5;
      x[i] = random_unit(2, i) - 0.5;
      low[i] = 1e-17 * random_unit(3, i);
    }
    const auto size = static_cast<std::int64_t>(n);
    const residual_facts alone =
        residual<double>(device::cpu(1), m.A, {b.data(), size}, {x.data(), size}, low.data(), {r.data(), size});
    residual_facts first;
    bool known = false;
    for (const int count : numbers_of_ranks)
      on_ranks(count, [&](communicator& ranks) {
        const row_matrix A = row_matrix::from_entries(ranks, m.A.rows, testing::share_of(ranks, m.A));
        block_sums sums(ranks, A.partition());
        std::vector<double> mine = testing::part_of(A, x), mine_low = testing::part_of(A, low),
                            rhs = testing::part_of(A, b), left(rhs.size());
        mine.resize(static_cast<std::size_t>(A.length()));
        mine_low.resize(mine.size());
        const residual_facts facts =
            vouch::residual(device::cpu(1), A, sums, rhs.data(), mine.data(), mine_low.data(), left.data());
        EXPECT_EQ(testing::whole_of(A, left.data()), r) << m.name << ' ' << count;
        EXPECT_EQ(facts.norm_inf, alone.norm_inf);
        EXPECT_EQ(facts.matrix_norm_inf, alone.matrix_norm_inf);
        EXPECT_EQ(facts.x_norm_inf, alone.x_norm_inf);
        EXPECT_NEAR(facts.norm2, alone.norm2, 1e-13 * alone.norm2);
        static std::mutex one_at_a_time;
        const std::lock_guard lock(one_at_a_time);
        if (!known) first = facts;
        known = true;
        EXPECT_EQ(first.norm2, facts.norm2) << m.name << ' ' << count;
        EXPECT_EQ(first.rhs_norm2, facts.rhs_norm2);
        EXPECT_EQ(first.product_norm2, facts.product_norm2);
      });
  }
}

}  // namespace
}  // namespace vouch
