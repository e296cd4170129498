// cli/report/statistics.hpp -- what is said of repeated measurements.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace vouch::report {

/// Of the same quantity measured count times.
struct statistics {
  std::int64_t count = 0;
  double mean = 0;
  std::optional<double> deviation;  // sample standard deviation (divides by count - 1); none below two samples
  double median = 0;
  double least = 0;
};

/// Throws  value_error  no samples
statistics summarize(std::span<const double> samples);

}  // namespace vouch::report
