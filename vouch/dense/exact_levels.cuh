// vouch/dense/exact_levels.cuh -- products of digits on INT8 tensor cores, and their sums as numbers; private.
#pragma once
#include <cstdint>

#include <vouch/core/arrival.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/dense/exact_digits.cuh>

namespace vouch::detail {

struct digit_stage {
  alignas(128) std::int8_t a[digit_tile::m * digit_tile::k];
  alignas(128) std::int8_t b[digit_tile::n * digit_tile::k];
};

// Four 8 by 16 pieces of bytes, as the tensor core wants them in a warp's registers.
__device__ inline void load_digits(unsigned (&to)[4], const std::int8_t* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(from))
               : "memory");
}

__device__ inline void multiply_add_digits(int (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// A warp's operands of 32 steps of k: 64 rows of each tile.
struct digit_fragments {
  unsigned a[4][4], b[4][4];

  __device__ void load(const digit_stage& stage, int row, int column, int k) {
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int mi = 0; mi < 4; ++mi)
      load_digits(a[mi], stage.a + digit_place(row + mi * 16 + lane % 16, k + lane / 16 * 16));
#pragma unroll
    for (int pair = 0; pair < 4; ++pair)
      load_digits(b[pair],
                  stage.b + digit_place(column + pair * 16 + lane / 16 * 8 + lane % 8, k + lane / 8 % 2 * 16));
  }
};

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
static __global__ void __launch_bounds__(digit_tile::threads, 1)
    multiply_digits(digit_operand A, digit_operand B, bool again, level_sums sums) {
  extern __shared__ __align__(128) char memory[];
  digit_stage* const stages = reinterpret_cast<digit_stage*>(memory);
  __shared__ std::uint64_t full[digit_tile::stages], empty[digit_tile::stages];
  if (threadIdx.x < digit_tile::stages) {
    arrival_init(&full[threadIdx.x], 1);
    arrival_init(&empty[threadIdx.x], digit_tile::threads);
    arrival_init_fence();
  }
  __syncthreads();

  const std::int64_t tiles_m = ceil_div<std::int64_t>(sums.rows, digit_tile::m),
                     tiles_n = ceil_div<std::int64_t>(sums.cols, digit_tile::n);
  const int turn = static_cast<int>(blockIdx.x / (tiles_m * tiles_n));
  const int level = (sums.levels - 1) / 2 + (turn % 2 == 1 ? (turn + 1) / 2 : -(turn / 2));
  std::int64_t tile_i, tile_j;
  place_of_tile(blockIdx.x % (tiles_m * tiles_n), tiles_m, tiles_n, tile_i, tile_j);
  const std::int64_t i0 = tile_i * digit_tile::m, j0 = tile_j * digit_tile::n;
  const int first = ::max(0, level - B.digits + 1), last = ::min(level, A.digits - 1);
  const int depth = static_cast<int>(A.depth / digit_tile::k), steps = (last - first + 1) * depth;
  const int warp = static_cast<int>(threadIdx.x / 32);
  const auto parity = [](int step) { return static_cast<unsigned>(step / digit_tile::stages) % 2; };

  // One thread orders the copies of a step, each step another warp's.
  const auto bring = [&](int step) {
    if (step >= steps || static_cast<int>(threadIdx.x) != step % digit_tile::warps * 32) return;
    const int s = step % digit_tile::stages;
    if (step >= digit_tile::stages) await(&empty[s], parity(step - digit_tile::stages));
    arrive_expecting(&full[s], sizeof(digit_stage));
    const int digit = first + step / depth;
    const std::int64_t k = std::int64_t{step % depth} * digit_tile::k;
    bulk_copy(stages[s].a, A.bytes + A.piece(digit, i0, k), digit_tile::piece_bytes, &full[s]);
    for (int half = 0; half < 2; ++half)
      bulk_copy(stages[s].b + half * digit_tile::piece_bytes,
                B.bytes + B.piece(level - digit, j0 + half * digit_tile::piece_rows, k),
                digit_tile::piece_bytes, &full[s]);
  };
  for (int step = 0; step < digit_tile::ahead; ++step) bring(step);

  const int lane = static_cast<int>(threadIdx.x % 32), row = warp / 4 * 64, column = warp % 4 * 64;
  int c[4][8][4] = {};
  const auto settle = [&](bool onto) {
    const std::int64_t i = i0 + row + lane / 4, j = j0 + column + lane % 4 * 2;
#pragma unroll
    for (int mi = 0; mi < 4; ++mi)
#pragma unroll
      for (int ni = 0; ni < 8; ++ni)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const std::int64_t to_i = i + mi * 16 + e / 2 * 8, to_j = j + ni * 8 + e % 2;
          const long long sum = c[mi][ni][e];
          c[mi][ni][e] = 0;
          if (to_i >= sums.rows || to_j >= sums.cols) continue;
          long long& at = sums.at(level, to_i, to_j);
          at = onto ? at + sum : sum;
        }
  };
  if (steps == 0 && !again) settle(false);
  constexpr int most = (1 << 16) / digit_tile::k;
  digit_fragments fragments[2];
  for (int step = 0; step < steps; ++step) {
    const digit_stage& stage = stages[step % digit_tile::stages];
    await(&full[step % digit_tile::stages], parity(step));
    fragments[0].load(stage, row, column, 0);
    bring(step + digit_tile::ahead);
#pragma unroll
    for (int quarter = 0; quarter < digit_tile::k / 32; ++quarter) {
      if (quarter + 1 < digit_tile::k / 32)
        fragments[(quarter + 1) % 2].load(stage, row, column, 32 * (quarter + 1));
      const digit_fragments& at_hand = fragments[quarter % 2];
#pragma unroll
      for (int mi = 0; mi < 4; ++mi)
#pragma unroll
        for (int ni = 0; ni < 8; ++ni)
          multiply_add_digits(c[mi][ni], at_hand.a[mi], at_hand.b[ni / 2][ni % 2 * 2],
                              at_hand.b[ni / 2][ni % 2 * 2 + 1]);
    }
    arrive(&empty[step % digit_tile::stages]);
    if ((step + 1) % most == 0 || step + 1 == steps) settle(again || step >= most);
  }
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
