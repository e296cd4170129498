#include <vouch/solve/loop/least_squares_loop.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/core/underflow.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {

template <real T>
least_squares_facts judge_least_squares(const least_squares_problem<T>& problem, double norm_of_A,
                                        view<const T> x, view<T> r) {
  constexpr int most = sizeof(T) == 4 ? 120 : 1000;  // the factor and its inverse are numbers of type T
  const device& dev = problem.dev;
  const array<T> none = array<T>::zeros(dev, problem.A.cols);
  array<T> gradient(dev, problem.A.cols);
  least_squares_facts facts{residual<T>(dev, problem.A, problem.b, x, nullptr, r), 0, 1};
  // A multiple of the residual, so that no square of a large or small number comes in.
  const double size = facts.residual.norm2;
  if (size > 0) facts.up = std::ldexp(1.0, std::clamp(-std::ilogb(size), -most, most));
  scale(dev, r.data(), static_cast<T>(facts.up), problem.A.rows);
  const double norm = residual<T>(dev, problem.transposed, none, r, nullptr, gradient).norm2;
  facts.normal_equations = norm == 0 ? 0 : norm / norm_of_A / static_cast<double>(nrm2<T>(dev, r));
  const double lost = lost_to_underflow(std::numeric_limits<T>::epsilon() / 2, size, facts.residual.x_norm_inf,
                                        facts.residual.rhs_norm2, facts.residual.terms);
  if (lost > 0) facts.normal_equations = size > lost ? std::min(1.0, facts.normal_equations + lost / size) : 1;
  return facts;
}

namespace {

// Runs the engine from the x that is there until the recomputed residual or its gradient is small, or two runs have
// halved neither.
template <real T>
class least_squares_loop {
 public:
  least_squares_loop(const least_squares_problem<T>& problem, inner_solver<T>& engine, view<T> x,
                     const stopping_criterion& goal, solve_report& report)
      : dev_(problem.dev),
        problem_(problem),
        A_(problem.A),
        b_(problem.b),
        x_(x),
        goal_(goal),
        rtol_(goal.rtol.value_or(default_rtol<T>)),
        report_(report),
        log_(goal.on_iteration, report.history),
        engine_(engine),
        norm_of_A_(nrm2<T>(dev_, {A_.val, A_.nonzeros})),
        r_(dev_, A_.rows),
        d_(dev_, A_.cols),
        low_(array<T>::zeros(dev_, A_.cols)) {}

  void run() {
    const stopwatch clock;
    report_.engine = engine_.name();
    judge(true);
    int strikes = 0;
    while (!ended()) {
      const double residual = report_.true_residual, gradient = *report_.normal_equations;
      const inner_outcome outcome = improve();
      judge(false);
      if (ended() || ended_by(outcome)) break;
      const bool better =
          report_.true_residual <= 0.5 * residual || *report_.normal_equations <= 0.5 * gradient;
      strikes = better ? 0 : strikes + 1;
      if (strikes == 2) {
        end(solve_status::stagnated,
            string_printf(
                "two restarts halved neither the true residual, relative %.2g, nor its gradient, relative "
                "%.2g",
                report_.relative_true(), *report_.normal_equations));
        break;
      }
      ++report_.restarts;
    }
    report_.solve_seconds = clock.seconds();
  }

 private:
  void judge(bool first) {
    const least_squares_facts found = judge_least_squares<T>(problem_, norm_of_A_, x_, r_);
    const residual_facts& facts = found.residual;
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
    up_ = found.up;
    report_.normal_equations = found.normal_equations;
  }

  bool ended() {
    if (report_.true_residual <= report_.tolerance)
      return end(solve_status::converged,
                 string_printf("true residual %.3g, tolerance %.3g", report_.true_residual, report_.tolerance));
    if (*report_.normal_equations <= rtol_)
      return end(
          solve_status::converged,
          string_printf("a least-squares solution: the gradient of the true residual, %.3g, is relatively %.2g",
                        report_.true_residual, *report_.normal_equations));
    return false;
  }

  bool ended_by(const inner_outcome& outcome) {
    const auto at = static_cast<long long>(report_.iterations);
    if (outcome.event == solver_event::interrupted)
      return end(solve_status::interrupted, string_printf("stopped on request after %lld iterations", at));
    if (outcome.event == solver_event::diverged || !std::isfinite(*report_.normal_equations))
      return end(solve_status::diverged, string_printf("x or its residual overflows by iteration %lld", at));
    if (report_.iterations >= limit())
      return end(solve_status::max_iterations,
                 string_printf("%lld iterations were not enough: relative residual %.2g, its gradient %.2g", at,
                               report_.relative_true(), *report_.normal_equations));
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

  device dev_;
  const least_squares_problem<T>& problem_;
  csr_view<const T> A_;
  view<const T> b_;
  view<T> x_;
  const stopping_criterion& goal_;
  double rtol_;
  solve_report& report_;
  iteration_log log_;
  inner_solver<T>& engine_;
  double norm_of_A_;
  array<T> r_, d_, low_;
  double up_ = 1;
};

}  // namespace

template <real T>
void least_squares_solve(const least_squares_problem<T>& problem, inner_solver<T>& engine, view<T> x,
                         const stopping_criterion& goal, solve_report& report) {
  if (checkpoint_scope::here() != nullptr)
    throw value_error("no checkpoint can be written of " + report.method + ": its loop offers none");
  least_squares_loop<T>(problem, engine, x, goal, report).run();
}

template least_squares_facts judge_least_squares(const least_squares_problem<double>&, double,
                                                 view<const double>, view<double>);
template void least_squares_solve(const least_squares_problem<float>&, inner_solver<float>&, view<float>,
                                  const stopping_criterion&, solve_report&);
template void least_squares_solve(const least_squares_problem<double>&, inner_solver<double>&, view<double>,
                                  const stopping_criterion&, solve_report&);

}  // namespace vouch
