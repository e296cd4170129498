// vouch/fingerprint/transpose_bytes.hpp -- rows of a snip with pixels 16 apart side by side; private.
#pragma once
#include <cstdint>

#include <vouch/fingerprint/stages.hpp>

namespace vouch::fingerprint {

/// Squares in a row of a snip.
inline constexpr int grid_columns_and_frame = snip_width / 16;

/// to[x % 16][x / 16] := from[x], a matrix of 16 x 32.
inline void transpose_row(const std::uint8_t* from, std::uint8_t* to) {
  for (int square = 0; square < grid_columns_and_frame; ++square)
    for (int x = 0; x < 16; ++x) to[x * grid_columns_and_frame + square] = from[16 * square + x];
}

/// to[x] := from[x % 16][x / 16].
inline void transpose_row_back(const std::uint8_t* from, std::uint8_t* to) {
  for (int square = 0; square < grid_columns_and_frame; ++square)
    for (int x = 0; x < 16; ++x) to[16 * square + x] = from[x * grid_columns_and_frame + square];
}

}  // namespace vouch::fingerprint
