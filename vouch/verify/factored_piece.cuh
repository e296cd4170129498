// vouch/verify/factored_piece.cuh -- a thread's rows of a tridiagonal system that needs interchanges: pivots
// near those of an elimination, and v that is proved by them; private.
//
// The factors of tridiagonal_factors.hpp, with the multipliers that belong to the pivots exactly, so that only
// the diagonals of first rows of pivots err. Nothing is correctly rounded: inverses are near by 2^-49, which is
// checked, and what that does to v and to the diagonals is bounded beforehand. Everything else is rounded
// upwards. docs/rigor.md, "tridiagonal: quick factors".
#pragma once
#include <cstdint>

#include <vouch/verify/batch_visit.cuh>

namespace vouch::detail {

/// Rows of a thread; odd, so that threads that step through theirs use other banks.
constexpr int rows_of_lane = 17;

/// What v exceeds N w by at least, and ratios by inverses: a factor above 1.
constexpr double quick_slack = 1 + 0x1p-30;
/// delta, at most.
constexpr double quick_delta = 0x1p-8;

constexpr int octave = 1 << 20;  // between high words of numbers of which one is twice the other
constexpr int high_of_power(int exponent) { return (1023 + exponent) * octave; }
/// From 2^-reach to below 2^reach.
__device__ inline bool within_powers(int high, int reach) {
  return static_cast<unsigned>(high - high_of_power(-reach)) < static_cast<unsigned>(2 * reach * octave);
}

/// 1 / d, or x / d, by a guess that is right to some 20 bits: within 2^-51 of themselves, 1 / d within 2^-52,
/// where the guess is good and nothing underflows.
struct quick_inverse {
  double guess, error, step;

  __device__ explicit quick_inverse(double d) {
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(d));
    error = fma(-d, guess, 1.0);
    step = fma(error, error, error);
  }
  __device__ bool good() const { return high_of(error) < high_of_power(-18); }
  __device__ double value() const { return fma(guess, step, guess); }
  __device__ double times(double x) const {
    const double first = x * guess;
    return fma(first, step, first);
  }
};

/// How the last two leading minors of a piece come from the two before it, scaled by any number.
struct minors_of_piece {
  double here[2], before[2];

  __device__ void scale() {
    const int high =
        ::max(::max(high_of(here[0]), high_of(here[1])), ::max(high_of(before[0]), high_of(before[1])));
    const double power = __hiloint2double(high_of_power(1023) - (high & -octave), 0);
    for (int c = 0; c < 2; ++c) here[c] *= power, before[c] *= power;
  }
  /// The same of the piece and of another before it.
  __device__ void extend(const minors_of_piece& other) {
    const minors_of_piece own = *this;
    for (int c = 0; c < 2; ++c) {
      here[c] = fma(own.here[0], other.here[c], own.here[1] * other.before[c]);
      before[c] = fma(own.before[0], other.here[c], own.before[1] * other.before[c]);
    }
    scale();
  }
};

/// The lanes of a warp that share a system: `pieces`, a power of two, this one being the `piece`-th of them.
struct lanes_of_system {
  int pieces, piece;

  template <class T>
  __device__ T before(T value, int step) const {
    return __shfl_up_sync(~0u, value, static_cast<unsigned>(step), pieces);
  }
  template <class T>
  __device__ T behind(T value, int step) const {
    return __shfl_down_sync(~0u, value, static_cast<unsigned>(step), pieces);
  }

  /// What comes to a piece from before it, where base + slope times that goes on from each.
  __device__ double coming_down(double base, double slope) const {
#pragma unroll 1
    for (int step = 1; step < pieces; step *= 2) {
      const double b = before(base, step), s = before(slope, step);
      if (piece < step) continue;
      base = __fma_ru(slope, b, base);
      slope = __dmul_ru(slope, s);
    }
    const double b = before(base, 1);
    return piece > 0 ? b : 0;
  }
  /// Likewise from behind it.
  __device__ double coming_up(double base, double slope) const {
#pragma unroll 1
    for (int step = 1; step < pieces; step *= 2) {
      const double b = behind(base, step), s = behind(slope, step);
      if (piece + step >= pieces) continue;
      base = __fma_ru(slope, b, base);
      slope = __dmul_ru(slope, s);
    }
    const double b = behind(base, 1);
    return piece + 1 < pieces ? b : 0;
  }
  /// (last minor but one) / (last minor) before the piece.
  __device__ double minors_before(minors_of_piece own) const {
#pragma unroll 1
    for (int step = 1; step < pieces; step *= 2) {
      minors_of_piece other;
      for (int c = 0; c < 2; ++c) {
        other.here[c] = before(own.here[c], step);
        other.before[c] = before(own.before[c], step);
      }
      if (piece >= step) own.extend(other);
    }
    const double here = before(own.here[0], 1), last_but_one = before(own.before[0], 1);
    return piece > 0 ? quick_inverse(here).times(last_but_one) : 0;
  }
  /// Of all lanes of the system.
  __device__ int largest(int value) const {
    for (int step = pieces / 2; step > 0; step /= 2)
      value = ::max(value, __shfl_xor_sync(~0u, value, step, pieces));
    return value;
  }
};

