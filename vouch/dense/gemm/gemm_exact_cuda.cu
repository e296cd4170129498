// Numbers as integers of digits of 8 bits, for products on INT8 tensor cores.
//
// A line is a row of op(A) or a column of op(B). With 2^e above all magnitudes of a line, each of its numbers
// is 2^(e - 8s + 2) times an integer of s digits of -128 to 127, digit t of the weight 256^t: without rounding
// as long as s digits reach the lowest bit of the line.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/dense/gemm/block_product.hpp>
#include <vouch/dense/gemm/byte_tiles.cuh>
#include <vouch/dense/gemm/gemm.hpp>
#include <vouch/dense/gemm/gemm_operand.cuh>

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

// products of digits on INT8 tensor cores, and their sums as numbers.

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

namespace vouch::detail {
namespace {

// Bytes of digits of the factors, and of sums, at a time.
constexpr std::int64_t most_digit_bytes = std::int64_t{3} << 30, most_sum_bytes = std::int64_t{3} << 30;

std::int64_t padded_to(std::int64_t size, std::int64_t unit) { return ceil_div(size, unit) * unit; }

template <class E>
gemm_operand<E> lines_of(const factor<E>& f, bool rows) {
  const bool along = f.transposed != rows;  // lines are neighbours in memory
  return {f.A.data, rows ? f.rows() : f.cols(), along ? 1 : f.A.ld, along ? f.A.ld : 1};
}

// An operand, what its lines are like, and how many digits they take; 0: too many, or no numbers.
template <class E>
struct cut_operand {
  gemm_operand<E> operand;
  array<int> top;
  int digits = 0;
  int signs = 0;
  std::vector<unsigned char> straddles;

  cut_operand(const device& dev, const gemm_operand<E>& lines, std::int64_t depth)
      : operand(lines), top(array<int>::zeros(dev, lines.size)) {
    auto low = array<int>::zeros(dev, lines.size), seen = array<int>::zeros(dev, 1);
    auto inside = array<unsigned char>::zeros(dev, depth);
    const std::int64_t tiles = ceil_div<std::int64_t>(lines.size, facts_lines);
    launch(dev, "look_at_lines", {tiles * ceil_div<std::int64_t>(depth, facts_depth), facts_threads},
           look_at_lines<E>, operand, tiles, depth,
           line_facts{top.data(), low.data(), inside.data(), seen.data()});
    signs = seen.to_vector()[0];
    if ((signs & line_facts::not_finite) != 0) return;
    straddles = inside.to_vector();
    const auto tops = top.to_vector(), lows = low.to_vector();
    int bits = 0;
    for (std::size_t l = 0; l < tops.size(); ++l)
      if (tops[l] > 0) bits = std::max(bits, tops[l] + lows[l] - 2 * line_facts::bias);
    const int needed = std::max(1, (bits + 2 + 7) / 8);
    digits = needed <= most_digits ? needed : 0;
  }

  /// The exponent of the last digit of line l is top[l] less this.
  int scale() const { return line_facts::bias + 8 * digits - 2; }
  bool has(const digit_part& part) const {
    return part.sign == 0 || (signs & (1 << (2 * part.upper + (part.sign < 0)))) != 0;
  }
};

struct two_parts {
  digit_parts left, right;
  void add(digit_part a, digit_part b) {
    left.part[left.count++] = a;
    right.part[right.count++] = b;
  }
};

// The products whose sum is a bound, without those that are 0.
template <class TA, class TB>
two_parts products_for(const cut_operand<TA>& A, const cut_operand<TB>& B, bool upper) {
  two_parts all;
  const auto add = [&](digit_part a, digit_part b) {
    if (A.has(a) && B.has(b)) all.add(a, b);
  };
  if constexpr (!is_interval<TA> && !is_interval<TB>) {
    add({}, {});
  } else if constexpr (!is_interval<TA>) {
    add({false, 1}, {upper, 0});
    add({false, -1}, {!upper, 0});
  } else if constexpr (!is_interval<TB>) {
    add({upper, 0}, {false, 1});
    add({!upper, 0}, {false, -1});
  } else {
    add({upper, 1}, {upper, 1});
    add({!upper, 1}, {upper, -1});
    add({upper, -1}, {!upper, 1});
    add({!upper, -1}, {!upper, -1});
  }
  return all;
}

// Rounded products of two operands, bound by bound, strip of C by strip.
template <class TA, class TB, real T>
class exact_product {
 public:
  exact_product(const device& dev, const cut_operand<TA>& A, const cut_operand<TB>& B, std::int64_t depth)
      : dev_(dev), A_(A), B_(B), depth_(depth) {
    const std::int64_t m = A.operand.size, n = B.operand.size;
    const std::int64_t a_column = levels() * m * static_cast<std::int64_t>(sizeof(long long));
    strip_ = std::min(n, std::max<std::int64_t>(1, most_sum_bytes / a_column / byte_tile::n) * byte_tile::n);
    padded_a_ = padded_to(m, byte_tile::n);
    padded_b_ = padded_to(strip_, byte_tile::n);
    const std::int64_t a_step = most_parts * (A.digits * padded_a_ + B.digits * padded_b_);
    slab_ = std::min(padded_to(depth, byte_tile::k),
                     std::max<std::int64_t>(1, most_digit_bytes / a_step / byte_tile::k) * byte_tile::k);
  }

