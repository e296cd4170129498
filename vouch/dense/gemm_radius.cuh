// vouch/dense/gemm_radius.cuh -- upper bounds of products of non-negative matrices on INT8 tensor cores;
// private.
//
// X is bounded from above by 2^e_i X' with integers X' of 8 bits, e_i one exponent a row; Y by 2^f_j Y', one
// exponent a column. X' Y' is exact in 32-bit integers over up to 32,768 steps of k (255^2 * 32768 < 2^31), and
// 2^(e_i + f_j) (X' Y')_ij >= (X Y)_ij. Each entry grows by less than 1/85 of the largest of its row or column:
// by a unit, and by half of one where its tile had a smaller unit first.
#pragma once
#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/dense/byte_tiles.cuh>
#include <vouch/dense/gemm_operand.cuh>

namespace vouch::detail {

/// Steps of k whose products add up in 32 bits.
constexpr std::int64_t radius_exact_depth = 32768;

/// Parts of X or Y: piece (part, row / 128, k / 128) after piece, of `padded` rows (a multiple of 256) and
/// `depth` (of 128) bytes each, zeros beyond the matrix; and the unit 2^e of each row of each part.
struct byte_operand {
  const std::uint8_t* bytes = nullptr;
  const double* unit = nullptr;
  std::int64_t padded = 0;
  std::int64_t depth = 0;

  __host__ __device__ std::int64_t piece(std::int64_t part, std::int64_t row, std::int64_t k) const {
    return byte_piece(part, row, k, padded, depth);
  }
};

/// The sums of parts of the radius in tiles of 128 rows by 64 columns, half tile (part, i / 128, j / 64) after
/// half tile, columns contiguous and padded so that those who read along rows of shared memory meet every bank.
struct radius_sums {
  static constexpr int rows = 128, half_columns = 64, ld = rows + 4, half_values = half_columns * ld;

  float* data = nullptr;
  std::int64_t tiles_m = 0, halves_n = 0;

  __device__ float* half(std::int64_t part, std::int64_t tile_i, std::int64_t half_j) const {
    return data + ((part * tiles_m + tile_i) * halves_n + half_j) * half_values;
  }
};

/// The sums of element (i, j) >= the product of each part in its units. Bound by the INT8 tensor cores; same
/// bits on every run.
static __global__ void __launch_bounds__(byte_tile::threads, 1)
    gemm_radius(byte_operand X, byte_operand Y, int parts, std::int64_t rows, std::int64_t cols,
                radius_sums sums) {
  const std::int64_t tiles_n = ceil_div<std::int64_t>(cols, byte_tile::n);
  std::int64_t tile_i, tile_j;
  place_of_tile(blockIdx.x, ceil_div<std::int64_t>(rows, byte_tile::m), parts * tiles_n, tile_i, tile_j);
  const std::int64_t part = tile_j / tiles_n, i0 = tile_i * byte_tile::m, j0 = tile_j % tiles_n * byte_tile::n;
  float* const to = sums.half(part, tile_i, (j0 + byte_sums::warp_column()) / radius_sums::half_columns);
  const auto settle = [&](byte_sums& exact, bool again) {
    exact.for_each([&](int row, int column, int& value) {
      const float sum = __int2float_ru(value);
      value = 0;
      float& at = to[column % radius_sums::half_columns * radius_sums::ld + row];
      at = again ? __fadd_ru(at, sum) : sum;
    });
  };
  const auto pieces = [&](int step) {
    const std::int64_t k = std::int64_t{step} * byte_tile::k;
    return byte_pieces<std::uint8_t>{X.bytes + X.piece(part, i0, k), Y.bytes + Y.piece(part, j0, k),
                                     Y.bytes + Y.piece(part, j0 + byte_tile::piece_rows, k)};
  };
  const int steps = static_cast<int>(X.depth / byte_tile::k);
  multiply_bytes<std::uint8_t>(steps, static_cast<int>(radius_exact_depth / byte_tile::k), pieces, settle);
}

}  // namespace vouch::detail
