// vouch/dense/gemm/byte_tiles.cuh -- products of tiles of bytes on INT8 tensor cores; private.
#pragma once
#include <concepts>
#include <cstdint>

#include <vouch/core/gpu/tma.cuh>

namespace vouch::detail {

/// A block has 8 warps, 2 by 4, each with 64 by 64 sums in registers. Operands come in pieces of 128 rows by
/// 128 steps of k. Copies run `ahead` steps ahead: the stage they fill was used two steps ago.
struct byte_tile {
  static constexpr int m = 128, n = 256, k = 128, stages = 4, ahead = stages - 2, warps = 8;
  static constexpr unsigned threads = 32 * warps;
  static constexpr int piece_rows = 128, piece_bytes = piece_rows * k;
};

/// Where byte k of row r stands in a piece: words of 16 bytes are exchanged so that eight rows below each other
/// meet every bank once.
__host__ __device__ constexpr int byte_place(int r, int k) {
  return r * byte_tile::k + (((k / 16) ^ (r & 7)) << 4) + k % 16;
}

/// Where the piece with this row and k begins: piece (layer, row / 128, k / 128) after piece, of `padded` rows
/// (a multiple of 256) and `depth` (of 128) bytes a layer.
__host__ __device__ constexpr std::int64_t byte_piece(std::int64_t layer, std::int64_t row, std::int64_t k,
                                                      std::int64_t padded, std::int64_t depth) {
  return ((layer * padded + row) / byte_tile::piece_rows * (depth / byte_tile::k) + k / byte_tile::k) *
         byte_tile::piece_bytes;
}

template <class Byte>
struct byte_stage {
  alignas(128) Byte a[byte_tile::m * byte_tile::k];
  alignas(128) Byte b[byte_tile::n * byte_tile::k];
};

/// Shared memory of a block.
template <class Byte>
inline constexpr std::size_t byte_stages_size = sizeof(byte_stage<Byte>) * byte_tile::stages;

// Four 8 by 16 pieces of bytes, as the tensor core wants them in a warp's registers.
__device__ inline void load_matrices(unsigned (&to)[4], const void* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(from))
               : "memory");
}

template <class Byte>
__device__ void multiply_add_bytes(int (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  if constexpr (std::same_as<Byte, std::uint8_t>)
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// A warp's operands of 32 steps of k: 64 rows of each tile.
struct byte_fragments {
  unsigned a[4][4], b[4][4];

  template <class Byte>
  __device__ void load(const byte_stage<Byte>& stage, int row, int column, int k) {
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

/// A thread's sums of a tile: body(row, column, sum) for each, rows and columns counted from the tile's corner.
struct byte_sums {
  int c[4][8][4] = {};

  __device__ static int warp_row() { return static_cast<int>(threadIdx.x / 32) / 4 * 64; }
  __device__ static int warp_column() { return static_cast<int>(threadIdx.x / 32) % 4 * 64; }

  template <class Body>
  __device__ void for_each(const Body& body) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int row = warp_row() + lane / 4, column = warp_column() + lane % 4 * 2;
    // The loop over k has no registers for addresses that are formed ahead of it.
    asm volatile("" : "+r"(row), "+r"(column));
#pragma unroll
    for (int mi = 0; mi < 4; ++mi)
#pragma unroll
      for (int ni = 0; ni < 8; ++ni)
#pragma unroll
        for (int e = 0; e < 4; ++e) body(row + mi * 16 + e / 2 * 8, column + ni * 8 + e % 2, c[mi][ni][e]);
  }
};

/// Where the pieces of a step stand.
template <class Byte>
struct byte_pieces {
  const Byte *a, *b_first, *b_second;
};

/// A tile of the product of bytes over so many steps of k. pieces(step) tells what to multiply; settle(sums,
/// again) takes the sums of every `most` steps and of the last ones, 0 where there are no steps; they begin at
/// 0 again, and `again` says that they follow others. For all threads of a block, with byte_stages_size of
/// shared memory, once.
template <class Byte, class Pieces, class Settle>
__device__ void multiply_bytes(int steps, int most, const Pieces& pieces, const Settle& settle) {
  extern __shared__ __align__(128) char memory[];
  auto* const stages = reinterpret_cast<byte_stage<Byte>*>(memory);
  __shared__ std::uint64_t full[byte_tile::stages], empty[byte_tile::stages];
  if (threadIdx.x < byte_tile::stages) {
    mbarrier_init(&full[threadIdx.x], 1);
    mbarrier_init(&empty[threadIdx.x], byte_tile::threads);
    mbarrier_init_fence();
  }
  __syncthreads();
  const auto parity = [](int step) { return static_cast<unsigned>(step / byte_tile::stages) % 2; };
  // One thread orders the copies of a step, each step another warp's.
  const auto bring = [&](int step) {
    if (step >= steps || static_cast<int>(threadIdx.x) != step % byte_tile::warps * 32) return;
    const int s = step % byte_tile::stages;
    if (step >= byte_tile::stages) mbarrier_wait(&empty[s], parity(step - byte_tile::stages));
    const byte_pieces<Byte> from = pieces(step);
    bulk_load(stages[s].a, from.a, byte_tile::piece_bytes, &full[s]);
    bulk_load(stages[s].b, from.b_first, byte_tile::piece_bytes, &full[s]);
    bulk_load(stages[s].b + byte_tile::piece_bytes, from.b_second, byte_tile::piece_bytes, &full[s]);
    mbarrier_arrive_expect_tx(&full[s], sizeof(byte_stage<Byte>));
  };
  for (int step = 0; step < byte_tile::ahead; ++step) bring(step);

  const int row = byte_sums::warp_row(), column = byte_sums::warp_column();
  byte_sums sums;
  byte_fragments fragments[2];
  if (steps == 0) settle(sums, false);
  for (int step = 0; step < steps; ++step) {
    const byte_stage<Byte>& stage = stages[step % byte_tile::stages];
    mbarrier_wait(&full[step % byte_tile::stages], parity(step));
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
          multiply_add_bytes<Byte>(sums.c[mi][ni], at_hand.a[mi], at_hand.b[ni / 2][ni % 2 * 2],
                                   at_hand.b[ni / 2][ni % 2 * 2 + 1]);
    }
    mbarrier_arrive(&empty[step % byte_tile::stages]);
    if ((step + 1) % most == 0 || step + 1 == steps) settle(sums, step >= most);
  }
}

}  // namespace vouch::detail
