// vouch/verify/quick_ratios.cuh -- what quick factors prove of rows: ratios and radii by inverses that are
// near, not correctly rounded; private.
#pragma once
#include <vouch/verify/factored_piece.cuh>

namespace vouch::detail {

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
      if (!judgement().vanishes<double>(data)) ratio_ = ::max(ratio_, quotient(measured(data)));
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

  __device__ static row_judgement judgement() { return {nullptr, nullptr, {}}; }
  __device__ static measured_row<double> measured(const row_data<double>& data) {
    const double share = part;
    return judgement().measure<double>(data, &share, false);
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
