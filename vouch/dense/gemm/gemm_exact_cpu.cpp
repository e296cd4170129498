// Products without rounding (Ozaki, Ogita, Oishi, Rump, Numer. Algorithms 59, 2012), rounded once at the end.
//
// The lower and the upper bound of a product are sums of products of points: of the bounds' positive and
// negative parts, as in tile_avx512.hpp, where no two factors that meet both hold 0 inside. A row of op(A) is
// scaled by a power of two to entries below 2 and cut into slices: slice t holds multiples of
// 2^-(w - 2 + t w), at most 2^(w - 1) of them, so that the slices add up to the row without rounding. A column
// of op(B) likewise. The products of slices t and s with t + s = L are multiples of one number; N of them with
// N 2^(2w - 2) <= 2^53 add up in double without rounding, in any order. What remains is to add the sums of all
// L, at most 15 an entry, in fixed point.
//
// Entries that need more slices, or a choice between products, or are not finite, are formed one by one.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/gemm/gemm.hpp>
#include <vouch/interval/exact_sums.hpp>

namespace vouch::detail {
namespace {

constexpr int most_slices = 8;
// Columns of op(A) that are cut at a time.
constexpr std::int64_t strip = 2048;

// What a slice is of: a bound of an entry, its positive or negative part alone.
enum class bound { low, high };
enum class sign { any, plus, minus };
struct part {
  bound which;
  sign only;

  template <scalar E>
  double of(E x) const {
    const double value = which == bound::low ? lower(x) : upper(x);
    if (only == sign::plus) return value > 0 ? value : 0;
    if (only == sign::minus) return value < 0 ? value : 0;
    return value;
  }
};

struct pair_of_parts {
  part a, b;
};

// The products that make the bound named.
template <scalar TA, scalar TB>
std::vector<pair_of_parts> products_for(bound which) {
  const bound other = which == bound::low ? bound::high : bound::low;
  if constexpr (!is_interval<TA> && !is_interval<TB>)
    return {{{which, sign::any}, {which, sign::any}}};
  else if constexpr (!is_interval<TA>)
    return {{{which, sign::plus}, {which, sign::any}}, {{which, sign::minus}, {other, sign::any}}};
  else if constexpr (!is_interval<TB>)
    return {{{which, sign::any}, {which, sign::plus}}, {{other, sign::any}, {which, sign::minus}}};
  else
    return {{{which, sign::plus}, {which, sign::plus}},
            {{other, sign::plus}, {which, sign::minus}},
            {{which, sign::minus}, {other, sign::plus}},
            {{other, sign::minus}, {other, sign::minus}}};
}

// The scales of op(A)'s rows or op(B)'s columns, and the bits that the longest takes.
struct scaling {
  std::vector<int> exponent;
  int bits = 0;
  bool finite = true;
};

int lowest_bit(double x) {
  const double_parts p = parts_of(x);
  return p.bit - number_origin + std::countr_zero(p.mantissa);
}

// get(l, k) is entry k of line l.
template <class Get>
scaling scaling_of(std::int64_t lines, std::int64_t depth, const Get& get) {
  scaling result;
  for (std::int64_t l = 0; l < lines; ++l) {
    double largest = 0;
    int lowest = std::numeric_limits<int>::max();
    for (std::int64_t k = 0; k < depth; ++k) {
      const auto x = get(l, k);
      if (!finite(x)) {
        result.finite = false;
        return result;
      }
      for (const double value : {double{lower(x)}, double{upper(x)}})
        if (value != 0) {
          largest = std::max(largest, std::abs(value));
          lowest = std::min(lowest, lowest_bit(value));
        }
    }
    result.exponent.push_back(largest > 0 ? std::ilogb(largest) : 0);
    if (largest > 0) result.bits = std::max(result.bits, result.exponent.back() - lowest);
  }
  return result;
}

int slices_for(int bits, int width) { return 1 + std::max(0, (bits - (width - 2) + width - 1) / width); }

// Whether an entry of op(A) and one of op(B) that meet both hold 0 inside.
template <scalar TA, scalar TB>
bool straddling_meets(const factor<TA>& left, const factor<TB>& right) {
  if constexpr (is_interval<TA> && is_interval<TB>)
    for (std::int64_t k = 0; k < left.cols(); ++k) {
      bool a = false, b = false;
      for (std::int64_t i = 0; i < left.rows() && !a; ++i) a = left(i, k).lo() < 0 && left(i, k).hi() > 0;
      for (std::int64_t j = 0; a && j < right.cols() && !b; ++j)
        b = right(k, j).lo() < 0 && right(k, j).hi() > 0;
      if (b) return true;
    }
  return false;
}

using slices = std::vector<matrix<double>>;

// The slices of the part of a rows-by-cols block, value(i, j) scaled by exponent(i, j).
template <class Value, class Exponent>
slices cut(const device& dev, std::int64_t rows, std::int64_t cols, int count, int width, const Value& value,
           const Exponent& exponent) {
  slices all;
  std::vector<double> shifts;
  for (int t = 0; t < count; ++t) {
    all.emplace_back(device::cpu(1), rows, cols);
    // Adding 1.5 2^52 units rounds to a multiple of the unit.
    shifts.push_back(std::ldexp(1.5, 52 - (width - 2 + t * width)));
  }
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static)
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const int e = -exponent(i, j);
      double rest = value(i, j) * power_of_two(e / 2) * power_of_two(e - e / 2);
      for (int t = 0; t < count; ++t) {
        const double shift = shifts[static_cast<std::size_t>(t)];
        const double slice = (rest + shift) - shift;
        all[static_cast<std::size_t>(t)](i, j) = slice;
        rest -= slice;
      }
    }
  return all;
}

