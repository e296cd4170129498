// vouch/dense/gemm_midpoint.cuh -- operands of the fast product: midpoints, and radii rounded up to bytes;
// private.
#pragma once
#include <cstdint>

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

// Blocks of 256 threads take tiles of 32 elements by 32 steps of k; tiles_i of them side by side.
constexpr int split_tile = 32, split_rows = 8, split_threads = split_tile * split_rows;

struct split_place {
  int x, y;
  std::int64_t i0, k0;
  __device__ split_place(std::int64_t tiles_i, std::int64_t depth_of_tile)
      : x(static_cast<int>(threadIdx.x) % split_tile),
        y(static_cast<int>(threadIdx.x) / split_tile),
        i0(blockIdx.x % tiles_i * split_tile),
        k0(blockIdx.x / tiles_i * depth_of_tile) {}
};

constexpr std::int64_t largest_depth = 1024;  // steps of k that a block looks through

/// largest[i] := the largest of the part over k, for rows i of the operand; as bits of a non-negative double,
/// so that an integer maximum will do, in any order. Starts from zeros. A tile of 32 by 32 a block.
template <class E, radius_role Role>
__global__ void largest_of_rows(gemm_operand<E> operand, std::int64_t tiles_i, std::int64_t depth, double ku,
                                unsigned long long* largest) {
  const bool by_column = operand.along == 1;
  const auto [x, y, i0, k0] = split_place(tiles_i, largest_depth);
  __shared__ unsigned long long found[split_tile];
  if (threadIdx.x < split_tile) found[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t step = 0; step < largest_depth; step += split_tile)
    for (int r = y; r < split_tile; r += split_rows) {
      const int i = by_column ? x : r, k = by_column ? r : x;
      if (i0 + i >= operand.size || k0 + step + k >= depth) continue;
      double mid, rad;
      split(element_of(operand, i0 + i, k0 + step + k), mid, rad);
      const double part = radius_part<Role>(mid, rad, ku);
      // A NaN has to come out on top: its bits, without the sign, are above those of infinity.
      atomicMax(&found[i], static_cast<unsigned long long>(__double_as_longlong(fabs(part))));
    }
  __syncthreads();
  if (threadIdx.x < split_tile && i0 + threadIdx.x < operand.size)
    atomicMax(&largest[i0 + threadIdx.x], found[threadIdx.x]);
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

/// unit[i] of every row, and 1 for the rows that pad.
static __global__ void units_of_rows(std::int64_t size, std::int64_t padded, const unsigned long long* largest,
                                     double* unit) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < padded)
    unit[i] = i < size ? byte_unit(__longlong_as_double(static_cast<long long>(largest[i]))) : 1.0;
}

/// bytes[i * padded_depth + k] := the part over unit[i], rounded up; zeros up to padded sizes. A tile of 32 by
/// 32 a block, turned in shared memory where the operand lies by columns.
template <class E, radius_role Role>
__global__ void bytes_of(gemm_operand<E> operand, std::int64_t tiles_i, std::int64_t depth, double ku,
                         const double* unit, std::int64_t padded_depth, std::uint8_t* bytes) {
  __shared__ std::uint8_t tile[split_tile][split_tile + 4];
  const bool by_column = operand.along == 1;
  const auto [x, y, i0, k0] = split_place(tiles_i, split_tile);
  for (int r = y; r < split_tile; r += split_rows) {
    const int i = by_column ? x : r, k = by_column ? r : x;
    std::uint8_t byte = 0;
    if (i0 + i < operand.size && k0 + k < depth) {
      double mid, rad;
      split(element_of(operand, i0 + i, k0 + k), mid, rad);
      const double part = radius_part<Role>(mid, rad, ku);
      // Exact but for underflow, where what is not zero still counts one. A row without a bound has an infinite
      // unit, whatever stands here.
      if (part > 0) byte = static_cast<std::uint8_t>(fmax(1.0, fmin(255.0, ceil(part / unit[i0 + i]))));
    }
    tile[i][k] = byte;
  }
  __syncthreads();
  for (int r = y; r < split_tile; r += split_rows) bytes[(i0 + r) * padded_depth + k0 + x] = tile[r][x];
}

/// mids[k * padded + i] := the midpoint of element (i, k); zeros up to padded sizes, both multiples of 32.
template <class E>
__global__ void midpoints_of(gemm_operand<E> operand, std::int64_t tiles_i, std::int64_t depth,
                             std::int64_t padded, double* mids) {
  __shared__ double tile[split_tile][split_tile + 1];
  const bool by_column = operand.along == 1;
  const auto [x, y, i0, k0] = split_place(tiles_i, split_tile);
  for (int r = y; r < split_tile; r += split_rows) {
    const int i = by_column ? x : r, k = by_column ? r : x;
    double mid = 0, rad = 0;
    if (i0 + i < operand.size && k0 + k < depth) split(element_of(operand, i0 + i, k0 + k), mid, rad);
    tile[k][i] = mid;
  }
  __syncthreads();
  for (int r = y; r < split_tile; r += split_rows) mids[(k0 + r) * padded + i0 + x] = tile[r][x];
}

}  // namespace vouch::detail
