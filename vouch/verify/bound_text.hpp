// vouch/verify/bound_text.hpp -- bounds in sentences, which must not be rounded below what is proved; private.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {
namespace detail {

/// Three digits, above the bound; "0" for none.
inline std::string rounded_above(double bound) {
  char text[32] = "0";
  if (bound == 0) return text;
  for (double above = bound;; above += std::max(0.002 * above, 0x1p-1074)) {
    std::snprintf(text, sizeof text, "%.3g", above);
    if (!std::isfinite(above) || std::strtod(text, nullptr) > bound) return text;
  }
}

/// What to say of a bound that is as good as was asked.
inline std::string every_component_within(double max_absolute) {
  return "every component lies within " + rounded_above(max_absolute) + " of the exact solution";
}

/// What to say of a relative error that is proved but larger than was asked.
inline std::string relative_shortfall(double max_relative) {
  if (!std::isfinite(max_relative)) return "no relative error is proved of a component that may be zero";
  return "the relative error is proved to be at most " + rounded_above(max_relative) + " only";
}

}  // namespace detail
}  // namespace vouch
