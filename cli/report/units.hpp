// cli/report/units.hpp -- the wording of seconds and bytes.
#pragma once
#include <optional>
#include <string>

namespace vouch::report {

std::string seconds_text(std::optional<double> seconds);  // "2.31 us"; not known: "-"
std::string bytes_text(double bytes);                     // "1.41 GB", powers of ten

}  // namespace vouch::report