/// The pivots of a piece and v of its rows, in the order of the functions. All lanes of a warp call them.
class factored_piece {
 public:
  /// Rows in shared memory: what lies left of a system's first and right of its last entry is 0, rows behind
  /// the last are those of the identity.
  __device__ factored_piece(const double* l, const double* d, const double* u, const lanes_of_system& lanes)
      : l_(l), d_(d), u_(u), lanes_(lanes), u_before_(lanes.piece > 0 ? u[-1] : 0) {}

  /// False where nothing is proved.
  __device__ bool find() {
    const double first_lu = l_[0] * u_before_, first = fma(-first_lu, lanes_.minors_before(minors()), d_[0]);
    const going down = eliminate(first);
    const double inverse_before = lanes_.before(down.inverse, 1);
    if (lanes_.piece > 0) jump_ = fabs(fma(-first_lu, inverse_before, d_[0]) - first_pivot_);
    turn(lanes_.coming_down(down.base, down.slope));
    double base = 0, slope = 1;
    ascend<false>(base, slope);
    base = lanes_.coming_up(base, slope);
    ascend<true>(base, slope);
    return good_;
  }
  __device__ double v(int k) const { return g_[k]; }
  __device__ int largest_v() const { return largest_v_; }
  __device__ double weight(int k) const { return fabs(d_[k]) + (fabs(l_[k]) + fabs(u_[k])); }

 private:
  static constexpr int smallest_pivot = high_of_power(-500), largest_power = 90;
  static constexpr int golden = 727928;  // octave times the binary logarithm of the golden ratio

  struct going {
    double base, slope, inverse;
  };
  __device__ bool begins_square(int k) const { return (squares_ >> k & 1) != 0; }
  __device__ bool ends_square(int k) const { return k > 0 && (squares_ >> (k - 1) & 1) != 0; }

  __device__ minors_of_piece minors() const {
    minors_of_piece of{{1, 0}, {0, 1}};
    double u = u_before_;
#pragma unroll
    for (int k = 0; k < rows_of_lane; ++k) {
      const double lu = l_[k] * u, d = d_[k];
      u = u_[k];
      for (int c = 0; c < 2; ++c) {
        const double next = fma(d, of.here[c], -(lu * of.before[c]));
        of.before[c] = of.here[c];
        of.here[c] = next;
      }
      if (k % 4 == 3 || k + 1 == rows_of_lane) of.scale();
    }
    return of;
  }

  // Up to which a pivot of row k alone is small beside what it would multiply, so that it takes the next row.
  __device__ int small_pivot(int k, double next_weight) const {
    if (k + 1 == rows_of_lane) return 0;
    const int u = high_of(u_[k]);
    int size = ::max(u, high_of(next_weight));
    if (k + 2 < rows_of_lane) size = ::max(size, high_of(l_[k + 2]));
    return u - size + high_of(l_[k + 1]) - golden;
  }

