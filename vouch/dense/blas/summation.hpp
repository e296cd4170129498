// vouch/dense/blas/summation.hpp -- how sums over vectors are cut, so that their bits are the same everywhere;
// private.
//
// A vector is cut into pieces of 4096 elements. In a piece element i belongs to lane i mod lane_count; a lane
// adds its elements one after the other, lanes are added pairwise (l and l + half), and so are the pieces.
#pragma once
#include <algorithm>
#include <cstdint>

#include <vouch/dense/scalar.hpp>

namespace vouch::detail {

inline constexpr std::int64_t piece_size = 4096;

inline std::int64_t piece_count(std::int64_t n) { return (n + piece_size - 1) / piece_size; }
inline std::int64_t piece_length(std::int64_t n, std::int64_t piece) {
  return std::min(piece_size, n - piece * piece_size);
}

/// Four registers of 64 bytes.
template <scalar R>
inline constexpr int lane_count = 4 * 64 / static_cast<int>(sizeof(R));

}  // namespace vouch::detail
