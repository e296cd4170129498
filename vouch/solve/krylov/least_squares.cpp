#include <vouch/solve/krylov/least_squares.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/krylov/golub_kahan.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/loop/plan_operator.hpp>
#include <vouch/sparse/residual.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

void check_shapes(const char* title, std::int64_t rows, std::int64_t cols, std::int64_t b, std::int64_t x) {
  if (b == rows && x == cols) return;
  throw shape_error(string_printf(
      "%s: the matrix is %lld by %lld, so b has %lld elements and x %lld, not %lld and "
      "%lld",
      title, static_cast<long long>(rows), static_cast<long long>(cols), static_cast<long long>(rows),
      static_cast<long long>(cols), static_cast<long long>(b), static_cast<long long>(x)));
}

// Runs the engine from the x that is there until the recomputed residual or its gradient is small, or two runs have
// halved neither.
template <real T, class Iterate>
class least_squares_loop {
 public:
  least_squares_loop(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                     const stopping_criterion& goal, least_squares_report& report)
      : dev_(dev),
        A_(A),
        b_(b),
        x_(x),
        goal_(goal),
        rtol_(goal.rtol.value_or(default_rtol<T>)),
        report_(report),
        log_(goal.on_iteration, report.history),
        plan_(spmv_plan<T>::make(dev, A)),
        by_A_(plan_),
        engine_(dev, by_A_, transpose<T>(dev, A), rtol_),
        norm_of_A_(nrm2<T>(dev, {A.val, A.nonzeros})),
        r_(dev, A.rows),
        d_(dev, A.cols),
        gradient_(dev, A.cols),
        low_(array<T>::zeros(dev, A.cols)) {}

  void run() {
    const stopwatch clock;
    report_.engine = engine_.name();
    judge(true);
    int strikes = 0;
    while (!ended()) {
      const double residual = report_.true_residual, optimality = *report_.optimality;
      const inner_outcome outcome = improve();
      judge(false);
      if (ended() || ended_by(outcome)) break;
      const bool better = report_.true_residual <= 0.5 * residual || *report_.optimality <= 0.5 * optimality;
      strikes = better ? 0 : strikes + 1;
      if (strikes == 2) {
        end(solve_status::stagnated,
            string_printf(
                "two restarts halved neither the true residual, relative %.2g, nor its gradient, relative "
                "%.2g",
                report_.relative_true(), *report_.optimality));
        break;
      }
      ++report_.restarts;
    }
    report_.solve_seconds = clock.seconds();
  }