// How a product is cut.
template <scalar TA, scalar TB>
struct plan {
  const factor<TA>& left;
  const factor<TB>& right;
  scaling rows, cols;
  int width = 0, left_slices = 0, right_slices = 0;

  plan(const factor<TA>& a, const factor<TB>& b) : left(a), right(b) {
    rows = scaling_of(a.rows(), a.cols(), [&](std::int64_t i, std::int64_t k) { return a(i, k); });
    if (rows.finite)
      cols = scaling_of(b.cols(), b.rows(), [&](std::int64_t j, std::int64_t k) { return b(k, j); });
    const auto terms = static_cast<std::uint64_t>(a.cols()) * most_slices * 4;
    width = (55 - static_cast<int>(std::bit_width(terms))) / 2;
    left_slices = slices_for(rows.bits, width);
    right_slices = slices_for(cols.bits, width);
  }
  bool possible() const {
    return rows.finite && cols.finite && width >= 4 && left_slices <= most_slices &&
           right_slices <= most_slices && !straddling_meets(left, right);
  }
  int levels() const { return left_slices + right_slices - 1; }
};

// The sums of the products for one bound, level after level.
template <scalar TA, scalar TB>
slices level_sums(const device& dev, const plan<TA, TB>& p, bound which) {
  const std::int64_t m = p.left.rows(), n = p.right.cols(), depth = p.left.cols();
  slices sums;
  for (int l = 0; l < p.levels(); ++l) sums.push_back(matrix<double>::zeros(device::cpu(1), m, n));
  for (std::int64_t k0 = 0; k0 < depth; k0 += strip)
    for (const auto& [part_a, part_b] : products_for<TA, TB>(which)) {
      const std::int64_t size = std::min(strip, depth - k0);
      const slices a = cut(
          dev, m, size, p.left_slices, p.width,
          [&, part_a = part_a](std::int64_t i, std::int64_t k) { return part_a.of(p.left(i, k0 + k)); },
          [&](std::int64_t i, std::int64_t) { return p.rows.exponent[static_cast<std::size_t>(i)]; });
      const slices b = cut(
          dev, size, n, p.right_slices, p.width,
          [&, part_b = part_b](std::int64_t k, std::int64_t j) { return part_b.of(p.right(k0 + k, j)); },
          [&](std::int64_t, std::int64_t j) { return p.cols.exponent[static_cast<std::size_t>(j)]; });
      for (int l = 0; l < p.levels(); ++l) {
        std::vector<factors<double, double>> terms;
        for (int t = std::max(0, l - p.right_slices + 1); t <= std::min(l, p.left_slices - 1); ++t)
          terms.push_back({{a[static_cast<std::size_t>(t)].all()}, {b[static_cast<std::size_t>(l - t)].all()}});
        add_products<double, double, double>(dev, 1, terms, 1, sums[static_cast<std::size_t>(l)], region::all);
      }
    }
  return sums;
}

