#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include <vouch/core/error.hpp>
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
                                                      .predict = nullptr,
                                                      .choose = choose_for_products,
                                                      .make = make};

}  // namespace vouch
