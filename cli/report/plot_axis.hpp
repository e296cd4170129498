// cli/report/plot_axis.hpp -- the ends, the ticks and the labels of one axis of a plot.
#pragma once
#include <string>
#include <vector>

#include "plot.hpp"

namespace vouch::plot {

struct tick {
  double value = 0;
  std::string label;     // "": a faint line of the grid alone
  std::string exponent;  // raised behind the label
};

/// An axis with its ends fixed; maps values to 0..1.
class fitted_axis {
 public:
  /// Room for all of the values that the axis can show; `room` is about how many labels fit.
  fitted_axis(const axis& wanted, const std::vector<double>& values, int room);

  /// Whether the value can be shown at all.
  bool shows(double value) const;
  /// 0 at one end, 1 at the other.
  double place(double value) const;
  const std::vector<tick>& ticks() const { return ticks_; }

 private:
  void fit_linear(const axis& wanted, int room);
  void fit_logarithmic(const axis& wanted, int room);
  double position(double value) const;

  scale kind_;
  double low_ = 0, high_ = 1;  // of position()
  std::vector<tick> ticks_;
};

/// "1000000" as "1 000 000", "0.25", "1e-07": a short text of a number.
std::string short_number(double value);

}  // namespace vouch::plot
