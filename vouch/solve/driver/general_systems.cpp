#include <vouch/solve/driver/general_systems.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch {
namespace {

// Systems of fewer entries are factorised in milliseconds.
constexpr std::int64_t small_nonzeros = std::int64_t{1} << 14;

bool is_on_gpu(const solve_options& options) { return options.run_on && options.run_on->is_cuda(); }

bool takes_unsymmetric_preconditioner(const solve_options& options) {
  return options.preconditioner && !is_symmetric(*options.preconditioner);
}

}  // namespace

bool is_factorised_at_once(const system_facts& facts, const solve_options& options) {
  return facts.matrix.nonzeros <= small_nonzeros && takes_options(sparse_elimination, options) &&
         !is_on_gpu(options);
}

double guess_products_with_ilu0(const structure_facts& A) {
  const double of_a_grid = std::max(10.0, std::sqrt(static_cast<double>(A.rows)));
  if (A.dominant != dominance::strict) return of_a_grid;
  const double q = 1 / A.dominance_ratio;
  return std::min(of_a_grid, 1 + 9.5 * std::sqrt((1 + q) / (1 - q)));
}

std::optional<prediction> predict_with_ilu0(const system_facts& facts, const solve_options& options,
                                            const iteration_cost& cost) {
  const structure_facts& A = facts.matrix;
  if (facts.form != matrix_form::sparse || options.precision == working_precision::mixed) return {};
  if (not_spd_reason(A).empty() && !takes_unsymmetric_preconditioner(options)) return {};
  if (is_factorised_at_once(facts, options)) return {};
  if (A.dominant == dominance::strict && !options.goal.by_residual()) return {};
  const double n = static_cast<double>(A.rows), entries = static_cast<double>(A.nonzeros);
  constexpr double set_up = 150, set_up_of_ilut = 1000,
                   price_of_sweeps = 2;  // an entry: of the factors; of both triangles, row after row
  prediction p;
  p.iteration_work = cost.products * (2 + 2 * price_of_sweeps) * entries + cost.vector_operations * n;
  p.work = set_up * entries + guess_products_with_ilu0(A) / cost.products * p.iteration_work;
  p.why = A.symmetric ? not_spd_reason(A).empty() ? "sparse" : "sparse, not positive definite"
                      : "sparse, not symmetric";
  if (facts.elimination) p.why += ", elimination is predicted to take longer";
  if (options.own_preconditioner == nullptr) {
    p.preconditioner.name = "ilu0";
    p.second_preconditioner = preconditioner_choice{"ilut"};
    p.second_work = p.work + set_up_of_ilut * entries;
    p.second_iteration_work = p.iteration_work;
  }
  return p;
}

}  // namespace vouch
