// vouch/solve/stationary/sweep_engine.hpp -- the loop of every stationary iteration; private.
#pragma once
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/stationary/anderson.hpp>
#include <vouch/solve/stationary/chebyshev_steps.hpp>
#include <vouch/solve/stationary/stationary_iteration.hpp>

namespace vouch {

/// Sweeps until the rule is met. The residual that a sweep meets on its way costs nothing; it is the one in the
/// history, and tells when to form the residual itself, which decides. With Anderson acceleration a run ends with
/// the iterate of a plain sweep, never with a combination that no sweep has judged yet.
///
/// Where a run cannot reach the target it ends as reached as well, for the verified loop to look: after it has
/// reduced the residual by what the precision holds, and when iterates only move by their rounding errors.
template <real T>
class sweep_engine final : public inner_solver<T> {
 public:
  /// by_residual: the target is the goal's own tolerance, not a rule of the user.
  /// rule: whether sweeps are simultaneous, and what of it concerns Chebyshev's acceleration.
  sweep_engine(const device& dev, std::int64_t n, std::unique_ptr<stationary_iteration<T>> sweeps,
               bool by_residual, const acceleration& accelerate, const sweep_rule& rule);

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override;
  std::string name() const override { return sweeps_->name() + chebyshev_text(chebyshev_); }
  /// Sweeps that keep a residual keep it to themselves, and asynchronous ones have no bits to go on to.
  bool saves() const override { return !sweeps_->keeps_residual() && !asynchronous_; }

 private:
  // What a run knows.
  struct progress {
    double target = -1;   // of the residual, squared; negative: none
    double trigger = -1;  // form the residual when a sweep meets less than this
    double first = 0;     // what the first sweep met
    double best = 0;      // least that was met
    std::int64_t best_at = 0;
    double accepted = 0;  // what the sweep before an accelerated one met
    bool accelerated = false;
    double met_at_look = std::numeric_limits<double>::infinity();  // when the residual was formed
    double left_at_look = std::numeric_limits<double>::infinity();
    bool only_rounding = false;  // is left
  };
  void keep(solver_state& state, std::int64_t& iteration, progress& p);
  bool stalled(const progress& p, std::int64_t iteration) const;
  bool moves_by_rounding_only(const T* d) const;
  double mean_change(const T* d) const;
  bool step_back(progress& p, double met, T* d);
  void accelerate(progress& p, double met, T* d);
  void take_chebyshev_step(double met, T* d);
  bool near_enough(progress& p, double met, const T* d);

  std::int64_t n_;
  std::unique_ptr<stationary_iteration<T>> sweeps_;
  bool by_residual_;
  bool simultaneous_, asynchronous_;
  std::optional<anderson_acceleration<T>> anderson_;
  array<T> before_;  // the iterate before the last sweep
  array<T> s_;
  chebyshev_steps chebyshev_;
  chebyshev_steps* learnt_;
  std::vector<T> step_;   // the last one of Chebyshev's method
  std::vector<T> plain_;  // the iterate that an accelerated one replaced
  double last_squared_ = 0;
};

}  // namespace vouch
