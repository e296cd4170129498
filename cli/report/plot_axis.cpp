#include "plot_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace vouch::plot {
namespace {

// The smallest of 1, 2 and 5 times a power of ten that is no smaller than x.
double round_step(double x) {
  const double decade = std::pow(10.0, std::floor(std::log10(x)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= x * (1 - 1e-12)) return factor * decade;
  return 10 * decade;
}

tick power_of_ten(int exponent) {
  const double value = std::pow(10.0, exponent);
  if (exponent >= 0 && exponent <= 3) return {value, fmt::format("{:.0f}", value), ""};
  // A minus sign, not a hyphen.
  return {value, "10", exponent < 0 ? fmt::format("\u2212{}", -exponent) : fmt::format("{}", exponent)};
}

}  // namespace

std::string short_number(double value) {
  std::string text = fmt::format("{:.6g}", value);
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits != std::string::npos || text.size() < 5) return text;
  for (std::size_t at = text.size() - 3; at > 0 && at < text.size(); at -= std::min<std::size_t>(at, 3))
    text.insert(at, "\u2009");  // thin space
  return text;
}

fitted_axis::fitted_axis(const axis& wanted, const std::vector<double>& values, int room) : kind_(wanted.kind) {
  low_ = std::numeric_limits<double>::infinity();
  high_ = -low_;
  const auto cover = [this](double value) {
    if (!shows(value)) return;
    low_ = std::min(low_, position(value));
    high_ = std::max(high_, position(value));
  };
  for (const double value : values) cover(value);
  if (wanted.from) cover(*wanted.from);
  if (wanted.to) cover(*wanted.to);
  if (low_ > high_) low_ = 0, high_ = 1;
  kind_ == scale::linear ? fit_linear(wanted, room) : fit_logarithmic(wanted, room);
}

bool fitted_axis::shows(double value) const {
  return std::isfinite(value) && (kind_ == scale::linear || value > 0);
}

double fitted_axis::position(double value) const { return kind_ == scale::linear ? value : std::log10(value); }

double fitted_axis::place(double value) const { return (position(value) - low_) / (high_ - low_); }

void fitted_axis::fit_linear(const axis& wanted, int room) {
  if (wanted.from) low_ = *wanted.from;
  if (wanted.to) high_ = *wanted.to;
  if (!(high_ > low_)) high_ = low_ + std::max(1.0, std::fabs(low_));
  const double step = round_step((high_ - low_) / room);
  if (!wanted.from) low_ = step * std::floor(low_ / step * (1 - 1e-12));
  if (!wanted.to && high_ > step * (std::floor(high_ / step) + 0.6)) high_ = step * std::ceil(high_ / step);
  for (double k = std::ceil(low_ / step - 1e-9); k * step <= high_ + 1e-9 * step; ++k)
    ticks_.push_back({k * step, short_number(k == 0 ? 0.0 : k * step), ""});  // no minus zero
}

void fitted_axis::fit_logarithmic(const axis& wanted, int room) {
  low_ = wanted.from && shows(*wanted.from) ? position(*wanted.from) : std::floor(low_ + 1e-9);
  high_ = wanted.to && shows(*wanted.to) ? position(*wanted.to) : std::ceil(high_ - 1e-9);
  if (!(high_ > low_)) high_ = low_ + 1;
  const int stride = std::max(1, static_cast<int>(std::ceil((high_ - low_) / room)));
  const int first = static_cast<int>(std::floor(low_)), last = static_cast<int>(std::ceil(high_));
  for (int decade = first; decade <= last; ++decade) {
    tick whole = power_of_ten(decade);
    if (decade % stride != 0) whole.label.clear();
    const auto add = [this](const tick& t) {
      if (position(t.value) >= low_ - 1e-9 && position(t.value) <= high_ + 1e-9) ticks_.push_back(t);
    };
    add(whole);
    if (high_ - low_ > 6) continue;
    for (int k = 2; k <= 9; ++k) {
      const double value = k * std::pow(10.0, decade);
      const bool labelled = high_ - low_ <= 2 && (k == 2 || k == 5);
      add({value, labelled ? short_number(value) : "", ""});
    }
  }
}

}  // namespace vouch::plot
