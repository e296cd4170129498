// vouch/dense/gemm_nearest.cuh -- midpoint products in rounding to nearest, made into enclosures by a radius;
// private.
#pragma once
#include <cstdint>

#include <vouch/core/gpu/tma.cuh>
#include <vouch/dense/gemm_radius.cuh>

namespace vouch::detail {

/// Sizes: a block has 8 warps, 4 by 2, each with 32 by 64 elements of C in registers. Copies run `ahead` steps
/// ahead.
struct nearest_tile {
  static constexpr int m = 128, n = 128, k = 16, stages = 6, ahead = stages - 2, warps = 8;
  static constexpr unsigned threads = 32 * warps;
  // Rows of k are padded so that a quarter of a warp meets every bank once.
  static constexpr int ld = 128 + 4, piece = k * ld;
};

/// The midpoints of op(A) or of op(B) transposed in pieces of 128 by 16 steps of k, as they stand in shared
/// memory: piece (i / 128, k / 16) after piece, zeros beyond the matrix.
struct midpoints {
  double* data = nullptr;
  std::int64_t pieces = 0;  // along k

  __host__ __device__ std::int64_t piece(std::int64_t i, std::int64_t k) const {
    return (i / 128 * pieces + k / nearest_tile::k) * nearest_tile::piece;
  }
  __device__ double& at(std::int64_t i, std::int64_t k) const {
    return data[piece(i, k) + k % nearest_tile::k * nearest_tile::ld + i % 128];
  }
};

struct nearest_stage {
  alignas(128) double a[nearest_tile::piece];
  alignas(128) double b[nearest_tile::piece];
};
static_assert(sizeof(nearest_stage) == radius_sums::half_values * sizeof(float));

__device__ inline void multiply_add_nearest(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},"
      "{%12,%13,%14,%15},{%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
        "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

/// A thread's operands of a step: 16 rows of A, or 16 columns of B.
struct nearest_left {
  double a[8];
  __device__ nearest_left() {}
  __device__ explicit nearest_left(const double* tile) {
    const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
#pragma unroll
    for (int h = 0; h < 8; ++h) a[h] = tile[(t + h / 2 * 4) * nearest_tile::ld + h % 2 * 8 + g];
  }
};

struct nearest_right {
  double b[2][4];
  __device__ nearest_right() {}
  __device__ explicit nearest_right(const double* tile) {
    const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
#pragma unroll
    for (int ni = 0; ni < 2; ++ni)
#pragma unroll
      for (int h = 0; h < 4; ++h) b[ni][h] = tile[(t + h * 4) * nearest_tile::ld + ni * 8 + g];
  }
};

// The sums of 16 rows and of quarter `Quarter` of the columns.
template <int Quarter>
__device__ inline void add_nearest(double (&sums)[8][4], const nearest_left& left, const nearest_right& right) {
#pragma unroll
  for (int ni = 0; ni < 2; ++ni) multiply_add_nearest(sums[2 * Quarter + ni], left.a, right.b[ni]);
}

/// What gemm_radius made: the radius of element (i, j) is the sum of `parts` products, and what underflow can
/// take.
struct byte_products {
  radius_sums sums;
  int parts = 0;
  byte_operand X, Y;
  double underflow = 0;
};

/// The units of a block's rows and columns, for the end.
struct nearest_units {
  double x[2][nearest_tile::m], y[2][nearest_tile::n];

  __device__ void load(const byte_products& radius, std::int64_t i0, std::int64_t j0) {
    for (int e = static_cast<int>(threadIdx.x); e < radius.parts * nearest_tile::m;
         e += static_cast<int>(nearest_tile::threads)) {
      const int p = e / nearest_tile::m, at = e % nearest_tile::m;
      x[p][at] = radius.X.unit[p * radius.X.padded + i0 + at];
      y[p][at] = radius.Y.unit[p * radius.Y.padded + j0 + at];
    }
  }
};

/// A block's tile of a matrix of rows by cols elements.
struct nearest_place {
  std::int64_t i0, j0, rows, cols;
};

// The radii of a thread's elements of one row: columns from `column` on, 2 of every 8. sums_at(p) are the sums
// of part p of the half of the tile in which they lie.
template <class SumsAt>
__device__ inline void radii_of_row(double (&rad)[8][2], const byte_products& radius,
                                    const nearest_units& units, SumsAt sums_at, int row, int column) {
#pragma unroll
  for (int ni = 0; ni < 8; ++ni) rad[ni][0] = rad[ni][1] = radius.underflow;
  for (int p = 0; p < radius.parts; ++p) {
    const float* const sums = sums_at(p);
#pragma unroll
    for (int ni = 0; ni < 8; ++ni)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int j = column + ni * 8 + e;
        const double unit = __dmul_ru(units.x[p][row], units.y[p][j]);
        rad[ni][e] = __fma_ru(unit, sums[j % radius_sums::half_columns * radius_sums::ld + row], rad[ni][e]);
      }
  }
}

