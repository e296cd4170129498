// vouch/solve/stationary/sweep_progress.hpp -- when sweeps that run on a device by themselves end; private.
#pragma once
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/solve/loop/stopping_rule.hpp>

namespace vouch {

/// What one iteration tells of itself.
struct sweep_facts {
  double met = 0;             // sum of squares of the residual as the sweep met it
  double change = 0;          // sum of |d_new - d_old|
  double largest_change = 0;  // the largest of them
  double largest = 0;         // of |d_new|
  double wish = 0;            // not 0: the host wants an end

  static constexpr int count = 5;
};

/// Whether sweeps turn round the level of rounding, which where they converge slowly lies far above the
/// rounding errors of a single sweep: half the run has brought nothing, and it has been long, the longer where
/// the residual has not fallen far. The least that was met says little of that level: now and then a sweep
/// meets next to nothing by luck. Squares of norms: met now and at the start; the least was met after best_at
/// sweeps.
VOUCH_HOST_DEVICE inline bool is_stagnating(std::int64_t iteration, std::int64_t best_at, double met,
                                            double first) {
  const std::int64_t waited = iteration - best_at, enough = met <= 1e-4 * first ? 256 : 4096;
  return waited >= enough && waited >= iteration / 2;
}

/// Whether simultaneous sweeps end with the iterate whose residual met the target, not with the one after it,
/// which they have by then: where the target is a rule of the user, who counts them.
inline bool ends_where_met(const stopping_rule& rule, bool by_residual) {
  return !by_residual && rule.target_squared >= 0;
}

/// When sweeps end, and what a run has seen so far. The same on every block that sees the same facts.
struct sweep_progress {
  double trigger = -1;      // ends as reached where a sweep meets at most this; negative: never
  double diverged = 0;      // ends where it meets more, or NaN
  double mean_change = -1;  // ends as settled where the mean change is below; negative: never
  double rounding = 0;      // changes below this times the largest element are rounding; 0: not looked at
  std::int64_t limit = 0;   // iterations
  std::int64_t unknowns = 0;
  double first = -1;      // what the first sweep met; negative: none yet
  double best = 1.7e308;  // the least that was met, and when
  std::int64_t best_at = 0;

  /// Iterations without progress before rounding is suspected.
  static constexpr std::int64_t patience = 32;

  /// After iteration number `iteration` (from 0).
  VOUCH_HOST_DEVICE solver_event take(const sweep_facts& now, std::int64_t iteration) {
    const std::int64_t waited = iteration - best_at;
    const bool suspicious = rounding > 0 && waited >= patience && waited >= iteration / 8;
    if (now.wish != 0) return solver_event::interrupted;
    if (!(now.met <= diverged)) return solver_event::diverged;
    if (first < 0) first = now.met;
    if (now.met < best) {
      best = now.met;
      best_at = iteration;
    }
    if (mean_change >= 0 && now.change < mean_change * static_cast<double>(unknowns))
      return solver_event::change_converged;
    if (suspicious && now.largest_change <= rounding * now.largest) return solver_event::reached;
    if (now.met <= trigger) return solver_event::reached;
    if (rounding > 0 && is_stagnating(iteration, best_at, now.met, first)) return solver_event::reached;
    return iteration + 1 >= limit ? solver_event::iteration_limit : solver_event::running;
  }
};

}  // namespace vouch
