// vouch/price/finite_difference/boundary_condition.hpp -- the values at the first and the last node of a grid; private.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>

namespace vouch {

/// Far from the strike the value is slope * S + constant, and stays so.
struct linear {
  double slope = 0, constant = 0;
};

inline linear far_payoff(const plain_option& o, double spot) {
  if (!(sign_of(o.type) * (spot - o.strike) > 0)) return {};
  switch (o.payoff) {
    case payoff_kind::cash_digital:
      return {0, o.cash};
    case payoff_kind::asset_digital:
      return {1, 0};
    default:
      return {sign_of(o.type), -sign_of(o.type) * o.strike};
  }
}

/// What a far value becomes as dividends are paid: constant + slope * max(S - fallen, 0), as no underlying falls below
/// 0.
struct far_value {
  double slope = 0, constant = 0, fallen = 0;
  double at(double s) const { return constant + slope * std::max(s - fallen, 0.0); }
};

/// One boundary node: a far-field value or the payment of a barrier.
class boundary_condition {
 public:
  boundary_condition(const contract& c, const fd_payment& payment, double spot, bool high)
      : option_(c.plain),
        spot_(spot),
        barrier_(c.plain.barrier != barrier_kind::none && is_up(c.plain.barrier) == high),
        may_exercise_(c.exercise == exercise_style::american),
        exercise_(payoff_at(c.plain, spot)),
        hit_(payment.at_barrier),
        in_time_(barrier_ ? payment.in_time : nullptr) {
    take_exercise();
    far_.constant -= payment.less;
    value_ = barrier_ ? hit_ : far_.at(spot);
    // What may be exercised is so just before it is knocked out.
    if (barrier_ && may_exercise_) value_ = std::max(value_, exercise_);
  }

  double value() const { return value_; }
  /// A segment of steps begins, at what may be another value.
  void begin() {
    if (in_time_ != nullptr) value_ = (*in_time_)[next_++];
  }
  /// Time passes; returns the change of the value.
  double step(double length, double rate, double dividend) {
    const double before = value_;
    far_.slope *= std::exp(-dividend * length);
    far_.constant *= std::exp(-rate * length);
    far_.fallen *= std::exp((dividend - rate) * length);
    if (may_exercise_ && exercise_ > far_.at(spot_)) take_exercise();
    settle();
    begin();
    return value_ - before;
  }
  void fall(double amount) {
    far_.fallen += amount;
    settle();
  }
  /// Exercise pays for an underlying that is dearer than the grid's by so much.
  void set_escrow(double worth) {
    escrow_ = worth;
    exercise_ = payoff_at(option_, spot_ + worth);
  }
  void exercise() {
    if (barrier_ || exercise_ <= value_) return;
    take_exercise();
    settle();
  }
  /// The value as a part that decays with the dividend and one that decays with the rate; a barrier's value
  /// stays.
  linear parts() const {
    if (barrier_) return {0, value_};
    if (spot_ <= far_.fallen) return {0, far_.constant};
    return {far_.slope * spot_, far_.constant - far_.slope * far_.fallen};
  }
  bool is_barrier() const { return barrier_; }
  /// Of the value near an underlying of 0, at the low end.
  double slope() const { return far_.slope; }
  /// What exercise at any time keeps it from falling below.
  double least() const { return may_exercise_ ? exercise_ : -1e300; }
  /// The value below the grid, at spots down to 0.
  double beyond(double spot) const { return barrier_ ? hit_ : far_.at(spot); }

 private:
  void take_exercise() {
    const linear paid = far_payoff(option_, spot_ + escrow_);
    far_ = {paid.slope, paid.constant + paid.slope * escrow_, 0};
  }
  void settle() {
    if (barrier_) return;
    value_ = far_.at(spot_);
    if (may_exercise_) value_ = std::max(value_, exercise_);
  }
  plain_option option_;
  double spot_;
  bool barrier_, may_exercise_;
  double exercise_, escrow_ = 0, hit_;
  const std::vector<double>* in_time_;
  std::size_t next_ = 0;
  far_value far_;
  double value_ = 0;
};

/// Where the value at a spot comes from when the underlying falls: the polynomial through `count` nodes, read at
/// `at`; with count = 0 `at` is below the grid.
struct dividend_stencil {
  double at = 0;
  std::size_t first = 0;
  int count = 0;
};
dividend_stencil dividend_stencil_at(const fd_grid& grid, double spot, double amount);

/// The underlying falls by `amount`: V(S) := V(S - amount), by cubic interpolation; smoothed as exercise_now() where
/// it falls to 0, or to a barrier.
void pay_dividend(const fd_grid& grid, double amount, bool smoothed, boundary_condition& low,
                  boundary_condition& high, std::vector<double>& values);

/// V := max(V, exercise), at the ends as well. Smoothed, what the line between two nodes has too much where a
/// kink lies between them is taken off one, so that the error of a kink is the same wherever it lies.
void exercise_now(const std::vector<double>& exercise, bool smoothed, boundary_condition& low,
                  boundary_condition& high, std::vector<double>& values);

/// Where exercise that pays max(gain, 0) begins anywhere between two nodes, the line between them gets as much too
/// much as at expiry, where the strike lies half way: what grids differ by falls with their spacing's square, and no
/// value falls below what exercise pays. waiting: the values before it.
void smooth_exercise(const std::vector<double>& gain, const std::vector<double>& waiting,
                     std::vector<double>& values);

}  // namespace vouch