/// The last tiles, too few to occupy the whole GPU, are cut into pieces along k, a block each.
struct nearest_cut {
  std::int64_t whole = 0;        // tiles before the first that is cut
  int pieces = 1;                // of each of the rest
  double* sums = nullptr;        // of every piece
  unsigned* finished = nullptr;  // pieces of every tile; zeros before

  static constexpr int values = nearest_tile::m * nearest_tile::n / static_cast<int>(nearest_tile::threads);
  static constexpr std::int64_t piece = std::int64_t{values} * nearest_tile::threads;
};

// Leaves a block's sums for the last block of its tile, which adds all pieces in their order. True for the
// last.
__device__ inline bool join_pieces(double (&sums)[2][8][4], const nearest_cut& cut, std::int64_t block) {
  const std::int64_t tile = block / cut.pieces;
  const auto place = [&](std::int64_t piece, int value) {
    return cut.sums + piece * nearest_cut::piece + value * nearest_tile::threads + threadIdx.x;
  };
  const auto for_each_sum = [&](auto take) {
#pragma unroll
    for (int v = 0; v < nearest_cut::values; ++v) take(v, sums[v / 32][v / 4 % 8][v % 4]);
  };
  for_each_sum([&](int v, double sum) { __stcg(place(block, v), sum); });
  __threadfence();
  __syncthreads();
  __shared__ bool last;
  if (threadIdx.x == 0) last = atomicAdd(&cut.finished[tile], 1u) + 1 == static_cast<unsigned>(cut.pieces);
  __syncthreads();
  if (!last) return false;
  __threadfence();
  for_each_sum([&](int v, double& sum) { sum = __ldcg(place(tile * cut.pieces, v)); });
  for (int p = 1; p < cut.pieces; ++p)
    for_each_sum([&](int v, double& sum) { sum += __ldcg(place(tile * cut.pieces + p, v)); });
  return true;
}

