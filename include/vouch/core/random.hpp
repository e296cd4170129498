// vouch/core/random.hpp -- reproducible random numbers by counter.
#pragma once
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// The number at a position of a stream; no state, so threads and devices agree.
///
/// Result  64 bits that pass BigCrush as a sequence in counter.
/// Source  SplitMix64: Steele, Lea, Flood, OOPSLA 2014.
VOUCH_HOST_DEVICE constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed + (counter + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Uniform in [0, 1) with 53 random bits.
VOUCH_HOST_DEVICE constexpr double random_unit(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<double>(random_bits(seed, counter) >> 11) * 0x1p-53;
}

}  // namespace vouch
