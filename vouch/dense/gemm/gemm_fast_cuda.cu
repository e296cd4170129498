// Upper bounds of products of non-negative matrices on INT8 tensor cores.
//
// X is bounded from above by 2^e_i X' with integers X' of 8 bits, e_i one exponent a row; Y by 2^f_j Y', one
// exponent a column. X' Y' is exact in 32-bit integers over up to 32,768 steps of k (255^2 * 32768 < 2^31), and
// 2^(e_i + f_j) (X' Y')_ij >= (X Y)_ij. Each entry grows by less than 1/85 of the largest of its row or column:
// by a unit, and by half of one where its tile had a smaller unit first.
#include <algorithm>
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/gpu/double_mma.cuh>
#include <vouch/core/gpu/tma.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/dense/gemm/byte_tiles.cuh>
#include <vouch/dense/gemm/gemm.hpp>
#include <vouch/dense/gemm/gemm_operand.cuh>

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

// Midpoint products in rounding to nearest, made into enclosures by a radius.

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
  if constexpr (compiled_for_sm90)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},"
        "{%12,%13,%14,%15},{%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
          "d"(b[1]), "d"(b[2]), "d"(b[3]));
  else
    multiply_add_in_parts<rounding_mode::nearest>(c, a, b);
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
    if (step >= steps) {
      const int part = (step - steps) / 2, half = (step - steps) % 2;
      bulk_load(&stages[s], radius.sums.half(part, tile_i, 2 * tile_j + half), sizeof(nearest_stage), &full[s]);
    } else {
      const std::int64_t k = (first_step + step) * nearest_tile::k;
      bulk_load(stages[s].a, A.data + A.piece(at.i0, k), sizeof(stages[s].a), &full[s]);
      bulk_load(stages[s].b, B.data + B.piece(at.j0, k), sizeof(stages[s].b), &full[s]);
    }
    mbarrier_arrive_expect_tx(&full[s], sizeof(nearest_stage));
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

// Operands of the fast product: midpoints, and radii rounded up to bytes.

namespace vouch::detail {

/// The two non-negative parts by which an operand enters the radius. With m and r its midpoints and radii,
///
///   |A B - mA mB| <= |mA| rB + rA (|mB| + rB),   |mA mB - fl(mA mB)| <= k u |mA| |mB| + k eta
///
/// whatever the order of the k fused steps (Jeannerod, Rump 2013). So X1 Y1 + X2 Y2 with
///
///   both intervals      X1 = |mA|          Y1 = rB + ku |mB|     X2 = rA    Y2 = |mB| + rB
///   A points            X1 = |mA|          Y1 = rB + ku |mB|
///   B points            X1 = rA + ku |mA|  Y1 = |mB|
enum class radius_role { magnitude, widened_radius, radius, magnitude_and_radius };

template <radius_role Role>
__device__ inline double radius_part(double mid, double rad, double ku) {
  if constexpr (Role == radius_role::magnitude) return fabs(mid);
  if constexpr (Role == radius_role::radius) return rad;
  if constexpr (Role == radius_role::widened_radius) return __fma_ru(ku, fabs(mid), rad);
  return __dadd_ru(fabs(mid), rad);
}

/// The midpoint, and a radius that reaches both bounds.
template <class E>
__device__ inline void split(const E& e, double& mid, double& rad) {
  const double lo = gemm_element<E>::lo(e), hi = gemm_element<E>::hi(e);
  // The intrinsics keep the compiler from making two different midpoints in two kernels.
  mid = gemm_element<E>::interval ? __dadd_rn(__dmul_rn(0.5, lo), __dmul_rn(0.5, hi)) : lo;
  rad = gemm_element<E>::interval ? fmax(__dsub_ru(mid, lo), __dsub_ru(hi, mid)) : 0.0;
}

// Element (i, k) of the operand; threads of a warp go along what is contiguous in memory.
template <class E>
__device__ inline const E& element_of(const gemm_operand<E>& operand, std::int64_t i, std::int64_t k) {
  return operand.data[i * operand.along + k * operand.across];
}

// A NaN comes out on top and stays: such a row has no finite bound.
__device__ inline double larger(double most, double part) { return part <= most || isnan(most) ? most : part; }

// The part in units, rounded up. The product is exact but for underflow, where what is not zero still counts
// one. Of a row without a bound any byte will do: its unit is infinite.
__device__ inline std::uint8_t byte_of(double part, double inverse_unit) {
  return part > 0 ? static_cast<std::uint8_t>(fmax(1.0, fmin(255.0, ceil(part * inverse_unit)))) : 0;
}

// A block of 256 threads takes a tile of 32 rows of the operand by 128 steps of k.
struct split_tile {
  static constexpr int rows = 32, depth = 128, lines = 8, values = depth / lines;
  static constexpr unsigned threads = rows * lines;
};

/// Where a thread of a tile stands.
struct split_place {
  std::int64_t i0, k0;
  int x, y;
  __device__ explicit split_place(std::int64_t tiles)
      : i0(blockIdx.x % tiles * split_tile::rows),
        k0(blockIdx.x / tiles * split_tile::depth),
        x(static_cast<int>(threadIdx.x) % split_tile::rows),
        y(static_cast<int>(threadIdx.x) / split_tile::rows) {}
};

/// A thread's elements of a tile: midpoints and radii of row x, steps y, y + 8, ... of k.
struct split_values {
  double mid[split_tile::values], rad[split_tile::values];

