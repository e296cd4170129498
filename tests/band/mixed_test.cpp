// Single precision inside, a double answer.
#include <gtest/gtest.h>

#include "band/solved.hpp"
#include "devices.hpp"

namespace {

using namespace vouch;
using method = tridiagonal_method;
using vouch::testing::backward_error;
using vouch::testing::devices;
using vouch::testing::random_system;
using vouch::testing::solved;

TEST(BandSolveMixed, SinglePrecisionInsideDoubleOutside) {
  for (const device& dev : devices())
    for (const double dominance : {0.0, 0.5})
      for (const std::int64_t n : {3, 1000, 30000}) {
        const auto s = random_system<double>(n, dominance, 12);
        const auto got = solved(dev, s, {.mixed = true, .rtol = 1e-13});
        EXPECT_EQ(got.report.status, solve_status::converged) << got.report.reason << n;
        EXPECT_GE(got.report.refinements, 1);
        EXPECT_LE(backward_error(s, got.x), 1e-13);
      }
}

TEST(BandSolveMixed, ByEveryMethod) {
  for (const device& dev : devices())
    for (const method how : {method::thomas, method::cyclic_reduction, method::pcr, method::partition})
      for (const std::int64_t n : {1, 3, 1000}) {
        const auto s = random_system<double>(n, 1.5, 12);
        const auto got = solved(dev, s, {.method = how, .mixed = true, .rtol = 1e-13});
        EXPECT_EQ(got.report.status, solve_status::converged) << got.report.reason << n;
        EXPECT_EQ(got.report.method, name(how));
        EXPECT_EQ(got.report.precision, "mixed") << name(how) << n;
        EXPECT_LE(backward_error(s, got.x), 1e-13);
      }
}

TEST(BandSolveMixed, WithoutALookAtTheAnswer) {
  for (const device& dev : devices()) {
    const auto s = random_system<double>(1000, 0.5, 12);
    const auto got = solved(dev, s, {.mixed = true, .check = false});
    EXPECT_EQ(got.report.status, solve_status::stopped);
    EXPECT_LE(backward_error(s, got.x), 1e-6) << dev.kind();
  }
}

}  // namespace
