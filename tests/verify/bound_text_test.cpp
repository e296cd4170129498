// Bounds in sentences are never below what is proved, read back by the C library.
#include <vouch/verify/bound_text.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace vouch {
namespace {

TEST(bound_text, is_above_the_bound_and_near_it) {
  EXPECT_EQ(detail::rounded_above(0), "0");
  for (double bound = 5e-324; bound < 1e308; bound *= 1.37e3)
    for (const double b : {bound, std::nextafter(bound, HUGE_VAL), 1.2345 * bound, 9.996 * bound}) {
      const double said = std::strtod(detail::rounded_above(b).c_str(), nullptr);
      EXPECT_GE(said, b);
      EXPECT_LE(said, 1.011 * b + 1e-323) << b;
    }
  EXPECT_EQ(detail::rounded_above(HUGE_VAL), "inf");
}

}  // namespace
}  // namespace vouch
