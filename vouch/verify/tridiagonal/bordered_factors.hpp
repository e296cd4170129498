// vouch/verify/tridiagonal/bordered_factors.hpp -- periodic tridiagonal matrices, bounded by the factors of all
// but their last row and column; private, CPU and GPU.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/verify/tridiagonal/factors.hpp>
#include <vouch/verify/tridiagonal/row_certificate.hpp>

namespace vouch::detail {

/// v and margin of a bordered system := those of the whole, in which v and margin are those of T. The last row
/// of T^-1 s = t and of the system, r t + d z = s_n for x = (t - T^-1 c z, z), gives z = (s_n - r T^-1 s) /
/// pivot with pivot = d - r T^-1 c; and |T^-1 c| <= |y| + e v where e is at least max (|c - T y| / w) / margin.
/// For |s| <= w this is |z| <= k = (w_n + |r| v / margin) / |pivot| and |x| <= v / margin + (|y| + e v) k, k.
struct tridiagonal_border_body : tridiagonal_factors {
  double* y;  // scratch, stored as v is

  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const std::int64_t s = systems[k], n = factored_rows(s);
    const double part = margin[s];
    margin[s] = 0;
    if (!(part > 0)) return;
    const tridiagonal_row last(A, shape, s, n), first = row_at(s, 0), before = row_at(s, n - 1);
    approximate(s, n);
    const double e = outward::quotient_above(largest_residual(s, n), part);
    const double with_v = coupled(last, v[first.here], v[before.here]);
    const double pivot_of_last = least_pivot(last, first, before, outward::product_above(e, with_v));
    if (!(pivot_of_last > 0) || !rounding::finite(e)) return;
    const double factor = outward::quotient_above(
        outward::sum_above(row_weight(last), outward::quotient_above(with_v, part)), pivot_of_last);
    if (!(factor > 0) || !rounding::finite(factor)) return;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t here = shape.at(s, i);
      const double of_column = outward::sum_above(std::fabs(y[here]), outward::product_above(e, v[here]));
      v[here] =
          outward::sum_above(outward::quotient_above(v[here], part), outward::product_above(of_column, factor));
    }
    v[last.here] = factor;
    margin[s] = 1;
  }

 private:
  // The rest of the last column in row i.
  VOUCH_HOST_DEVICE double column(std::int64_t s, std::int64_t i, std::int64_t n) const {
    const tridiagonal_row row(A, shape, s, i);
    return (i == 0 ? row.l : 0) + (i + 1 == n ? row.u : 0);
  }
  // At least |r| a, r with all its data.
  VOUCH_HOST_DEVICE double coupled(const tridiagonal_row& last, double of_first, double of_before) const {
    const double sum = outward::sum_above(outward::product_above(std::fabs(last.u), of_first),
                                          outward::product_above(std::fabs(last.l), of_before));
    return within.matrix > 0 ? outward::product_above(sum, add_up(1.0, within.matrix)) : sum;
  }

  // y := about T^-1 c.
  VOUCH_HOST_DEVICE void approximate(std::int64_t s, std::int64_t n) const {
    double seen[2] = {0, 0};  // of the rows i - 1 and i - 2
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t here = shape.at(s, i);
      double value = column(s, i, n);
      if (i > 0 && pivot[here] != second) {
        const multipliers m = found_before(s, i).of(row_at(s, i));
        value -= rounded_product(m.near, seen[0]) + rounded_product(m.far, seen[1]);
      }
      y[here] = value;
      seen[1] = seen[0], seen[0] = value;
    }
    double later = 0;
    for (std::int64_t i = n - 1; i >= 0; --i) {
      const tridiagonal_row row = row_at(s, i);
      const double value = y[row.here] - rounded_product(row.u, later);
      if (pivot[row.here] != second) {
        later = value / pivot[row.here];
      } else {
        const tridiagonal_row above = row_at(s, --i);
        const double p = pivot[above.here], x = y[above.here];
        const double det = rounded_product(p, row.d) - rounded_product(above.u, row.l);
        y[row.here] = (rounded_product(p, value) - rounded_product(row.l, x)) / det;
        later = (rounded_product(row.d, x) - rounded_product(above.u, value)) / det;
      }
      y[shape.at(s, i)] = later;
    }
  }

  // At least max (|c - T y| / w), with all data.
  VOUCH_HOST_DEVICE double largest_residual(std::int64_t s, std::int64_t n) const {
    double most = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const tridiagonal_row row = row_at(s, i);
      const double c = column(s, i, n);
      row_residual<double> sum(c);
      sum.subtract(row.l, y[row.lower]);
      sum.subtract(row.d, y[row.here]);
      sum.subtract(row.u, y[row.upper]);
      double size = sum.size();
      if (within.matrix > 0)
        size = outward::sum_above(
            size,
            outward::product_above(within.matrix, outward::sum_above(sum.products_above(), std::fabs(c))));
      const double quotient = outward::quotient_above(size, row_weight(row));
      if (!(quotient <= most)) most = quotient;  // NaN remains
      if (!rounding::finite(most)) return HUGE_VAL;
    }
    return most;
  }

  // At most |d - r T^-1 c|, where |r T^-1 c - r y| <= slack; may be negative or NaN.
  VOUCH_HOST_DEVICE double least_pivot(const tridiagonal_row& last, const tridiagonal_row& first,
                                       const tridiagonal_row& before, double slack) const {
    row_residual<double> sum(last.d);
    sum.subtract(last.u, y[first.here]);
    sum.subtract(last.l, y[before.here]);
    // The rounded number is no farther from the exact one than the size adds to it.
    const double rounded = std::fabs(sum.middle()), added = sub_up(sum.size(), rounded);
    double lost = outward::sum_above(added, slack);
    if (within.matrix > 0)
      lost = outward::sum_above(
          lost,
          outward::product_above(within.matrix, outward::sum_above(sum.products_above(), std::fabs(last.d))));
    return sub_down(rounded, lost);
  }
};

}  // namespace vouch::detail
