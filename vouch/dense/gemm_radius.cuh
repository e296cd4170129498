// vouch/dense/gemm_radius.cuh -- upper bounds of products of non-negative matrices on INT8 tensor cores;
// private.
//
// X is bounded from above by 2^e_i X' with integers X' of 8 bits, e_i one exponent a row; Y by 2^f_j Y', one
// exponent a column. X' Y' is exact in 32-bit integers over up to 32,768 steps of k (255^2 * 32768 < 2^31), and
// 2^(e_i + f_j) (X' Y')_ij >= (X Y)_ij. Each entry grows by less than 1/85 of the largest of its row or column:
// by a unit, and by half of one where its tile had a smaller unit first.
#pragma once
#include <cstdint>

#include <vouch/core/arrival.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/dense/gemm_operand.cuh>

namespace vouch::detail {

/// Tiles of the byte products. A block has 8 warps, 2 by 4, each with 64 by 64 sums in registers. Copies run
/// `ahead` steps ahead: the stage they fill was used two steps ago.
struct byte_tile {
  static constexpr int m = 128, n = 256, k = 128, stages = 4, ahead = stages - 2, warps = 8;
  static constexpr unsigned threads = 32 * warps;
  static constexpr int piece_rows = 128, piece_bytes = piece_rows * k;  // tiles come in pieces of 128 rows
  static constexpr std::int64_t exact_depth = 32768;
};

/// Where byte k of row r stands in a piece: words of 16 bytes are exchanged so that eight rows below each other
/// meet every bank once.
__host__ __device__ constexpr int byte_place(int r, int k) {
  return r * byte_tile::k + (((k / 16) ^ (r & 7)) << 4) + k % 16;
}

/// Parts of X or Y: piece (part, row / 128, k / 128) after piece, of `padded` rows (a multiple of 256) and
/// `depth` (of 128) bytes each, zeros beyond the matrix; and the unit 2^e of each row of each part.
struct byte_operand {
  const std::uint8_t* bytes = nullptr;
  const double* unit = nullptr;
  std::int64_t padded = 0;
  std::int64_t depth = 0;

