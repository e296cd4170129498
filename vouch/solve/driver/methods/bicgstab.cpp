#include <vouch/solve/driver/general_systems.hpp>
#include <vouch/solve/driver/krylov_method.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/krylov/bicgstab.hpp>

namespace vouch {
namespace {

constexpr auto solve = [](const device& dev, const auto& A, auto b, auto x, const stopping_criterion& goal,
                          const auto* M) { return bicgstab(dev, A, b, x, {goal}, M); };

// Multigrid for matrices that are not symmetric, set-up included, in products with ILU(0). Measured on convection and
// diffusion at Peclet numbers of 0.1 to 1000 a cell, where it ends after 14 to 30 products and ILU(0) after 4 to 500.
double all_of_multigrid(const solve_options& options) {
  constexpr double on_cpu = 300, on_gpu = 60;
  return options.run_on && options.run_on->is_cuda() ? on_gpu : on_cpu;
}
constexpr double product_of_multigrid = 4;
constexpr std::int64_t least_rows_of_multigrid = 4096;

// Where rows dominate, as upwind differences make them, or the entries of complex rows point the same way: then residuals
// hardly oscillate, and no basis has to be kept.
std::optional<prediction> predict(const system_facts& facts, const solve_options& options) {
  const structure_facts& A = facts.matrix;
  const bool dominates = A.dominant != dominance::none && A.diagonal_positive;
  if (A.symmetric || A.complex_symmetric || !(dominates || facts.aligned_numbers)) return {};
  std::optional<prediction> p = predict_with_ilu0(facts, options, {2, 20});
  if (!p) return {};
  p->second_preconditioner.reset();
  if (A.rows >= least_rows_of_multigrid && options.goal.by_residual() &&
      options.own_preconditioner == nullptr) {
    p->second_preconditioner = preconditioner_choice{"amg"};
    p->second_work = all_of_multigrid(options) * p->iteration_work / 2;
    p->second_iteration_work = product_of_multigrid * p->iteration_work;
  }
  return p;
}

}  // namespace

constinit const method stabilised_biconjugate_gradients =
    krylov_line<decltype(solve)>("bicgstab", "BiCGStab", predict);

}  // namespace vouch
