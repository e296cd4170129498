// The compensated inner product, in lanes: by rows the lanes of a vector take every 64th column, by columns 64
// rows stand side by side. Sums are exact up to an error term, error terms are summed plainly.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/require.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/dense/square.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/sparse/residual_row.hpp>

#if defined(__x86_64__) && !defined(VOUCH_SANITIZED)
#define VOUCH_FMA_CLONES __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define VOUCH_FMA_CLONES
#endif

namespace vouch {
namespace {

using detail::residual_norms;
using detail::square_matrix;

constexpr int width = 64;           // lanes along a row
constexpr std::int64_t strip = 64;  // rows that a thread takes at a time

// Lanes of sums high + low with the magnitudes of what was summed: |a| and |a x|.
template <int Lanes>
struct lane_sums {
  double high[Lanes], low[Lanes], magnitude[Lanes], product[Lanes];
};

// One more term -a x in lane l.
template <int Lanes>
[[gnu::always_inline]] inline void subtract(lane_sums<Lanes>& s, int l, double a, double x) {
  const double p = a * x;
  const double e = __builtin_fma(a, x, -p);
  const double h = s.high[l] - p;
  const double z = h - s.high[l];
  s.low[l] += ((s.high[l] - (h - z)) - (p + z)) - e;
  s.high[l] = h;
}

template <int Lanes>
[[gnu::always_inline]] inline void note(lane_sums<Lanes>& s, int l, double a, double x) {
  s.magnitude[l] += __builtin_fabs(a);
  s.product[l] += __builtin_fabs(a * x);
}

// What a row gives: the residual as high + low.
struct row_sums {
  double high, low, magnitude, product;
  double rounded() const { return high + low; }
};

template <real T>
[[gnu::always_inline]] inline row_sums row_body(const T* a, std::int64_t n, double b, const T* x,
                                                const T* x_lo) {
  lane_sums<width> s{};
  std::int64_t j = 0;
  for (; j + width <= n; j += width)
    for (int l = 0; l < width; ++l) {
      subtract(s, l, double{a[j + l]}, double{x[j + l]});
      note(s, l, double{a[j + l]}, double{x[j + l]});
    }
  for (int l = 0; j + l < n; ++l) {
    subtract(s, l, double{a[j + l]}, double{x[j + l]});
    note(s, l, double{a[j + l]}, double{x[j + l]});
  }
  if (x_lo != nullptr)
    for (j = 0; j < n; ++j) subtract(s, static_cast<int>(j % width), double{a[j]}, double{x_lo[j]});
  double_double<double> sum{b, 0};
  row_sums row{0, 0, 0, 0};
  for (int l = 0; l < width; ++l) {
    sum = two_sum(sum.hi, s.high[l]);
    row.low += sum.lo;
    row.low += s.low[l];
    row.magnitude += s.magnitude[l];
    row.product += s.product[l];
  }
  row.high = sum.hi;
  return row;
}

// `rows` rows at once (at most a strip) of a matrix by columns.
template <real T>
[[gnu::always_inline]] inline void strip_body(const T* a, std::int64_t ld, std::int64_t n, std::int64_t rows,
                                              const T* b, const T* x, const T* x_lo, row_sums* result) {
  lane_sums<strip> s{};
  for (std::int64_t i = 0; i < rows; ++i) s.high[i] = double{b[i]};
  for (std::int64_t j = 0; j < n; ++j) {
    const T* column = a + j * ld;
    const double high = x[j];
    if (rows == strip)
      for (int i = 0; i < static_cast<int>(strip); ++i) {
        subtract(s, i, double{column[i]}, high);
        note(s, i, double{column[i]}, high);
      }
    else
      for (int i = 0; i < static_cast<int>(rows); ++i) {
        subtract(s, i, double{column[i]}, high);
        note(s, i, double{column[i]}, high);
      }
    if (x_lo != nullptr)
      for (int i = 0; i < static_cast<int>(rows); ++i) subtract(s, i, double{column[i]}, double{x_lo[j]});
  }
  for (std::int64_t i = 0; i < rows; ++i) result[i] = {s.high[i], s.low[i], s.magnitude[i], s.product[i]};
}

#define VOUCH_RESIDUAL_KERNELS(T)                                                                         \
  VOUCH_FMA_CLONES row_sums row_kernel(const T* a, std::int64_t n, double b, const T* x, const T* x_lo) { \
    return row_body<T>(a, n, b, x, x_lo);                                                                 \
  }                                                                                                       \
  VOUCH_FMA_CLONES void strip_kernel(const T* a, std::int64_t ld, std::int64_t n, std::int64_t rows,      \
                                     const T* b, const T* x, const T* x_lo, row_sums* result) {           \
    strip_body<T>(a, ld, n, rows, b, x, x_lo, result);                                                    \
  }
VOUCH_RESIDUAL_KERNELS(float)
VOUCH_RESIDUAL_KERNELS(double)
#undef VOUCH_RESIDUAL_KERNELS

// Hands take(strip, first row, rows, sums) every strip, from several threads.
template <real T, class Take>
void for_each_strip(const device& dev, const square_matrix<T>& A, const T* b, const T* x, const T* x_lo,
                    Take take) {
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (A.n > 4 * strip)
  for (std::int64_t k = 0; k < ceil_div(A.n, strip); ++k) {
    row_sums sums[strip];
    const std::int64_t first = k * strip, rows = std::min(strip, A.n - first);
    if (A.by_rows)
      for (std::int64_t i = 0; i < rows; ++i)
        sums[i] = row_kernel(A.at(first + i, 0), A.n, double{b[first + i]}, x, x_lo);
    else
      strip_kernel(A.at(first, 0), A.ld, A.n, rows, b + first, x, x_lo, sums);
    take(k, first, rows, sums);
  }
}

}  // namespace

template <real T>
residual_facts residual(const device& dev, transpose op, matrix_view<const T> A, view<const T> b,
                        view<const T> x_hi, const T* x_lo, view<T> r) {
  const ieee_environment here;
  const square_matrix<T> square = detail::make_square(op, A);
  detail::require_contiguous("residual", "b", b, A.rows);
  detail::require_contiguous("residual", "r", r, A.rows);
  detail::require_contiguous("residual", "x", x_hi, A.rows);
  std::vector<residual_norms> partial(static_cast<std::size_t>(ceil_div(A.rows, strip)));
  for_each_strip(dev, square, b.data(), x_hi.data(), x_lo,
                 [&](std::int64_t k, std::int64_t first, std::int64_t rows, const row_sums* sums) {
                   residual_norms& norms = partial[static_cast<std::size_t>(k)];
                   for (std::int64_t i = 0; i < rows; ++i) {
                     const double b_i = b[first + i];
                     r[first + i] = static_cast<T>(sums[i].rounded());
                     norms.add_row(r[first + i], b_i, sums[i].magnitude, sums[i].product);
                     norms.add_x(x_lo != nullptr ? x_hi[first + i] + x_lo[first + i] : x_hi[first + i]);
                   }
                 });
  residual_norms all;
  for (const residual_norms& part : partial) all.merge(part);
  const auto n = static_cast<double>(A.rows);
  return all.facts(n * n + n);
}

template <real T>
void residual_bound(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<const T> x,
                    view<double> bound) {
  const ieee_environment here;
  const square_matrix<T> square = detail::make_square(op, A);
  // The sum is exact but for the rounding of the at most 3 n + 32 error terms among themselves: each is at most
  // u times what has been summed, u = 2^-53, and so are the roundings of the magnitudes.
  const double count = 4 * (static_cast<double>(A.rows) + 8);
  const double slack = mul_up(mul_up(count, count), 0x1p-106);
  const double underflow = mul_up(count, 0x1p-1074);
  for_each_strip(dev, square, b.data(), x.data(), static_cast<const T*>(nullptr),
                 [&](std::int64_t, std::int64_t first, std::int64_t rows, const row_sums* sums) {
                   for (std::int64_t i = 0; i < rows; ++i) {
                     const double b_i = std::fabs(double{b[first + i]});
                     const double summed = add_up(b_i, mul_up(1 + 0x1p-20, sums[i].product));
                     const double high = std::fabs(sums[i].high), low = std::fabs(sums[i].low);
                     bound[first + i] = add_up(add_up(high, low), add_up(mul_up(slack, summed), underflow));
                   }
                 });
}

#define VOUCH_INSTANTIATE(T)                                                                                   \
  template VOUCH_PUBLIC residual_facts residual(const device&, transpose, matrix_view<const T>, view<const T>, \
                                                view<const T>, const T*, view<T>);                             \
  template VOUCH_PUBLIC void residual_bound(const device&, transpose, matrix_view<const T>, view<const T>,     \
                                            view<const T>, view<double>);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
