// vouch/core/gpu/l2_policy.cuh -- accesses with an L2 eviction policy (compute capability 8.0); private.
#pragma once
#include <cstdint>
#include <type_traits>

namespace vouch {

/// Policies by which L2 evicts what an access touches first, unchanged or last.
__device__ inline std::uint64_t evict_first_policy() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ inline std::uint64_t evict_unchanged_policy() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_unchanged.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ inline std::uint64_t evict_last_policy() {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ inline void store(double* to, double value, std::uint64_t policy) {
  asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(to), "d"(value), "l"(policy) : "memory");
}

/// An element, in parts of its alignment: 4, 8 or 16 bytes. L2 fetches the pair of cache lines.
template <class E>
__device__ E load_line_pair(const E* from, std::uint64_t policy) {
  constexpr int part = alignof(E);
  static_assert(part == 4 || part == 8 || part == 16);
  using word = std::conditional_t<part == 4, std::uint32_t, std::uint64_t>;
  E all;
#pragma unroll
  for (int at = 0; at < static_cast<int>(sizeof(E)); at += part) {
    const char* const address = reinterpret_cast<const char*>(from) + at;
    word* const to = reinterpret_cast<word*>(reinterpret_cast<char*>(&all) + at);
    if constexpr (part == 4)
      asm volatile("ld.global.L2::cache_hint.L2::256B.u32 %0, [%1], %2;"
                   : "=r"(*to)
                   : "l"(address), "l"(policy)
                   : "memory");
    else if constexpr (part == 8)
      asm volatile("ld.global.L2::cache_hint.L2::256B.u64 %0, [%1], %2;"
                   : "=l"(*to)
                   : "l"(address), "l"(policy)
                   : "memory");
    else
      asm volatile("ld.global.L2::cache_hint.L2::256B.v2.u64 {%0, %1}, [%2], %3;"
                   : "=l"(to[0]), "=l"(to[1])
                   : "l"(address), "l"(policy)
                   : "memory");
  }
  return all;
}

}  // namespace vouch
