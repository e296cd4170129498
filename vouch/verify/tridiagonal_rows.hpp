// vouch/verify/tridiagonal_rows.hpp -- what the verification does with one row of a batch of tridiagonal
// systems; private, CPU and GPU.
//
// Bodies get the system s and the row i. value(s, i) is never negative; NaN counts as the largest of all.
#pragma once
#include <atomic>
#include <cmath>
#include <cstdint>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/twofold.hpp>
#include <vouch/verify/enclosed_sum.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch::detail {

/// A row with the places of its unknowns; a neighbour that is not there has the coefficient 0 and this row's
/// place.
struct tridiagonal_row {
  double l, d, u;
  std::int64_t lower, here, upper;
  int entries;

  VOUCH_HOST_DEVICE tridiagonal_row(const tridiagonal_view<const double>& A, const batch_shape& vectors,
                                    std::int64_t s, std::int64_t i) {
    const std::int64_t last = vectors.rows(s) - 1, at = A.shape.at(s, i);
    here = vectors.at(s, i);
    const bool below = i > 0 || A.periodic, above = i < last || A.periodic;
    lower = below ? vectors.at(s, i > 0 ? i - 1 : last) : here;
    upper = above ? vectors.at(s, i < last ? i + 1 : 0) : here;
    l = below ? A.dl[at] : 0;
    d = A.d[at];
    u = above ? A.du[at] : 0;
    entries = 1 + (below ? 1 : 0) + (above ? 1 : 0);
  }
};

/// Any positive number will do, as long as it is always the same: about the size of the row.
VOUCH_HOST_DEVICE inline double row_weight(const tridiagonal_row& row) {
  return std::fabs(row.d) + (std::fabs(row.l) + std::fabs(row.u));
}

/// |b - A (x + x_lo)| / u, at least, where u is at most (<A> v)_i; infinite where v_i or u proves nothing. In
/// systems with a margin, u is margin times the weight of the row.
struct tridiagonal_ratio_body {
  tridiagonal_view<const double> A;
  batch_shape vectors;  // of b, x, x_lo, v and middle
  const double* b;
  const double* x;
  const double* x_lo;    // nullptr: zero
  const double* v;       // nullptr: ones, which serve where d is at most `slack` times u
  const double* margin;  // of each system, 0: none; nullptr: none has one
  uncertainty within;
  double* middle;  // of the residual, where something is proved; nullptr: not wanted
  int* signs;      // becomes 1 where A is not its own comparison matrix; nullptr: not wanted

  static constexpr double slack = 16;

  VOUCH_HOST_DEVICE double weight(std::int64_t i) const { return v != nullptr ? v[i] : 1.0; }

  VOUCH_HOST_DEVICE interval<double> residual(const tridiagonal_row& row) const {
    enclosed_sum sum;
    const double coefficient[3] = {row.l, row.d, row.u};
    const std::int64_t place[3] = {row.lower, row.here, row.upper};
    for (int k = 0; k < 3; ++k) {
      if (coefficient[k] == 0) continue;
      sum.add_product(-coefficient[k], x[place[k]]);
      if (x_lo != nullptr) sum.add_product(-coefficient[k], x_lo[place[k]]);
    }
    sum.add(b[row.here]);
    double wider = 0;
    if (within.matrix > 0) wider = mul_up(within.matrix, sum.magnitude_up(6));
    if (within.rhs > 0) wider = add_up(wider, mul_up(within.rhs, std::fabs(b[row.here])));
    return sum.enclosure(6, wider);
  }

  // At most (<A> v)_i; NaN or negative where v proves nothing.
  VOUCH_HOST_DEVICE double image(const tridiagonal_row& row) const {
    double least = std::fabs(row.d);
    double others =
        add_up(mul_up(std::fabs(row.l), weight(row.lower)), mul_up(std::fabs(row.u), weight(row.upper)));
    if (within.matrix > 0) {
      least = mul_down(least, sub_down(1.0, within.matrix));
      others = mul_up(others, add_up(1.0, within.matrix));
    }
    const double u = sub_down(mul_down(least, weight(row.here)), others);
    if (v == nullptr) return least <= slack * u ? u : -1;
    return weight(row.here) > 0 ? u : -1;
  }

  VOUCH_HOST_DEVICE double value(std::int64_t s, std::int64_t i) const {
    const tridiagonal_row row(A, vectors, s, i);
    if (signs != nullptr) note_signs(row);
    const double u = margin != nullptr && margin[s] > 0 ? mul_down(margin[s], row_weight(row)) : image(row);
    if (!(u > 0) || !rounding::finite(u)) return rounding::infinity<double>;
    const interval<double> r = residual(row);
    if (middle != nullptr) middle[row.here] = r.lo() / 2 + r.hi() / 2;
    const double most = ::fmax(std::fabs(r.lo()), std::fabs(r.hi()));
    if (!rounding::finite(most)) return rounding::infinity<double>;
    return most == 0 ? 0 : div_up(most, u);
  }

  VOUCH_HOST_DEVICE void note_signs(const tridiagonal_row& row) const {
    if (row.d >= 0 && row.l <= 0 && row.u <= 0) return;
#if defined(__CUDA_ARCH__)
    if (*static_cast<volatile int*>(signs) == 0) atomicExch(signs, 1);
#else
    std::atomic_ref<int>(*signs).store(1, std::memory_order_relaxed);
#endif
  }
};

/// radius := at least ratio v + |x_lo|; the value is the largest relative error, see relative_body.
struct tridiagonal_radius_body {
  batch_shape vectors;
  const double* ratio;  // of each system; infinite: nothing is proved of it
  const double* x;
  const double* x_lo;
  const double* v;
  double* radius;

