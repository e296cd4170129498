// vouch/verify/tridiagonal_factors.hpp -- factors near a tridiagonal matrix whose inverses can be bounded;
// private, CPU and GPU.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/verify/outward.hpp>
#include <vouch/verify/tridiagonal_rows.hpp>

namespace vouch::detail {

/// One system whose comparison matrix proves nothing. Elimination without interchanges, a pivot being one entry
/// or a square of two rows, gives L and U near A, E = L U - A: L has the unit matrix in the places of its
/// pivots and one row of multipliers left of each, U the pivots and A's entries above them. In their inverses
/// every entry is one product of entries and of inverses of pivots, so that the same with magnitudes gives
/// |L^-1| and |U^-1|. With v >= |U^-1| |L^-1| w, w > 0 and |E| v <= delta w, delta < 1, |A^-1 r| <= max_i
/// (|r_i| / w_i) / (1 - delta) v. Source  The choice of pivots: Erway, Marcia, Tyson, IAENG Int. J. Appl. Math.
/// 40 (2010).
struct tridiagonal_lu_body {
  tridiagonal_view<const double> A;
  batch_shape shape;  // of v
  uncertainty within;
  const std::int64_t* systems;
  double* pivot;   // scratch, stored as v is: `second` in the second row of a square
  double* v;       // of these systems
  double* margin;  // of each system: at most 1 - delta, or 0 where nothing was proved

  static constexpr double second = HUGE_VAL;

  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const std::int64_t s = systems[k], n = shape.rows(s);
    margin[s] = 0;
    if (A.periodic || !eliminate(s, n) || !substitute(s, n)) return;
    margin[s] = proved_margin(s, n);
  }

 private:
  VOUCH_HOST_DEVICE tridiagonal_row row_at(std::int64_t s, std::int64_t i) const { return {A, shape, s, i}; }

  /// What L has left of a row's pivot.
  struct multipliers {
    double far = 0, near = 0;  // of rows i - 2 and i - 1
  };
  VOUCH_HOST_DEVICE static multipliers of_row(const tridiagonal_row& row, double pivot_before) {
    return {0, row.l == 0 ? 0 : row.l / pivot_before};
  }
  VOUCH_HOST_DEVICE static double determinant(double p, const tridiagonal_row& first,
                                              const tridiagonal_row& last) {
    return rounded_product(p, last.d) - rounded_product(last.l, first.u);
  }
  VOUCH_HOST_DEVICE static multipliers of_square(const tridiagonal_row& row, double p,
                                                 const tridiagonal_row& first, const tridiagonal_row& last) {
    if (row.l == 0) return {};
    const double det = determinant(p, first, last);
    return {-rounded_product(row.l, last.l / det), rounded_product(row.l, p / det)};
  }
  /// Whether the pivot of row i is a square with the row after it: where p alone is small beside what it would
  /// multiply.
  VOUCH_HOST_DEVICE bool takes_square(std::int64_t s, std::int64_t i, std::int64_t n, double p,
                                      const tridiagonal_row& row) const {
    if (i + 1 == n) return false;
    constexpr double golden = 0.6180339887498949;
    const tridiagonal_row next = row_at(s, i + 1);
    double size = ::fmax(std::fabs(row.u), row_weight(next));
    if (i + 2 < n) size = ::fmax(size, std::fabs(row_at(s, i + 2).l));
    return std::fabs(p) * size < golden * std::fabs(row.u) * std::fabs(next.l);
  }

  // Finds the pivots; v becomes |L^-1| w. False where a pivot is no number.
  VOUCH_HOST_DEVICE bool eliminate(std::int64_t s, std::int64_t n) const {
    tridiagonal_row before = row_at(s, 0), far = before;
    for (std::int64_t i = 0; i < n; ++i) {
      const tridiagonal_row row = row_at(s, i);
      double y = row_weight(row);
      multipliers m;
      if (i > 0 && pivot[before.here] == second)
        m = of_square(row, pivot[far.here], far, before);
      else if (i > 0)
        m = of_row(row, pivot[before.here]);
      const double p = i > 0 ? row.d - rounded_product(m.near, before.u) : row.d;
      if (m.near != 0) y = outward::sum_above(y, outward::product_above(std::fabs(m.near), v[before.here]));
      if (m.far != 0) y = outward::sum_above(y, outward::product_above(std::fabs(m.far), v[far.here]));
      pivot[row.here] = p;
      v[row.here] = y;
      far = before;
      before = row;
      if (!rounding::finite(p) || !rounding::finite(y)) return false;
      if (!takes_square(s, i, n, p, row)) continue;
      far = row;
      before = row_at(s, ++i);
      pivot[before.here] = second;
      v[before.here] = row_weight(before);
    }
    return true;
  }

