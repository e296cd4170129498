// vouch/solve/krylov/krylov_run.hpp -- the count and the end of the iterations of a Krylov method; private.
#pragma once
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/iteration_count.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/stopping_rule.hpp>

namespace vouch {

/// The iterations of one run, told to its log.
class krylov_run : public iteration_count {
 public:
  /// d: the solution, kept with the residual.
  template <real T>
  krylov_run(const stopping_rule& rule, iteration_log& log, std::int64_t n, double norm, const T* d)
      : iteration_count(rule, n, norm), log_(log), d_(in_double(d)) {
    note(norm);
  }

  /// Whether it goes on, where it may be saved: behind iterations that are whole. state visits what the engine needs to
  /// go on.
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

  /// One iteration more, after which the residual has this norm.
  void step(double norm) {
    ++iteration_;
    note(norm);
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

  void note(double norm) {
    take(norm);
    const bool unwanted = !log_.note(iteration_, norm, d_);
    if (unwanted && event_ == solver_event::running) leaves_ = log_.keeps();
    decide(unwanted && !leaves_);
  }

  iteration_log& log_;
  const double* d_;
  bool leaves_ = false;  // was asked to stop, and is saved first
};

/// The iterate of the least residual of a run, up to a factor of two, for methods whose residuals go up and down.
template <real T>
class best_iterate {
 public:
  best_iterate(const device& dev, std::int64_t n) : dev_(dev), kept_(dev, n) {}
  /// The iterate is zero.
  void begin(const krylov_run& run) {
    least_.begin(run);
    zero_bytes(dev_, kept_.data(), static_cast<std::size_t>(kept_.size()) * sizeof(T));
  }
  void offer(krylov_run& run, view<const T> x) {
    if (least_.improves(run)) copy<T, T>(dev_, x, kept_);
  }
  void keep(solver_state& state) {
    state.vector("best iterate", dev_, kept_.data(), kept_.size());
    state.number("its norm", least_.value());
  }
  /// x := the better one of the two.
  void choose(const krylov_run& run, view<T> x) const {
    if (least_.is_less(run)) copy<T, T>(dev_, kept_, x);
  }

 private:
  device dev_;
  array<T> kept_;
  least_norm least_;
};

}  // namespace vouch
