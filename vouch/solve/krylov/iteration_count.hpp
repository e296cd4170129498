// vouch/solve/krylov/iteration_count.hpp -- the count and the end of the iterations of one run by its rule, on the host or
// in a kernel; private.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <vouch/core/types.hpp>
#include <vouch/solve/loop/stopping_rule.hpp>

namespace vouch {

/// What the rule says of a residual of this norm.
VOUCH_HOST_DEVICE inline solver_event judge(double norm, std::int64_t iteration, const stopping_rule& rule) {
  const double squared = norm * norm;
  if (!(squared <= rule.diverged_squared)) return solver_event::diverged;
  if (squared <= rule.target_squared) return solver_event::reached;
  return iteration >= rule.limit ? solver_event::iteration_limit : solver_event::running;
}

/// Whether an inner product with factors of this product of norms is next to nothing beside its rounding errors.
template <real T>
VOUCH_HOST_DEVICE bool is_rounding(double product, double norms) {
  return !(std::fabs(product) > std::numeric_limits<T>::epsilon() * norms);
}

/// Iterations end as the rule says, or where the residual no longer falls by half in a number of them that grows with n;
/// the loop around the run then sees whether the true residual differs.
class iteration_count {
 public:
  /// Before the first take(). The rule outlives it.
  VOUCH_HOST_DEVICE iteration_count(const stopping_rule& rule, std::int64_t n, double norm)
      : rule_(rule), patience_(std::clamp<std::int64_t>(10 * n, 200, 20000)), half_(norm) {}

  VOUCH_HOST_DEVICE bool goes_on() const { return goes_on_; }
  /// Iterations that may follow.
  VOUCH_HOST_DEVICE std::int64_t left() const { return rule_.limit - iteration_; }
  VOUCH_HOST_DEVICE double norm() const { return norm_; }
  VOUCH_HOST_DEVICE std::int64_t count() const { return iteration_; }
  VOUCH_HOST_DEVICE solver_event event() const { return event_; }
  /// Whether the rule has a norm to be reached.
  VOUCH_HOST_DEVICE bool has_target() const { return rule_.target_squared >= 0; }
  /// Whether the residual was halved since halved() was last true.
  VOUCH_HOST_DEVICE bool halved() {
    if (!(norm_ <= 0.5 * half_)) return false;
    half_ = norm_;
    halved_at_ = iteration_;
    return true;
  }
  /// Whether a residual of this norm leaves nothing to do.
  VOUCH_HOST_DEVICE bool is_done(double norm) const {
    const double squared = norm * norm;
    return squared <= rule_.target_squared || squared <= exhausted_squared || !std::isfinite(norm);
  }
  VOUCH_HOST_DEVICE void end(solver_event event) {
    event_ = event;
    goes_on_ = false;
  }

 protected:
  /// Now the residual has this norm: what the rule says, and then whether to go on, unless somebody wants an end.
  VOUCH_HOST_DEVICE void take(double norm) {
    norm_ = norm;
    event_ = judge(norm, iteration_, rule_);
  }
  VOUCH_HOST_DEVICE void decide(bool unwanted) {
    if (unwanted && event_ == solver_event::running) event_ = solver_event::interrupted;
    goes_on_ = event_ == solver_event::running && iteration_ - halved_at_ <= patience_;
    if (event_ == solver_event::running && norm_ * norm_ < exhausted_squared)
      end(solver_event::iteration_limit);
  }

  const stopping_rule& rule_;
  std::int64_t patience_;
  std::int64_t iteration_ = 0, halved_at_ = 0;
  double norm_ = 0;
  double half_;
  solver_event event_ = solver_event::running;
  bool goes_on_ = true;
};

/// The norm of the iterate that is kept of a run, that of its least residual up to a factor of two.
class least_norm {
 public:
  template <class Run>
  VOUCH_HOST_DEVICE void begin(const Run& run) {
    norm_ = run.norm();
  }
  /// Whether the iterate at hand is to be kept in place of that.
  template <class Run>
  VOUCH_HOST_DEVICE bool improves(Run& run) {
    if (!run.halved()) return false;
    norm_ = run.norm();
    return true;
  }
  /// Whether the iterate that was kept is the better one.
  template <class Run>
  VOUCH_HOST_DEVICE bool is_less(const Run& run) const {
    return !(run.norm() <= norm_);
  }
  double& value() { return norm_; }

 private:
  double norm_ = 0;
};

}  // namespace vouch
