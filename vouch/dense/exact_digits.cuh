// vouch/dense/exact_digits.cuh -- numbers as integers of digits of 8 bits, for products on INT8 tensor cores;
// private.
//
// A line is a row of op(A) or a column of op(B). With 2^e above all magnitudes of a line, each of its numbers
// is 2^(e - 8s + 2) times an integer of s digits of -128 to 127, digit t of the weight 256^t: without rounding
// as long as s digits reach the lowest bit of the line.
#pragma once
#include <cstdint>

#include <vouch/dense/byte_tiles.cuh>
#include <vouch/dense/gemm_operand.cuh>

namespace vouch::detail {

constexpr int most_digits = 16;

/// Digits: piece (digit, line / 128, k / 128) after piece, of `padded` lines (a multiple of 256) and `depth`
/// (of 128) bytes each, zeros beyond the matrix.
struct digit_operand {
  std::int8_t* bytes = nullptr;
  std::int64_t padded = 0;
  std::int64_t depth = 0;
  int digits = 0;

  __host__ __device__ std::int64_t piece(int digit, std::int64_t line, std::int64_t k) const {
    return byte_piece(digit, line, k, padded, depth);
  }
};

/// Which numbers of the entries: lower or upper bounds, all of them or those of one sign.
struct digit_part {
  bool upper = false;
  int sign = 0;

