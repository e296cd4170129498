#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/solve/driver/general_systems.hpp>
#include <vouch/solve/driver/krylov_method.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/krylov/cocg.hpp>

namespace vouch {
namespace {

template <real T>
class ready final : public method_in<T> {
 public:
  explicit ready(const method_setting& setting) : method_in<T>(setting), placed_(place_sparse<T>(setting)) {
    if constexpr (sizeof(T) == sizeof(double)) M_ = setting.options.own_preconditioner;
    if (M_ != nullptr || setting.taken.preconditioner.name == "none") return;
    timed(setting.times.setup,
          [&] { naming_the_matrix(setting, [&] { jacobi_ = complex_jacobi<T>(setting.dev, placed_.A); }); });
    M_ = jacobi_.get();
  }
  bool rounds() const override { return placed_.rounded || method_in<T>::rounds(); }

 private:
  // The matrix was looked at when the plan was made.
  std::vector<solve_report> run(std::int64_t, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    return {cocg<T>(this->where(), placed_.A, b, x, {goal, true}, M_)};
  }

  placed_csr<T> placed_;
  std::unique_ptr<preconditioner<T>> jacobi_;
  const preconditioner<T>* M_ = nullptr;
};

bool takes(const preconditioner_choice& choice) { return choice.name == "none" || choice.name == "jacobi"; }

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

std::optional<prediction> predict(const system_facts& facts, const solve_options& options) {
  const structure_facts& A = facts.matrix;
  if (options.preconditioner && !takes(*options.preconditioner)) return {};
  if (facts.form != matrix_form::sparse || is_factorised_at_once(facts, options)) return {};
  prediction p;
  p.iteration_work = 2 * static_cast<double>(A.nonzeros) + 24 * static_cast<double>(A.rows);
  p.work = guess_iterations(A) * p.iteration_work;
  p.why = "complex symmetric";
  // Where real parts vanish the diagonal may.
  constexpr double nearly_constant = 1.01;
  if (options.own_preconditioner == nullptr && A.diagonal_least > 0 &&
      A.diagonal_largest > nearly_constant * A.diagonal_least)
    p.preconditioner.name = "jacobi";
  return p;
}

std::unique_ptr<ready_method> make(const method_setting& setting) {
  if (!takes(setting.taken.preconditioner))
    throw value_error("COCG: the preconditioner is none or jacobi, not " + setting.taken.preconditioner.name,
                      "--method gmres takes it");
  return make_ready<ready<float>, ready<double>>(setting);
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
