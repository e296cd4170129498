#include <vouch/interval/canary.hpp>

#include <gtest/gtest.h>

#include <cfenv>

#include <vouch/core/error.hpp>

#include "devices.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace vouch {
namespace {

TEST(canary, sings_on_every_device) {
  for (const device& dev : testing::devices()) EXPECT_NO_THROW(check_directed_rounding(dev)) << dev.name();
  EXPECT_NO_THROW(require_ieee_environment());
}

TEST(canary, refuses_another_rounding_mode) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    EXPECT_THROW(require_ieee_environment(), value_error);
    EXPECT_THROW(check_directed_rounding(device::cpu(1)), value_error);
    std::fesetround(FE_TONEAREST);
  }
  EXPECT_NO_THROW(require_ieee_environment());
}

#if defined(__x86_64__)
TEST(canary, refuses_flushed_subnormals) {
  const unsigned usual = _mm_getcsr();
  for (const unsigned bit : {0x8000U, 0x0040U}) {  // flush to zero, denormals are zero
    _mm_setcsr(usual | bit);
    EXPECT_THROW(require_ieee_environment(), value_error);
    EXPECT_THROW(check_directed_rounding(device::cpu(1)), value_error);
    _mm_setcsr(usual);
  }
  EXPECT_NO_THROW(require_ieee_environment());
}
#endif

}  // namespace
}  // namespace vouch
