// tests/campaign.hpp -- how many cases a campaign of random ones takes.
#pragma once
#include <concepts>
#include <cstdlib>

namespace vouch::testing {

/// A hundredth of them; all with VOUCH_SOAK=1.
template <std::integral Count>
Count campaign(Count all) {
  const char* soak = std::getenv("VOUCH_SOAK");
  return soak != nullptr && *soak == '1' ? all : all / 100;
}

}  // namespace vouch::testing
