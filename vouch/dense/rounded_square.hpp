// vouch/dense/rounded_square.hpp -- a square dense matrix on the CPU with entries of 16 bits; private to
// solvers.
#pragma once
#include <bit>
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/dense/square.hpp>

namespace vouch::detail {

/// The first 16 bits of a float.
struct bfloat16 {
  std::uint16_t bits = 0;

  /// To nearest, ties to even.
  static bfloat16 nearest(float value) {
    const auto all = std::bit_cast<std::uint32_t>(value);
    if (value != value) return {0x7fc0};
    return {static_cast<std::uint16_t>((all + 0x7fff + (all >> 16 & 1)) >> 16)};
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

/// As square_matrix, its own owner; the diagonal stands apart in single precision, among the values are zeros
/// there.
struct rounded_square {
  array<bfloat16> values;
  array<float> diagonal;
  std::int64_t n = 0;
  bool by_rows = false;
};

/// A, on the CPU, rounded entry by entry by all threads of cpu. What overflows is infinite.
rounded_square round_square(const device& cpu, const square_matrix<double>& A);

/// As for square_matrix, the diagonal included.
void residual_rows(const rounded_square& A, const float* d, const float* r, float* s, std::int64_t first,
                   std::int64_t last);

}  // namespace vouch::detail
