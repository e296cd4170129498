// bench/stationary_published.hpp -- the published tables of dense stationary iterations: time over the size,
// and what each method makes of harder systems.
#pragma once
#include <vector>

#include <vouch/core/device.hpp>

#include "results.hpp"
#include "suite.hpp"

namespace vouch::bench {

/// Chapters of the suite of dense stationary iterations.
class published_tables {
 public:
  /// Rows go to the results.
  published_tables(const suite_options& options, suite_results& results);

  /// The published system of 1,000 to 10,240 unknowns, on a GPU to 40,960, in single precision from x = 1, by
  /// the published rule and by the residual: 50 times each, or as often as fits some seconds.
  void sizes(const bench_device& d);
  /// Dominance 1.5, 1.05 and 1.01, random signs, no dominance: converging and diverging.
  void families(const bench_device& d);
  /// The norms of the published case of 100 unknowns, sweep by sweep.
  void first_norms(const bench_device& d);
  /// Adds the chapters.
  void finish();

 private:
  struct way;
  static const std::vector<way>& ways();
  struct system_in_two_orders;
  void measure(const bench_device& d, system_in_two_orders& system, const way& w);

  const suite_options& options_;
  suite_results& results_;
  text_table sizes_, families_, norms_;
};

}  // namespace vouch::bench
