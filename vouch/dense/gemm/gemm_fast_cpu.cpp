// Products by midpoints and radii (Rump, BIT 39, 1999; Numer. Algorithms 61, 2012).
//
// Let a and b be points of the entries, ma and mb their midpoints as doubles and |a - ma| <= ra, |b - mb| <=
// rb. With k the inner size, u = 2^-53 and v = 2^-24:
//
//   |sum a b - sum ma mb| <= sum (|ma| rb + ra (|mb| + rb))                                               (1)
//   |fl(sum ma mb) - sum ma mb| <= (k + 1) u sum |ma||mb| + k 2^-1074                                     (2)
//
// (2) is the standard bound gamma_k of a chain of k fused multiply-adds to nearest (Higham, Accuracy and
// Stability, lemma 3.1), gamma_k <= (k + 1) u as long as k (k + 1) u <= 1; an operation that underflows adds
// 2^-1075. The right sides of (1) and (2) are sums of products of numbers >= 0,
//
//   S = sum |ma| (rb + (k + 1) u |mb|) + sum ra (|mb| + rb),
//
// which are formed in float, to nearest, from factors that are scaled by powers of two to the size of their row
// or column and rounded up. Of K such terms a chain G satisfies G >= S (1 - v)^K - K 2^-149, so
//
//   S <= (G + K 2^-149) / (1 - K v).                                                                      (3)
//
// Every bound is a chain of a few operations to nearest on numbers >= 0, each wrong by u of its result at most,
// made good by one factor 1 + 2^-22 (for float) or 1 + 16 u (for double) and, where something may underflow, by
// a summand of the size of the smallest number.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/dense/gemm/gemm.hpp>

namespace vouch::detail {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double unit = 0x1p-53;
// More terms would make (3) worse than 1/7.
constexpr std::int64_t most_terms = std::int64_t{1} << 21;

// What factor a matrix is, and so what its second and third image hold.
enum class place { left, right };

// A factor as the products read it: midpoints; |m| and r of a left one, r + c |m| and |m| + r of a right one,
// scaled and rounded up. All as the factor is stored.
struct images {
  matrix<double> mid;
  matrix<float> first, second;
  std::vector<int> exponent;  // of the scales of op(A)'s rows, of op(B)'s columns
};

// The exponent of the largest absolute value in each row or column of A, as far as scaling wants it; nothing
// where an entry is not finite.
template <scalar E>
std::vector<int> exponents(const device& dev, matrix_view<const E> A, bool by_rows) {
  const std::int64_t lines = by_rows ? A.rows : A.cols, length = by_rows ? A.cols : A.rows;
  std::vector<double> largest(static_cast<std::size_t>(lines));
  constexpr std::int64_t strip = 64;
  const int threads = loop_threads(dev, lines * length);
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static)
  for (std::int64_t first = 0; first < lines; first += strip)
    for (std::int64_t t = 0; t < length; ++t)
      for (std::int64_t l = first; l < std::min(lines, first + strip); ++l) {
        const E& x = by_rows ? A(l, t) : A(t, l);
        double& most = largest[static_cast<std::size_t>(l)];
        const double size = std::max(std::abs(double{lower(x)}), std::abs(double{upper(x)}));
        if (!(size <= most)) most = finite(x) ? size : infinite;
      }
  std::vector<int> result;
  for (const double most : largest) {
    if (!(most < infinite)) return {};
    result.push_back(most > 0 ? std::clamp(std::ilogb(most), -1000, 1000) : 0);
  }
  return result;
}

// Not below x >= 0, which is wrong by a few units of 2^-53 and of the smallest double.
float rounded_up(double x) { return static_cast<float>(x * (1 + 0x1p-22)) + 0x1p-149F; }

template <scalar E>
images images_of(const device& dev, matrix_view<const E> A, place at, bool by_rows, std::int64_t depth,
                 std::vector<int> exponent) {
  const device here = device::cpu(1);
  images all{{here, A.rows, A.cols}, {here, A.rows, A.cols}, {here, A.rows, A.cols}, std::move(exponent)};
  std::vector<double> scale;
  for (const int e : all.exponent) scale.push_back(power_of_two(-e));
  const double rounding = static_cast<double>(depth + 1) * unit;
  const int threads = loop_threads(dev, A.rows * A.cols);
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static)
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i) {
      const double low = lower(A(i, j)), high = upper(A(i, j));
      const double m = is_interval<E> ? 0.5 * low + 0.5 * high : low;
      const double by = scale[static_cast<std::size_t>(by_rows ? i : j)];
      const double size = std::abs(m) * by;
      const double radius = is_interval<E> ? std::max(m - low, high - m) * by : 0;
      all.mid(i, j) = m;
      all.first(i, j) = rounded_up(at == place::left ? size : radius + rounding * size);
      all.second(i, j) = rounded_up(at == place::left ? radius : size + radius);
    }
  return all;
}

