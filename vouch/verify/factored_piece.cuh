// vouch/verify/factored_piece.cuh -- a thread's rows of a tridiagonal system that needs interchanges: pivots
// near those of an elimination, and v that is proved by them; private.
//
// The factors of tridiagonal_factors.hpp, with the multipliers that belong to the pivots exactly, so that only
// the diagonals of first rows of pivots err. Nothing is correctly rounded: inverses are near by 2^-49, which is
// checked, and what that does to v and to the diagonals is bounded beforehand. Everything else is rounded
// upwards. docs/rigor.md, "tridiagonal: quick factors".
#pragma once
#include <cstdint>

#include <vouch/verify/system_lanes.cuh>

namespace vouch::detail {

/// Rows of a thread; odd, so that threads that step through theirs use other banks.
constexpr int rows_of_lane = 17;
/// So many rows of a loop are unrolled: instructions of all would not fit where they are kept.
constexpr int rows_together = 4;

/// What v exceeds N w by at least, and ratios by inverses: a factor above 1.
constexpr double quick_slack = 1 + 0x1p-30;
/// delta, at most, for that much larger v.
constexpr double quick_delta = 0x1p-8 + 0x1p-36;

/// The rows of a lane in shared memory; one more behind them is read, which says nothing that counts.
struct rows_in_memory {
  double *l, *d, *u, *other;

  __device__ double weight(int k) const { return fabs(d[k]) + (fabs(l[k]) + fabs(u[k])); }
};

/// The pivots of a piece and v of its rows. All that share its system call the same.
template <class Lanes>
class factored_piece {
 public:
  /// What lies left of a system's first and right of its last entry is 0, rows behind the last are those of the
  /// identity; weights lie between 2^-300 and 2^300.
  __device__ factored_piece(const rows_in_memory& rows, const Lanes& lanes) : in_(rows), lanes_(lanes) {}

  /// v into the place of l; all others go. False where nothing is proved.
  __device__ bool find() {
    const double u_before = lanes_.first() ? 0 : in_.u[-1], first_lu = in_.l[0] * u_before;
    const double first_d = in_.d[0], first_w = in_.weight(0);
    const double inverse = lanes_.all_before(minors(u_before)).quotient();
    const going down = eliminate(u_before, inverse);
    const double true_inverse = lanes_.of_one_before(down.inverse);
    const double p = (squares_ & 1) != 0 ? in_.other[0] : fma(-first_lu, inverse, first_d);
    const double jump = lanes_.first() ? 0 : fabs(fma(-first_lu, true_inverse, first_d) - p);
    const piece_sum up = turn(lanes_.all_before(down.sum).at[0]);
    ascend(lanes_.all_behind(up).at[0]);
    return !bad_ & (guess_ < quick_inverse::good_error) & errors_are_small(first_d, first_w, p, jump);
  }
  __device__ int largest_v() const { return largest_v_; }

 private:
  static constexpr int golden = 727928;  // octave times the binary logarithm of the golden ratio

  struct going {
    piece_sum sum;
    double inverse;
  };

  __device__ piece_minors minors(double u) const {
    piece_minors of;
#pragma unroll rows_together
    for (int k = 0; k < rows_of_lane; ++k) {
      const double lu = in_.l[k] * u, d = in_.d[k];
      u = in_.u[k];
      for (int c = 0; c < 2; ++c) {
        const double next = fma(d, of.at[c], -(lu * of.at[2 + c]));
        of.at[2 + c] = of.at[c];
        of.at[c] = next;
      }
      if (k % 4 == 3) of.scale();
    }
    of.scale();
    return of;
  }

