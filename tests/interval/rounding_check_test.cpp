#include <vouch/interval/rounding_check.hpp>

#include <gtest/gtest.h>

#include "devices.hpp"
#include "hostile.hpp"

namespace vouch {
namespace {

TEST(rounding_check, passes_on_every_device) {
  for (const device& dev : testing::devices()) EXPECT_NO_THROW(check_directed_rounding(dev)) << dev.name();
}

TEST(rounding_check, passes_wherever_it_is_called) {
  for (const testing::hostile_environment& how : testing::hostile_environments())
    testing::in(how, [] {
      EXPECT_NO_THROW(check_directed_rounding(device::cpu(1)));
      return true;
    });
}

}  // namespace
}  // namespace vouch
