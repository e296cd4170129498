// vouch/solve/loop/inner_solver.hpp -- what every iterative method offers to the residual-checked solve; private.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/ritz_values.hpp>
#include <vouch/solve/loop/stopping_rule.hpp>

namespace vouch {

/// Collects the history and asks the user's monitor; numbers iterations on across restarts. Where they are saved it knows
/// what of them is not the engine's.
class iteration_log {
 public:
  iteration_log(monitor user, std::vector<iteration_record>& history, std::int64_t column = 0)
      : user_(std::move(user)), history_(history), column_(column) {}
  /// Takes iteration (from 0 in this run) if the history rule does; false asks to stop, as the monitor, which
  /// hears of it first, or a cancellation wants it.
  /// d: the solution of this run, where the engine has it at hand.
  bool note(std::int64_t iteration, double residual, const double* d = nullptr);
  bool note(std::int64_t iteration, double residual, const float*) { return note(iteration, residual); }
  /// Whom note() hands each d.
  using solution_monitor = std::function<bool(const iteration_record&, const double* d)>;
  void show_to(solution_monitor user) { solutions_ = std::move(user); }
  /// Whether d is wanted.
  bool shows() const { return static_cast<bool>(solutions_); }
  /// A step of conjugate gradients was taken.
  void step(double alpha, double beta) { spectrum_.add(alpha, beta); }
  const ritz_values& spectrum() const { return spectrum_; }
  /// The next run's iteration 0 is this one's number `iterations`.
  void advance(std::int64_t iterations) {
    done_ += iterations;
    spectrum_.begin();
  }
  /// Residuals come times this and are kept without it.
  void set_scale(double scale) { scale_ = scale; }
  double scale() const { return scale_; }
  std::int64_t done() const { return done_; }

  /// Runs are saved in `kept`; `around` visits what is saved before the engine's own state, and the vectors of the run.
  using state_visitor = std::function<void(solver_state&)>;
  void keep_in(checkpoint& kept, state_visitor around) {
    kept_ = &kept;
    around_ = std::move(around);
  }
  /// Whether somebody wants runs to be saved: a request to stop is then followed by a last file.
  bool keeps() const { return kept_ != nullptr; }
  bool save_due() const { return kept_ != nullptr && kept_->due(); }
  /// Saves a run that has done so many iterations, with what `own` visits; never throws.
  void save(std::int64_t iterations, const state_visitor& own) noexcept;
  /// Whether this run goes on from what was saved, which r, d and what `own` visits then hold.
  bool resume(const state_visitor& own);
  /// Its own state, and the history.
  void keep(solver_state& state);

 private:
  monitor user_;
  solution_monitor solutions_;
  cancellation_probe stop_;
  std::vector<iteration_record>& history_;
  std::int64_t column_;
  std::int64_t done_ = 0;
  std::int64_t last_ = -1;
  double scale_ = 1;
  ritz_values spectrum_;
  checkpoint* kept_ = nullptr;
  state_visitor around_;
};

struct inner_outcome {
  solver_event event = solver_event::running;
  std::int64_t iterations = 0;
  double residual_squared = 0;  // of the recurrence
  double mean_change = 0;  // of an element of the solution in the last iteration, where the rule asks for it
};

/// One way to run the loop on one device. Engines differ in speed only.
template <real T>
class inner_solver {
 public:
  virtual ~inner_solver() = default;
  /// Solves A d = r from d = 0; r becomes the recurrence's residual. r and d are contiguous, on the device.
  virtual inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) = 0;
  /// For the report: "cpu, 2 threads, csr".
  virtual std::string name() const = 0;
  /// Whether run() offers its state to the log, and takes it up again.
  virtual bool saves() const { return false; }
};

/// One column's part in a run: as the arguments of inner_solver::run.
template <real T>
struct inner_task {
  T* r = nullptr;
  T* d = nullptr;
  stopping_rule rule;
  iteration_log* log = nullptr;
  inner_outcome outcome{};
  std::string engine{};  // the name of what ran it
};

/// The loop for several columns with one matrix, each with scalars of its own.
template <real T>
class block_inner_solver {
 public:
  static constexpr std::int64_t most = 8;
  virtual ~block_inner_solver() = default;
  /// As inner_solver::run for each of up to `most` columns; fills outcome and engine. What r holds afterwards is
  /// of no use.
  virtual void run(std::span<inner_task<T>> columns) = 0;
};

}  // namespace vouch
