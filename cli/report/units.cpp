#include "units.hpp"

#include <fmt/format.h>

#include <cmath>

namespace vouch::report {
namespace {

// Three significant digits with the prefix that leaves one to three of them before the point.
std::string scaled(double number, const char* unit) {
  constexpr struct {
    double size;
    const char* prefix;
  } prefixes[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}};
  for (const auto& p : prefixes)
    if (std::fabs(number) >= 0.9995 * p.size) {
      const double digits = number / p.size;
      const int decimals = std::fabs(digits) < 9.995 ? 2 : std::fabs(digits) < 99.95 ? 1 : 0;
      return fmt::format("{:.{}f} {}{}", digits, decimals, p.prefix, unit);
    }
  return fmt::format("{:.3g} n{}", number * 1e9, unit);
}

}  // namespace

std::string seconds_text(std::optional<double> seconds) {
  if (!seconds) return "-";
  return *seconds == 0   ? "0 s"
         : *seconds >= 1 ? fmt::format("{:.{}f} s", *seconds, *seconds < 99.95 ? 2 : 0)
                         : scaled(*seconds, "s");
}

std::string bytes_text(double bytes) { return scaled(bytes, "B"); }

}  // namespace vouch::report
