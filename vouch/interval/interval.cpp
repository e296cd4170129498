#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/interval/decorated.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/text/number.hpp>

namespace vouch {

template <real T>
interval<T> interval<T>::from_bounds(T lo, T hi) {
  const ieee_environment here;
  if (!(lo <= hi) || lo == rounding::infinity<T> || hi == -rounding::infinity<T>)
    throw value_error("[" + number_text(lo) + ", " + number_text(hi) + "] is no interval");
  return unchecked(lo, hi);
}

template <real T>
interval<T> decorated_interval<T>::interval_part() const {
  const ieee_environment here;
  if (is_nai(*this)) throw value_error("NaI has no interval part");
  return part_;
}

template VOUCH_PUBLIC interval<float> interval<float>::from_bounds(float, float);
template VOUCH_PUBLIC interval<double> interval<double>::from_bounds(double, double);
template VOUCH_PUBLIC interval<float> decorated_interval<float>::interval_part() const;
template VOUCH_PUBLIC interval<double> decorated_interval<double>::interval_part() const;

}  // namespace vouch