template <real T>
factor<T> stored(const matrix<T>& A, bool transposed) {
  return {A.all(), transposed};
}

// [m - r, m + r]; everything where a step has overflowed.
template <real T>
interval<T> around(double m, double r) {
  if (!(std::abs(m) < infinite && r < infinite)) return interval<T>::entire();
  return narrowed<T>(interval<double>::unchecked(sub_down(m, r), add_up(m, r)));
}

}  // namespace

template <>
interval<double> narrowed(interval<double> x) {
  return x;
}

template <>
interval<float> narrowed(interval<double> x) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  auto lo = static_cast<float>(x.lo()), hi = static_cast<float>(x.hi());
  if (double{lo} > x.lo()) lo = std::nextafter(lo, -inf);
  if (double{hi} < x.hi()) hi = std::nextafter(hi, inf);
  return interval<float>::unchecked(lo, hi);
}

template <scalar TA, scalar TB, real T>
void gemm_fast_cpu(const device& dev, interval<T> alpha, const factor<TA>& left, const factor<TB>& right,
                   interval<T> beta, matrix_view<interval<T>> C) {
  const std::int64_t depth = left.cols(), terms = depth * (is_interval<TA> ? 2 : 1);
  auto of_rows = exponents(dev, left.A, !left.transposed), of_cols = exponents(dev, right.A, right.transposed);
  const bool all_finite = static_cast<std::int64_t>(of_rows.size()) == C.rows &&
                          static_cast<std::int64_t>(of_cols.size()) == C.cols;
  if (is_zero(alpha) || depth == 0 || terms > most_terms || !all_finite)
    return add_products<interval<T>, TA, TB>(dev, alpha, {{left, right}}, beta, C, region::all);

  const images a = images_of(dev, left.A, place::left, !left.transposed, depth, std::move(of_rows));
  const images b = images_of(dev, right.A, place::right, right.transposed, depth, std::move(of_cols));
  matrix<double> mid(device::cpu(1), C.rows, C.cols);
  matrix<float> bound(device::cpu(1), C.rows, C.cols);
  const bool ta = left.transposed, tb = right.transposed;
  add_products<double, double, double>(dev, 1, {{stored(a.mid, ta), stored(b.mid, tb)}}, 0, mid, region::all);
  std::vector<factors<float, float>> radii{{stored(a.first, ta), stored(b.first, tb)}};
  if (is_interval<TA>) radii.push_back({stored(a.second, ta), stored(b.second, tb)});
  add_products<float, float, float>(dev, 1, radii, 0, bound, region::all);

  const double summand = static_cast<double>(terms) * 0x1p-149,
               inflation = (1 + 16 * unit) / (1 - static_cast<double>(terms) * 0x1p-24),
               underflow = static_cast<double>(depth + 4) * 0x1p-1074;
  const int threads = loop_threads(dev, C.rows * C.cols);
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static)
  for (std::int64_t j = 0; j < C.cols; ++j) {
    std::vector<interval<T>> column(static_cast<std::size_t>(C.rows));
    for (std::int64_t i = 0; i < C.rows; ++i) {
      const int e = a.exponent[static_cast<std::size_t>(i)] + b.exponent[static_cast<std::size_t>(j)];
      const double scaled = (double{bound(i, j)} + summand) * inflation;
      const double radius = scaled * power_of_two(e / 2) * power_of_two(e - e / 2) + underflow;
      column[static_cast<std::size_t>(i)] = around<T>(mid(i, j), radius * (1 + 16 * unit));
    }
    finish_column(alpha, static_cast<const interval<T>*>(column.data()), beta, C.rows, &C(0, j));
  }
}

#define VOUCH_FAST(TA, TB, T)                                                                                \
  template void gemm_fast_cpu(const device&, interval<T>, const factor<TA>&, const factor<TB>&, interval<T>, \
                              matrix_view<interval<T>>);
#define VOUCH_PRECISION(T)      \
  VOUCH_FAST(T, T, T)           \
  VOUCH_FAST(T, interval<T>, T) \
  VOUCH_FAST(interval<T>, T, T) \
  VOUCH_FAST(interval<T>, interval<T>, T)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch::detail
