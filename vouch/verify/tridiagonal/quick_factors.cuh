// vouch/verify/tridiagonal/quick_factors.cuh -- proofs by factors of systems that need pivoting, each shared by several
// threads, in arithmetic that is not correctly rounded: pivots near those of an elimination, v that they prove, ratios
// and radii; private.
//
// The factors of factors.hpp, with the multipliers that belong to the pivots exactly, so that only
// the diagonals of first rows of pivots err. Nothing is correctly rounded: inverses are near by 2^-49, which is
// checked, and what that does to v and to the diagonals is bounded beforehand. Everything else is rounded
// upwards. docs/rigor.md, "tridiagonal: quick factors".
#pragma once
#include <cstdint>

#include <vouch/verify/tridiagonal/short_systems.cuh>

namespace vouch::detail {

constexpr int octave = 1 << 20;  // between high words of numbers of which one is twice the other
constexpr int high_of_power(int exponent) { return (1023 + exponent) * octave; }

/// 1 / d, or x / d, by a guess that is right to some 20 bits: within 2^-51 of themselves, 1 / d within 2^-52,
/// where the guess is good and nothing underflows.
struct quick_inverse {
  double guess, error, step;

  __device__ explicit quick_inverse(double d) {
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(d));
    error = fma(-d, guess, 1.0);
    step = fma(error, error, error);
  }
  static constexpr int good_error = high_of_power(-18);
  __device__ bool good() const { return high_of(error) < good_error; }
  __device__ double value() const { return fma(guess, step, guess); }
  __device__ double times(double x) const {
    const double first = x * guess;
    return fma(first, step, first);
  }
};

/// How the last two leading minors of a piece come from the two before it, scaled by any number: the last one
/// from each of them, then the last but one.
struct piece_minors {
  double at[4] = {1, 0, 0, 1};

  __device__ void scale() {
    int high = 0;
    for (const double number : at) high = ::max(high, high_of(number));
    const double power = __hiloint2double(high_of_power(1023) - (high & -octave), 0);
    for (double& number : at) number *= power;
  }
  /// The same of the piece and of what is before it.
  __device__ void extend(const piece_minors& other) {
    const piece_minors own = *this;
    for (int c = 0; c < 2; ++c) {
      at[c] = fma(own.at[0], other.at[c], own.at[1] * other.at[2 + c]);
      at[2 + c] = fma(own.at[2], other.at[c], own.at[3] * other.at[2 + c]);
    }
    scale();
  }
  /// The last minor but one over the last, of pieces that begin a system.
  __device__ double quotient() const { return quick_inverse(at[0]).times(at[2]); }
};

/// at[0] + at[1] times what comes to a piece goes on from it; at most that, both not negative.
struct piece_sum {
  double at[2] = {0, 1};

  __device__ void extend(const piece_sum& other) {
    at[0] = __fma_ru(at[1], other.at[0], at[0]);
    at[1] = __dmul_ru(at[1], other.at[1]);
  }
};

/// The pieces of a system, a lane each: a power of two of them within a warp, or Warps whole warps, which are a
/// block or one of its Teams. All lanes of them call the same.
template <int Warps, int Teams = 1>
class system_lanes {
 public:
  struct memory {
    double exchange[Warps][4];
  };

  __device__ system_lanes(memory& in, int pieces)
      : in_(in),
        here_(pieces < 32 ? pieces : 32),
        pieces_(pieces),
        piece_(static_cast<int>(threadIdx.x) % pieces) {}
  __device__ int piece() const { return piece_; }
  __device__ bool first() const { return piece_ == 0; }
  __device__ bool last() const { return piece_ + 1 == pieces_; }

  /// What all pieces before this one, or behind it, are together.
  template <class Element>
  __device__ Element all_before(Element own) const {
    return of_others<Element, false>(own);
  }
  template <class Element>
  __device__ Element all_behind(Element own) const {
    return of_others<Element, true>(own);
  }
  /// The number of the piece before; 0 for the first.
  __device__ double of_one_before(double own) const {
    const double in_warp = __shfl_up_sync(~0u, own, 1, here_);
    if constexpr (Warps > 1) {
      if (lane() == 31) in_.exchange[warp()][0] = own;
      sync();
      const double of_warp = warp() > 0 ? in_.exchange[warp() - 1][0] : 0;
      sync();
      return lane() > 0 ? in_warp : of_warp;
    }
    return first() ? 0 : in_warp;
  }
  __device__ int largest(int own) const {
    for (int step = here_ / 2; step > 0; step /= 2) own = ::max(own, __shfl_xor_sync(~0u, own, step, here_));
    if constexpr (Warps > 1) {
      if (lane() == 0) in_.exchange[warp()][0] = own;
      sync();
      for (int w = 0; w < Warps; ++w) own = ::max(own, static_cast<int>(in_.exchange[w][0]));
      sync();
    }
    return own;
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32 % Warps; }
  __device__ static void sync() {
    if constexpr (Teams == 1)
      __syncthreads();
    else  // barrier 0 is the block's
      asm volatile("bar.sync %0, %1;" ::"r"(1 + threadIdx.x / (32 * Warps)), "n"(32 * Warps) : "memory");
  }