interval<double> total(const slices& sums, std::int64_t i, std::int64_t j, int exponent, exact_sums& sum) {
  for (const auto& level : sums) sum.add(0, level(i, j), exponent);
  return sum.take(0);
}

struct two_numbers {
  double a, b;
};

// Of the products of points of [al, ah] and [bl, bh] the factors of the least.
two_numbers least_product(double al, double ah, double bl, double bh) {
  if (al >= 0) return {bl >= 0 ? al : ah, bl};
  if (ah <= 0) return {bh >= 0 ? al : ah, bh};
  if (bl >= 0) return {al, bh};
  if (bh <= 0) return {ah, bl};
  return smaller_product(ah, bl, al, bh) ? two_numbers{al, bh} : two_numbers{ah, bl};
}

// Entry (i, j) of the product, term by term.
template <scalar R, scalar TA, scalar TB>
R entry_alone(const factor<TA>& left, const factor<TB>& right, std::int64_t i, std::int64_t j, exact_sums& low,
              exact_sums& high) {
  bool all_finite = true;
  for (std::int64_t k = 0; k < left.cols(); ++k) all_finite &= finite(left(i, k)) && finite(right(k, j));
  if (!all_finite) {
    R sum{};
    for (std::int64_t k = 0; k < left.cols(); ++k) sum = multiply_add(left(i, k), right(k, j), sum);
    return sum;
  }
  for (std::int64_t k = 0; k < left.cols(); ++k) {
    const auto a = left(i, k);
    const auto b = right(k, j);
    const two_numbers least = least_product(lower(a), upper(a), lower(b), upper(b));
    // The largest product is the least one of -a and b.
    const two_numbers most = least_product(-upper(a), -lower(a), lower(b), upper(b));
    low.add_product(0, least.a, least.b);
    high.add_product(0, -most.a, most.b);
  }
  return narrowed<bound_of<R>>(interval<double>::unchecked(low.take(0).lo(), high.take(0).hi()));
}

}  // namespace

template <scalar TA, scalar TB, real T>
void gemm_exact_cpu(const device& dev, interval<T> alpha, const factor<TA>& left, const factor<TB>& right,
                    interval<T> beta, matrix_view<interval<T>> C) {
  if (is_zero(alpha) || left.cols() == 0)
    return add_products<interval<T>, TA, TB>(dev, alpha, {{left, right}}, beta, C, region::all);
  constexpr bool points = !is_interval<TA> && !is_interval<TB>;
  const plan<TA, TB> cutting(left, right);
  const bool sliced = cutting.possible();
  slices low, high;
  if (sliced) {
    low = level_sums(dev, cutting, bound::low);
    if (!points) high = level_sums(dev, cutting, bound::high);
  }
  const cancellation_probe stop;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(dynamic)
  for (std::int64_t j = 0; j < C.cols; ++j) {
    if (stop.requested()) continue;
    exact_sums first(1, product_origin), second(1, product_origin);
    std::vector<interval<T>> column(static_cast<std::size_t>(C.rows));
    for (std::int64_t i = 0; i < C.rows; ++i) {
      interval<T>& entry = column[static_cast<std::size_t>(i)];
      if (sliced) {
        const int exponent = cutting.rows.exponent[static_cast<std::size_t>(i)] +
                             cutting.cols.exponent[static_cast<std::size_t>(j)];
        const auto least = total(low, i, j, exponent, first);
        const auto most = points ? least : total(high, i, j, exponent, second);
        entry = narrowed<T>(interval<double>::unchecked(least.lo(), most.hi()));
      } else {
        entry = entry_alone<interval<T>>(left, right, i, j, first, second);
      }
    }
    finish_column(alpha, static_cast<const interval<T>*>(column.data()), beta, C.rows, &C(0, j));
  }
  stop.check();
}

#define VOUCH_EXACT(TA, TB, T)                                                                                \
  template void gemm_exact_cpu(const device&, interval<T>, const factor<TA>&, const factor<TB>&, interval<T>, \
                               matrix_view<interval<T>>);
#define VOUCH_PRECISION(T)       \
  VOUCH_EXACT(T, T, T)           \
  VOUCH_EXACT(T, interval<T>, T) \
  VOUCH_EXACT(interval<T>, T, T) \
  VOUCH_EXACT(interval<T>, interval<T>, T)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch::detail
