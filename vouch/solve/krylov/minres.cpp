#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/krylov/krylov_run.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/krylov/minres.hpp>
#include <vouch/solve/krylov/minres_steps.hpp>
#include <vouch/solve/krylov/resident_engines.hpp>
#include <vouch/solve/loop/plan_operator.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

template <real T>
class minres_engine final : public inner_solver<T> {
 public:
  minres_engine(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M)
      : dev_(dev), n_(A.rows()), team_(dev, A, M), own_(dev, n_, M == nullptr ? 6 : 7) {}

  std::string name() const override { return "general operator"; }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    zero_bytes(dev_, d, static_cast<std::size_t>(n_) * sizeof(T));
    krylov_run iterations(rule, log, n_, nrm2<T>(dev_, {r, n_}), d);
    const auto own = [this](int k) { return own_.at(k); };
    minres_steps<T, team> steps(
        team_,
        {r, d, own(0), own(1), own(2), team_.has_preconditioner() ? own(6) : nullptr, own(3), own(4), own(5)},
        known_);
    steps.run(iterations);
    known_ = steps.known();
    return iterations.outcome();
  }

  bool saves() const override { return true; }

 private:
  using team = host_team<T, double>;

  device dev_;
  std::int64_t n_;
  team team_;
  vector_set<T> own_;
  minres_facts known_;
};

constexpr krylov_method method{.name = "minres", .title = "MINRES", .allowed_growth = 1e8};

// stored: where the matrix is; nullptr where it is given by its action.
template <real T>
engine_maker<T> maker(const device& dev, const csr_view<const T>* stored) {
  return [&dev, stored](const linear_operator<T>& A, const preconditioner<T>* M,
                        bool) -> std::unique_ptr<inner_solver<T>> {
    if (stored != nullptr)
      if (auto engine = try_resident<T>(
              dev, M, [&](const T* minv) { return minres_resident_cuda<T>(dev, *stored, minv); }))
        return engine;
    return std::make_unique<minres_engine<T>>(dev, A, M);
  };
}

// Where the norm r' M r of a residual is least, A M r = 0, so that A is singular; rounding leaves of A M r the root of a
// unit. The norm of A is at least that of A b over that of b.
template <real T>
void explain_stagnation(const device& dev, const linear_operator<T>& A, view<const T> b, view<const T> x,
                        const preconditioner<T>* M, solve_report& report) {
  array<T> r(dev, A.rows()), z(dev, A.rows()), product(dev, A.rows());
  const auto stretched = [&](view<const T> v) {
    A.apply(dev, v, product);
    return static_cast<double>(nrm2<T>(dev, product)) / static_cast<double>(nrm2<T>(dev, v));
  };
  A.apply(dev, x, r);
  axpby(dev, T{1}, b.data(), T{-1}, r.data(), A.rows());
  if (M != nullptr) M->apply(dev, r, z);
  const double along_residual = stretched(M != nullptr ? z.all() : r.all()), along_b = stretched(b);
  constexpr double unit = std::numeric_limits<T>::epsilon();
  if (!(along_residual <= 8 * std::sqrt(unit) * along_b)) return;
  report.reason = string_printf(
      "the residual is the least there is%s, relative %.2g: the matrix is singular, and x a solution of least "
      "squares, or its condition number is at least %.1g",
      M != nullptr ? " in the norm of the preconditioner" : "", report.relative_true(),
      1 / std::max(unit, along_residual / along_b));
}

}  // namespace

template <real T>
solve_report minres(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                    const minres_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  const valid_csr valid(method.name, dev, A);
  if (!options.matrix_checked && A.rows == A.cols) check_symmetric(dev, A);
  solve_report report = solve_by_krylov<T>(method, dev, A, b, x, options, M, maker<T>(dev, &A));
  if (report.status == solve_status::stagnated) {
    const spmv_plan<T> plan = spmv_plan<T>::make(dev, A);
    explain_stagnation<T>(dev, plan_operator<T>(plan), b, x, M, report);
  }
  return report;
}

template <real T>
solve_report minres(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                    const minres_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  solve_report report = solve_by_krylov<T>(method, dev, A, b, x, options, M, maker<T>(dev, nullptr));
  if (report.status == solve_status::stagnated) explain_stagnation<T>(dev, A, b, x, M, report);
  return report;
}

#define VOUCH_MINRES(T)                                                                                       \
  template VOUCH_PUBLIC solve_report minres(const device&, csr_view<const T>, view<const T>, view<T>,         \
                                            const minres_options&, const preconditioner<T>*);                 \
  template VOUCH_PUBLIC solve_report minres(const device&, const linear_operator<T>&, view<const T>, view<T>, \
                                            const minres_options&, const preconditioner<T>*);
VOUCH_MINRES(float)
VOUCH_MINRES(double)
#undef VOUCH_MINRES

}  // namespace vouch