  static __device__ int step(const split_place& at, int v) { return at.y + v * split_tile::lines; }

  // Threads of a warp read along what is contiguous in memory, all of it before the first is used; zeros beyond
  // the matrix.
  template <class E>
  __device__ void load(const gemm_operand<E>& operand, const split_place& at, std::int64_t depth) {
    const bool by_column = operand.along == 1;
    E elements[split_tile::values];
#pragma unroll
    for (int v = 0; v < split_tile::values; ++v) {
      const int i = by_column ? at.x : other_row(at, v), k = by_column ? step(at, v) : other_step(at, v);
      const bool inside = at.i0 + i < operand.size && at.k0 + k < depth;
      elements[v] = inside ? element_of(operand, at.i0 + i, at.k0 + k) : E{};
    }
#pragma unroll
    for (int v = 0; v < split_tile::values; ++v) split(elements[v], mid[v], rad[v]);
    if (by_column) return;
    turn(mid, at);
    turn(rad, at);
  }

 private:
  // Where a warp that reads along k finds its values: 32 steps of one row each.
  static __device__ int other_row(const split_place& at, int v) { return at.y + v % 4 * split_tile::lines; }
  static __device__ int other_step(const split_place& at, int v) { return v / 4 * split_tile::rows + at.x; }

  // Rows and steps of k change places, 32 by 32 at a time.
  static __device__ void turn(double (&values)[split_tile::values], const split_place& at) {
    __shared__ double square[split_tile::rows][split_tile::rows + 1];
#pragma unroll
    for (int first = 0; first < split_tile::values; first += 4) {
      __syncthreads();
#pragma unroll
      for (int v = first; v < first + 4; ++v) square[at.x][other_row(at, v)] = values[v];
      __syncthreads();
#pragma unroll
      for (int v = first; v < first + 4; ++v) values[v] = square[step(at, v - first)][at.x];
    }
  }
};

// The power of two by which numbers up to `largest` become at most 255 when divided and rounded up.
__device__ inline double byte_unit(double largest) {
  if (!(largest < INFINITY)) return INFINITY;  // the row has no finite bound
  int exponent = 0;
  const double fraction = frexp(largest, &exponent);  // largest = fraction 2^exponent
  int e = exponent - 8;
  if (fraction * 256 > 255) ++e;
  return ldexp(1.0, ::max(e, -1000));
}

/// mids.at(i, k) := the midpoint of element (i, k); to.bytes := the parts, rounded up, in the unit
/// units[(k / 128 * parts + p) * padded + i] of their tile's row; zeros beyond the matrix. to.unit := the
/// largest of these, one of zeros before. Bound by memory: reads the operand once.
template <class E, radius_role... Roles>
__global__ void __launch_bounds__(split_tile::threads, 2)
    split_tiles(gemm_operand<E> operand, std::int64_t tiles, std::int64_t depth, double ku, midpoints mids,
                byte_operand to, double* unit, double* units, std::uint8_t* bytes) {
  constexpr int parts = sizeof...(Roles), rows = split_tile::rows, lines = split_tile::lines;
  __shared__ double found[parts][lines][rows];
  __shared__ double inverse[parts][rows];
  // A row takes a word more than its bytes, so that those who write along rows meet every bank.
  alignas(4) __shared__ std::uint8_t byte_at[parts][rows][split_tile::depth + 4];
  const split_place at(tiles);
  split_values values;
  values.load(operand, at, depth);

  double most[parts] = {};
#pragma unroll
  for (int v = 0; v < split_tile::values; ++v) {
    mids.at(at.i0 + at.x, at.k0 + values.step(at, v)) = values.mid[v];
    int p = 0;
    ((most[p] = larger(most[p], radius_part<Roles>(values.mid[v], values.rad[v], ku)), ++p), ...);
  }
#pragma unroll
  for (int p = 0; p < parts; ++p) found[p][at.y][at.x] = most[p];
  __syncthreads();
  if (at.y < parts) {
    double all = 0;
#pragma unroll
    for (int line = 0; line < lines; ++line) all = larger(all, found[at.y][line][at.x]);
    const double u = byte_unit(all);
    inverse[at.y][at.x] = 1 / u;
    const std::int64_t row = at.i0 + at.x;
    units[(at.k0 / split_tile::depth * parts + at.y) * to.padded + row] = u;
    // The order of non-negative doubles is that of their bits.
    atomicMax(reinterpret_cast<unsigned long long*>(unit) + at.y * to.padded + row,
              static_cast<unsigned long long>(__double_as_longlong(u)));
  }
  __syncthreads();
#pragma unroll
  for (int v = 0; v < split_tile::values; ++v) {
    int p = 0;
    ((byte_at[p][at.x][values.step(at, v)] =
          byte_of(radius_part<Roles>(values.mid[v], values.rad[v], ku), inverse[p][at.x]),
      ++p),
     ...);
  }
  __syncthreads();
  const int first_row = static_cast<int>(at.i0 % byte_tile::piece_rows);
#pragma unroll
  for (int p = 0; p < parts; ++p)
    for (int i = at.y; i < rows; i += lines)
      *reinterpret_cast<unsigned*>(bytes + to.piece(p, at.i0, at.k0) + byte_place(first_row + i, 4 * at.x)) =
          *reinterpret_cast<const unsigned*>(&byte_at[p][i][4 * at.x]);
}

/// Bytes in the unit of their tile's row are rounded up to the unit of the whole row, where that is larger.
template <int Parts>
__global__ void __launch_bounds__(split_tile::threads)
    widen_units(byte_operand to, std::int64_t tiles, const double* units, std::uint8_t* bytes) {
  constexpr int rows = split_tile::rows;
  __shared__ int shift[Parts][rows];
  const split_place at(tiles);
  int own = 0;
  if (at.y < Parts) {
    const double whole = to.unit[at.y * to.padded + at.i0 + at.x];
    const double tile = units[(at.k0 / split_tile::depth * Parts + at.y) * to.padded + at.i0 + at.x];
    own = tile == whole || whole == INFINITY ? 0 : ::min(8, ilogb(whole) - ilogb(tile));
    shift[at.y][at.x] = own;
  }
  if (__syncthreads_or(own) == 0) return;
  for (int p = 0; p < Parts; ++p)
    for (int i = at.y; i < rows; i += split_tile::lines) {
      const int by = shift[p][i];
      auto& four = *reinterpret_cast<uchar4*>(
          bytes + to.piece(p, at.i0, at.k0) +
          byte_place(static_cast<int>((at.i0 + i) % byte_tile::piece_rows), 4 * at.x));
      const auto up = [&](unsigned char b) { return static_cast<unsigned char>((b + (1u << by) - 1) >> by); };
      if (by > 0) four = {up(four.x), up(four.y), up(four.z), up(four.w)};
    }
}

}  // namespace vouch::detail