  VOUCH_HOST_DEVICE double value(std::int64_t s, std::int64_t i) const {
    const std::int64_t at = vectors.at(s, i);
    double most = ratio[s];
    if (v != nullptr && rounding::finite(most)) most = mul_up(most, v[at]);
    if (x_lo != nullptr) most = add_up(most, std::fabs(x_lo[at]));
    radius[at] = most;
    if (most == 0) return 0;
    const double least = sub_down(std::fabs(x[at]), most);
    return least > 0 ? div_up(most, least) : rounding::infinity<double>;
  }
};

/// About the sum of the magnitudes of a row.
struct row_weight_body {
  tridiagonal_view<const double> A;
  batch_shape vectors;
  VOUCH_HOST_DEVICE double value(std::int64_t s, std::int64_t i) const {
    return row_weight(tridiagonal_row(A, vectors, s, i));
  }
};

/// |v|.
struct batch_size_body {
  batch_shape vectors;
  const double* v;
  VOUCH_HOST_DEVICE double value(std::int64_t s, std::int64_t i) const {
    return std::fabs(v[vectors.at(s, i)]);
  }
};

/// The comparison matrix, stored as the vectors are; the value is of no use.
struct tridiagonal_comparison_body {
  tridiagonal_view<const double> A;
  batch_shape vectors;
  double* dl;
  double* d;
  double* du;
  VOUCH_HOST_DEVICE double value(std::int64_t s, std::int64_t i) const {
    const tridiagonal_row row(A, vectors, s, i);
    dl[row.here] = -std::fabs(row.l);
    d[row.here] = std::fabs(row.d);
    du[row.here] = -std::fabs(row.u);
    return 0;
  }
};

/// x + lo := x + lo + step about; the value is of no use.
struct batch_improve_body {
  batch_shape vectors;
  const double* step;
  double* x;
  double* lo;
  VOUCH_HOST_DEVICE double value(std::int64_t s, std::int64_t i) const {
    const std::int64_t at = vectors.at(s, i);
    const twofold<double> sum = twofold<double>{x[at], lo[at]} + step[at];
    x[at] = sum.hi;
    lo[at] = sum.lo;
    return 0;
  }
};

/// One system whose comparison matrix proves nothing: elimination without interchanges gives bidiagonal L and U
/// near A, E = L U - A. For them |L^-1| = <L>^-1 and |U^-1| = <U>^-1, so that v >= <U>^-1 <L>^-1 w, w > 0 and
/// |E| v <= delta w with delta < 1 prove |A^-1 r| <= max_i (|r_i| / w_i) / (1 - delta) v.
struct tridiagonal_lu_body {
  tridiagonal_view<const double> A;
  batch_shape vectors;
  uncertainty within;
  const std::int64_t* systems;
  double* pivot;   // scratch, stored as the vectors are
  double* v;       // of these systems
  double* margin;  // at most 1 - delta, or 0 where nothing was proved

  VOUCH_HOST_DEVICE static double size_up(double low, double high) {
    return ::fmax(std::fabs(low), std::fabs(high));
  }

  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const std::int64_t s = systems[k], n = vectors.rows(s);
    margin[s] = 0;
    if (A.periodic) return;
    double before = 1, y = 0, u_before = 0;
    for (std::int64_t i = 0; i < n; ++i) {  // v holds y = <L>^-1 w for now
      const tridiagonal_row row(A, vectors, s, i);
      const double l = row.l == 0 ? 0 : row.l / before;
      const double p = row.d - rounded_product(l, u_before);
      y = fma_up(std::fabs(l), y, row_weight(row));
      pivot[row.here] = before = p;
      v[row.here] = y;
      u_before = row.u;
      if (p == 0 || !rounding::finite(p) || !rounding::finite(y)) return;
    }
    double later = 0;
    for (std::int64_t i = n - 1; i >= 0; --i) {
      const tridiagonal_row row(A, vectors, s, i);
      later = div_up(fma_up(std::fabs(row.u), later, v[row.here]), std::fabs(pivot[row.here]));
      v[row.here] = later;
      if (!rounding::finite(later)) return;
    }
    margin[s] = proved_margin(s, n);
  }

  VOUCH_HOST_DEVICE double proved_margin(std::int64_t s, std::int64_t n) const {
    double delta = 0, u_before = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const tridiagonal_row row(A, vectors, s, i);
      const double p = pivot[row.here], before = i > 0 ? pivot[row.lower] : 1;
      const double l = row.l == 0 ? 0 : row.l / before;
      double below = row.l == 0 ? 0 : size_up(fma_down(l, before, -row.l), fma_up(l, before, -row.l));
      double middle =
          size_up(add_down(fma_down(l, u_before, -row.d), p), add_up(fma_up(l, u_before, -row.d), p));
      double above = 0;
      if (within.matrix > 0) {
        below = fma_up(within.matrix, std::fabs(row.l), below);
        middle = fma_up(within.matrix, std::fabs(row.d), middle);
        above = mul_up(within.matrix, std::fabs(row.u));
      }
      const double sum = fma_up(above, v[row.upper], fma_up(middle, v[row.here], mul_up(below, v[row.lower])));
      const double quotient = div_up(sum, row_weight(row));
      if (!(quotient < 1)) return 0;
      delta = ::fmax(delta, quotient);
      u_before = row.u;
    }
    return sub_down(1.0, delta);
  }
};

}  // namespace vouch::detail
