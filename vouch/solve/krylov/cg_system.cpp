#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/error.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_system.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/precond/diagonal.hpp>
#include <vouch/solve/precond/scaling.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {

template <real T>
cg_matrix_facts<T> cg_facts_of(const device& dev, csr_view<const T> A) {
  cg_matrix_facts<T> facts;
  if (A.rows == 0) return facts;
  const cancellation_probe stop;
  if (dev.is_cuda() || !plain_row_sums_of(dev, A).are_far_from_zero()) {
    const residual_facts of_sums = facts_of_row_sums(dev, A);
    facts.constants_in_null_space =
        of_sums.norm_inf <= 64 * std::numeric_limits<T>::epsilon() * of_sums.matrix_norm_inf;
  }
  stop.check();
  if (facts.constants_in_null_space) return facts;
  const diagonal_range diagonal = range_of_diagonal(dev, A);
  facts.least_diagonal_entry = diagonal.least;
  constexpr double wide = 1e4;  // below, 1e-8 of the residual is hardly a hundredth of the solution
  if (dev.is_cuda() || !std::isfinite(diagonal.largest) || diagonal.largest < wide * diagonal.least)
    return facts;
  const auto parts = std::make_shared<const weak_parts<T>>(A);
  if (parts->are_few()) facts.parts = parts;
  return facts;
}

template <real T>
checked_problem<T> cg_problem(const device& dev, csr_view<const T> A, view<const T> b,
                              const preconditioner<T>* M, const cg_matrix_facts<T>& facts) {
  checked_problem<T> problem = stored_problem(dev, A, b);
  problem.constants_in_null_space = facts.constants_in_null_space;
  problem.allowed_growth = growth_of_gradients<T>;
  problem.M = M;
  if (M == nullptr) problem.least_eigenvalue_at_most = facts.least_diagonal_entry;
  if (facts.parts) problem.error_behind = [parts = facts.parts](const T* r) { return parts->error_behind(r); };
  return problem;
}

template <real T>
solve_report new_cg_report(const preconditioner<T>* M) {
  solve_report report = new_krylov_report(M);
  report.method = "cg";
  return report;
}

template cg_matrix_facts<float> cg_facts_of(const device&, csr_view<const float>);
template checked_problem<float> cg_problem(const device&, csr_view<const float>, view<const float>,
                                           const preconditioner<float>*, const cg_matrix_facts<float>&);
template solve_report new_cg_report(const preconditioner<float>*);
template cg_matrix_facts<double> cg_facts_of(const device&, csr_view<const double>);
template checked_problem<double> cg_problem(const device&, csr_view<const double>, view<const double>,
                                            const preconditioner<double>*, const cg_matrix_facts<double>&);
template solve_report new_cg_report(const preconditioner<double>*);

void require_one_device(const char* what, const cg_options& options) {
  if (!options.gpus.empty())
    throw value_error(std::string("conjugate gradients for ") + what + " are not shared by several GPUs",
                      "leave the list of GPUs out");
}

template <real T>
cg_assembly<T> assemble_cg(const device& dev, csr_view<const T> A, const preconditioner<T>* M, layout wanted,
                           std::span<const int> gpus) {
  cg_assembly<T> parts;
  const T* minv = M != nullptr ? M->diagonal() : nullptr;
  const bool fused = M == nullptr || minv != nullptr;
  if (!gpus.empty()) {
    check_number_of_gpus(gpus.size());  // one may stand there twice
    if (!dev.is_cuda()) throw value_error("conjugate gradients on several GPUs: the operands must be on a GPU");
    if constexpr (built_with_cuda)
      parts.engine =
          fused ? cg_gpus_cuda(dev, A, minv, gpus, wanted) : cg_gpus_general_cuda(dev, A, *M, gpus, wanted);
    return parts;
  }
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
                                        layout, std::span<const int>);
template cg_assembly<double> assemble_cg(const device&, csr_view<const double>, const preconditioner<double>*,
                                         layout, std::span<const int>);

}  // namespace vouch
