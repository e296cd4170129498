#include <gtest/gtest.h>

#include <string>

#include "devices.hpp"
#include "verify/tridiagonal_systems.hpp"

namespace vouch {
namespace {

using namespace testing;

// Long enough for every mapping of rows to threads; x is good, so that bounds are small, and the exact residual
// of a second difference is known: the solution is a parabola of whole numbers.
TEST(tridiagonal_bound, long_systems_in_every_layout) {
  for (const device& dev : testing::devices())
    for (const auto& [n, systems] : {std::pair{3000, 3}, {200, 40}, {50, 400}, {130, 2100}})
      for (const bool side_by_side : {false, true}) {
        const batch_shape shape = side_by_side ? interleaved(n, systems) : contiguous(n, systems);
        std::vector<system_data> all(static_cast<std::size_t>(systems));
        for (int s = 0; s < systems; ++s)
          for (int i = 0; i < n; ++i) {
            system_data& of = all[static_cast<std::size_t>(s)];
            of.dl.push_back(-1);
            of.d.push_back(2);
            of.du.push_back(-1);
            of.b.push_back(2);
            of.x.push_back(static_cast<double>(i + 1) * (n - i) * (1 + 1e-9 * (s % 3)));
          }
        const outcome found = bounds_of(dev, all, shape, {});
        ASSERT_TRUE(found.bound.verified) << found.bound.reason;
        EXPECT_EQ(found.bound.method, "h-matrix");
        for (std::size_t s = 0; s < all.size(); ++s)
          for (int i = 0; i < n; ++i) {
            const auto at = static_cast<std::size_t>(i);
            ASSERT_GE(found.radius[s][at], std::fabs(found.x[s][at] - (i + 1.0) * (n - i)));
            ASSERT_LE(found.radius[s][at], s % 3 == 0 ? 1e-3 : 1.0 * n);
          }
      }
}

void expect_proofs(const device& dev, int n, bool periodic, bool of_all_lengths, std::uint64_t seed) {
  constexpr int kind_count = 5, systems = 3 * kind_count;
  dice die(seed);
  std::vector<system_data> all;
  std::vector<std::int64_t> offsets{0};
  for (int s = 0; s < systems; ++s) {
    const int rows = of_all_lengths ? 3 + (s * 97 + n) % (n - 2) : n;
    all.push_back(whole_numbers(die, rows, s % kind_count, periodic));
    offsets.push_back(offsets.back() + rows);
  }
  const outcome found = bounds_of(dev, all, of_all_lengths ? ragged(offsets) : contiguous(n, systems), {});
  for (std::size_t s = 0; s < all.size(); ++s) {
    const int kind = static_cast<int>(s % kind_count);
    const bool odd = all[s].rows() % 2 != 0, good = proves(found.radius[s]);
    const bool singular = kind == 3 || (kind == 4 && odd && !periodic);
    const auto where = [&] {
      return "system " + std::to_string(s) + " of " + std::to_string(all[s].rows()) + " rows, seed " +
             std::to_string(seed);
    };
    ASSERT_TRUE(kind >= 2 || good) << where();
    ASSERT_TRUE(periodic || kind != 4 || good || singular) << where();
    ASSERT_FALSE(good && singular) << where();
    for (std::size_t i = 0; i < all[s].rows(); ++i)
      ASSERT_GE(found.radius[s][i], std::fabs(found.x[s][i] - 1)) << where();
  }
}

TEST(tridiagonal_bound, every_proof_for_every_length) {
  const auto seeds = static_cast<std::uint64_t>(testing::campaign(100));
  for (const device& dev : testing::devices())
    for (std::uint64_t seed = 0; seed < seeds; ++seed)
      for (const int n : {3, 16, 33, 64, 65, 128, 200, 257, 511, 512, 600, 1024, 1025, 2047, 2048, 2049})
        for (const bool periodic : {false, true})
          for (const bool of_all_lengths : {false, true})
            expect_proofs(dev, n, periodic, of_all_lengths, 1000 * seed + static_cast<std::uint64_t>(n));
}

// Rows in units far apart, unknowns in such less so.
void change_units(system_data& of, dice& die, int reach) {
  const auto power = [&](int most) { return std::ldexp(1.0, die.below(2 * most + 1) - most); };
  std::vector<double> of_row, of_unknown;
  const double all = power(reach);
  for (std::size_t i = 0; i < of.rows(); ++i)
    of_row.push_back(all * power(reach)), of_unknown.push_back(power(reach / 12));
  for (std::size_t i = 0; i < of.rows(); ++i) {
    of.d[i] *= of_row[i] * of_unknown[i];
    if (i > 0) of.dl[i] *= of_row[i] * of_unknown[i - 1];
    if (i + 1 < of.rows()) of.du[i] *= of_row[i] * of_unknown[i + 1];
    of.b[i] *= of_row[i];
  }
}

// Rows that would have to change places, also where one thread's rows end and another's begin.
TEST(tridiagonal_bound, contains_the_rational_solution_of_systems_of_many_rows) {
  int regular = 0, proved = 0;
  for (const device& dev : testing::devices())
    for (int c = 0; c < testing::campaign(2000); ++c) {
      dice die(static_cast<std::uint64_t>(c) + 55000000);
      constexpr int systems = 6;
      std::vector<system_data> all;
      std::vector<std::optional<std::vector<mpq_class>>> exact;
      std::vector<std::int64_t> offsets{0};
      const int n = 10 + die.below(100);
      for (int s = 0; s < systems; ++s) {
        all.push_back(adversarial(die, c % 2 == 0 ? n : 1 + die.below(100), 3 + s % 4, false));
        change_units(all.back(), die, c % 4 < 2 ? 0 : c % 4 < 3 ? 30 : 160);
        exact.push_back(testing::exact_solution(all.back().matrix(), all.back().b));
        put_approximation(all.back(), exact.back(), die);
        offsets.push_back(offsets.back() + static_cast<std::int64_t>(all.back().rows()));
      }
      const batch_shape shape = c % 2 != 0   ? ragged(offsets)
                                : c % 16 < 8 ? contiguous(n, systems)
                                             : interleaved(n, systems);
      const outcome found = bounds_of(dev, all, shape, {});
      for (std::size_t s = 0; s < all.size(); ++s) {
        const bool good = proves(found.radius[s]);
        regular += exact[s].has_value();
        proved += good;
        ASSERT_TRUE(exact[s] || !good) << "case " << c << " system " << s;
        ASSERT_TRUE(!exact[s] || testing::contains(*exact[s], found.x[s], found.radius[s]))
            << "case " << c << " system " << s;
      }
    }
  EXPECT_GE(proved, 0.75 * regular) << regular;
  RecordProperty("proved", proved);
  RecordProperty("regular", regular);
}

// Long enough to be factored in chunks: whole numbers with the solution e. Of the zero diagonals one is
// singular, as its length is odd; one has its squares across the borders of chunks.
TEST(tridiagonal_bound, long_systems_that_need_interchanges) {
  for (const device& dev : testing::devices())
    for (const int n : {9000, 9001}) {
      dice die(21);
      std::vector<system_data> all(3);
      for (std::size_t s = 0; s < all.size(); ++s)
        for (int i = 0; i < n; ++i) {
          system_data& of = all[s];
          const auto sign = [&] { return die.below(2) != 0 ? 1.0 : -1.0; };
          const double l = i == 0 ? 0 : s == 0 ? sign() * (1 + die.below(1000)) : sign();
          const double u = i == n - 1 ? 0 : s == 0 ? sign() * (1 + die.below(1000)) : sign();
          const double d = s == 0 ? die.below(2001) - 1000 : s == 2 && i == 0 ? 5 : 0;
          of.dl.push_back(l);
          of.d.push_back(d);
          of.du.push_back(u);
          of.b.push_back(l + d + u);
          of.x.push_back(1 + 1e-12 * die.unit());
        }
      const outcome found = bounds_of(dev, all, contiguous(n, 3), {{}, 0, 0});
      EXPECT_EQ(found.bound.method, "bidiagonal factors");
      const bool odd = n % 2 != 0;
      EXPECT_EQ(found.bound.systems_unproved, odd ? 1 : 0) << n;
      for (std::size_t s = 0; s < all.size(); ++s) {
        ASSERT_EQ(proves(found.radius[s]), s != 1 || !odd) << "system " << s << " of " << n;
        for (std::size_t i = 0; i < found.x[s].size(); ++i)
          ASSERT_GE(found.radius[s][i], std::fabs(found.x[s][i] - 1));
      }
    }
}

}  // namespace
}  // namespace vouch
