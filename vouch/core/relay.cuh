// vouch/core/relay.cuh -- numbers that travel between blocks of a running kernel, each with a stamp; private.
//
// A word holds 32 bits of the number and the stamp and is written and read as one, so that who sees the stamp
// has the number: no fence, no flag, one way through L2. The number itself orders nothing but itself.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace vouch {

/// Words of a number.
template <class T>
inline constexpr int relay_words = static_cast<int>(sizeof(T) / 4);

namespace relay {

__device__ inline std::uint64_t word(std::uint32_t bits, std::uint32_t stamp) {
  return std::uint64_t{stamp} << 32 | bits;
}
__device__ inline bool has(std::uint64_t word, std::uint32_t stamp) {
  return static_cast<std::uint32_t>(word >> 32) == stamp;
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

}  // namespace relay

/// The words of a number begin at `at`, those of a double on 16 bytes.
__device__ inline void send(std::uint64_t* at, float value, std::uint32_t stamp) {
  relay::store(at, relay::word(__float_as_uint(value), stamp));
}
__device__ inline void send(std::uint64_t* at, double value, std::uint32_t stamp) {
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
  relay::store_pair(at, relay::word(static_cast<std::uint32_t>(bits), stamp),
                    relay::word(static_cast<std::uint32_t>(bits >> 32), stamp));
}

/// Whether numbers with this stamp are there; then they are in value.
__device__ inline bool look(const std::uint64_t* at, float (&value)[4], std::uint32_t stamp) {
  std::uint64_t word[4];
  relay::load_pair(at, word[0], word[1]);
  relay::load_pair(at + 2, word[2], word[3]);
  bool all = true;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    all = relay::has(word[k], stamp) && all;
    value[k] = __uint_as_float(static_cast<std::uint32_t>(word[k]));
  }
  return all;
}
__device__ inline bool look(const std::uint64_t* at, float& value, std::uint32_t stamp) {
  const std::uint64_t word = relay::load(at);
  value = __uint_as_float(static_cast<std::uint32_t>(word));
  return relay::has(word, stamp);
}
__device__ inline bool look(const std::uint64_t* at, double& value, std::uint32_t stamp) {
  std::uint64_t low, high;
  relay::load_pair(at, low, high);
  value = __longlong_as_double(static_cast<long long>(high << 32 | (low & 0xffffffffu)));
  return relay::has(low, stamp) && relay::has(high, stamp);
}
__device__ inline bool look(const std::uint64_t* at, double (&value)[2], std::uint32_t stamp) {
  const bool first = look(at, value[0], stamp), second = look(at + 2, value[1], stamp);
  return first && second;
}

/// A count that many blocks share and that orders nothing.
__device__ inline void count_up(unsigned* at) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
}
__device__ inline unsigned counted(const unsigned* at) {
  unsigned count;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(at) : "memory");
  return count;
}

/// More of them, the first that are missing ending the look.
template <class T, int Count>
__device__ bool look(const std::uint64_t* at, T (&value)[Count], std::uint32_t stamp) {
  constexpr int whole = static_cast<int>(16 / sizeof(T));
  static_assert(Count > whole && Count % whole == 0);
#pragma unroll
  for (int k = 0; k < Count; k += whole) {
    T some[whole];
    if (!look(at + k * relay_words<T>, some, stamp)) return false;
#pragma unroll
    for (int l = 0; l < whole; ++l) value[k + l] = some[l];
  }
  return true;
}

/// Waits for the number with this stamp.
__device__ inline void receive(const std::uint64_t* at, float& value, std::uint32_t stamp) {
  while (!look(at, value, stamp)) {
  }
}
__device__ inline void receive(const std::uint64_t* at, double& value, std::uint32_t stamp) {
  while (!look(at, value, stamp)) {
  }
}
/// The same for 32 bytes of words: 4 floats or 2 doubles, on 16 bytes.
__device__ inline void receive(const std::uint64_t* at, float (&value)[4], std::uint32_t stamp) {
  while (!look(at, value, stamp)) {
  }
}
__device__ inline void receive(const std::uint64_t* at, double (&value)[2], std::uint32_t stamp) {
  while (!look(at, value, stamp)) {
  }
}

}  // namespace vouch
