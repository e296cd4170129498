#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>
#include <vouch/solve/loop/vector_update.hpp>

namespace vouch {

namespace {
double over(double residual, double rhs_norm) {
  const ieee_environment here;
  if (residual == 0) return 0;
  return rhs_norm > 0 ? residual / rhs_norm : std::numeric_limits<double>::infinity();
}
}  // namespace

double solve_report::relative_true() const { return over(true_residual, rhs_norm); }
double solve_report::relative_recurrence() const { return over(recurrence_residual, rhs_norm); }

bool history_rule::records(std::int64_t iteration) {
  if (iteration < dense) return true;
  const auto stride = std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(iteration / dense)));
  return iteration % stride == 0;
}

namespace {

template <real T>
class residual_checked_loop {
 public:
  residual_checked_loop(const checked_problem<T>& problem, view<T> x, const stopping_criterion& goal,
                        solve_report& report, std::int64_t column, std::optional<known_residual<T>> known = {})
      : problem_(problem),
        x_(x.data()),
        n_(problem.rows),
        goal_(goal),
        report_(report),
        log_(goal.on_iteration, report.history, column),
        r_(known ? std::move(known->r) : array<T>(problem.dev, n_)),
        d_(problem.dev, n_),
        low_(array<T>::zeros(problem.dev, n_)) {
    checkpoint* const kept = checkpoint_scope::here();
    resumed_ = kept != nullptr && kept->waits();
    if (resumed_) keep_solution(kept->source());
    const residual_facts start = known ? known->facts : problem_.residual_of(x_, nullptr, r_.data());
    check_finite(start);
    take_tolerance(start);
    judge(start);
    if (kept != nullptr) log_.keep_in(*kept, [this](solver_state& state) { keep_run(state); });
    if (resumed_) {
      keep_course(kept->source());
    } else {
      done_ = answered_at_once(start) || (kept == nullptr && ended_at_once(start));
      least_ = last_ = to_solve_ = start.norm2;
    }
    if (problem_.constants_in_null_space && !done_)
      report_.warnings.emplace_back("every row sums to zero to rounding: solved for the x that sums to zero");
  }
  residual_checked_loop(const residual_checked_loop&) = delete;
  residual_checked_loop& operator=(const residual_checked_loop&) = delete;

  // Whether the report is complete.
  bool done() const { return done_; }

  // The residual of the x that is there, once the loop is done.
  known_residual<T> take_residual() { return {now_, std::move(r_)}; }

  // What an engine is to do next. It works on r times a power of two that brings its norm near 1, so that no
  // square over- or underflows whatever the units of b are.
  inner_task<T> next() {
    if (!std::exchange(resumed_, false)) scale_residual();
    log_.set_scale(up_);
    if constexpr (std::is_same_v<T, double>)
      if (goal_.on_iterate && !problem_.dev.is_cuda())
        log_.show_to([this](const iteration_record& at, const double* d) { return show(at, d); });
    stopping_rule rule;
    const double target = up_ * goal_.stop_recurrence.value_or(report_.tolerance);
    rule.target_squared = goal_.stop_recurrence ? target * target
                          : goal_.by_residual() ? std::max(target * target, exhausted_squared)
                                                : -1;
    rule.mean_change = goal_.stop_mean_change ? up_ * *goal_.stop_mean_change : -1;
    constexpr double overflow = std::numeric_limits<double>::max();
    const double allowed =
        problem_.converges ? std::numeric_limits<double>::infinity() : problem_.allowed_growth;
    const double growth = up_ * allowed * initial_;
    rule.diverged_squared = goal_.fixed_iterations ? overflow : std::min(growth * growth, overflow);
    rule.limit = limit() - report_.iterations;
    return {r_.data(), d_.data(), rule, &log_};
  }