  __host__ __device__ std::int64_t piece(std::int64_t part, std::int64_t row, std::int64_t k) const {
    return ((part * padded + row) / byte_tile::piece_rows * (depth / byte_tile::k) + k / byte_tile::k) *
           byte_tile::piece_bytes;
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

struct byte_stage {
  alignas(128) std::uint8_t a[byte_tile::m * byte_tile::k];
  alignas(128) std::uint8_t b[byte_tile::n * byte_tile::k];
};

// Four 8 by 16 pieces of bytes, as the tensor core wants them in a warp's registers.
__device__ inline void load_matrices(unsigned (&to)[4], const std::uint8_t* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(from))
               : "memory");
}

__device__ inline void multiply_add_bytes(int (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// A warp's operands of 32 steps of k: 64 rows of each tile.
struct byte_fragments {
  unsigned a[4][4], b[4][4];

  __device__ void load(const byte_stage& stage, int row, int column, int k) {
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int mi = 0; mi < 4; ++mi)
      load_matrices(a[mi], stage.a + byte_place(row + mi * 16 + lane % 16, k + lane / 16 * 16));
#pragma unroll
    for (int pair = 0; pair < 4; ++pair)
      load_matrices(b[pair],
                    stage.b + byte_place(column + pair * 16 + lane / 16 * 8 + lane % 8, k + lane / 8 % 2 * 16));
  }
};

/// The sums of element (i, j) >= the product of each part in its units. Bound by the INT8 tensor cores; same
/// bits on every run.
static __global__ void __launch_bounds__(byte_tile::threads, 1)
    gemm_radius(byte_operand X, byte_operand Y, int parts, std::int64_t rows, std::int64_t cols,
                radius_sums sums) {
  extern __shared__ __align__(128) char memory[];
  byte_stage* const stages = reinterpret_cast<byte_stage*>(memory);
  __shared__ std::uint64_t full[byte_tile::stages], empty[byte_tile::stages];
  if (threadIdx.x < byte_tile::stages) {
    arrival_init(&full[threadIdx.x], 1);
    arrival_init(&empty[threadIdx.x], byte_tile::threads);
  }
  __syncthreads();

  const std::int64_t tiles_n = ceil_div<std::int64_t>(cols, byte_tile::n);
  std::int64_t tile_i, tile_j;
  place_of_tile(blockIdx.x, ceil_div<std::int64_t>(rows, byte_tile::m), parts * tiles_n, tile_i, tile_j);
  const std::int64_t part = tile_j / tiles_n, i0 = tile_i * byte_tile::m, j0 = tile_j % tiles_n * byte_tile::n;
  const int steps = static_cast<int>(X.depth / byte_tile::k), warp = static_cast<int>(threadIdx.x / 32);
  const auto parity = [](int step) { return static_cast<unsigned>(step / byte_tile::stages) % 2; };

  // One thread orders the copies of a step, each step another warp's.
  const auto bring = [&](int step) {
    if (step >= steps || static_cast<int>(threadIdx.x) != step % byte_tile::warps * 32) return;
    const int s = step % byte_tile::stages;
    if (step >= byte_tile::stages) await(&empty[s], parity(step - byte_tile::stages));
    arrive_expecting(&full[s], sizeof(byte_stage));
    const std::int64_t k = std::int64_t{step} * byte_tile::k;
    bulk_copy(stages[s].a, X.bytes + X.piece(part, i0, k), byte_tile::piece_bytes, &full[s]);
    for (int half = 0; half < 2; ++half)
      bulk_copy(stages[s].b + half * byte_tile::piece_bytes,
                Y.bytes + Y.piece(part, j0 + half * byte_tile::piece_rows, k), byte_tile::piece_bytes,
                &full[s]);
  };
  for (int step = 0; step < byte_tile::ahead; ++step) bring(step);

  const int lane = static_cast<int>(threadIdx.x % 32), row = warp / 4 * 64, column = warp % 4 * 64;
  int c[4][8][4] = {};
  float* const to = sums.half(part, tile_i, (j0 + column) / radius_sums::half_columns) +
                    lane % 4 * 2 * radius_sums::ld + row + lane / 4;
  // The exact sums of so many steps, onto what earlier ones left.
  const auto settle = [&](bool again) {
#pragma unroll
    for (int mi = 0; mi < 4; ++mi)
#pragma unroll
      for (int ni = 0; ni < 8; ++ni)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float sum = __int2float_ru(c[mi][ni][e]);
          c[mi][ni][e] = 0;
          float& at = to[(ni * 8 + e % 2) * radius_sums::ld + mi * 16 + e / 2 * 8];
          at = again ? __fadd_ru(at, sum) : sum;
        }
  };
  if (steps == 0) settle(false);
  constexpr int most = static_cast<int>(byte_tile::exact_depth / byte_tile::k);
  byte_fragments fragments[2];
  for (int step = 0; step < steps; ++step) {
    const byte_stage& stage = stages[step % byte_tile::stages];
    await(&full[step % byte_tile::stages], parity(step));
    fragments[0].load(stage, row, column, 0);
    bring(step + byte_tile::ahead);
#pragma unroll
    for (int quarter = 0; quarter < byte_tile::k / 32; ++quarter) {
      if (quarter + 1 < byte_tile::k / 32)
        fragments[(quarter + 1) % 2].load(stage, row, column, 32 * (quarter + 1));
      const byte_fragments& at_hand = fragments[quarter % 2];
#pragma unroll
      for (int mi = 0; mi < 4; ++mi)
#pragma unroll
        for (int ni = 0; ni < 8; ++ni)
          multiply_add_bytes(c[mi][ni], at_hand.a[mi], at_hand.b[ni / 2][ni % 2 * 2],
                             at_hand.b[ni / 2][ni % 2 * 2 + 1]);
    }
    arrive(&empty[step % byte_tile::stages]);
    if ((step + 1) % most == 0 || step + 1 == steps) settle(step >= most);
  }
}

}  // namespace vouch::detail