namespace vouch::detail {
namespace {

std::int64_t padded_to(std::int64_t size, std::int64_t unit) { return ceil_div(size, unit) * unit; }

// One operand as the kernels want it: midpoints, and its parts of the radius.
template <class E, radius_role... Roles>
class split_operand {
 public:
  split_operand(const device& dev, const gemm_operand<E>& operand, std::int64_t depth, double ku)
      : padded_(padded_to(operand.size, std::max(byte_tile::m, byte_tile::n))),
        padded_depth_(padded_to(depth, split_tile::depth)),
        mids_(dev, padded_ / 128 * (padded_depth_ / nearest_tile::k) * nearest_tile::piece),
        unit_(array<double>::zeros(dev, parts * padded_)),
        bytes_(dev, parts * padded_ * padded_depth_) {
    const std::int64_t tiles = padded_ / split_tile::rows, depths = padded_depth_ / split_tile::depth;
    array<double> units(dev, depths * parts * padded_);
    const launch_shape shape{tiles * depths, split_tile::threads};
    launch(dev, "split_tiles", shape, split_tiles<E, Roles...>, operand, tiles, depth, ku, mids(), bytes(),
           unit_.data(), units.data(), bytes_.data());
    launch(dev, "widen_units", shape, widen_units<parts>, bytes(), tiles, units.data(), bytes_.data());
  }

  midpoints mids() { return {mids_.data(), padded_depth_ / nearest_tile::k}; }
  byte_operand bytes() const { return {bytes_.data(), unit_.data(), padded_, padded_depth_}; }

 private:
  static constexpr int parts = sizeof...(Roles);

