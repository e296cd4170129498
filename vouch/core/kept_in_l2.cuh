// vouch/core/kept_in_l2.cuh -- stores that L2 keeps longer than what streams by; private.
#pragma once
#include <cstdint>

namespace vouch {

/// Stores what is read again before most of what passes through L2 meanwhile.
__device__ inline void store_kept(double* to, double value) {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy));
  asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(to), "d"(value), "l"(policy) : "memory");
}

}  // namespace vouch
