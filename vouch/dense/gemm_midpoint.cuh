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
  return ldexp(1.0, max(e, -1000));
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
    own = tile == whole || whole == INFINITY ? 0 : min(8, ilogb(whole) - ilogb(tile));
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