  std::int64_t padded_, padded_depth_;
  array<double> mids_;
  array<double> unit_;
  array<std::uint8_t> bytes_;
};

template <class TA, class TB>
struct split_roles;  // left and right operand: the parts whose products are the radius

template <real T>
struct split_roles<interval<T>, interval<T>> {
  using left = split_operand<interval<T>, radius_role::magnitude, radius_role::radius>;
  using right = split_operand<interval<T>, radius_role::widened_radius, radius_role::magnitude_and_radius>;
};
template <real T>
struct split_roles<interval<T>, T> {
  using left = split_operand<interval<T>, radius_role::widened_radius>;
  using right = split_operand<T, radius_role::magnitude>;
};
template <real T, class TB>
struct split_roles<T, TB> {
  using left = split_operand<T, radius_role::magnitude>;
  using right = split_operand<TB, radius_role::widened_radius>;
};

}  // namespace

template <class TA, class TB, real T>
void gemm_fast_cuda(const device& dev, transpose trans_a, transpose trans_b, T alpha, matrix_view<const TA> A,
                    matrix_view<const TB> B, T beta, matrix_view<interval<T>> C) {
  constexpr bool interval_a = gemm_element<TA>::interval, interval_b = gemm_element<TB>::interval;
  const bool plain_a = trans_a == transpose::no, plain_b = trans_b == transpose::no;
  const gemm_operand<TA> left{A.data, C.rows, plain_a ? 1 : A.ld, plain_a ? A.ld : 1};
  const gemm_operand<TB> right{B.data, C.cols, plain_b ? B.ld : 1, plain_b ? 1 : B.ld};
  const std::int64_t depth = plain_a ? A.cols : A.rows;
  if (C.rows == 0 || C.cols == 0) return;

  constexpr double unit_roundoff = 0x1p-53, smallest = 0x1p-1074;
  const double ku = static_cast<double>(depth) * unit_roundoff;  // exact
  typename split_roles<TA, TB>::left X(dev, left, depth, ku);
  typename split_roles<TA, TB>::right Y(dev, right, depth, ku);
  constexpr int parts = interval_a && interval_b ? 2 : 1;
  radius_sums sums{nullptr, X.bytes().padded / radius_sums::rows, Y.bytes().padded / radius_sums::half_columns};
  array<float> radius(dev, parts * sums.tiles_m * sums.halves_n * radius_sums::half_values);
  sums.data = radius.data();
  const std::int64_t byte_tiles =
      ceil_div<std::int64_t>(C.rows, byte_tile::m) * ceil_div<std::int64_t>(C.cols, byte_tile::n);
  launch(dev, "gemm_radius", {parts * byte_tiles, byte_tile::threads, byte_stages_size<std::uint8_t>},
         gemm_radius, X.bytes(), Y.bytes(), parts, C.rows, C.cols, sums);
  const byte_products bound{sums, parts, X.bytes(), Y.bytes(), static_cast<double>(depth) * smallest};
  const std::int64_t tiles =
      ceil_div<std::int64_t>(C.rows, nearest_tile::m) * ceil_div<std::int64_t>(C.cols, nearest_tile::n);
  // Pieces of at least 16 steps, and no more of them than are read back in little time.
  const std::int64_t processors = dev.processors(), last = tiles % processors;
  const std::int64_t steps = ceil_div<std::int64_t>(depth, nearest_tile::k);
  const std::int64_t pieces =
      last == 0 ? 1 : std::max<std::int64_t>(1, std::min({processors / last, steps / 16, std::int64_t{16}}));
  array<double> cut_sums(dev, pieces > 1 ? last * pieces * nearest_cut::piece : 0);
  auto finished = array<unsigned>::zeros(dev, last);
  launch(dev, "gemm_nearest",
         {tiles + last * (pieces - 1), nearest_tile::threads, sizeof(nearest_stage) * nearest_tile::stages},
         gemm_nearest<TA, TB, T>, X.mids(), Y.mids(), left, right, depth, bound,
         nearest_cut{tiles - last, static_cast<int>(pieces), cut_sums.data(), finished.data()},
         gemm_result<T>{C.data, 1, C.ld, alpha, beta});
}

#define VOUCH_INSTANTIATE(TA, TB, T)                                                          \
  template void gemm_fast_cuda(const device&, transpose, transpose, T, matrix_view<const TA>, \
                               matrix_view<const TB>, T, matrix_view<interval<T>>);
#define VOUCH_INSTANTIATE_ALL(T)       \
  VOUCH_INSTANTIATE(T, T, T)           \
  VOUCH_INSTANTIATE(T, interval<T>, T) \
  VOUCH_INSTANTIATE(interval<T>, T, T) \
  VOUCH_INSTANTIATE(interval<T>, interval<T>, T)
VOUCH_INSTANTIATE_ALL(float)
VOUCH_INSTANTIATE_ALL(double)

}  // namespace vouch::detail
