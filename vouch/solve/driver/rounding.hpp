// vouch/solve/driver/rounding.hpp -- numbers of a system in the precision of the work; private.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/core/view.hpp>

namespace vouch {

inline constexpr std::int64_t many_values = 1 << 16;  // from which on more than one thread pays

/// What rounding to another precision does to numbers.
struct rounding_loss {
  bool rounds = false;      // some change
  bool underflows = false;  // some become zero
};

/// What T has of the values, a NaN counted as changed; what is finite must stay so.
///
/// Throws  value_error  a value overflows T: the text begins with `from`
template <real T>
rounding_loss loss_in(const device& cpu, view<const double> values, const std::string& from) {
  bool rounds = false, underflows = false;
  std::int64_t overflow = values.size();
#pragma omp parallel for firstprivate(ieee) num_threads(cpu.threads()) schedule(static) \
    reduction(||                                                                        \
              : rounds, underflows) reduction(min                                       \
                                              : overflow) if (values.size() >= many_values)
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const auto rounded = static_cast<T>(values[i]);
    if (!std::isfinite(rounded) && std::isfinite(values[i])) overflow = std::min(overflow, i);
    rounds = rounds || rounded != values[i];
    underflows = underflows || (rounded == 0 && values[i] != 0);
  }
  if (overflow < values.size())
    throw value_error(from + string_printf(": %.9g overflows single precision", values[overflow]),
                      "take --precision double");
  return {rounds, underflows};
}

/// to[i] := values[i] rounded to T; they fit.
template <real T, real From>
void round_to(const device& cpu, view<const From> values, T* to) {
#pragma omp parallel for firstprivate(ieee) num_threads(cpu.threads()) \
    schedule(static) if (values.size() >= many_values)
  for (std::int64_t i = 0; i < values.size(); ++i) to[i] = static_cast<T>(values[i]);
}

/// The values rounded to T; they fit.
template <real T, real From>
array<T> rounded_to(const device& cpu, view<const From> values) {
  array<T> result(cpu, values.size());
  round_to<T, From>(cpu, values, result.data());
  return result;
}

/// The values rounded to T.
///
/// Throws  value_error  a value overflows T
template <real T>
array<T> rounded_to(const device& cpu, view<const double> values, const std::string& from) {
  loss_in<T>(cpu, values, from);
  return rounded_to<T, double>(cpu, values);
}

}  // namespace vouch
