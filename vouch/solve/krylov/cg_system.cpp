#include <algorithm>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_system.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/scaling.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {

template <real T>
bool rows_sum_to_zero(const device& dev, csr_view<const T> A) {
  if (A.rows == 0) return false;
  array<T> ones(dev, A.rows), sums(dev, A.rows);
  const array<T> zeros = array<T>::zeros(dev, A.rows);
  fill(dev, ones.data(), T{1}, A.rows);
  const residual_facts facts = residual<T>(dev, A, zeros, ones, nullptr, sums);
  return facts.norm_inf <= 64 * std::numeric_limits<T>::epsilon() * facts.matrix_norm_inf;
}

template <real T>
checked_problem<T> cg_problem(const device& dev, csr_view<const T> A, view<const T> b,
                              const preconditioner<T>* M, bool constants_in_null_space) {
  checked_problem<T> problem = stored_problem(dev, A, b);
  problem.constants_in_null_space = constants_in_null_space;
  problem.allowed_growth = growth_of_gradients<T>;
  problem.M = M;
  if (M == nullptr && !constants_in_null_space) problem.least_eigenvalue_at_most = least_diagonal_entry(dev, A);
  return problem;
}

template <real T>
solve_report new_cg_report(const preconditioner<T>* M, bool constants_in_null_space) {
  solve_report report = new_krylov_report(M);
  report.method = "cg";
  if (constants_in_null_space)
    report.warnings.push_back("every row sums to zero: singular, solved for the x that sums to zero");
  return report;
}

template bool rows_sum_to_zero(const device&, csr_view<const float>);
template checked_problem<float> cg_problem(const device&, csr_view<const float>, view<const float>,
                                           const preconditioner<float>*, bool);
template solve_report new_cg_report(const preconditioner<float>*, bool);
template bool rows_sum_to_zero(const device&, csr_view<const double>);
template checked_problem<double> cg_problem(const device&, csr_view<const double>, view<const double>,
                                            const preconditioner<double>*, bool);
template solve_report new_cg_report(const preconditioner<double>*, bool);

template <real T>
cg_assembly<T> assemble_cg(const device& dev, csr_view<const T> A, const preconditioner<T>* M, layout wanted) {
  cg_assembly<T> parts;
  const T* minv = M != nullptr ? M->diagonal() : nullptr;
  const bool fused = M == nullptr || minv != nullptr;
  if constexpr (built_with_cuda)
    if (dev.is_cuda() && fused && wanted == layout::automatic) parts.engine = cg_resident_cuda(dev, A, minv);
  if (parts.engine) return parts;
  parts.plan = std::make_unique<spmv_plan<T>>(spmv_plan<T>::make(dev, A, true, wanted));
  if (fused) {
    if constexpr (built_with_cuda)
      if (dev.is_cuda()) parts.engine = cg_graph_cuda(dev, *parts.plan, minv);
    if (!dev.is_cuda()) parts.engine = cg_cpu(dev, *parts.plan, minv);
    return parts;
  }
  parts.as_operator = std::make_unique<plan_operator<T>>(*parts.plan);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) parts.engine = cg_graph_cuda_general(dev, *parts.as_operator, M);
  if (!dev.is_cuda()) parts.engine = cg_cpu_general(dev, *parts.as_operator, M);
  return parts;
}

template cg_assembly<float> assemble_cg(const device&, csr_view<const float>, const preconditioner<float>*,
                                        layout);
template cg_assembly<double> assemble_cg(const device&, csr_view<const double>, const preconditioner<double>*,
                                         layout);

}  // namespace vouch
