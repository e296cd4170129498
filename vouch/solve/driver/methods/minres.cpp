#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include <vouch/solve/driver/krylov_method.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/krylov/minres.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch {
namespace {

// The matrix was looked at when the plan was made.
constexpr auto solve = [](const device& dev, const auto& A, auto b, auto x, const stopping_criterion& goal,
                          const auto* M) {
  return minres(dev, A, b, x, {goal, true}, M);
};

std::string advise(const method& self) {
  return std::string(self.title) + " needs a symmetric matrix; --method " + direct_method_for_any(self).name +
         " takes any (on the CPU)";
}

// Where conjugate gradients do not apply for certain. An iteration costs what one of theirs does, and the eigenvalues
// on the other side of zero make it as many again.
std::optional<prediction> predict(const system_facts& facts, const solve_options& options) {
  const structure_facts& A = facts.matrix;
  if (options.preconditioner && !is_symmetric(*options.preconditioner)) return {};
  if (facts.form == matrix_form::matrix_free || A.diagonal_positive) return {};
  prediction p;
  p.iteration_work = 2 * static_cast<double>(A.nonzeros) + 20 * static_cast<double>(A.rows);
  p.work = 6 * std::sqrt(static_cast<double>(A.rows)) * p.iteration_work;
  if (facts.form == matrix_form::dense) p.work += 500 * 2 * static_cast<double>(A.nonzeros);
  p.why = "symmetric, not positive definite";
  return p;
}

std::unique_ptr<ready_method> make(const method_setting& setting) {
  require_symmetric_preconditioner(setting);
  return make_krylov<decltype(solve)>(setting);
}

}  // namespace

constinit const method minimal_residual{.name = "minres",
                                        .title = "MINRES",
                                        .takes = krylov_takes,
                                        .direct = false,
                                        .options = krylov_options,
                                        .precisions = krylov_precisions,
                                        .on_cuda = {false, true},
                                        .refuse = not_symmetric_reason,
                                        .advise = advise,
                                        .predict = predict,
                                        .choose = choose_for_products,
                                        .make = make};

}  // namespace vouch
