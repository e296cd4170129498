#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include <vouch/solve/driver/general_systems.hpp>
#include <vouch/solve/driver/krylov_method.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/krylov/cocg.hpp>

namespace vouch {
namespace {

// The matrix was looked at when the plan was made.
constexpr auto solve = [](const device& dev, const auto& A, auto b, auto x, const stopping_criterion& goal,
                          const auto* M) {
  return cocg(dev, A, b, x, {goal, true}, M);
};

// Symmetric whatever the matrix.
bool takes(const preconditioner_choice& choice) {
  return choice.name == "none" || choice.name == "jacobi" || choice.name == "amg";
}

std::string refuse(const structure_facts& facts) {
  if (facts.complex_symmetric) return "";
  return facts.symmetric ? "the matrix is real symmetric or Hermitian, not complex symmetric"
                         : "the matrix is not complex symmetric: it is real, or differs from its transpose";
}

std::string advise(const method&) {
  return "cg and minres take Hermitian matrices, gmres takes any; --method auto takes what suits";
}

// A guess as that for conjugate gradients: what a grid takes in two dimensions, or the bound where rows dominate. Waves
// take more, which the solver sees soon enough.
double guess_iterations(const structure_facts& facts) {
  const double of_a_grid = 3 * std::sqrt(static_cast<double>(facts.rows) / 2);
  if (facts.dominant != dominance::strict) return of_a_grid;
  const double q = 1 / facts.dominance_ratio;
  return std::min(of_a_grid, 1 + 9.5 * std::sqrt((1 + q) / (1 - q)));
}

// In iterations without it or with the diagonal: one with multigrid on a CPU, its set-up, and how many of its
// iterations it takes, at most about.
constexpr double iteration_of_multigrid = 7, set_up_of_multigrid = 250, iterations_of_multigrid = 40;
constexpr std::int64_t least_rows_of_multigrid = 8192;

std::optional<prediction> predict(const system_facts& facts, const solve_options& options) {
  const structure_facts& A = facts.matrix;
  if (options.preconditioner && !takes(*options.preconditioner)) return {};
  if (facts.form != matrix_form::sparse || is_factorised_at_once(facts, options)) return {};
  prediction p;
  p.iteration_work = 2 * static_cast<double>(A.nonzeros) + 24 * static_cast<double>(A.rows);
  p.work = guess_iterations(A) * p.iteration_work;
  p.why = "complex symmetric";
  if (options.own_preconditioner != nullptr) return p;
  // Where real parts vanish the diagonal may.
  constexpr double nearly_constant = 1.01;
  if (A.diagonal_least > 0 && A.diagonal_largest > nearly_constant * A.diagonal_least)
    p.preconditioner.name = "jacobi";
  if (!facts.aligned_numbers || A.rows < least_rows_of_multigrid || !options.goal.by_residual() ||
      (options.run_on && options.run_on->is_cuda()))
    return p;
  p.second_preconditioner = preconditioner_choice{"amg"};
  p.second_iteration_work = iteration_of_multigrid * p.iteration_work;
  p.second_work = set_up_of_multigrid * p.iteration_work + iterations_of_multigrid * p.second_iteration_work;
  p.work = std::min(p.work, 0.99 * p.second_work);
  return p;
}

std::unique_ptr<ready_method> make(const method_setting& setting) {
  return make_ready<ready_krylov<float, decltype(solve)>, ready_krylov<double, decltype(solve)>>(setting);
}

}  // namespace

constinit const method conjugate_orthogonal_gradients{.name = "cocg",
                                                      .title = "COCG",
                                                      .takes = {matrix_form::sparse},
                                                      .direct = false,
                                                      .options = krylov_options,
                                                      .precisions = krylov_precisions,
                                                      .on_cuda = {false, true},
                                                      .refuse = refuse,
                                                      .advise = advise,
                                                      .predict = predict,
                                                      .choose = choose_for_products,
                                                      .make = make};

}  // namespace vouch
