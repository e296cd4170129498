#include <vouch/solve/sparse_lu.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/cg_engine.hpp>
#include <vouch/solve/verified_solve.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {
namespace {

// A run of it is one solve with the factors.
template <real T>
class factors_engine final : public cg_engine<T> {
 public:
  explicit factors_engine(const lu_factors<T>& factors) : factors_(factors) {}
  std::string name() const override {
    return "1 thread, " + std::to_string(factors_.entries()) + " entries in the factors";
  }
  cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log&) override {
    if (rule.limit <= 0) return {cg_event::limit, 0, 0};
    std::copy(r, r + factors_.rows, d);
    factors_.solve(d);
    return {cg_event::reached, 1, 0};
  }

 private:
  const lu_factors<T>& factors_;
};

template <real T>
void check_request(const device& dev, csr_view<const T> A, std::int64_t b, std::int64_t x,
                   const solve_goal& goal) {
  if (dev.is_cuda())
    throw value_error("sparse factorisations run on the CPU", "take --device cpu, or device::cpu()");
  if (A.rows != A.cols) throw shape_error("sparse_lu: the matrix is not square");
  check_lengths(A.rows, b, x);
  if (!goal.by_residual()) throw value_error("a direct method ends by the residual alone");
}

}  // namespace

template <real T>
solve_report sparse_lu(const device& dev, csr_view<const T> A, const lu_factors<T>& factors, view<const T> b,
                       view<T> x, const solve_goal& goal) {
  check_request(dev, A, b.size(), x.size(), goal);
  if (factors.rows != A.rows) throw shape_error("sparse_lu: the factors are those of another matrix");
  solve_report report;
  report.method = "sparse-lu";
  report.precision = sizeof(T) == 4 ? "single" : "double";
  report.preconditioner = "none";
  verified_problem<T> problem{dev, A.rows, [&](const T* hi, const T* lo, T* r) {
                                return residual<T>(dev, A, b, {hi, A.rows}, lo, {r, A.rows});
                              }};
  problem.advice = "take more precision";
  // What is not finite the factorisation may call singular.
  array<T> r(dev, A.rows);
  const residual_facts start = problem.residual_of(x.data(), nullptr, r.data());
  if (!std::isfinite(start.norm2))
    throw value_error(
        "the matrix, the right-hand side or the start holds a NaN or an infinity, or A x overflows");
  factors_engine<T> engine(factors);
  report.engine = engine.name();
  if (factors.failed > 0 && start.rhs_norm2 > 0) {
    report.status = solve_status::breakdown;
    report.reason = "pivot " + std::to_string(factors.failed) +
                    " is exactly zero: the matrix is singular to working precision";
    report.rhs_norm = start.rhs_norm2;
    report.true_residual = report.recurrence_residual = start.norm2;
    report.backward_error = start.backward_error();
    return report;
  }
  verified_solve(problem, engine, x, goal, report);
  return report;
}

template <real T>
solve_report sparse_lu(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                       const solve_goal& goal) {
  check_request(dev, A, b.size(), x.size(), goal);
  const stopwatch clock;
  const lu_factors<T> factors = factorise<T>(dev, A);
  const double seconds = clock.seconds();
  solve_report report = sparse_lu<T>(dev, A, factors, b, x, goal);
  report.setup_seconds = seconds;
  return report;
}

#define VOUCH_INSTANTIATE(T)                                                                             \
  template solve_report sparse_lu(const device&, csr_view<const T>, const lu_factors<T>&, view<const T>, \
                                  view<T>, const solve_goal&);                                           \
  template solve_report sparse_lu(const device&, csr_view<const T>, view<const T>, view<T>, const solve_goal&);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