  // Judges what the engine has done.
  void take(const inner_outcome& outcome, double seconds) {
    add_correction(outcome, seconds);
    const residual_facts now = problem_.residual_of(x_, nullptr, r_.data());
    judge(now);
    done_ = ended(outcome, now);
    if (done_) return;
    // Where sweeps are proved to converge, rows may yet differ so much in scale that some restarts see it grow.
    const bool will_fall = problem_.converges && is_far_from_attainable();
    // What only takes back a growth is no progress: such residuals may go up and down for ever. Neither is a run
    // that did nothing, as where the numbers have no bits left.
    if (report_.true_residual <= 0.5 * least_)
      strikes_ = 0;
    else if (report_.true_residual > 0.5 * last_ && (!will_fall || outcome.iterations == 0))
      ++strikes_;
    if (strikes_ == most_strikes) {
      done_ = end_stagnated();
      return;
    }
    last_ = report_.true_residual;
    least_ = std::min(least_, last_);
    ++report_.restarts;
    to_solve_ = problem_.residual_of(x_, low_.data(), r_.data()).norm2;
  }

 private:
  void scale_residual() {
    if (problem_.constants_in_null_space) take_out_mean(r_.data());
    constexpr int most = sizeof(T) == 4 ? 120 : 1000;  // the factor and its inverse are numbers of type T
    up_ = to_solve_ > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(to_solve_), -most, most)) : 1.0;
    vouch::scale(problem_.dev, r_.data(), static_cast<T>(up_), n_);
  }

  // What a checkpoint holds of the loop: the solution and the course so far, both as they were when the run began, and
  // the vectors of the run, which an engine loads when it is run.
  void keep_solution(solver_state& state) {
    state.vector("x", problem_.dev, x_, n_);
    state.vector("x, low part", problem_.dev, low_.data(), n_);
  }
  void keep_course(solver_state& state) {
    state.integer("iterations before the run", report_.iterations);
    state.integer("restarts", report_.restarts);
    state.integer("strikes", strikes_, most_strikes);
    double norms[] = {initial_, last_, least_, to_solve_, up_};
    state.numbers("norms", norms, 5);
    initial_ = norms[0], last_ = norms[1], least_ = norms[2], to_solve_ = norms[3], up_ = norms[4];
    log_.keep(state);
  }
  void keep_run(solver_state& state) {
    if (!state.loads()) {
      keep_solution(state);
      keep_course(state);
    }
    state.vector("residual", problem_.dev, r_.data(), n_);
    state.vector("correction", problem_.dev, d_.data(), n_);
  }

  // x and what the engine has found so far.
  bool show(const iteration_record& at, const double* d) {
    shown_.resize(static_cast<std::size_t>(n_));
    for (std::int64_t i = 0; i < n_; ++i) shown_[i] = static_cast<double>(x_[i]) + d[i] / up_;
    return goal_.on_iterate(at, {shown_.data(), n_});
  }

  void check_finite(const residual_facts& start) {
    if (!std::isfinite(start.rhs_norm2)) throw value_error("the right-hand side holds a NaN or an infinity");
    if (!std::isfinite(start.x_norm_inf)) throw value_error("the start vector holds a NaN or an infinity");
    if (std::isinf(start.matrix_norm_inf))
      throw value_error("the matrix holds an infinity or overflows in a row sum");
    if (!std::isfinite(start.norm2)) throw value_error(problem_.not_finite);
  }

  void take_tolerance(const residual_facts& start) {
    const double rtol = goal_.rtol.value_or(default_rtol<T>);
    report_.rhs_norm = start.rhs_norm2;
    report_.tolerance = std::max(rtol * start.rhs_norm2, goal_.atol);
    initial_ = start.norm2;
  }

  // What the numbers of the current x say, whatever the status.
  void judge(const residual_facts& facts) {
    now_ = facts;
    report_.true_residual = facts.norm2_at_most<T>();
    report_.backward_error = facts.backward_error();
    constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;
    // Elements of x next to nothing are rounded by up to half the smallest number, whatever their size.
    const double underflow = std::numeric_limits<T>::denorm_min() * (facts.matrix_norm_inf / 2);
    report_.attainable_relative =
        facts.rhs_norm2 > 0 ? (unit_roundoff * facts.product_norm2 + underflow) / facts.rhs_norm2 : 0;
  }

  bool answered_at_once(const residual_facts& start) {
    if (!goal_.by_residual()) return false;
    report_.recurrence_residual = start.norm2;
    if (start.rhs_norm2 == 0) {
      fill(problem_.dev, x_, T{}, n_);
      judge(problem_.residual_of(x_, nullptr, r_.data()));
      report_.recurrence_residual = 0;
      return end(solve_status::converged, "the right-hand side is zero, so x is zero");
    }
    if (start.norm2_at_most<T>() <= report_.tolerance)
      return end(solve_status::converged, "the start already meets the tolerance");
    if (problem_.constants_in_null_space) return inconsistent();
    return false;
  }

  // The residual of the start took a while, and that of an iteration would take as long again. Ranks agree on when to
  // end inside their iterations.
  bool ended_at_once(const residual_facts& start) {
    if (problem_.whole != nullptr || !cancellation_probe().requested()) return false;
    report_.recurrence_residual = start.norm2;
    return end(solve_status::interrupted, "stopped on request before the first iteration");
  }

  // Rows that sum to zero to rounding: what b has along the constants no x of moderate size can produce.
  bool inconsistent() {
    const double mean_part = std::fabs(sum(r_.data())) / std::sqrt(static_cast<double>(all_rows()));
    if (mean_part <= report_.tolerance) return false;
    return end(solve_status::breakdown,
               string_printf("the rows of the matrix sum to zero to rounding, so that A x has next to nothing "
                             "along the constants, "
                             "and b a part of norm %.3g: subtract the mean of b, or factorise",
                             mean_part));
  }

  void add_correction(const inner_outcome& outcome, double seconds) {
    report_.solve_seconds += seconds;
    report_.iterations += outcome.iterations;
    report_.recurrence_residual = std::sqrt(outcome.residual_squared) / up_;
    log_.advance(outcome.iterations);
    vouch::scale(problem_.dev, d_.data(), static_cast<T>(1 / up_), n_);
    accumulate_pair(problem_.dev, x_, low_.data(), d_.data(), n_);
    if (problem_.constants_in_null_space) {
      take_out_mean(x_);
      fill(problem_.dev, low_.data(), T{}, n_);
    }
  }

  void take_out_mean(T* v) { add_constant(problem_.dev, v, -sum(v) / static_cast<double>(all_rows()), n_); }

  std::int64_t all_rows() const { return problem_.whole != nullptr ? problem_.whole->rows() : n_; }
  double sum(const T* v) const {
    return problem_.whole != nullptr ? problem_.whole->sum(v) : sum_elements(problem_.dev, v, n_);
  }
  double norm2(const T* v) const {
    return problem_.whole != nullptr ? problem_.whole->norm2(v) : detail::norm2<T>(problem_.dev, v, n_);
  }
  double inner_product(const array<T>& v, const array<T>& w) const {
    return problem_.whole != nullptr ? problem_.whole->dot(v.data(), w.data()) : dot<T, T>(problem_.dev, v, w);
  }

  std::int64_t limit() const {
    if (goal_.fixed_iterations) return *goal_.fixed_iterations;
    return goal_.max_iterations > 0 ? goal_.max_iterations : std::max<std::int64_t>(1000000, 20 * all_rows());
  }

  // True where the run was the last one.
  bool ended(const inner_outcome& outcome, const residual_facts& now) {
    const std::int64_t at = report_.iterations;
    // An element of x that no row has may overflow unseen by the residual.
    if (outcome.event == solver_event::diverged || !std::isfinite(now.norm2) || !std::isfinite(now.x_norm_inf))
      return end_diverged();
    // The recurrence has done all it can.
    if (outcome.event == solver_event::iteration_limit && at < limit() &&
        outcome.residual_squared < exhausted_squared)
      return end(
          goal_.fixed_iterations ? solve_status::fixed : solve_status::max_iterations,
          string_printf("%lld iterations done: the residual of the recurrence is next to nothing, and more "
                        "would change nothing",
                        static_cast<long long>(at)));
    if (goal_.fixed_iterations && outcome.event == solver_event::iteration_limit)
      return end(solve_status::fixed,
                 string_printf("%lld iterations done as asked", static_cast<long long>(at)));
    if (goal_.stop_recurrence && outcome.event == solver_event::reached)
      return end(solve_status::stopped,
                 string_printf("the recurrence residual fell to %.3g, the rule asked for %.3g",
                               report_.recurrence_residual, *goal_.stop_recurrence));
    if (goal_.stop_mean_change && outcome.event == solver_event::change_converged)
      return end(solve_status::stopped,
                 string_printf("the mean change of an element fell to %.3g, the rule asked for %.3g",
                               outcome.mean_change / up_, *goal_.stop_mean_change));
    if (report_.true_residual <= report_.tolerance && goal_.by_residual())
      return end(solve_status::converged,
                 string_printf("true residual %.3g, tolerance %.3g", report_.true_residual, report_.tolerance));
    if (now.norm2 == 0 && goal_.by_residual())
      return end(solve_status::stagnated,
                 string_printf(
                     "the residual is 0 as far as it can be computed, which is to %.3g; the tolerance is %.3g",
                     report_.true_residual, report_.tolerance));
    switch (outcome.event) {
      case solver_event::iteration_limit:
        return end(solve_status::max_iterations, string_printf(at == 1 ? "%lld iteration was not enough; %s"
                                                                       : "%lld iterations were not enough; %s",
                                                               static_cast<long long>(at), rate().c_str()));
      case solver_event::negative_curvature:
        return end(
            solve_status::not_spd,
            string_printf(
                "a direction of negative curvature at iteration %lld: the matrix%s is not positive definite%s",
                static_cast<long long>(at), preconditioned() ? " or its preconditioner" : "",
                rounding_in("rounding may make it look so").c_str()));
      case solver_event::zero_curvature:
        return end(solve_status::breakdown,
                   string_printf("a direction of no curvature at iteration %lld: the matrix is singular to "
                                 "working precision, or its numbers are too large or too small for it%s",
                                 static_cast<long long>(at), rounding_in("rounding may hide it").c_str()));
      case solver_event::indefinite_preconditioner:
        return end(solve_status::not_spd,
                   string_printf("the preconditioner is not positive definite, as iteration %lld shows",
                                 static_cast<long long>(at)));
      case solver_event::breakdown:
        return end(solve_status::breakdown,
                   string_printf("the recurrence broke down by iteration %lld, begun anew as well: the matrix "
                                 "may be singular; relative residual %.2g",
                                 static_cast<long long>(at), report_.relative_true()));
      case solver_event::interrupted:
        return end(solve_status::interrupted,
                   string_printf("stopped on request after %lld iterations", static_cast<long long>(at)));
      default:
        return false;
    }
  }

  bool preconditioned() const { return report_.preconditioner != "none"; }

  // What rounding may have done, what speaks for it and what loses less by it; "" where the matrix does not show it.
  std::string rounding_in(const char* may_have_done) const {
    constexpr double eats_half_of_the_digits = sizeof(T) == 4 ? 1e4 : 1e8;
    const double condition = problem_.least_condition ? problem_.least_condition() : 0;
    if (!(condition >= eats_half_of_the_digits && std::isfinite(condition))) return "";
    return string_printf(
        " or %s: with these entries a definite matrix has a condition number of at least about %.1g; "
        "take "
        "%sa factorisation",
        may_have_done, condition,
        preconditioned() && report_.preconditioner != "jacobi" ? "a simpler preconditioner (jacobi) or " : "");
  }

  // Rounding is not yet in the way of the residual.
  bool is_far_from_attainable() const {
    return report_.true_residual > 1e3 * report_.attainable_relative * report_.rhs_norm;
  }

  std::string rate() const {
    if (!goal_.by_residual()) return "the rule that was asked for is not met";
    if (!(report_.tolerance > 0)) return "a tolerance of zero is seldom met";
    const double fall = report_.recurrence_residual / initial_;
    if (!(fall < 1)) return "the residual has not fallen yet";
    if (!(fall > 0)) return string_printf("allow more, or %s", problem_.advice);
    const double needed =
        std::log(report_.tolerance / initial_) / std::log(fall) * static_cast<double>(report_.iterations);
    return string_printf("at the measured rate about %.2g would be, or %s", needed, problem_.advice);
  }

  bool end_diverged() {
    const double growth = report_.recurrence_residual / initial_;
    const auto at = static_cast<long long>(report_.iterations);
    if (!(growth > 1) || !std::isfinite(growth))
      return end(solve_status::diverged, string_printf("x or its residual overflows by iteration %lld", at));
    return end(solve_status::diverged,
               string_printf("the residual grew to %.3g times its start by iteration %lld", growth, at));
  }

  bool end_stagnated() {
    std::string reason =
        string_printf("two restarts did not halve the true residual: relative %.2g", report_.relative_true());
    if (report_.true_residual >= report_.rhs_norm)
      reason += string_printf(
          ", no better than that of x = 0: the matrix may be singular, or this method does not get further; %s",
          problem_.advice);
    else if (report_.relative_true() <= report_.attainable_relative)
      reason += string_printf(
          ", no more than what rounding was expected to leave of this x (about %.1g), backward error %.2g",
          report_.attainable_relative, report_.backward_error);
    else
      reason += string_printf(", where rounding was expected to leave about %.1g; %s",
                              report_.attainable_relative, problem_.advice);
    return end(solve_status::stagnated, std::move(reason));
  }

  // The largest eigenvalue of M, about; d_ holds M r.
  double largest_of_preconditioner(double norm_of_d) {
    if (const T* diagonal = problem_.M->diagonal(); diagonal != nullptr) {
      T largest{};
      if (n_ > 0)
        copy_bytes(&largest, device::cpu(1), diagonal + iamax<T>(problem_.dev, {diagonal, n_}), problem_.dev,
                   sizeof largest);
      const auto mine = static_cast<double>(largest);
      return problem_.whole != nullptr ? problem_.whole->largest(mine) : mine;
    }
    constexpr int steps = 5;
    double largest = 0;
    for (int k = 0; k < steps && norm_of_d > 0; ++k) {
      vouch::scale(problem_.dev, d_.data(), static_cast<T>(1 / norm_of_d), n_);
      problem_.M->apply(problem_.dev, {d_.data(), n_}, low_);
      std::swap(d_, low_);
      norm_of_d = norm2(d_.data());
      largest = std::max(largest, norm_of_d);
    }
    return largest;
  }

  // In the norm of M^-1 the error e is at most that of M r over the least eigenvalue of M A that the engine has met;
  // ||e||_2 is at most this times the root of the largest eigenvalue of M. r_ is that of x.
  double error_by(const ritz_values& met) {
    const double least = std::min(met.smallest(), problem_.least_eigenvalue_at_most);
    if (least > 0) report_.condition_estimate = met.largest() / least;
    double size = norm2(r_.data());
    if (problem_.M != nullptr) {
      problem_.M->apply(problem_.dev, r_, d_);
      const double product = inner_product(r_, d_), of_d = norm2(d_.data());
      size = std::max(of_d, std::sqrt(std::max(product, 0.0) * largest_of_preconditioner(of_d)));
    }
    return size / least;
  }

  void estimate_error() {
    const ritz_values& met = log_.spectrum();
    double error = met.known() ? error_by(met) : 0;
    if (problem_.error_behind) error = std::max(error, problem_.error_behind(r_.data()));
    const double of_x = norm2(x_);
    constexpr double considerable = 1e-2;  // what says something although no eigenvalue is known
    if (!met.known() && !(error >= considerable * of_x)) return;
    if (std::isfinite(error) && detail::rounds_as_normal<T>(of_x, report_.rhs_norm))
      report_.error_estimate = error / of_x;
  }

  bool end(solve_status status, std::string reason) {
    if (has_solution(status)) estimate_error();
    report_.status = status;
    report_.reason = std::move(reason);
    return true;
  }

  const checked_problem<T>& problem_;
  T* x_;
  std::int64_t n_;
  const stopping_criterion& goal_;
  solve_report& report_;
  iteration_log log_;
  array<T> r_, d_, low_;
  std::vector<double> shown_;
  residual_facts now_;   // of the last residual of x
  double initial_ = 0;   // norm of the first residual
  double last_ = 0;      // of the last true one
  double least_ = 0;     // of the smallest true one
  double to_solve_ = 0;  // of the one in r
  double up_ = 1;        // the engine works on r times this
  static constexpr int most_strikes = 2;
  int strikes_ = 0;
  bool resumed_ = false;  // the next run goes on from a checkpoint
  bool done_ = false;
};

}  // namespace

