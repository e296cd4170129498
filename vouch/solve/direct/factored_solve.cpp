#include <vouch/solve/direct/factored_solve.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/solve/loop/inner_solver.hpp>

namespace vouch {
namespace {

// A run is one solve.
template <real T>
class factored_engine final : public inner_solver<T> {
 public:
  factored_engine(const device& dev, std::int64_t n, factorisation<T>& A) : dev_(dev), n_(n), A_(A) {}
  std::string name() const override { return A_.name(); }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log&) override {
    if (rule.limit <= 0) return {solver_event::iteration_limit, 0, 0};
    copy_bytes(d, dev_, r, dev_, static_cast<std::size_t>(n_) * sizeof(T));
    A_.solve(d);
    return {solver_event::reached, 1, 0};
  }

 private:
  device dev_;
  std::int64_t n_;
  factorisation<T>& A_;
};

// The error is one more solve away, unless the factors are those of another matrix, as where A is singular to
// working precision: then a second solve brings what is left of it no nearer to zero. r is room for a vector.
template <real T>
void estimate_error(const checked_problem<T>& problem, factorisation<T>& A, const T* x, T* r,
                    solve_report& report) {
  const residual_facts facts = problem.residual_of(x, nullptr, r);
  const double condition = facts.matrix_norm_inf * A.inverse_norm();
  if (std::isfinite(condition)) report.condition_estimate = condition;
  const double size = detail::norm2<T>(problem.dev, x, problem.rows);
  if (!detail::rounds_as_normal<T>(size, report.rhs_norm)) return;
  array<T> e(problem.dev, problem.rows);
  copy_bytes(e.data(), problem.dev, r, problem.dev, static_cast<std::size_t>(problem.rows) * sizeof(T));
  A.solve(e.data());
  problem.residual_of(x, e.data(), r);
  A.solve(r);
  const double error = detail::norm2<T>(problem.dev, e.data(), problem.rows),
               left = detail::norm2<T>(problem.dev, r, problem.rows);
  constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2;
  if (left <= std::max(0.5 * error, unit_roundoff * size) && std::isfinite(error / size))
    report.error_estimate = error / size;
  else
    report.warnings.push_back(string_printf(
        "the matrix is singular to %s precision: no digit of x is certain, however small the residual",
        report.precision.c_str()));
}

}  // namespace

void check_direct_request(std::int64_t rows, std::int64_t b, std::int64_t x, const stopping_criterion& goal) {
  check_lengths(rows, b, x);
  check_stopping(goal);
  if (!goal.by_residual()) throw value_error("a direct method ends by the residual alone");
}

template <real T>
solve_report factored_solve(checked_problem<T> problem, const std::string& method, const stopwatch& setup,
                            const std::function<std::unique_ptr<factorisation<T>>()>& factorise, view<T> x,
                            const stopping_criterion& goal) {
  solve_report report;
  report.method = method;
  report.precision = sizeof(T) == 4 ? "single" : "double";
  report.preconditioner = "none";
  problem.advice = "take more precision";
  array<T> r(problem.dev, problem.rows);
  const residual_facts start = problem.residual_of(x.data(), nullptr, r.data());
  if (!std::isfinite(start.norm2))
    throw value_error(
        "the matrix, the right-hand side or the start holds a NaN or an infinity, or A x overflows");
  const auto factors = factorise();
  factored_engine<T> engine(problem.dev, problem.rows, *factors);
  report.engine = engine.name();
  report.backend = factors->backend();
  report.reproducible = factors->reproducible();
  report.setup_seconds = setup.seconds();
  if (factors->failed() > 0 && start.rhs_norm2 > 0) {
    const bool definite = factors->needs_definite();
    report.status = definite ? solve_status::not_spd : solve_status::breakdown;
    report.reason =
        string_printf(definite ? "the leading part of %lld rows is not positive definite in %s precision"
                               : "pivot %lld is exactly zero: the matrix is singular in %s precision",
                      static_cast<long long>(factors->failed()), report.precision.c_str());
    report.rhs_norm = start.rhs_norm2;
    report.true_residual = start.norm2;
    report.recurrence_residual = std::numeric_limits<double>::quiet_NaN();
    report.backward_error = start.backward_error();
    return report;
  }
  residual_checked_solve(problem, engine, x, goal, report);
  report.recurrence_residual = std::numeric_limits<double>::quiet_NaN();
  if (factors->failed() == 0 && has_solution(report.status))
    estimate_error(problem, *factors, x.data(), r.data(), report);
  return report;
}

#define VOUCH_INSTANTIATE(T)                                                                               \
  template solve_report factored_solve(checked_problem<T>, const std::string&, const stopwatch&,           \
                                       const std::function<std::unique_ptr<factorisation<T>>()>&, view<T>, \
                                       const stopping_criterion&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