  // v := |U^-1| v. False where it is no number.
  VOUCH_HOST_DEVICE bool substitute(std::int64_t s, std::int64_t n) const {
    double later = 0;
    for (std::int64_t i = n - 1; i >= 0; --i) {
      const tridiagonal_row row = row_at(s, i);
      const double y = outward::sum_above(v[row.here], outward::product_above(std::fabs(row.u), later));
      if (pivot[row.here] != second) {
        later = outward::quotient_above(y, std::fabs(pivot[row.here]));
      } else {
        const tridiagonal_row first = row_at(s, --i);
        const double p = pivot[first.here], low = sub_down(mul_down(p, row.d), mul_up(row.l, first.u)),
                     high = sub_up(mul_up(p, row.d), mul_down(row.l, first.u));
        const double det = ::fmax(low, -high), x = v[first.here];
        v[row.here] = through_square(std::fabs(row.l), x, std::fabs(p), y, det);
        later = through_square(std::fabs(row.d), x, std::fabs(first.u), y, det);
        if (!(det > 0) || !rounding::finite(v[row.here])) return false;
        v[first.here] = later;
        if (!rounding::finite(later)) return false;
        continue;
      }
      v[row.here] = later;
      if (!rounding::finite(later)) return false;
    }
    return true;
  }
  // At least (a x + b y) / det.
  VOUCH_HOST_DEVICE static double through_square(double a, double x, double b, double y, double det) {
    const double sum = outward::sum_above(outward::product_above(a, x), outward::product_above(b, y));
    return outward::quotient_above(sum, det);
  }

  VOUCH_HOST_DEVICE double proved_margin(std::int64_t s, std::int64_t n) const {
    double delta = 0;
    tridiagonal_row before = row_at(s, 0), far = before;
    for (std::int64_t i = 0; i < n; ++i) {
      const tridiagonal_row row = row_at(s, i);
      double sum = 0;
      if (i > 0 && pivot[row.here] != second) sum = error_of_row(row, before, far);
      if (within.matrix > 0) sum = outward::sum_above(sum, spread_of_row(row));
      const double quotient = sum == 0 ? 0 : outward::quotient_above(sum, row_weight(row));
      if (!(quotient < 1)) return 0;
      delta = ::fmax(delta, quotient);
      far = before;
      before = row;
    }
    return sub_down(1.0, delta);
  }
  // At least (|E| v)_i for the first row of a pivot.
  VOUCH_HOST_DEVICE double error_of_row(const tridiagonal_row& row, const tridiagonal_row& before,
                                        const tridiagonal_row& far) const {
    const bool square = pivot[before.here] == second;
    const double p = pivot[row.here], q = pivot[square ? far.here : before.here];
    const multipliers m = square ? of_square(row, q, far, before) : of_row(row, q);
    double sum = 0;
    const auto add = [&](double size, double of_v) {
      sum = outward::sum_above(sum, outward::product_above(size, of_v));
    };
    if (square) {
      add(outward::size_of_fused_above(m.far, q, rounded_product(m.near, before.l), false), v[far.here]);
      add(outward::size_of_fused_above(m.far, far.u, std::fma(m.near, before.d, -row.l), false),
          v[before.here]);
    } else if (row.l != 0) {
      add(outward::size_of_fused_above(m.near, q, -row.l, true), v[before.here]);
    }
    add(outward::size_of_fused_above(1.0, p, std::fma(m.near, before.u, -row.d), m.near == 0), v[row.here]);
    return sum;
  }
  // At least (radius |A| v)_i.
  VOUCH_HOST_DEVICE double spread_of_row(const tridiagonal_row& row) const {
    const double sum =
        outward::sum_above(outward::product_above(std::fabs(row.d), v[row.here]),
                           outward::sum_above(outward::product_above(std::fabs(row.l), v[row.lower]),
                                              outward::product_above(std::fabs(row.u), v[row.upper])));
    return outward::product_above(within.matrix, sum);
  }
};

}  // namespace vouch::detail