void check_lengths(std::int64_t rows, std::int64_t b, std::int64_t x) {
  if (b != rows || x != rows)
    throw shape_error("the matrix has " + std::to_string(rows) + " rows, but b has " + std::to_string(b) +
                      " elements and x " + std::to_string(x));
}

void check_stopping(const stopping_criterion& goal) {
  if (goal.fixed_iterations.has_value() + goal.stop_recurrence.has_value() + goal.stop_mean_change.has_value() >
      1)
    throw value_error("fixed_iterations, stop_recurrence and stop_mean_change exclude each other");
  const auto require = [](const char* name, double value) {
    if (!(value >= 0)) throw value_error(string_printf("%s is %g, and should not be negative", name, value));
  };
  require("rtol", goal.rtol.value_or(0));
  require("atol", goal.atol);
  require("max_iterations", static_cast<double>(goal.max_iterations));
  require("fixed_iterations", static_cast<double>(goal.fixed_iterations.value_or(0)));
  require("stop_recurrence", goal.stop_recurrence.value_or(0));
  require("stop_mean_change", goal.stop_mean_change.value_or(0));
}

bool iteration_log::note(std::int64_t iteration, double residual, const double* d) {
  const std::int64_t number = done_ + iteration;
  if (number <= last_ || !history_rule::records(number)) return true;
  last_ = number;
  history_.push_back({number, residual / scale_, column_});
  return (!user_ || user_(history_.back())) && (d == nullptr || !shows() || solutions_(history_.back(), d)) &&
         !stop_.requested();
}