  void into(matrix_view<interval<T>> C) const {
    if constexpr (!is_interval<TA> && !is_interval<TB>) {
      form(products_for(A_, B_, false), bounds_written::both, C);
    } else {
      form(products_for(A_, B_, false), bounds_written::lower, C);
      form(products_for(A_, B_, true), bounds_written::upper, C);
    }
  }

 private:
  int levels() const { return A_.digits + B_.digits - 1; }

  void form(const two_parts& parts, bounds_written which, matrix_view<interval<T>> C) const {
    const std::int64_t bytes = std::max(1, parts.left.count) * slab_;
    const scratch<std::int8_t> a(dev_, A_.digits * padded_a_ * bytes), b(dev_, B_.digits * padded_b_ * bytes);
    const scratch<long long> memory(dev_, levels() * C.rows * strip_);
    for (std::int64_t first = 0; first < C.cols; first += strip_) {
      const level_sums sums{memory.data(), C.rows, std::min(strip_, C.cols - first), levels()};
      for (std::int64_t k = 0; k < depth_; k += slab_) {
        const std::int64_t count = std::min(slab_, depth_ - k);
        const auto left = cut(A_, parts.left, 0, padded_a_, k, count, a.data());
        const auto right = cut(B_, parts.right, first, padded_to(sums.cols, byte_tile::n), k, count, b.data());
        const std::int64_t tiles =
            ceil_div<std::int64_t>(sums.rows, byte_tile::m) * ceil_div<std::int64_t>(sums.cols, byte_tile::n);
        launch(dev_, "multiply_digits", {tiles * levels(), byte_tile::threads, byte_stages_size<std::int8_t>},
               multiply_digits, left, right, k > 0, sums);
      }
      launch(dev_, "round_sums", {ceil_div<std::int64_t>(sums.rows * sums.cols, round_threads), round_threads},
             round_sums<T>, sums, A_.top.data(), A_.scale(), B_.top.data(), B_.scale(), first, which, C.data,
             C.ld);
    }
  }

  // The digits of parts of the lines from `first` on.
  template <class E>
  digit_operand cut(const cut_operand<E>& from, const digit_parts& parts, std::int64_t first,
                    std::int64_t padded, std::int64_t k, std::int64_t count, std::int8_t* bytes) const {
    const digit_operand to{bytes, padded, parts.count * padded_to(count, byte_tile::k), from.digits};
    const std::int64_t tiles = padded / digits_lines;
    launch(dev_, "digits_of", {tiles * (to.depth / byte_tile::k), digits_threads}, digits_of<E>, from.operand,
           first, k, count, parts, from.top.data(), tiles, to);
    return to;
  }

  device dev_;
  const cut_operand<TA>& A_;
  const cut_operand<TB>& B_;
  std::int64_t depth_, strip_ = 0, slab_ = 0, padded_a_ = 0, padded_b_ = 0;
};

bool meet(const std::vector<unsigned char>& a, const std::vector<unsigned char>& b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k] != 0 && b[k] != 0) return true;
  return false;
}

}  // namespace

template <scalar TA, scalar TB, real T>
void gemm_exact_cuda(const device& dev, interval<T> alpha, const factor<TA>& left, const factor<TB>& right,
                     interval<T> beta, matrix_view<interval<T>> C) {
  using I = interval<T>;
  if (C.rows == 0 || C.cols == 0) return;
  const std::int64_t depth = left.cols();
  const cut_operand<TA> A(dev, lines_of(left, true), depth);
  const cut_operand<TB> B(dev, lines_of(right, false), depth);
  if (A.digits == 0 || B.digits == 0 || (is_interval<TA> && is_interval<TB> && meet(A.straddles, B.straddles)))
    return add_products_cuda<I, TA, TB>(dev, alpha, {{left, right}}, beta, C, region::all);
  const exact_product<TA, TB, T> product(dev, A, B, depth);
  if (is_one(alpha) && is_zero(beta)) return product.into(C);
  const scratch<I> rounded(dev, C.rows * C.cols);
  const matrix_view<I> sums{rounded.data(), C.rows, C.cols, C.rows};
  product.into(sums);
  combine_cuda<I>(dev, alpha, sums, beta, C, region::all);
}

#define VOUCH_EXACT(TA, TB, T)                                                                                 \
  template void gemm_exact_cuda(const device&, interval<T>, const factor<TA>&, const factor<TB>&, interval<T>, \
                                matrix_view<interval<T>>);
#define VOUCH_PRECISION(T)       \
  VOUCH_EXACT(T, T, T)           \
  VOUCH_EXACT(T, interval<T>, T) \
  VOUCH_EXACT(interval<T>, T, T) \
  VOUCH_EXACT(interval<T>, interval<T>, T)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch::detail
