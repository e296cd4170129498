// vouch/core/types.hpp -- the scalar concept and small integer helpers every room uses.
#pragma once
#include <concepts>
#include <cstdint>

#if defined(__CUDACC__)
#define VOUCH_HOST_DEVICE __host__ __device__
#else
#define VOUCH_HOST_DEVICE
#endif

namespace vouch {

template <class T>
concept real = std::same_as<T, float> || std::same_as<T, double>;

/// Rounds a/b up, for a >= 0 and b > 0.
template <std::integral I>
VOUCH_HOST_DEVICE constexpr I ceil_div(I a, I b) {
  return (a + b - 1) / b;
}

}  // namespace vouch