void iteration_log::save(std::int64_t iterations, const state_visitor& own) noexcept {
  kept_->save(done_ + iterations, [&](solver_state& state) {
    around_(state);
    own(state);
  });
}

bool iteration_log::resume(const state_visitor& own) {
  if (kept_ == nullptr || !kept_->waits()) return false;
  around_(kept_->source());
  own(kept_->source());
  kept_->taken();
  return true;
}

void iteration_log::keep(solver_state& state) {
  std::vector<std::int64_t> iterations;
  std::vector<double> residuals;
  for (const iteration_record& record : history_) {
    iterations.push_back(record.iteration);
    residuals.push_back(record.residual);
  }
  state.list("history, iterations", iterations);
  state.list("history, residuals", residuals);
  if (state.loads()) {
    history_.clear();
    for (std::size_t k = 0; k < std::min(iterations.size(), residuals.size()); ++k)
      history_.push_back({iterations[k], residuals[k], column_});
  }
  state.integer("iterations of earlier runs", done_);
  state.integer("last iteration recorded", last_, solver_state::most_count, -1);
  spectrum_.keep(state);
}

namespace {

// Where what this thread solves is to be saved and nothing would be.
void require_saving(bool saves, const std::string& method, const std::string& engine, const device& dev) {
  if (saves || checkpoint_scope::here() == nullptr) return;
  throw value_error("no checkpoint can be written of " + method + " (" + engine + "): its loop offers none",
                    dev.is_cuda() ? "on the CPU (--device cpu) most methods have one; on a GPU fcg, minres, "
                                    "gmres, bicgstab and idr"
                                  : "Krylov methods and sparse sweeps in double or single precision have one");
}

}  // namespace

