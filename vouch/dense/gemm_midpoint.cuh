// vouch/dense/gemm_midpoint.cuh -- operands of the fast product: midpoints, and radii rounded up to bytes;
// private.
#pragma once
#include <cstdint>

#include <vouch/dense/gemm_nearest.cuh>
#include <vouch/dense/gemm_radius.cuh>

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
  static constexpr int rows = 32, depth = 128, lines = 8;
  static constexpr unsigned threads = rows * lines;
};

/// Where a thread of a tile stands; threads of a warp go along what is contiguous in memory, or along the rows.
struct split_place {
  std::int64_t i0, k0;
  int x, y;
  __device__ explicit split_place(std::int64_t tiles)
      : i0(blockIdx.x % tiles * split_tile::rows),
        k0(blockIdx.x / tiles * split_tile::depth),
        x(static_cast<int>(threadIdx.x) % split_tile::rows),
        y(static_cast<int>(threadIdx.x) / split_tile::rows) {}
};

/// take(i, k, mid, rad) of every element of a square piece of the tile, 32 steps of k from `first` on; zeros
/// beyond the matrix.
template <class E, class Take>
__device__ inline void split_piece(const gemm_operand<E>& operand, const split_place& at, int first,
                                   std::int64_t depth, Take take) {
  const bool by_column = operand.along == 1;
#pragma unroll
  for (int c = 0; c < split_tile::rows / split_tile::lines; ++c) {
    const int r = at.y + c * split_tile::lines;
    const int i = by_column ? at.x : r, k = first + (by_column ? r : at.x);
    double mid = 0, rad = 0;
    if (at.i0 + i < operand.size && at.k0 + k < depth)
      split(element_of(operand, at.i0 + i, at.k0 + k), mid, rad);
    take(i, k, mid, rad);
  }
}

/// mids.at(i, k) := the midpoint of element (i, k), zeros beyond the matrix; largest[p * padded + i] := the
/// largest of part p of row i, as the bits of a double, whose order for non-negative ones is that of integers;
/// zeros before. Bound by memory: reads the operand once.
template <class E, radius_role... Roles>
__global__ void midpoints_of(gemm_operand<E> operand, std::int64_t tiles, std::int64_t depth,
                             std::int64_t padded, double ku, midpoints mids, unsigned long long* largest) {
  constexpr int parts = sizeof...(Roles), rows = split_tile::rows, lines = split_tile::lines;
  __shared__ double mid_of[rows][rows + 1], rad_of[rows][rows + 1];
  __shared__ double found[parts][lines][rows];
  const split_place at(tiles);
  double most[parts] = {};
  for (int first = 0; first < split_tile::depth; first += rows) {
    split_piece(operand, at, first, depth, [&](int i, int k, double mid, double rad) {
      mid_of[k - first][i] = mid;
      rad_of[k - first][i] = rad;
    });
    __syncthreads();
#pragma unroll
    for (int c = 0; c < rows / lines; ++c) {
      const int k = at.y + c * lines;
      const double mid = mid_of[k][at.x], rad = rad_of[k][at.x];
      mids.at(at.i0 + at.x, at.k0 + first + k) = mid;
      int p = 0;
      ((most[p] = larger(most[p], radius_part<Roles>(mid, rad, ku)), ++p), ...);
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < parts; ++p) found[p][at.y][at.x] = most[p];
  __syncthreads();
  if (at.y >= parts) return;
  double all = 0;
#pragma unroll
  for (int line = 0; line < lines; ++line) all = larger(all, found[at.y][line][at.x]);
  atomicMax(&largest[at.y * padded + at.i0 + at.x], static_cast<unsigned long long>(__double_as_longlong(all)));
}

// The power of two by which numbers up to `largest` become at most 255 when divided and rounded up.
__device__ inline double byte_unit(double largest) {
  if (!(largest < INFINITY)) return INFINITY;  // the row has no finite bound
  int exponent = 0;
  const double fraction = frexp(largest, &exponent);  // largest = fraction 2^exponent
  int e = exponent - 8;
  if (fraction * 256 > 255) ++e;
  return ldexp(1.0, max(e, -1000));
}

/// to.unit of every row, and to.bytes := the parts over it, rounded up; zeros beyond the matrix. Bound by
/// memory: reads the operand once.
template <class E, radius_role... Roles>
__global__ void bytes_of(gemm_operand<E> operand, std::int64_t tiles, std::int64_t depth, double ku,
                         const unsigned long long* largest, byte_operand to, double* unit,
                         std::uint8_t* bytes) {
  constexpr int parts = sizeof...(Roles), rows = split_tile::rows, lines = split_tile::lines;
  __shared__ double inverse[parts][rows];
  // A row takes a word more than its bytes, so that those who write along rows meet every bank.
  alignas(4) __shared__ std::uint8_t byte_at[parts][rows][split_tile::depth + 4];
  const split_place at(tiles);
  if (at.y < parts) {
    const std::int64_t row = at.y * to.padded + at.i0 + at.x;
    const double u = byte_unit(__longlong_as_double(static_cast<long long>(largest[row])));
    inverse[at.y][at.x] = 1 / u;
    if (at.k0 == 0) unit[row] = u;
  }
  __syncthreads();
  for (int first = 0; first < split_tile::depth; first += rows)
    split_piece(operand, at, first, depth, [&](int i, int k, double mid, double rad) {
      int p = 0;
      ((byte_at[p][i][k] = byte_of(radius_part<Roles>(mid, rad, ku), inverse[p][i]), ++p), ...);
    });
  __syncthreads();
  const int first_row = static_cast<int>(at.i0 % byte_tile::piece_rows);
#pragma unroll
  for (int p = 0; p < parts; ++p)
    for (int i = at.y; i < rows; i += lines)
      *reinterpret_cast<unsigned*>(bytes + to.piece(p, at.i0, at.k0) + byte_place(first_row + i, 4 * at.x)) =
          *reinterpret_cast<const unsigned*>(&byte_at[p][i][4 * at.x]);
}

}  // namespace vouch::detail
