#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <vouch/verify/tridiagonal_bound.hpp>

#include "devices.hpp"
#include "verify/tridiagonal_systems.hpp"

namespace vouch {
namespace {

using namespace testing;

constexpr int whole_kinds = 5;

std::vector<system_data> systems_of_whole_numbers(int n, int count, const std::vector<int>& of_kinds,
                                                  bool periodic, std::uint64_t seed) {
  dice die(seed);
  std::vector<system_data> all;
  for (int s = 0; s < count; ++s)
    all.push_back(whole_numbers(die, n, of_kinds[static_cast<std::size_t>(s) % of_kinds.size()], periodic));
  return all;
}

// The exact solution is e.
void expect_bounds_hold(const outcome& found, std::size_t s) {
  for (std::size_t i = 0; i < found.x[s].size(); ++i)
    ASSERT_GE(found.radius[s][i], std::fabs(found.x[s][i] - 1)) << "system " << s << " row " << i;
}

// Systems as in memory one after another: the same is proved, and nothing wider but for what v differs by.
void expect_as_in_line(const outcome& side_by_side, const outcome& in_line) {
  for (std::size_t s = 0; s < side_by_side.radius.size(); ++s) {
    ASSERT_EQ(proves(side_by_side.radius[s]), proves(in_line.radius[s])) << "system " << s;
    if (!proves(in_line.radius[s])) continue;
    for (std::size_t i = 0; i < in_line.radius[s].size(); ++i)
      ASSERT_LE(side_by_side.radius[s][i], 2 * in_line.radius[s][i]) << "system " << s << " row " << i;
  }
}

TEST(side_by_side_bound, every_length_and_number_of_systems) {
  for (const device& dev : devices())
    for (const int n : {1, 2, 3, 8, 9, 31, 32, 33, 127, 129, 511, 512, 513, 1000, 1024, 1025, 2100})
      for (const int count : {1, 7, 8, 9, 1000}) {
        if (n * count > (dev.is_cuda() ? 1100000 : 40000)) continue;
        const std::vector<system_data> all =
            systems_of_whole_numbers(n, count, {0, 1}, false, static_cast<std::uint64_t>(10000 * n + count));
        const outcome found = bounds_of(dev, all, interleaved(n, count), {});
        ASSERT_TRUE(found.bound.verified) << n << " x " << count << ": " << found.bound.reason;
        for (std::size_t s = 0; s < all.size(); ++s) expect_bounds_hold(found, s);
        expect_as_in_line(found, bounds_of(dev, all, contiguous(n, count), {}));
      }
}

// Neighbours of which one is dominant, one needs v, one factors, and some are singular.
TEST(side_by_side_bound, neighbours_of_all_kinds) {
  for (const device& dev : devices())
    for (const int n : {3, 16, 33, 65, 200, 512, 513, 1024, 1025, 2048, 2049})
      for (const bool periodic : {false, true}) {
        const int count = 23;
        const std::vector<system_data> all = systems_of_whole_numbers(n, count, {0, 1, 2, 3, 4}, periodic,
                                                                      static_cast<std::uint64_t>(n + 500000));
        const outcome found = bounds_of(dev, all, interleaved(n, count), {});
        std::int64_t unproved = 0;
        for (std::size_t s = 0; s < all.size(); ++s) {
          const auto kind = s % whole_kinds;
          const bool singular = kind == 3 || (kind == 4 && n % 2 != 0 && !periodic);
          const bool good = proves(found.radius[s]);
          unproved += !good;
          ASSERT_TRUE(kind >= 2 || good) << n << " rows, system " << s;
          ASSERT_FALSE(singular && good) << n << " rows, system " << s;
          expect_bounds_hold(found, s);
        }
        EXPECT_EQ(found.bound.systems_unproved, unproved);
      }
}

// Systems whose rows would have to change places: all, many and a few of those side by side. On a GPU each has
// the bits that it has in line, wherever it lies and whoever lies beside.
TEST(side_by_side_bound, factors_prove_what_they_prove_in_line) {
  const std::vector<std::vector<int>> mixtures = {{2}, {4, 2, 3}, {0, 2}, {1, 0, 0, 0, 2, 0, 0, 1, 0}};
  for (const device& dev : devices())
    for (const int n : {1, 2, 16, 17, 18, 35, 136, 137, 272, 273, 512, 544, 545, 700, 1024, 1088, 1089, 2048})
      for (const int count : {1, 3, 8, 131})
        for (const std::vector<int>& mixture : mixtures) {
          if (n * count > (dev.is_cuda() ? 200000 : 5000)) continue;
          const std::vector<system_data> all = systems_of_whole_numbers(
              n, count, mixture, false, static_cast<std::uint64_t>(777 * n + 5 * count) + mixture.size());
          const outcome found = bounds_of(dev, all, interleaved(n, count), {}),
                        in_line = bounds_of(dev, all, contiguous(n, count), {});
          EXPECT_EQ(found.bound.systems_unproved, in_line.bound.systems_unproved);
          for (std::size_t s = 0; s < all.size(); ++s) {
            expect_bounds_hold(found, s);
            if (!dev.is_cuda() || n < 16 || mixture[s % mixture.size()] < 2) continue;
            ASSERT_EQ(found.radius[s], in_line.radius[s]) << n << " x " << count << ", system " << s;
          }
        }
}

TEST(side_by_side_bound, what_is_no_number_spoils_one_system) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const device& dev : devices())
    for (const auto& [n, mixture] : {std::pair{2, std::vector{0, 1}}, {40, {0, 1}}, {512, {0, 1}}, {40, {2}}})
      for (const double bad : {nan, inf})
        for (std::vector<double> system_data::*part :
             {&system_data::dl, &system_data::d, &system_data::du, &system_data::b, &system_data::x}) {
          std::vector<system_data> all = systems_of_whole_numbers(n, 13, mixture, false, 77);
          for (const std::size_t s : {std::size_t{4}, std::size_t{7}})
            (all[s].*part)[part == &system_data::du ? 0 : static_cast<std::size_t>(n - 1)] = bad;
          const outcome found = bounds_of(dev, all, interleaved(n, 13), {});
          EXPECT_EQ(found.bound.systems_unproved, 2);
          for (std::size_t s = 0; s < all.size(); ++s)
            EXPECT_EQ(proves(found.radius[s]), s != 4 && s != 7) << "system " << s;
        }
}