template <real T>
double detail::norm2(const device& dev, const T* v, std::int64_t n) {
  return nrm2<T>(dev, {v, n});
}

template <real T>
void residual_checked_solve(const checked_problem<T>& problem, inner_solver<T>& engine, view<T> x,
                            const stopping_criterion& goal, solve_report& report) {
  require_saving(engine.saves(), report.method, engine.name(), problem.dev);
  residual_checked_loop<T> loop(problem, x, goal, report, 0);
  while (!loop.done()) {
    const inner_task<T> task = loop.next();
    const stopwatch clock;
    const inner_outcome outcome = engine.run(task.r, task.d, task.rule, *task.log);
    problem.dev.synchronize();
    loop.take(outcome, clock.seconds());
  }
}

template <real T>
void residual_checked_solve(std::span<checked_column<T>> columns, block_inner_solver<T>& engine,
                            const stopping_criterion& goal) {
  if (!columns.empty())
    require_saving(false, columns.front().report.method, "several right-hand sides at a time",
                   columns.front().problem.dev);
  struct open_column {
    checked_column<T>* column;
    residual_checked_loop<T> loop;
  };
  const auto done = [](open_column& o) {
    if (!o.loop.done()) return false;
    if (o.column->known) o.column->known = o.loop.take_residual();
    return true;
  };
  std::vector<std::unique_ptr<open_column>> open;
  for (std::size_t next = 0;;) {
    for (; static_cast<std::int64_t>(open.size()) < block_inner_solver<T>::most && next < columns.size();
         ++next) {
      checked_column<T>& c = columns[next];
      std::unique_ptr<open_column> opened(new open_column{
          &c, {c.problem, c.x, goal, c.report, static_cast<std::int64_t>(next), std::move(c.known)}});
      if (!done(*opened)) open.push_back(std::move(opened));
    }
    if (open.empty()) return;
    std::vector<inner_task<T>> tasks;
    for (const auto& o : open) tasks.push_back(o->loop.next());
    const stopwatch clock;
    engine.run(tasks);
    open.front()->column->problem.dev.synchronize();
    const double share = clock.seconds() / static_cast<double>(open.size());
    for (std::size_t k = 0; k < open.size(); ++k) {
      solve_report& report = open[k]->column->report;
      if (report.engine.empty()) report.engine = tasks[k].engine;
      open[k]->loop.take(tasks[k].outcome, share);
    }
    std::erase_if(open, [&](const auto& o) { return done(*o); });
  }
}

template double detail::norm2(const device&, const float*, std::int64_t);
template double detail::norm2(const device&, const double*, std::int64_t);
template void residual_checked_solve(const checked_problem<float>&, inner_solver<float>&, view<float>,
                                     const stopping_criterion&, solve_report&);
template void residual_checked_solve(const checked_problem<double>&, inner_solver<double>&, view<double>,
                                     const stopping_criterion&, solve_report&);
template void residual_checked_solve(std::span<checked_column<float>>, block_inner_solver<float>&,
                                     const stopping_criterion&);
template void residual_checked_solve(std::span<checked_column<double>>, block_inner_solver<double>&,
                                     const stopping_criterion&);

}  // namespace vouch
