#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_system.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/sparse/residual.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr const char *title = "conjugate gradients", *need = "conjugate gradients need";

}  // namespace

template <real T>
solve_report cg_with_engine(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                            const cg_options& options, inner_solver<T>& engine, const preconditioner<T>* M,
                            const stopwatch& clock) {
  const ieee_environment here;
  check_krylov_shapes(need, A.rows, A.cols, b.size(), x.size());
  check_krylov_stopping(title, options);
  const checked_problem<T> problem = cg_problem(dev, A, b, M, cg_facts_of(dev, A));
  solve_report report = new_cg_report<T>(nullptr);
  report.engine = engine.name();
  dev.synchronize();
  report.setup_seconds = clock.seconds();
  residual_checked_solve(problem, engine, x, options, report);
  return report;
}

template <real T>
solve_report cg(const device& dev, csr_view<const T> A, view<const T> b, view<T> x, const cg_options& options,
                const preconditioner<T>* M) {
  const ieee_environment here;
  const valid_csr valid("cg", dev, A);
  check_krylov_shapes(need, A.rows, A.cols, b.size(), x.size());
  check_preconditioner(M, A.rows);
  const stopwatch clock;
  if (!options.matrix_checked) check_spd(dev, A);
  const std::unique_ptr<preconditioner<T>> power = M == nullptr ? power_for_size(dev, A) : nullptr;
  if (power != nullptr) M = power.get();
  const cg_assembly<T> parts = assemble_cg(dev, A, M, options.matrix_layout, options.gpus);
  solve_report report = cg_with_engine(dev, A, b, x, options, *parts.engine, M, clock);
  if (M != nullptr) report.preconditioner = M->name();
  return report;
}

template <real T>
solve_report cg(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                const cg_options& options, const preconditioner<T>* M) {
  const ieee_environment here;
  const std::int64_t n = A.rows();
  check_krylov_shapes(need, n, n, b.size(), x.size());
  check_krylov_stopping(title, options);
  check_preconditioner(M, n);
  require_one_device("a matrix given by its action", options);
  solve_report report = new_cg_report<T>(M);
  const stopwatch clock;
  std::unique_ptr<inner_solver<T>> engine;
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) engine = cg_graph_cuda_general(dev, A, M);
  if (!dev.is_cuda()) engine = cg_cpu_general(dev, A, M);
  report.engine = engine->name();

  checked_problem<T> problem = operator_problem(dev, A, b, report);
  problem.allowed_growth = growth_of_gradients<T>;
  problem.M = M;
  report.setup_seconds = clock.seconds();
  residual_checked_solve(problem, *engine, x, options, report);
  return report;
}

template solve_report cg_with_engine(const device&, csr_view<const float>, view<const float>, view<float>,
                                     const cg_options&, inner_solver<float>&, const preconditioner<float>*,
                                     const stopwatch&);
template solve_report cg_with_engine(const device&, csr_view<const double>, view<const double>, view<double>,
                                     const cg_options&, inner_solver<double>&, const preconditioner<double>*,
                                     const stopwatch&);
template VOUCH_PUBLIC solve_report cg(const device&, csr_view<const float>, view<const float>, view<float>,
                                      const cg_options&, const preconditioner<float>*);
template VOUCH_PUBLIC solve_report cg(const device&, csr_view<const double>, view<const double>, view<double>,
                                      const cg_options&, const preconditioner<double>*);
template VOUCH_PUBLIC solve_report cg(const device&, const linear_operator<float>&, view<const float>,
                                      view<float>, const cg_options&, const preconditioner<float>*);
template VOUCH_PUBLIC solve_report cg(const device&, const linear_operator<double>&, view<const double>,
                                      view<double>, const cg_options&, const preconditioner<double>*);

}  // namespace vouch