/// C := alpha [M - r, M + r] + beta C where M is the product of the midpoints rounded to nearest and r the
/// radius, which covers the rounding of M in whatever order. A block takes 128 by 128 elements, or a piece of
/// their sums; the order is fixed. Bound by the tensor cores: one multiply-add an element and k. The sums of
/// the radius come through the same stages: as the steps after the last, half a tile of a part each.
///
/// A sum that overflows, or that met an infinity or NaN, is made again from the operands themselves.
template <class EA, class EB, class T>
__global__ void __launch_bounds__(nearest_tile::threads, 1)
    gemm_nearest(midpoints A, midpoints B, gemm_operand<EA> left, gemm_operand<EB> right, std::int64_t depth,
                 byte_products radius, nearest_cut cut, gemm_result<T> C) {
  extern __shared__ __align__(128) char memory[];
  nearest_stage* const stages = reinterpret_cast<nearest_stage*>(memory);
  __shared__ std::uint64_t full[nearest_tile::stages], empty[nearest_tile::stages];
  if (threadIdx.x < nearest_tile::stages) {
    mbarrier_init(&full[threadIdx.x], 1);
    mbarrier_init(&empty[threadIdx.x], nearest_tile::threads);
  }
  const std::int64_t piece = std::int64_t{blockIdx.x} - cut.whole;  // negative: a whole tile
  std::int64_t tile_i, tile_j;
  place_of_tile(piece < 0 ? blockIdx.x : cut.whole + piece / cut.pieces,
                ceil_div<std::int64_t>(left.size, nearest_tile::m),
                ceil_div<std::int64_t>(right.size, nearest_tile::n), tile_i, tile_j);
  const nearest_place at{tile_i * nearest_tile::m, tile_j * nearest_tile::n, left.size, right.size};
  __shared__ nearest_units units;
  units.load(radius, at.i0, at.j0);
  __syncthreads();

  const std::int64_t all_steps = ceil_div<std::int64_t>(depth, nearest_tile::k);
  const std::int64_t first_step = piece < 0 ? 0 : all_steps * (piece % cut.pieces) / cut.pieces;
  const std::int64_t last_step = piece < 0 ? all_steps : all_steps * (piece % cut.pieces + 1) / cut.pieces;
  const int steps = static_cast<int>(last_step - first_step);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const auto parity = [](int step) { return static_cast<unsigned>(step / nearest_tile::stages) % 2; };

  // One thread orders the copies of a step, each step another warp's.
  const auto bring = [&](int step) {
    if (step >= steps + 2 * radius.parts || static_cast<int>(threadIdx.x) != step % nearest_tile::warps * 32)
      return;
    const int s = step % nearest_tile::stages;
    if (step >= nearest_tile::stages) mbarrier_wait(&empty[s], parity(step - nearest_tile::stages));
    mbarrier_arrive_expect_tx(&full[s], sizeof(nearest_stage));
    if (step >= steps) {
      const int part = (step - steps) / 2, half = (step - steps) % 2;
      bulk_load(&stages[s], radius.sums.half(part, tile_i, 2 * tile_j + half), sizeof(nearest_stage), &full[s]);
      return;
    }
    const std::int64_t k = (first_step + step) * nearest_tile::k;
    bulk_load(stages[s].a, A.data + A.piece(at.i0, k), sizeof(stages[s].a), &full[s]);
    bulk_load(stages[s].b, B.data + B.piece(at.j0, k), sizeof(stages[s].b), &full[s]);
  };
  for (int step = 0; step < nearest_tile::ahead; ++step) bring(step);

  const int row = warp % 4 * 32, column = warp / 4 * 64;
  double sums[2][8][4] = {};
  const auto arrived = [&](int step) { mbarrier_wait(&full[step % nearest_tile::stages], parity(step)); };
  const auto a_at = [&](int step, int mi) {
    return nearest_left(stages[step % nearest_tile::stages].a + row + mi * 16);
  };
  const auto b_at = [&](int step, int quarter) {
    return nearest_right(stages[step % nearest_tile::stages].b + column + quarter * 16);
  };
  // Operands are loaded a product ahead; after the last step they are of no use.
  arrived(0);
  nearest_left a0 = a_at(0, 0), a1 = a_at(0, 1);
  nearest_right b0 = b_at(0, 0), b1;
  for (int step = 0; step < steps; ++step) {
    b1 = b_at(step, 1);
    add_nearest<0>(sums[0], a0, b0);
    add_nearest<0>(sums[1], a1, b0);
    b0 = b_at(step, 2);
    add_nearest<1>(sums[0], a0, b1);
    add_nearest<1>(sums[1], a1, b1);
    b1 = b_at(step, 3);
    bring(step + nearest_tile::ahead);
    add_nearest<2>(sums[0], a0, b0);
    add_nearest<2>(sums[1], a1, b0);
    add_nearest<3>(sums[0], a0, b1);
    arrived(step + 1);
    b0 = b_at(step + 1, 0);
    a0 = a_at(step + 1, 0);
    add_nearest<3>(sums[1], a1, b1);
    mbarrier_arrive(&empty[step % nearest_tile::stages]);
    a1 = a_at(step + 1, 1);
  }
  const auto radius_step = [&](int part) { return steps + 2 * part + column / radius_sums::half_columns; };
  for (int p = 0; p < radius.parts; ++p) arrived(radius_step(p));

  if (piece >= 0 && cut.pieces > 1 && !join_pieces(sums, cut, piece)) return;
  const auto sums_at = [&](int part) {
    return reinterpret_cast<const float*>(&stages[radius_step(part) % nearest_tile::stages]);
  };
  const int lane = static_cast<int>(threadIdx.x % 32), first = column + lane % 4 * 2;
#pragma unroll
  for (int mi = 0; mi < 2; ++mi)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = row + mi * 16 + h * 8 + lane / 4;
      double rad[8][2];
      radii_of_row(rad, radius, units, sums_at, r, first);
#pragma unroll
      for (int ni = 0; ni < 8; ++ni)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const std::int64_t i = at.i0 + r, j = at.j0 + first + ni * 8 + e;
          if (i >= at.rows || j >= at.cols) continue;
          const double mid = sums[mi][ni][2 * h + e];
          const bool bounded = fabs(mid) < INFINITY && rad[ni][e] < INFINITY;
          store_result(C, i, j,
                       bounded ? interval<double>::unchecked(sub_down(mid, rad[ni][e]), add_up(mid, rad[ni][e]))
                               : element_again(left, right, i, j, depth));
        }
    }
}

}  // namespace vouch::detail
