// vouch/solve/krylov/krylov_run.hpp -- the count and the end of the iterations of a Krylov method; private.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/stopping_rule.hpp>

namespace vouch {

/// What the rule says of a residual of this norm.
inline solver_event judge(double norm, std::int64_t iteration, const stopping_rule& rule) {
  const double squared = norm * norm;
  if (!(squared <= rule.diverged_squared)) return solver_event::diverged;
  if (squared <= rule.target_squared) return solver_event::reached;
  return iteration >= rule.limit ? solver_event::iteration_limit : solver_event::running;
}

/// Whether an inner product with factors of this product of norms is next to nothing beside its rounding errors.
template <real T>
bool is_rounding(double product, double norms) {
  return !(std::fabs(product) > std::numeric_limits<T>::epsilon() * norms);
}

/// The iterations of one run. It ends as the rule says, or where the residual no longer falls by half in a number
/// of iterations that grows with n; the loop around it then sees whether the true residual differs.
class krylov_run {
 public:
  /// d: the solution, kept with the residual.
  template <real T>
  krylov_run(const stopping_rule& rule, iteration_log& log, std::int64_t n, double norm, const T* d)
      : rule_(rule),
        log_(log),
        d_(in_double(d)),
        patience_(std::clamp<std::int64_t>(10 * n, 200, 20000)),
        half_(norm) {
    take(norm);
  }

  bool goes_on() const { return goes_on_; }
  /// The same where the run may be saved: behind iterations that are whole. state visits what the engine needs to go on.
  template <class State>
  bool goes_on_from(const State& state) {
    if (goes_on_ && (leaves_ || log_.save_due())) {
      log_.save(iteration_, [&](solver_state& s) {
        keep(s);
        state(s);
      });
      if (leaves_) end(solver_event::interrupted);
    }
    return goes_on_;
  }
  /// Whether this run goes on from what was saved; else it begins.
  template <class State>
  bool resumes(const State& state) {
    return log_.resume([&](solver_state& s) {
      keep(s);
      state(s);
    });
  }
  /// Whether somebody looks at d.
  bool shows() const { return log_.shows(); }
  /// Iterations that may follow.
  std::int64_t left() const { return rule_.limit - iteration_; }
  double norm() const { return norm_; }
  std::int64_t count() const { return iteration_; }
  /// Whether the residual was halved since halved() was last true.
  bool halved() {
    if (!(norm_ <= 0.5 * half_)) return false;
    half_ = norm_;
    halved_at_ = iteration_;
    return true;
  }
  /// Whether a residual of this norm leaves nothing to do.
  bool is_done(double norm) const {
    return norm * norm <= std::max(rule_.target_squared, exhausted_squared) || !std::isfinite(norm);
  }

  /// One iteration more, after which the residual has this norm.
  void step(double norm) {
    ++iteration_;
    take(norm);
  }
  void end(solver_event event) {
    event_ = event;
    goes_on_ = false;
  }
  inner_outcome outcome() const { return {event_, iteration_, norm_ * norm_}; }

 private:
  static const double* in_double(const double* d) { return d; }
  static const double* in_double(const float*) { return nullptr; }

  void keep(solver_state& state) {
    state.integer("iterations of this run", iteration_);
    state.integer("iteration of the last half", halved_at_);
    state.number("norm", norm_);
    state.number("norm at the last half", half_);
    if (!state.loads()) return;
    event_ = solver_event::running;
    goes_on_ = true;
  }

  void take(double norm) {
    norm_ = norm;
    event_ = judge(norm, iteration_, rule_);
    if (!log_.note(iteration_, norm, d_) && event_ == solver_event::running) {
      leaves_ = log_.keeps();
      if (!leaves_) event_ = solver_event::interrupted;
    }
    goes_on_ = event_ == solver_event::running && iteration_ - halved_at_ <= patience_;
    if (event_ == solver_event::running && norm * norm < exhausted_squared) end(solver_event::iteration_limit);
  }

  const stopping_rule& rule_;
  iteration_log& log_;
  const double* d_;
  std::int64_t patience_;
  std::int64_t iteration_ = 0, halved_at_ = 0;
  double norm_ = 0;
  double half_;
  solver_event event_ = solver_event::running;
  bool goes_on_ = true;
  bool leaves_ = false;  // was asked to stop, and is saved first
};

/// The iterate of the least residual of a run, up to a factor of two, for methods whose residuals go up and down.
template <real T>
class best_iterate {
 public:
  best_iterate(const device& dev, std::int64_t n) : dev_(dev), kept_(dev, n) {}
  /// The iterate is zero.
  void begin(const krylov_run& run) {
    norm_ = run.norm();
    zero_bytes(dev_, kept_.data(), static_cast<std::size_t>(kept_.size()) * sizeof(T));
  }
  void offer(krylov_run& run, view<const T> x) {
    if (!run.halved()) return;
    norm_ = run.norm();
    copy<T, T>(dev_, x, kept_);
  }
  void keep(solver_state& state) {
    state.vector("best iterate", dev_, kept_.data(), kept_.size());
    state.number("its norm", norm_);
  }
  /// x := the better one of the two.
  void choose(const krylov_run& run, view<T> x) const {
    if (!(run.norm() <= norm_)) copy<T, T>(dev_, kept_, x);
  }

 private:
  device dev_;
  array<T> kept_;
  double norm_ = 0;
};

}  // namespace vouch