  // Pivots, and what goes to the piece behind this one of |L^-1| w.
  //
  // Of a row alone: p = d - l u / p', where p' is the pivot before it, or 1 / p' the last entry of the inverse
  // of a square. The determinant of a square is its first pivot times d less l u: the same form. A pivot takes
  // the next row, too, where |p| w' < 0.62 |u l'|, the primed ones of that row: so the next pivot would be
  // larger than 2.6 w'. That is about so: high words are looked at.
  __device__ going eliminate(double u_before, double inverse) {
    double scale = 1, s = 0, slope = 1, z_before = 0, w = in_.weight(0);
    int high_w = high_of(w);
    bool inside = false, uncounted = true;
#pragma unroll rows_together
    for (int k = 0; k < rows_of_lane; ++k) {
      const double l = fabs(in_.l[k]), u = in_.u[k], lu = in_.l[k] * u_before, next_w = in_.weight(k + 1);
      const int high_next_w = high_of(next_w);
      const int small = high_of(in_.l[k + 1]) - high_next_w + high_of(u) - golden;
      double p = fma(-lu, inverse, scale * in_.d[k]);
      const int high = high_of(p);
      const bool square = !inside & (high < small) & (k + 1 < rows_of_lane);
      p = square & (high < high_of_power(-400)) ? 0 : p;
      const quick_inverse of(p);
      const double y = of.value(), r = of.times(scale), of_next = __dmul_ru(l, fabs(y));
      guess_ = ::max(guess_, square ? 0 : high_of(of.error));
      growth_ = ::max(growth_, uncounted ? 0 : high - high_w);
      bad_ |= inside & (high_of(lu) >= high + 2 * octave);
      in_.other[k] = square ? p : y;
      const double alone = __fma_ru(l, s, w), far = __dmul_ru(of_next, z_before);
      const double z = inside ? w : alone;
      s = __fma_ru(fabs(r), z, inside ? far : 0);
      slope = __dmul_ru(slope, square ? l : of_next);
      z_before = z;
      squares_ |= square ? 1u << k : 0u;
      scale = square ? p : 1;
      inverse = square ? 1 : r;
      inside = uncounted = square;
      u_before = u;
      w = next_w;
      high_w = high_next_w;
    }
    return {{{s, slope}}, inverse};
  }

  // What is known of v from v of the row behind its pivot, g + c times that, into the places of l and d; what
  // goes to the piece before this one.
  __device__ piece_sum turn(double s) {
    double z_before = 0, u_before = 0, q_before = 0, base = 0, slope = 1;
    bool inside = false;
#pragma unroll rows_together
    for (int k = 0; k < rows_of_lane; ++k) {
      const bool square = (squares_ >> k & 1) != 0;
      const double q = fabs(in_.other[k]), l = fabs(in_.l[k]), u = fabs(in_.u[k]), d = fabs(in_.d[k]);
      const double w = d + (l + u), r = inside ? __dmul_ru(q, q_before) : q;
      const double alone = __fma_ru(l, s, w), far = __dmul_ru(__dmul_ru(l, q), z_before);
      const double z = inside ? w : alone;
      s = __fma_ru(r, z, inside ? far : 0);
      const double c = __dmul_ru(r, u), above = __dmul_ru(q, u_before), first_c = __dmul_ru(above, u);
      const double first_g = __fma_ru(above, z, __dmul_ru(__dmul_ru(q, d), z_before));
      in_.l[k] = s;
      in_.d[k] = c;
      if (inside) in_.l[k - 1] = first_g, in_.d[k - 1] = first_c;
      base = square ? base : __fma_ru(slope, inside ? first_g : s, base);
      slope = square ? slope : __dmul_ru(slope, inside ? first_c : c);
      z_before = z;
      u_before = u;
      q_before = q;
      inside = square;
    }
    return {{base, slope}};
  }

  // v from that of the row behind the piece.
  __device__ void ascend(double v) {
    double behind = 0;
#pragma unroll rows_together
    for (int k = rows_of_lane - 1; k >= 0; --k) {
      const double next = __fma_ru(in_.d[k], (squares_ >> k & 1) != 0 ? behind : v, in_.l[k]);
      behind = v;
      in_.l[k] = v = next;
      largest_v_ = ::max(largest_v_, high_of(v));
    }
  }

  // Whether |E| v <= delta w. Of the first row, whose pivot others gave, by itself; of the others by the
  // largest v and the largest |p| / w, of which high words are within an eleventh of an octave.
  __device__ bool errors_are_small(double d, double w, double p, double jump) const {
    const double error = (fma(jump, 0x1p47 + 4, fabs(d)) + fabs(p)) * in_.l[0];
    return (high_of(error) < high_of(w) + 39 * octave) & (largest_v_ < high_of_power(37) - growth_);
  }

  rows_in_memory in_;  // other: of a row alone the inverse of its pivot, of two their first pivot and the
                       // inverse of their determinant
  Lanes lanes_;
  unsigned squares_ = 0;  // bit k: rows k and k + 1 share a pivot
  int guess_ = 0, growth_ = 0,
      largest_v_ = 0;  // high words: of errors of guesses of inverses, |p| / w from 1 on, v
  bool bad_ = false;
};

}  // namespace vouch::detail
