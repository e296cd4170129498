// bench/verify_common.hpp -- what the measurements of proofs share.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/certificate.hpp>

#include "results.hpp"
#include "suite.hpp"

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

/// A solution, and how far its numbers may be from the exact one; no radius: they are the exact one.
struct known_solution {
  std::vector<double> x, radius;
};

known_solution all_ones(std::int64_t n);
/// x refined as far as a pair of doubles goes, with its bounds.
known_solution refined(const device& dev, csr_view<const double> A, certificate& proof, view<const double> b,
                       view<const double> x);

/// The median of radius_i / |error_i| over all x_i whose error is known to some digits and not zero; nothing
/// where there is none.
std::optional<double> median_overestimation(const std::vector<double>& x, const std::vector<double>& radius,
                                            const known_solution& known);
/// The largest relative error of x.
double largest_error(const std::vector<double>& x, const known_solution& known);

/// The bound as the literature has it: of the enclosed residual by the certificate, without any improvement.
struct plain_bound {
  double seconds = 0;
  std::vector<double> radius;
};
plain_bound bound_plainly(const device& dev, csr_view<const double> A, certificate& proof, view<const double> b,
                          view<const double> x);

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

/// Add rows and a section to the results of the suite verify: proofs for general dense matrices, cost and
/// sharpness; for batches of tridiagonal systems, the same; for general sparse systems, cost and digits over
/// published unsymmetric matrices of options.data, factorised on the CPU.
void add_dense_proofs(const suite_options& options, const std::vector<bench_device>& devices,
                      suite_results& all);
void add_tridiagonal_proofs(const suite_options& options, const std::vector<bench_device>& devices,
                            suite_results& all);
void add_sparse_proofs(const suite_options& options, const std::vector<bench_device>& devices,
                       suite_results& all);

}  // namespace vouch::bench
