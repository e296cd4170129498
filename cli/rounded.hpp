// cli/rounded.hpp -- numbers of the files in the precision of the work.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/view.hpp>

namespace vouch::cli {

/// Whether all values are numbers of type T already, NaN never; what is finite must stay so.
///
/// Throws  value_error  a value overflows T: the text begins with `from`
template <real T>
bool fits(view<const double> values, const std::string& from) {
  bool exactly = true;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const auto rounded = static_cast<T>(values[i]);
    if (!std::isfinite(rounded) && std::isfinite(values[i]))
      throw value_error(fmt::format("{}: {:.9g} overflows single precision", from, values[i]),
                        "take --precision double");
    exactly = exactly && rounded == values[i];
  }
  return exactly;
}

/// The values rounded to T.
///
/// Throws  value_error  a value overflows T
template <real T>
array<T> rounded(const device& cpu, view<const double> values, const std::string& from) {
  fits<T>(values, from);
  array<T> result(cpu, values.size());
  for (std::int64_t i = 0; i < values.size(); ++i) result[i] = static_cast<T>(values[i]);
  return result;
}

}  // namespace vouch::cli
