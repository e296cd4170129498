// vouch/solve/loop/stopping_criterion.hpp -- when an iterative solver is done; the same for every method.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/report.hpp>

namespace VOUCH_PUBLIC vouch {

/// At most one of fixed_iterations, stop_recurrence and stop_mean_change may be set; without them the true
/// residual decides.
struct stopping_criterion {
  std::optional<double> rtol{};  // default 1e-8, for float 1e-5
  double atol = 0;
  std::int64_t max_iterations = 0;                 // 0: the larger of 1,000,000 and 20 n
  std::optional<std::int64_t> fixed_iterations{};  // do exactly so many, whatever the residual
  /// Stop at ||r||_2 < this on the recurrence, status stopped. Jacobi sweeps end with the first iterate that
  /// has such a residual, sweeps in place where they meet less and the residual formed then is less.
  std::optional<double> stop_recurrence{};
  std::optional<double> stop_mean_change{};  // stop when the mean of |x_new - x_old| is below, status stopped
  monitor on_iteration{};                    // may be empty
  /// May be empty. Krylov methods of square systems in double precision call it on the CPU, GMRES at its restarts alone,
  /// cg_many() not at all; each call costs
  /// a pass over x.
  iterate_monitor on_iterate{};

  /// Whether the true residual decides.
  bool by_residual() const { return !fixed_iterations && !stop_recurrence && !stop_mean_change; }
};

}  // namespace vouch