TEST(side_by_side_bound, same_bits_twice_whoever_lies_beside) {
  for (const device& dev : devices()) {
    const int n = 300, count = 37;
    const std::vector<system_data> all = systems_of_whole_numbers(n, count, {0, 1}, false, 5);
    const outcome once = bounds_of(dev, all, interleaved(n, count), {}),
                  twice = bounds_of(dev, all, interleaved(n, count), {});
    EXPECT_EQ(once.radius, twice.radius);
    if (!dev.is_cuda()) continue;
    const std::vector<system_data> some(all.begin() + 2, all.end());
    const outcome fewer = bounds_of(dev, some, interleaved(n, count - 2), {});
    for (std::size_t s = 0; s < some.size(); ++s) EXPECT_EQ(once.radius[s + 2], fewer.radius[s]) << s;
  }
}

TEST(side_by_side_bound, refines_and_covers_uncertain_data) {
  for (const device& dev : devices()) {
    const int n = 100, count = 19;
    const std::vector<system_data> all = systems_of_whole_numbers(n, count, {0, 1}, false, 6);
    const outcome fine = bounds_of(dev, all, interleaved(n, count), {{}, 4 * 0x1p-53, 10});
    EXPECT_TRUE(fine.bound.reached) << fine.bound.reason;
    EXPECT_GE(fine.bound.refinements, 1);
    for (std::size_t s = 0; s < all.size(); ++s) expect_bounds_hold(fine, s);
    const outcome wide = bounds_of(dev, all, interleaved(n, count), {{1e-9, 1e-9}, 0, 0});
    ASSERT_TRUE(wide.bound.verified) << wide.bound.reason;
    // Of d alone, scaled by 1 + r: x moves by no more than the radius says.
    for (std::size_t s = 0; s < all.size(); s += 2) {
      system_data corner = all[s];
      for (double& d : corner.d) d *= 1 + 0.99e-9;
      const auto exact = exact_solution(corner.matrix(), corner.b);
      EXPECT_TRUE(contains(*exact, wide.x[s], wide.radius[s])) << s;
    }
  }
}

}  // namespace
}  // namespace vouch
