// vouch/dense/transpose_elements.cuh -- elements of matrices as kernels copy them; private.
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/core/shared_copy.cuh>
#include <vouch/dense/transpose.hpp>

namespace vouch::detail {

// Elements are copied as words of their size where both matrices are aligned to it, else as parts.
struct alignas(16) words4 {
  std::uint32_t word[4];
};
struct alignas(8) pairs2 {
  std::uint64_t pair[2];
};
struct alignas(4) words2 {
  std::uint32_t word[2];
};
struct alignas(8) words2_aligned {
  std::uint32_t word[2];
};

template <class E, class Byte>
auto grid_of(element_grid<Byte> A) {
  using entry = std::conditional_t<std::is_const_v<Byte>, const E, E>;
  return element_grid<entry>{reinterpret_cast<entry*>(A.data), A.rows, A.cols, A.ld};
}

inline bool aligned(const void* data, int bytes) { return reinterpret_cast<std::uintptr_t>(data) % bytes == 0; }

// body(element) with the widest element that the alignment allows.
template <class Body>
void with_element(int bytes, bool whole, const Body& body) {
  if (bytes == 4)
    body(std::uint32_t{});
  else if (bytes == 8)
    whole ? body(words2_aligned{}) : body(words2{});
  else
    whole ? body(words4{}) : body(pairs2{});
}

// Reads an element, and has its whole cache line brought at once, or the pair of lines: what its neighbours
// read of it is there then.
template <brought What, class E>
__device__ E read_of_line(const E* from) {
  static_assert(What == brought::line || (What == brought::two_lines && sizeof(E) <= 8));
  constexpr int part = alignof(E);
  using word = std::conditional_t<part == 4, std::uint32_t, std::uint64_t>;
  E all;
#pragma unroll
  for (int at = 0; at < static_cast<int>(sizeof(E)); at += part) {
    const char* const address = reinterpret_cast<const char*>(from) + at;
    word* const to = reinterpret_cast<word*>(reinterpret_cast<char*>(&all) + at);
    if constexpr (What == brought::two_lines && part == 4)
      asm volatile("ld.global.L2::256B.u32 %0, [%1];" : "=r"(*to) : "l"(address) : "memory");
    else if constexpr (What == brought::two_lines)
      asm volatile("ld.global.L2::256B.u64 %0, [%1];" : "=l"(*to) : "l"(address) : "memory");
    else if constexpr (part == 4)
      asm volatile("ld.global.L2::128B.u32 %0, [%1];" : "=r"(*to) : "l"(address) : "memory");
    else if constexpr (part == 8)
      asm volatile("ld.global.L2::128B.u64 %0, [%1];" : "=l"(*to) : "l"(address) : "memory");
    else
      asm volatile("ld.global.L2::128B.v2.u64 {%0, %1}, [%2];"
                   : "=l"(to[0]), "=l"(to[1])
                   : "l"(address)
                   : "memory");
  }
  return all;
}

}  // namespace vouch::detail
