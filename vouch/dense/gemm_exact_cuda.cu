#include <algorithm>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/dense/block_product_cuda.hpp>
#include <vouch/dense/exact_levels.cuh>
#include <vouch/dense/gemm_exact.hpp>

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
