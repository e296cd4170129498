#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include <vouch/solve/driver/general_systems.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/krylov/gmres.hpp>

namespace vouch {
namespace {

template <real T>
class ready final : public method_in<T> {
 public:
  explicit ready(const method_setting& setting)
      : method_in<T>(setting), placed_(place_sparse<T>(setting)), M_(setting, placed_.A) {}
  bool rounds() const override { return placed_.rounded || method_in<T>::rounds(); }

 private:
  std::vector<solve_report> run(std::int64_t, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    return {gmres<T>(this->where(), placed_.A, b, x, {goal}, M_.get())};
  }

  placed_csr<T> placed_;
  chosen_preconditioner<T> M_;
};

class ready_matrix_free final : public method_in<double> {
 public:
  explicit ready_matrix_free(const method_setting& setting) : method_in<double>(setting) {}

 private:
  std::vector<solve_report> run(std::int64_t, view<const double> b, view<double> x,
                                const stopping_criterion& goal) override {
    return {gmres<double>(where(), setting().A.action(), b, x, {goal}, setting().options.own_preconditioner)};
  }
};

std::unique_ptr<ready_method> make(const method_setting& setting) {
  if (setting.A.form() == matrix_form::matrix_free) return std::make_unique<ready_matrix_free>(setting);
  return make_ready<ready<float>, ready<double>>(setting);
}

// Two passes over half of the basis, on average.
std::optional<prediction> predict(const system_facts& facts, const solve_options& options) {
  const double basis = std::min<double>(gmres_options{}.restart, guess_products_with_ilu0(facts.matrix)) / 2;
  return predict_with_ilu0(facts, options, {1, 8 * basis + 10});
}

device_choice choose(const system_facts& facts, const solve_options&, int threads) {
  return choose_device(facts.matrix.rows, facts.matrix.nonzeros, threads);
}

}  // namespace

constinit const method generalised_minimal_residual{
    .name = "gmres",
    .title = "GMRES",
    .takes = {matrix_form::sparse, matrix_form::matrix_free},
    .direct = false,
    .options = {method_option::preconditioner, method_option::fixed_iterations, method_option::stop_recurrence},
    .precisions = {working_precision::double_, working_precision::single},
    .on_cuda = {false, true},
    .refuse = nullptr,
    .advise = nullptr,
    .predict = predict,
    .choose = choose,
    .make = make};

}  // namespace vouch
