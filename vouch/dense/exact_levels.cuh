// vouch/dense/exact_levels.cuh -- products of digits on INT8 tensor cores, and their sums as numbers; private.
#pragma once
#include <cstdint>

#include <vouch/core/launch.cuh>
#include <vouch/dense/byte_tiles.cuh>
#include <vouch/dense/exact_digits.cuh>

namespace vouch::detail {

/// Sums of products of digits t of A and s of B with t + s = L: sums[(L * cols + j) * rows + i].
struct level_sums {
  long long* data = nullptr;
  std::int64_t rows = 0, cols = 0;
  int levels = 0;

  __device__ long long& at(int level, std::int64_t i, std::int64_t j) const {
    return data[(level * cols + j) * rows + i];
  }
};

/// The sums of all levels, or on demand onto what they were. A block forms a tile of a level, the levels of
/// most products first. Products of digits are below 2^14 + 1, so 2^16 of them add up in 32 bits without
/// overflow; then they go to the sums of 64 bits. Bound by the INT8 tensor cores.
static __global__ void __launch_bounds__(byte_tile::threads, 1)
    multiply_digits(digit_operand A, digit_operand B, bool again, level_sums sums) {
  const std::int64_t tiles_m = ceil_div<std::int64_t>(sums.rows, byte_tile::m),
                     tiles_n = ceil_div<std::int64_t>(sums.cols, byte_tile::n);
  const int turn = static_cast<int>(blockIdx.x / (tiles_m * tiles_n));
  const int level = (sums.levels - 1) / 2 + (turn % 2 == 1 ? (turn + 1) / 2 : -(turn / 2));
  std::int64_t tile_i, tile_j;
  place_of_tile(blockIdx.x % (tiles_m * tiles_n), tiles_m, tiles_n, tile_i, tile_j);
  const std::int64_t i0 = tile_i * byte_tile::m, j0 = tile_j * byte_tile::n;
  const int rows = static_cast<int>(::min(std::int64_t{byte_tile::m}, sums.rows - i0)),
            cols = static_cast<int>(::min(std::int64_t{byte_tile::n}, sums.cols - j0));
  const auto settle = [&](byte_sums& exact, bool later) {
    exact.for_each([&](int row, int column, int& value) {
      const long long sum = value;
      value = 0;
      if (row >= rows || column >= cols) return;
      long long& at = sums.at(level, i0 + row, j0 + column);
      at = again || later ? at + sum : sum;
    });
  };
  const int first = ::max(0, level - B.digits + 1), last = ::min(level, A.digits - 1);
  const int depth = static_cast<int>(A.depth / byte_tile::k), steps = (last - first + 1) * depth;
  const auto pieces = [&](int step) {
    const int digit = first + step / depth;
    const std::int64_t k = std::int64_t{step % depth} * byte_tile::k;
    return byte_pieces<std::int8_t>{A.bytes + A.piece(digit, i0, k), B.bytes + B.piece(level - digit, j0, k),
                                    B.bytes + B.piece(level - digit, j0 + byte_tile::piece_rows, k)};
  };
  multiply_bytes<std::int8_t>(steps, (1 << 16) / byte_tile::k, pieces, settle);
}

/// A whole number of 384 bits with its sign, most significant word last, rounded to a double.
class long_number {
 public:
  /// The sum of sums.at(L, i, j) 256^L.
  __device__ long_number(const level_sums& sums, std::int64_t i, std::int64_t j) {
    __int128 rest = 0;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
#pragma unroll
      for (int r = 0; r < 8; ++r)
        if (8 * w + r < sums.levels) rest += static_cast<__int128>(sums.at(8 * w + r, i, j)) << (8 * r);
      word_[w] = static_cast<std::uint64_t>(rest);
      rest >>= 64;
    }
    word_[4] = static_cast<std::uint64_t>(rest);
    word_[5] = static_cast<std::uint64_t>(rest >> 64);
    negative_ = (word_[5] >> 63) != 0;
    if (negative_) negate();
  }

  /// The smallest interval of doubles around the number times 2^exponent.
  __device__ interval<double> rounded(int exponent) {
    normalise(exponent);
    if (word_[5] == 0) return {};
    const int zeros = __clzll(static_cast<long long>(word_[5]));
    const std::uint64_t top = zeros > 0 ? word_[5] << zeros | word_[4] >> (64 - zeros) : word_[5];
    const std::uint64_t next = zeros > 0 ? word_[4] << zeros : word_[4];
    bool below = (next | word_[3] | word_[2] | word_[1] | word_[0]) != 0;
    exponent += 320 - zeros;  // of the last bit of top
    // 53 bits stay, fewer where the last of them would be below 2^-1074.
    const int drop = ::max(11, -1074 - exponent);
    std::uint64_t kept = 0;
    if (drop < 64) {
      kept = top >> drop;
      below = below || (top & ((std::uint64_t{1} << drop) - 1)) != 0;
    } else {
      below = true;
    }
    const double least = scaled(kept, exponent + drop), most = scaled(kept + (below ? 1 : 0), exponent + drop);
    // Beyond the largest number only the bound that may be infinite is.
    const double inner = least < INFINITY ? least : 0x1.fffffffffffffp+1023;
    return negative_ ? interval<double>::unchecked(-most, -inner) : interval<double>::unchecked(inner, most);
  }

 private:
  __device__ void negate() {
    std::uint64_t carry = 1;
#pragma unroll
    for (std::uint64_t& w : word_) {
      w = ~w + carry;
      carry = carry != 0 && w == 0 ? 1 : 0;
    }
  }
  // Moves words up until the highest is not 0.
  __device__ void normalise(int& exponent) {
#pragma unroll
    for (int step = 0; step < 5; ++step)
      if (word_[5] == 0) {
#pragma unroll
        for (int w = 5; w > 0; --w) word_[w] = word_[w - 1];
        word_[0] = 0;
        exponent -= 64;
      }
  }
  // x 2^e for x of at most 53 bits and e >= -1074, without rounding; infinity beyond the largest number.
  __device__ static double scaled(std::uint64_t x, int e) { return ldexp(__ull2double_rn(x), ::min(e, 2000)); }

  std::uint64_t word_[6];
  bool negative_;
};

enum class bounds_written { both, lower, upper };
constexpr unsigned round_threads = 256;

/// The bounds named of entries (i, first + j) of a matrix of intervals from their sums; scale_a and scale_b are
/// the weights 2^(top - scale) of the last digits. A thread has an element. Bound by memory.
template <class T>
__global__ void __launch_bounds__(round_threads)
    round_sums(level_sums sums, const int* top_a, int scale_a, const int* top_b, int scale_b,
               std::int64_t first, bounds_written which, interval<T>* C, std::int64_t ld) {
  const std::int64_t at = std::int64_t{blockIdx.x} * round_threads + threadIdx.x;
  if (at >= sums.rows * sums.cols) return;
  const std::int64_t i = at % sums.rows, j = at / sums.rows;
  long_number number(sums, i, j);
  const interval<T> bounds = outward<T>(number.rounded(top_a[i] - scale_a + top_b[first + j] - scale_b));
  T* const to = reinterpret_cast<T*>(C + i + (first + j) * ld);
  if (which != bounds_written::upper) to[0] = bounds.lo();
  if (which != bounds_written::lower) to[1] = bounds.hi();
}

}  // namespace vouch::detail