  template <class E>
  __device__ double of(E entry) const {
    const double x = upper ? gemm_element<E>::hi(entry) : gemm_element<E>::lo(entry);
    return sign == 0 || (sign > 0 ? x > 0 : x < 0) ? x : 0;
  }
};

/// Most products of parts that a bound is the sum of.
constexpr int most_parts = 4;
struct digit_parts {
  digit_part part[most_parts];
  int count = 0;
};

/// What is known of an operand's lines and entries, all zeros before:
///   top[l]        4096 + e with 2^e above the magnitudes of line l
///   low[l]        4096 - e for the lowest bit 2^e of line l
///   straddles[k]  whether an entry k of a line holds 0 inside
///   signs         bits: a lower bound above 0, one below, an upper bound above 0, one below; 16: an entry that
///                 is not finite
struct line_facts {
  int* top = nullptr;
  int* low = nullptr;
  unsigned char* straddles = nullptr;
  int* signs = nullptr;
  static constexpr int bias = 4096, not_finite = 16;
};

/// A finite number but 0 as mantissa 2^exponent.
struct binary_parts {
  std::uint64_t mantissa;
  int exponent;
  __device__ explicit binary_parts(double x) {
    const auto bits = static_cast<std::uint64_t>(__double_as_longlong(x));
    const int field = static_cast<int>(bits >> 52) & 0x7ff;
    mantissa = (bits & ((std::uint64_t{1} << 52) - 1)) | (field > 0 ? std::uint64_t{1} << 52 : 0);
    exponent = (field > 0 ? field : 1) - 1075;
  }
  __device__ int top() const { return exponent + 64 - __clzll(static_cast<long long>(mantissa)); }
  __device__ int low() const { return exponent + __ffsll(static_cast<long long>(mantissa)) - 1; }
};

constexpr int facts_lines = 32, facts_depth = 256;
constexpr unsigned facts_threads = 256;

// A block looks at 32 lines by 256 steps of k, threads of a warp along what is contiguous in memory. Bound by
// memory: reads the operand once.
template <class E>
__global__ void __launch_bounds__(facts_threads)
    look_at_lines(gemm_operand<E> operand, std::int64_t tiles, std::int64_t depth, line_facts facts) {
  __shared__ int top[facts_lines], low[facts_lines], signs;
  const int x = static_cast<int>(threadIdx.x) % 32, y = static_cast<int>(threadIdx.x) / 32;
  if (y == 0) top[x] = low[x] = 0;
  if (threadIdx.x == 0) signs = 0;
  __syncthreads();
  const std::int64_t l0 = blockIdx.x % tiles * facts_lines, k0 = blockIdx.x / tiles * facts_depth;
  const bool lines_across = operand.along == 1;
  int seen = 0, most = 0, least = 0;
  const auto look = [&](std::int64_t l, std::int64_t k) {
    if (l >= operand.size || k >= depth) return;
    const E entry = operand.data[l * operand.along + k * operand.across];
    const double lo = gemm_element<E>::lo(entry), hi = gemm_element<E>::hi(entry);
    if (!(fabs(lo) < INFINITY && fabs(hi) < INFINITY)) {
      seen |= line_facts::not_finite;
      return;
    }
    seen |= (lo > 0) | (lo < 0) << 1 | (hi > 0) << 2 | (hi < 0) << 3;
    if (lo < 0 && hi > 0) facts.straddles[k] = 1;
    for (const double value : {lo, hi})
      if (value != 0) {
        const binary_parts parts(value);
        most = ::max(most, line_facts::bias + parts.top());
        least = ::max(least, line_facts::bias - parts.low());
      }
  };
  if (lines_across) {
    for (int k = y; k < facts_depth; k += 8) look(l0 + x, k0 + k);
    atomicMax(&top[x], most);
    atomicMax(&low[x], least);
  } else {
    for (int l = y; l < facts_lines; l += 8) {
      most = least = 0;
      for (int k = x; k < facts_depth; k += 32) look(l0 + l, k0 + k);
      most = __reduce_max_sync(~0u, most);
      least = __reduce_max_sync(~0u, least);
      if (x == 0) {
        top[l] = most;
        low[l] = least;
      }
    }
  }
  atomicOr(&signs, seen);
  __syncthreads();
  if (y == 0 && l0 + x < operand.size && top[x] > 0) {
    atomicMax(&facts.top[l0 + x], top[x]);
    atomicMax(&facts.low[l0 + x], low[x]);
  }
  if (threadIdx.x == 0) atomicOr(facts.signs, signs);
}

constexpr int digits_lines = 32;
constexpr unsigned digits_threads = 256;

// Digits of lines first_line + l and of `count` steps of k from first_k on, the parts one after the other along
// k. A block takes 32 lines by 128 steps of k of a part, a thread four steps of a line. Bound by arithmetic on
// integers of 128 bits.
template <class E>
__global__ void __launch_bounds__(digits_threads)
    digits_of(gemm_operand<E> operand, std::int64_t first_line, std::int64_t first_k, std::int64_t count,
              digit_parts parts, const int* top, std::int64_t tiles, digit_operand to) {
  __shared__ double value[digits_lines][byte_tile::k + 1];
  const std::int64_t l0 = blockIdx.x % tiles * digits_lines, to_k = blockIdx.x / tiles * byte_tile::k;
  const std::int64_t part_depth = to.depth / parts.count;
  const digit_part part = parts.part[to_k / part_depth];
  const std::int64_t k0 = to_k % part_depth;
  const auto entry = [&](int l, int k) {
    const std::int64_t line = first_line + l0 + l;
    if (line >= operand.size || k0 + k >= count) return 0.0;
    return part.of(operand.data[line * operand.along + (first_k + k0 + k) * operand.across]);
  };
  const int x = static_cast<int>(threadIdx.x) % 32, y = static_cast<int>(threadIdx.x) / 32;
  if (operand.along == 1)
    for (int k = y; k < byte_tile::k; k += 8) value[x][k] = entry(x, k);
  else
    for (int l = y; l < digits_lines; l += 8)
      for (int k = x; k < byte_tile::k; k += 32) value[l][k] = entry(l, k);
  __syncthreads();
  for (int l = y; l < digits_lines; l += 8) {
    const std::int64_t line = first_line + l0 + l;
    const int e = line < operand.size ? top[line] - line_facts::bias : 0;
    __int128 whole[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const double v = value[l][4 * x + c];
      const binary_parts p(v);
      const int shift = v == 0 ? 0 : p.exponent + 8 * to.digits - 2 - e;
      whole[c] = shift >= 0 ? static_cast<__int128>(p.mantissa) << shift
                            : static_cast<__int128>(p.mantissa >> -shift);  // drops nothing but zeros
      if (v < 0) whole[c] = -whole[c];
    }
    for (int t = 0; t < to.digits; ++t) {
      char4 digit;
      const auto next = [](__int128& rest) {
        const auto low = static_cast<signed char>(rest);
        rest = (rest - low) >> 8;
        return low;
      };
      digit.x = next(whole[0]);
      digit.y = next(whole[1]);
      digit.z = next(whole[2]);
      digit.w = next(whole[3]);
      *reinterpret_cast<char4*>(to.bytes + to.piece(t, l0, to_k) +
                                byte_place(static_cast<int>((l0 + l) % byte_tile::piece_rows), 4 * x)) = digit;
    }
  }
}

}  // namespace vouch::detail