  // Pivots, and what goes to the piece behind this one of |L^-1| w.
  //
  // Of a row alone: p = d - l u / p', where p' is the pivot before it, or p' the inverse of the last entry of
  // the inverse of a square. The determinant of a square is its first pivot times d less l u: the same form.
  __device__ going eliminate(double first) {
    double scale = 1, inverse = 0, weight_here = weight(0), s = 0, slope = 1, z_before = 0;
    bool inside = false;
#pragma unroll
    for (int k = 0; k < rows_of_lane; ++k) {
      const double l = fabs(l_[k]), lu = k > 0 ? l_[k] * u_[k - 1] : 0;
      double p = k > 0 ? fma(-lu, inverse, scale * d_[k]) : first;
      const double next_weight = k + 1 < rows_of_lane ? weight(k + 1) : 0;
      const int high = high_of(p);
      const bool square = !inside && high < small_pivot(k, next_weight);
      if (square && high < smallest_pivot) p = 0;
      if (k == 0) first_pivot_ = p;
      const quick_inverse of(p);
      const double y = of.value(), r = of.times(scale);
      good_ = good_ && (square || (within_powers(high, 500) && of.good()));
      good_ = good_ && (!inside || high_of(lu) < high + 2 * octave) && within_powers(high_of(weight_here), 400);
      q_[k] = square ? p : y;
      const double z = inside ? weight_here : __fma_ru(l, s, weight_here);
      s = __fma_ru(fabs(r), z, inside ? __dmul_ru(__dmul_ru(l, fabs(y)), z_before) : 0.0);
      slope = __dmul_ru(slope, square ? l : __dmul_ru(l, fabs(y)));
      z_before = z;
      if (square) squares_ |= 1u << k;
      scale = square ? p : 1;
      inverse = square ? 1 : r;
      inside = square;
      weight_here = next_weight;
    }
    return {s, slope, inverse};
  }

  // What is known of v from v of the row behind its pivot, g + c times that.
  __device__ void turn(double s) {
    double z_before = 0;
#pragma unroll
    for (int k = 0; k < rows_of_lane; ++k) {
      const bool inside = ends_square(k);
      const double y = fabs(q_[k]), l = fabs(l_[k]), u = fabs(u_[k]);
      const double r = inside ? __dmul_ru(y, fabs(q_[k > 0 ? k - 1 : 0])) : y;
      const double z = inside ? weight(k) : __fma_ru(l, s, weight(k));
      s = __fma_ru(r, z, inside ? __dmul_ru(__dmul_ru(l, y), z_before) : 0.0);
      g_[k] = s;
      c_[k] = __dmul_ru(r, u);
      if (k > 0) {
        const double above = __dmul_ru(y, fabs(u_[k - 1]));
        const double g = __fma_ru(above, z, __dmul_ru(__dmul_ru(y, fabs(d_[k])), z_before));
        const double c = __dmul_ru(above, u);
        g_[k - 1] = inside ? g : g_[k - 1];
        c_[k - 1] = inside ? c : c_[k - 1];
      }
      z_before = z;
    }
  }

  // v of the piece from that of the row behind it; of the first row in base, and slope times as much as there
  // is more of the latter.
  template <bool Keep>
  __device__ void ascend(double& base, double& slope) {
    double v = base, behind = 0;
#pragma unroll
    for (int k = rows_of_lane - 1; k >= 0; --k) {
      const double next = __fma_ru(c_[k], begins_square(k) ? behind : v, g_[k]);
      behind = v;
      v = next;
      if (!Keep) slope = ends_square(k) ? slope : __dmul_ru(slope, c_[k]);
      if (!Keep) continue;
      g_[k] = v;
      check(k, v);
    }
    base = v;
  }
  // |E| v <= delta w in a row.
  __device__ void check(int k, double v) {
    const bool square = begins_square(k), inside = ends_square(k);
    const double q = fabs(q_[k]), of_d = square ? 1 : q, of_p = square ? q : 1;
    const double d = k == 0 ? fma(jump_, 0x1p47 + 4, fabs(d_[k])) : fabs(d_[k]);
    const double error = fma(d, of_d, of_p) * v, most = weight(k) * of_d;
    good_ = good_ && (inside || high_of(error) < high_of(most) + 39 * octave);
    largest_v_ = ::max(largest_v_, high_of(v));
    if (k == 0) good_ = good_ && largest_v_ < high_of_power(largest_power);
  }

  const double *l_, *d_, *u_;
  lanes_of_system lanes_;
  double u_before_;
  double q_[rows_of_lane];  // of a row alone: the inverse of its pivot; of two: their first pivot and the
                            // inverse of their determinant
  double g_[rows_of_lane], c_[rows_of_lane];
  double first_pivot_ = 0, jump_ = 0;
  unsigned squares_ = 0;  // bit k: rows k and k + 1 share a pivot
  int largest_v_ = 0;
  bool good_ = true;
};

}  // namespace vouch::detail
