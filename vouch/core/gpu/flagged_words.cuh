// vouch/core/gpu/flagged_words.cuh -- numbers exchanged between blocks of a running kernel, flag and value in one
// word; private.
//
// A word holds 32 bits of the number and the epoch, and is written and read as one: a reader that sees the epoch has
// the number, without a fence or a separate flag, one way through L2. The number orders no other memory access.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace vouch {

/// Words of a number.
template <class T>
inline constexpr int flagged_words = static_cast<int>(sizeof(T) / 4);

namespace flagged {

__device__ inline std::uint64_t word(std::uint32_t bits, std::uint32_t epoch) {
  return std::uint64_t{epoch} << 32 | bits;
}
__device__ inline bool has(std::uint64_t word, std::uint32_t epoch) {
  return static_cast<std::uint32_t>(word >> 32) == epoch;
}
__device__ inline void store(std::uint64_t* at, std::uint64_t word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
__device__ inline void store_pair(std::uint64_t* at, std::uint64_t first, std::uint64_t second) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(first), "l"(second) : "memory");
}
__device__ inline std::uint64_t load(const std::uint64_t* at) {
  std::uint64_t word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
  return word;
}
__device__ inline void load_pair(const std::uint64_t* at, std::uint64_t& first, std::uint64_t& second) {
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(first), "=l"(second) : "l"(at) : "memory");
}

}  // namespace flagged

/// The words of a number begin at `at`, those of a double on 16 bytes.
__device__ inline void store_flagged(std::uint64_t* at, float value, std::uint32_t epoch) {
  flagged::store(at, flagged::word(__float_as_uint(value), epoch));
}
__device__ inline void store_flagged(std::uint64_t* at, double value, std::uint32_t epoch) {
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
  flagged::store_pair(at, flagged::word(static_cast<std::uint32_t>(bits), epoch),
                      flagged::word(static_cast<std::uint32_t>(bits >> 32), epoch));
}

/// Whether the words carry this epoch; then value holds the numbers.
__device__ inline bool try_load(const std::uint64_t* at, float (&value)[4], std::uint32_t epoch) {
  std::uint64_t word[4];
  flagged::load_pair(at, word[0], word[1]);
  flagged::load_pair(at + 2, word[2], word[3]);
  bool all = true;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    all = flagged::has(word[k], epoch) && all;
    value[k] = __uint_as_float(static_cast<std::uint32_t>(word[k]));
  }
  return all;
}
__device__ inline bool try_load(const std::uint64_t* at, float& value, std::uint32_t epoch) {
  const std::uint64_t word = flagged::load(at);
  value = __uint_as_float(static_cast<std::uint32_t>(word));
  return flagged::has(word, epoch);
}
__device__ inline bool try_load(const std::uint64_t* at, double& value, std::uint32_t epoch) {
  std::uint64_t low, high;
  flagged::load_pair(at, low, high);
  value = __longlong_as_double(static_cast<long long>(high << 32 | (low & 0xffffffffu)));
  return flagged::has(low, epoch) && flagged::has(high, epoch);
}
__device__ inline bool try_load(const std::uint64_t* at, double (&value)[2], std::uint32_t epoch) {
  const bool first = try_load(at, value[0], epoch), second = try_load(at + 2, value[1], epoch);
  return first && second;
}

/// A relaxed counter that blocks share.
__device__ inline void count_up(unsigned* at) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
}
__device__ inline unsigned counted(const unsigned* at) {
  unsigned count;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(at) : "memory");
  return count;
}

/// More numbers; ends at the first that are missing.
template <class T, int Count>
__device__ bool try_load(const std::uint64_t* at, T (&value)[Count], std::uint32_t epoch) {
  constexpr int whole = static_cast<int>(16 / sizeof(T));
  static_assert(Count > whole && Count % whole == 0);
#pragma unroll
  for (int k = 0; k < Count; k += whole) {
    T some[whole];
    if (!try_load(at + k * flagged_words<T>, some, epoch)) return false;
#pragma unroll
    for (int l = 0; l < whole; ++l) value[k + l] = some[l];
  }
  return true;
}

/// Waits until the words carry this epoch.
__device__ inline void wait_load(const std::uint64_t* at, float& value, std::uint32_t epoch) {
  while (!try_load(at, value, epoch)) {
  }
}
__device__ inline void wait_load(const std::uint64_t* at, double& value, std::uint32_t epoch) {
  while (!try_load(at, value, epoch)) {
  }
}
/// The same for 32 bytes of words: 4 floats or 2 doubles, on 16 bytes.
__device__ inline void wait_load(const std::uint64_t* at, float (&value)[4], std::uint32_t epoch) {
  while (!try_load(at, value, epoch)) {
  }
}
__device__ inline void wait_load(const std::uint64_t* at, double (&value)[2], std::uint32_t epoch) {
  while (!try_load(at, value, epoch)) {
  }
}

}  // namespace vouch
