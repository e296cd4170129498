#include <vouch/core/ieee_environment.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "hostile.hpp"

namespace vouch {
namespace {

// 2^-1074 / 2 rounded to even, 1 + 2^-53 likewise, and -1 - 2^-53: what any other environment changes.
std::vector<double> witnesses() {
  const volatile double least = 0x1p-1074, one = 1, half_unit = 0x1p-53;
  return {least, least + least, 3 * least / 2, one + half_unit, -one - half_unit};
}

// Not compared as doubles before the environment is the usual one.
TEST(ieee_environment, sets_what_is_needed_and_puts_back_what_it_found) {
  const std::vector<double> usual = witnesses();
  EXPECT_TRUE(ieee_environment::holds());
  for (const testing::hostile_environment& how : testing::hostile_environments()) {
    if (how.workers_only) continue;
    const auto [before, inside] = testing::in(how, [] {
      const std::vector<double> outside = witnesses();
      const ieee_environment here;
      return std::pair{outside, witnesses()};
    });
    EXPECT_NE(before, usual) << how.name;
    EXPECT_EQ(inside, usual) << how.name;
  }
  EXPECT_TRUE(ieee_environment::holds());
}

TEST(ieee_environment, each_thread_of_a_region_has_its_own) {
  const std::vector<double> usual = witnesses();
  for (const testing::hostile_environment& how : testing::hostile_environments()) {
    const auto found = testing::in(how, [] {
      std::vector<std::vector<double>> each(4);
#pragma omp parallel for firstprivate(ieee) num_threads(4) schedule(static, 1)
      for (std::size_t t = 0; t < 4; ++t) each[t] = witnesses();
      return each;
    });
    for (const std::vector<double>& thread : found) EXPECT_EQ(thread, usual) << how.name;
  }
}

#if defined(__x86_64__)
TEST(ieee_environment, masks_exceptions_and_undoes_what_was_done_inside) {
  const unsigned usual = _mm_getcsr();
  _mm_setcsr(0x1f80U & ~0x200U);  // division by zero traps
  {
    const ieee_environment here;
    volatile double zero = 0;
    zero = 1 / zero;
    _mm_setcsr(0x9fc0U);
  }
  EXPECT_EQ(_mm_getcsr() & 0xffc0U, 0x1f80U & ~0x200U);
  _mm_setcsr(usual);
}
#endif

}  // namespace
}  // namespace vouch
