// vouch/dense/gemm_radius.cuh -- upper bounds of products of non-negative matrices on INT8 tensor cores;
// private.
//
// X is bounded from above by 2^e_i X' with integers X' of 8 bits, e_i one exponent a row; Y by 2^f_j Y', one
// exponent a column. X' Y' is exact in 32-bit integers over up to 32,768 steps of k (255^2 * 32768 < 2^31), and
// 2^(e_i + f_j) (X' Y')_ij >= (X Y)_ij. Each entry grows by less than 1/128 of the largest of its row or
// column.
#pragma once
#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/dense/gemm_nearest.cuh>

namespace vouch::detail {

/// One or two products are added up: parts of X and Y, each row after row of `depth` bytes (a multiple of 128),
/// with as many rows as tiles of 128 need, zeros beyond the matrix.
struct byte_operand {
  const std::uint8_t* part[2] = {};
  const double* unit[2] = {};  // 2^e of each row
};

struct byte_tile {
  static constexpr int m = 128, n = 128, k = 128, stages = 4;
  static constexpr unsigned threads = 256;
  static constexpr std::int64_t exact_depth = 32768;
};

struct byte_stage {
  alignas(16) std::uint8_t a[byte_tile::m * byte_tile::k];
  alignas(16) std::uint8_t b[byte_tile::n * byte_tile::k];
};

// Row r, piece c of 16 bytes, within a tile: eight rows below each other meet every bank once.
__device__ inline int byte_place(int r, int c) { return r * byte_tile::k + ((c ^ (r & 7)) << 4); }

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

/// radius(i, j) >= sum of the parts' products + floor; column after column of `rows` numbers. A block has 8
/// warps, 2 by 4, each with 64 by 32 sums in registers. Bound by the INT8 tensor cores; same bits on every run.
static __global__ void __launch_bounds__(byte_tile::threads, 1)
    gemm_radius(byte_operand X, byte_operand Y, int parts, std::int64_t rows, std::int64_t cols,
                std::int64_t depth, double floor, double* radius) {
  extern __shared__ __align__(16) char memory[];
  byte_stage* const stages = reinterpret_cast<byte_stage*>(memory);
  std::int64_t tile_i, tile_j;
  place_of_block(ceil_div<std::int64_t>(rows, byte_tile::m), ceil_div<std::int64_t>(cols, byte_tile::n), tile_i,
                 tile_j);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int row = warp / 4 * 64, column = warp % 4 * 32;
  const int steps_a_part = static_cast<int>(depth / byte_tile::k), steps = parts * steps_a_part;
  const auto bring = [&](int step) {
    if (step < steps) {
      byte_stage& stage = stages[step % byte_tile::stages];
      const int part = step / steps_a_part;
      const std::int64_t at = std::int64_t{step % steps_a_part} * byte_tile::k;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int r = thread / 8 + 32 * c, piece = thread % 8;
        __pipeline_memcpy_async(stage.a + byte_place(r, piece),
                                X.part[part] + (tile_i * byte_tile::m + r) * depth + at + piece * 16, 16);
        __pipeline_memcpy_async(stage.b + byte_place(r, piece),
                                Y.part[part] + (tile_j * byte_tile::n + r) * depth + at + piece * 16, 16);
      }
    }
    __pipeline_commit();
  };

  double total[4][4][4] = {};
  int sums[4][4][4] = {};
  const int g = lane / 4, t = lane % 4;
  // The exact sums of so many steps, in the part's units, onto the total; rounded up.
  const auto settle = [&](int part) {
#pragma unroll
    for (int mi = 0; mi < 4; ++mi)
#pragma unroll
      for (int ni = 0; ni < 4; ++ni)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const std::int64_t i = tile_i * byte_tile::m + row + mi * 16 + e / 2 * 8 + g;
          const std::int64_t j = tile_j * byte_tile::n + column + ni * 8 + 2 * t + e % 2;
          const double product = __dmul_ru(__dmul_ru(sums[mi][ni][e], X.unit[part][i]), Y.unit[part][j]);
          total[mi][ni][e] = __dadd_ru(total[mi][ni][e], product);
          sums[mi][ni][e] = 0;
        }
  };

  for (int s = 0; s < byte_tile::stages - 1; ++s) bring(s);
  constexpr int most = static_cast<int>(byte_tile::exact_depth / byte_tile::k);
  for (int step = 0, held = 0; step < steps; ++step) {
    __pipeline_wait_prior(byte_tile::stages - 2);
    __syncthreads();
    bring(step + byte_tile::stages - 1);
    const byte_stage& stage = stages[step % byte_tile::stages];
#pragma unroll
    for (int k = 0; k < byte_tile::k / 32; ++k) {
      unsigned a[4][4], b[2][4];
#pragma unroll
      for (int mi = 0; mi < 4; ++mi)
        load_matrices(a[mi], stage.a + byte_place(row + mi * 16 + lane % 16, 2 * k + lane / 16));
#pragma unroll
      for (int pair = 0; pair < 2; ++pair)
        load_matrices(
            b[pair], stage.b + byte_place(column + pair * 16 + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
#pragma unroll
      for (int mi = 0; mi < 4; ++mi)
#pragma unroll
        for (int ni = 0; ni < 4; ++ni)
          multiply_add_bytes(sums[mi][ni], a[mi], b[ni / 2][ni % 2 * 2], b[ni / 2][ni % 2 * 2 + 1]);
    }
    const bool part_ends = (step + 1) % steps_a_part == 0;
    if (++held == most || part_ends) {
      settle(step / steps_a_part);
      held = 0;
    }
  }
#pragma unroll
  for (int mi = 0; mi < 4; ++mi)
#pragma unroll
    for (int ni = 0; ni < 4; ++ni)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const std::int64_t i = tile_i * byte_tile::m + row + mi * 16 + e / 2 * 8 + g;
        const std::int64_t j = tile_j * byte_tile::n + column + ni * 8 + 2 * t + e % 2;
        if (i < rows && j < cols) radius[i + j * rows] = __dadd_ru(total[mi][ni][e], floor);
      }
}

}  // namespace vouch::detail
