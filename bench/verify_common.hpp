// bench/verify_common.hpp -- what the measurements of proofs share.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>

#include "results.hpp"

namespace vouch::bench {

/// Seconds of one call, the device's work with it.
template <class Work>
double seconds_of_call(const device& dev, const Work& work) {
  dev.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  work();
  dev.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The median of radius_i / |x_i - 1| over all x_i that are not 1, the solution; nothing where all are.
std::optional<double> median_overestimation(const std::vector<double>& x, const std::vector<double>& radius);

/// Rows of one case on one device.
class proof_rows {
 public:
  proof_rows(suite_results& all, std::string name, std::string device)
      : all_(all), name_(std::move(name)), device_(std::move(device)) {}

  /// A figure without a bar.
  void figure(const char* metric, std::optional<double> value, const char* unit = "1");
  /// Seconds, and what the memory allows at best.
  void seconds_over(const char* metric, double value, double floor);
  /// One that must not be above its bar, or below it; elsewhere than `judged` it stands for itself.
  void at_most(const char* metric, double value, double bar, bool judged = true, bool holds = true,
               const char* unit = "1");
  void at_least(const char* metric, double value, double bar, bool judged = true, bool holds = true);

 private:
  void add(const char* metric, std::optional<double> value, const char* unit, std::optional<double> bar,
           std::optional<bool> pass);

  suite_results& all_;
  std::string name_, device_;
};

}  // namespace vouch::bench
