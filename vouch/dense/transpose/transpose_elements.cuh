// vouch/dense/transpose/transpose_elements.cuh -- elements of matrices as kernels copy them; private.
#pragma once
#include <cstdint>
#include <type_traits>

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
    whole ? body(std::uint64_t{}) : body(words2{});
  else
    whole ? body(words4{}) : body(pairs2{});
}

}  // namespace vouch::detail
