#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/sparse/csr32.hpp>

#include "devices.hpp"

namespace vouch {
namespace {

TEST(csr32, offsets_are_widened) {
  const std::int32_t offsets[] = {0, 2, 2, std::numeric_limits<std::int32_t>::max(), -3};
  for (const device& dev : testing::devices()) {
    const auto there = array<std::int32_t>::from(dev, offsets);
    EXPECT_EQ(widened(dev, there.data(), 5).to_vector(),
              (std::vector<std::int64_t>{0, 2, 2, std::numeric_limits<std::int32_t>::max(), -3}));
    EXPECT_EQ(widened(dev, nullptr, 0).size(), 0);
  }
  EXPECT_THROW(widened(device::cpu(1), nullptr, 1), value_error);
}

}  // namespace
}  // namespace vouch