  template <bool Behind, class Element>
  __device__ Element moved(const Element& own, int step) const {
    Element other;
    for (int k = 0; k < static_cast<int>(sizeof own.at / sizeof(double)); ++k)
      other.at[k] = Behind ? __shfl_down_sync(~0u, own.at[k], static_cast<unsigned>(step), here_)
                           : __shfl_up_sync(~0u, own.at[k], static_cast<unsigned>(step), here_);
    return other;
  }
  template <class Element, bool Behind>
  __device__ Element of_others(Element own) const {
    const int in_warp = piece_ % here_, rank = Behind ? here_ - 1 - in_warp : in_warp;
#pragma unroll 1
    for (int step = 1; step < here_; step *= 2) {
      const Element other = moved<Behind>(own, step);
      if (rank >= step) own.extend(other);
    }
    Element others = moved<Behind>(own, 1);
    if (rank == 0) others = {};
    if constexpr (Warps > 1) {
      constexpr int size = sizeof own.at / sizeof(double);
      if (rank == 31)
        for (int k = 0; k < size; ++k) in_.exchange[warp()][k] = own.at[k];
      sync();
      for (int w = Behind ? warp() + 1 : warp() - 1; w >= 0 && w < Warps; w += Behind ? 1 : -1) {
        Element of_warp;
        for (int k = 0; k < size; ++k) of_warp.at[k] = in_.exchange[w][k];
        others.extend(of_warp);
      }
      sync();
    }
    return others;
  }

  memory& in_;
  int here_, pieces_, piece_;  // here: of a warp
};

// ---- factors

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

// ---- ratios and radii

constexpr int high_of_infinity = 0x7ff00000;

/// What the rows of a piece say without v.
class quick_ratios {
 public:
  static constexpr int none = 0x7fffffff;  // above all: nothing is proved

  __device__ void add(const row_data<double>& data, int k) {
    const measured_row<double> row = measured(data);
    const int ratio = quotient(row), weight = high_of(row.weight);
    vanishing_ |= row.may_vanish ? 1u << k : 0u;
    heaviest_ = ::max(heaviest_, weight);
    lightest_ = ::min(lightest_, weight);
    ratio_ = ::max(ratio_, row.may_vanish ? 0 : ratio);
  }
  /// The high word of more than the largest ratio; 0: that is 0; or none. After all rows, of which the first
  /// `left` are the system's; data_of(k) is what was added.
  template <class DataOf>
  __device__ int largest(const DataOf& data_of, int left) {
    vanishing_ &= left < rows_of_lane ? (1u << ::max(left, 0)) - 1 : ~0u;
    for (int k = 0; vanishing_ >> k != 0; ++k) {
      if ((vanishing_ >> k & 1) == 0) continue;
      const row_data<double> data = data_of(k);
      if (!certificate().vanishes<double>(data)) ratio_ = ::max(ratio_, quotient(measured(data)));
    }
    const bool moderate = (heaviest_ < high_of_power(300)) & (lightest_ >= high_of_power(-300));
    const bool good = moderate & (guess_ < quick_inverse::good_error) & (ratio_ < high_of_infinity - 1);
    return !good ? none : ratio_ == 0 ? 0 : ratio_ + 1;
  }
  /// At least the ratio that those of all pieces, and v, amount to.
  __device__ static double bound(int largest) {
    return largest >= high_of_infinity ? HUGE_VAL
           : largest == 0              ? 0
                                       : __dmul_ru(__hiloint2double(largest, 0), quick_slack);
  }

  /// The rows of a system of that ratio.
  __device__ void put(double ratio, ratio_tally& tally) const {
    tally.most[0] = ::max(tally.most[0], bits_of(ratio));
    tally.about[0] = ::max(tally.about[0], static_cast<unsigned>(heaviest_));
    tally.about[2] = ::max(tally.about[2], ~static_cast<unsigned>(lightest_));
  }

 private:
  static constexpr double part = 1 - quick_delta;

  __device__ static row_certificate certificate() { return {nullptr, nullptr, {}}; }
  __device__ static measured_row<double> measured(const row_data<double>& data) {
    const double share = part;
    return certificate().measure<double>(data, &share, false);
  }
  __device__ int quotient(const measured_row<double>& row) {
    const quick_inverse of(row.u);
    guess_ = ::max(guess_, high_of(of.error));
    return high_of(__fma_ru(row.size, of.value(), outward::tiny));
  }

  int ratio_ = 0, heaviest_ = 0, lightest_ = none;  // high words, of weights
  int guess_ = 0;
  unsigned vanishing_ = 0;  // bit k: row k may
};

/// Radii of elements of a system, and what they amount to.
class quick_radii {
 public:
  __device__ explicit quick_radii(double ratio) : ratio_(ratio) {}

  /// The radius.
  __device__ double add(double v, double x) {
    const double most = __dmul_ru(ratio_, v);
    const quick_inverse inverse(__dadd_rd(fabs(x), -most));
    const double quotient = __fma_ru(most, inverse.value(), outward::tiny);
    relative_ = ::max(relative_, static_cast<unsigned>(__double2hiint(quotient)));
    guess_ = ::max(guess_, high_of(inverse.error));
    largest_ = most > largest_ ? most : largest_;
    return most;
  }
  /// After one element at least.
  __device__ void put(radius_tally& tally) const {
    tally.most[1] = ::max(tally.most[1], bits_of(largest_));
    if (ratio_ == 0) return;
    const bool finite =
        guess_ < quick_inverse::good_error && relative_ < static_cast<unsigned>(high_of_infinity);
    const double above = __hiloint2double(finite ? static_cast<int>(relative_) + 1 : high_of_infinity, 0);
    tally.most[0] = ::max(tally.most[0], bits_of(__dmul_ru(above, quick_slack)));
  }

 private:
  double ratio_, largest_ = 0;
  unsigned relative_ = 0;  // the high word of the largest, with its sign: of no number above that of infinity
  int guess_ = 0;
};

}  // namespace vouch::detail