 private:
  void judge(bool first) {
    const residual_facts facts = residual<T>(dev_, A_, b_, x_, nullptr, r_);
    if (first) {
      if (!std::isfinite(facts.rhs_norm2)) throw value_error("the right-hand side holds a NaN or an infinity");
      if (!std::isfinite(facts.x_norm_inf)) throw value_error("the start vector holds a NaN or an infinity");
      if (!std::isfinite(facts.matrix_norm_inf) || !std::isfinite(norm_of_A_) || !std::isfinite(facts.norm2))
        throw value_error("the matrix holds a NaN or an infinity, or A x overflows");
      report_.rhs_norm = facts.rhs_norm2;
      report_.tolerance = std::max(rtol_ * facts.rhs_norm2, goal_.atol);
    }
    report_.true_residual = facts.norm2_at_most<T>();
    report_.backward_error = facts.backward_error();
    // A multiple of the residual, so that no square of a large or small number comes in.
    up_ = facts.norm2 > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(facts.norm2), -most, most)) : 1.0;
    scale(dev_, r_.data(), static_cast<T>(up_), A_.rows);
    engine_.by_transposed().multiply(T{1}, r_, T{0}, gradient_);
    const double gradient = nrm2<T>(dev_, gradient_);
    report_.optimality = gradient == 0 ? 0 : gradient / norm_of_A_ / static_cast<double>(nrm2<T>(dev_, r_));
  }

  bool ended() {
    if (report_.true_residual <= report_.tolerance)
      return end(solve_status::converged,
                 string_printf("true residual %.3g, tolerance %.3g", report_.true_residual, report_.tolerance));
    if (*report_.optimality <= rtol_)
      return end(
          solve_status::converged,
          string_printf("a least-squares solution: the gradient of the true residual, %.3g, is relatively %.2g",
                        report_.true_residual, *report_.optimality));
    return false;
  }

  bool ended_by(const inner_outcome& outcome) {
    const auto at = static_cast<long long>(report_.iterations);
    if (outcome.event == solver_event::interrupted)
      return end(solve_status::interrupted, string_printf("stopped on request after %lld iterations", at));
    if (outcome.event == solver_event::diverged || !std::isfinite(*report_.optimality))
      return end(solve_status::diverged, string_printf("x or its residual overflows by iteration %lld", at));
    if (report_.iterations >= limit())
      return end(solve_status::max_iterations,
                 string_printf("%lld iterations were not enough: relative residual %.2g, its gradient %.2g", at,
                               report_.relative_true(), *report_.optimality));
    return false;
  }

  bool end(solve_status status, std::string reason) {
    report_.status = status;
    report_.reason = std::move(reason);
    return true;
  }

  std::int64_t limit() const {
    return goal_.max_iterations > 0 ? goal_.max_iterations : std::max<std::int64_t>(1000000, 20 * A_.cols);
  }

  // x and low_ := the two and the d that is best for their residual.
  inner_outcome improve() {
    residual<T>(dev_, A_, b_, x_, low_.data(), r_);
    scale(dev_, r_.data(), static_cast<T>(up_), A_.rows);
    log_.set_scale(up_);
    stopping_rule rule;
    const double target = up_ * report_.tolerance;
    rule.target_squared = std::max(target * target, exhausted_squared);
    rule.diverged_squared = std::numeric_limits<double>::max();
    rule.limit = limit() - report_.iterations;
    const inner_outcome outcome = engine_.run(r_.data(), d_.data(), rule, log_);
    report_.iterations += outcome.iterations;
    report_.recurrence_residual = std::sqrt(outcome.residual_squared) / up_;
    log_.advance(outcome.iterations);
    scale(dev_, d_.data(), static_cast<T>(1 / up_), A_.cols);
    accumulate_pair(dev_, x_.data(), low_.data(), d_.data(), A_.cols);
    return outcome;
  }

  static constexpr int most = sizeof(T) == 4 ? 120 : 1000;  // the factor and its inverse are numbers of type T

  device dev_;
  csr_view<const T> A_;
  view<const T> b_;
  view<T> x_;
  const stopping_criterion& goal_;
  double rtol_;
  least_squares_report& report_;
  iteration_log log_;
  spmv_plan<T> plan_;
  plan_operator<T> by_A_;
  golub_kahan_engine<T, Iterate> engine_;
  double norm_of_A_;
  array<T> r_, d_, gradient_, low_;
  double up_ = 1;
};

template <real T, class Iterate>
least_squares_report solve(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                           const least_squares_options& options) {
  const valid_csr valid(Iterate::name, dev, A);
  if (options.must_fit) {
    constexpr krylov_method method{.name = Iterate::name, .title = Iterate::title};
    return {solve_by_krylov<T>(
        method, dev, A, b, x, options, nullptr, [&](const linear_operator<T>& by_A, const preconditioner<T>*) {
          return std::make_unique<golub_kahan_engine<T, Iterate>>(dev, by_A, transpose<T>(dev, A), 0.0);
        })};
  }
  check_shapes(Iterate::title, A.rows, A.cols, b.size(), x.size());
  check_krylov_stopping(Iterate::title, options);
  if (!options.by_residual())
    throw value_error(
        std::string(Iterate::title) + " for least squares stops by the true residual and its gradient",
        "set must_fit for other rules");
  const stopwatch clock;
  least_squares_report report{new_krylov_report<T>(nullptr)};
  report.method = Iterate::name;
  least_squares_loop<T, Iterate> loop(dev, A, b, x, options, report);
  dev.synchronize();
  report.setup_seconds = clock.seconds();
  loop.run();
  return report;
}

}  // namespace

template <real T>
least_squares_report lsqr(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                          const least_squares_options& options) {
  const ieee_environment here;
  return solve<T, lsqr_iterate<T>>(dev, A, b, x, options);
}

template <real T>
least_squares_report lsmr(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                          const least_squares_options& options) {
  const ieee_environment here;
  return solve<T, lsmr_iterate<T>>(dev, A, b, x, options);
}

#define VOUCH_LEAST_SQUARES(T)                                                                 \
  template least_squares_report lsqr(const device&, csr_view<const T>, view<const T>, view<T>, \
                                     const least_squares_options&);                            \
  template least_squares_report lsmr(const device&, csr_view<const T>, view<const T>, view<T>, \
                                     const least_squares_options&);
VOUCH_LEAST_SQUARES(float)
VOUCH_LEAST_SQUARES(double)
#undef VOUCH_LEAST_SQUARES

}  // namespace vouch
