// vouch/verify/fingerprint_sums.hpp -- the sums that fingerprints are made of; private, CPU and GPU.
//
// Each element is mixed with its place, and the results are added up modulo 2^64: in any order, by any number
// of threads. Half the bits times the other half is a product that vectors have, and that tells all but a few
// of 2^64 values apart; what is added keeps it from 0 where one half is. One such step is linear in either
// half, so that changes of signs or exponents alone, which leave the lower half, would often cancel in the sum;
// the second is of halves that both depend on all bits.
#pragma once
#include <cstdint>
#include <cstring>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>

namespace vouch::detail {

VOUCH_HOST_DEVICE inline std::uint64_t product_of_halves(std::uint64_t word) {
  const std::uint64_t low = word & 0xffffffffu, high = word >> 32;
  return low * high + (low << 32) + high;
}

VOUCH_HOST_DEVICE inline std::uint64_t mixed(std::uint64_t bits, std::int64_t place) {
  const std::uint64_t once =
      product_of_halves(bits ^ (static_cast<std::uint64_t>(place) + 1) * 0x9e3779b97f4a7c15u);
  return product_of_halves(once ^ once >> 32);
}

template <class T>
VOUCH_HOST_DEVICE std::uint64_t bits_of(const T& element) {
  std::uint64_t bits = 0;
  memcpy(&bits, &element, sizeof(T));
  return bits;
}

/// Elements side by side.
template <class T>
struct array_elements {
  const T* data;
  VOUCH_HOST_DEVICE const T& operator[](std::int64_t k) const { return data[k]; }
};

/// The entries of a dense matrix, column after column.
struct dense_elements {
  const double* data;
  std::int64_t rows, ld;
  VOUCH_HOST_DEVICE const double& operator[](std::int64_t k) const { return data[k % rows + k / rows * ld]; }
};

/// The sum of mixed(bits of elements[k], k) for k below n. Waits for the device.
template <class Elements>
std::uint64_t sum_mixed_cuda(const device& dev, std::int64_t n, const Elements& elements);

}  // namespace vouch::detail

// X(elements) for each kind.
#define VOUCH_FINGERPRINT_ELEMENTS(X) \
  X(array_elements<std::int64_t>)     \
  X(array_elements<std::int32_t>)     \
  X(array_elements<double>)           \
  X(dense_elements)
