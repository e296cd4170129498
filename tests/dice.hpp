// tests/dice.hpp -- random decisions that a seed repeats.
#pragma once
#include <cstdint>

#include <vouch/core/random.hpp>

namespace vouch::testing {

class dice {
 public:
  explicit dice(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t below(std::uint64_t n) { return random_bits(seed_, counter_++) % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

}  // namespace vouch::testing
