#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/solve/stationary/async.hpp>
#include <vouch/solve/stationary/gauss_seidel.hpp>
#include <vouch/solve/stationary/jacobi.hpp>
#include <vouch/solve/stationary/sor.hpp>

namespace vouch {
namespace {

enum class iteration { jacobi, gauss_seidel, sor, ssor, async };

// Over a sparse or a dense matrix.
template <real T, iteration kind>
class ready final : public method_in<T> {
 public:
  explicit ready(const method_setting& setting) : method_in<T>(setting) {
    check_device_memory<T>(setting, setting.A.form(), false);
    if (setting.A.form() == matrix_form::dense)
      dense_ = place_dense<T>(setting);
    else
      sparse_ = place_sparse<T>(setting);
  }
  bool rounds() const override { return sparse_.rounded || dense_.rounded || method_in<T>::rounds(); }

 private:
  std::vector<solve_report> run(std::int64_t, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    return naming_the_matrix(this->setting(), [&]() -> std::vector<solve_report> {
      if (this->setting().A.form() == matrix_form::dense) return {sweep(b, x, goal, transpose::no, dense_.A)};
      return {sweep(b, x, goal, sparse_.A)};
    });
  }
  // A is one argument (sparse) or two (dense).
  template <class... Matrix>
  solve_report sweep(view<const T> b, view<T> x, const stopping_criterion& goal, Matrix... A) {
    const solve_options& asked = this->setting().options;
    const device& dev = this->where();
    const acceleration accelerate = this->setting().taken.accelerate;
    const double omega = asked.omega.value_or(1);
    const sweep_ordering ordering = asked.ordering.value_or(sweep_ordering::natural);
    const sweep_order order =
        kind == iteration::ssor ? sweep_order::symmetric : asked.sweep.value_or(sweep_order::forward);
    const bool mixed = this->setting().mixed();
    if constexpr (kind == iteration::async)
      return async_relaxation<T>(dev, A..., b, x, {goal, omega, mixed});
    else if constexpr (kind == iteration::jacobi)
      return jacobi<T>(dev, A..., b, x, {goal, omega, accelerate, mixed});
    else if constexpr (kind == iteration::gauss_seidel)
      return gauss_seidel<T>(dev, A..., b, x, {goal, order, accelerate, ordering, mixed});
    else
      return sor<T>(dev, A..., b, x, {goal, omega, order, accelerate, ordering, mixed, asked.estimate_omega});
  }

  placed_csr<T> sparse_;
  placed_matrix<T> dense_;
};

// The smallest ratio of a diagonal entry to the rest of its row from which on plain sweeps are few: each leaves
// at most its inverse of the error. Below, Anderson's method makes about the square root of that many of them.
constexpr double dominant_enough = 1.25;
constexpr int iterates_to_mix = 5;

std::optional<prediction> predict_gauss_seidel(const system_facts& facts, const solve_options& options) {
  if (facts.matrix.dominant != dominance::strict) return {};
  const bool definite = not_spd_reason(facts.matrix).empty();
  const bool dense = facts.form == matrix_form::dense;
  if (definite && (!dense || options.precision == working_precision::mixed)) return {};
  constexpr double decades = 18.4;      // to 1e-8, in powers of e
  constexpr double price_of_entry = 2;  // one row after another
  const double q = 1 / facts.matrix.dominance_ratio;
  double sweeps = q > 0 ? 1 + decades / -std::log(q) : 1;
  prediction p;
  p.iteration_work = price_of_entry * 2 * static_cast<double>(facts.matrix.nonzeros);
  if (facts.matrix.dominance_ratio < dominant_enough && options.goal.by_residual()) {
    p.accelerate.anderson = iterates_to_mix;
    sweeps = std::min(sweeps, decades / std::sqrt(1 - q));
    p.iteration_work += 8 * iterates_to_mix * static_cast<double>(facts.matrix.rows);
  }
  p.work = sweeps * p.iteration_work;
  p.why = dense ? "dense, every row dominates" : "sparse, every row dominates";
  return p;
}

device_choice choose(const system_facts&, const solve_options&, int threads) {
  return {device::cpu(threads), "a few sweeps cost less than sending the matrix to a GPU"};
}

constexpr set_of<method_option> rules{method_option::fixed_iterations, method_option::stop_recurrence,
                                      method_option::stop_mean_change};

template <iteration kind>
constexpr method line(const char* name, set_of<method_option> options) {
  return {.name = name,
          .title = name,
          .takes = {matrix_form::sparse, matrix_form::dense},
          .direct = false,
          .options = options.with(rules),
          .precisions = {working_precision::double_, working_precision::single, working_precision::mixed},
          .on_cuda = {false, true},
          .refuse = nullptr,
          .advise = nullptr,
          .predict = kind == iteration::gauss_seidel ? predict_gauss_seidel : nullptr,
          .choose = choose,
          .make = make_ready<ready<float, kind>, ready<double, kind>>};
}

}  // namespace

using may_have = method_option;
constinit const method jacobi_sweeps =
    line<iteration::jacobi>("jacobi", {may_have::omega, may_have::acceleration});
constinit const method gauss_seidel_sweeps = line<iteration::gauss_seidel>(
    "gauss-seidel", {may_have::sweep, may_have::ordering, may_have::acceleration});
constinit const method sor_sweeps = line<iteration::sor>(
    "sor",
    {may_have::omega, may_have::estimated_omega, may_have::sweep, may_have::ordering, may_have::acceleration});
constinit const method ssor_sweeps = line<iteration::ssor>(
    "ssor", {may_have::omega, may_have::estimated_omega, may_have::ordering, may_have::acceleration});
constinit const method async_sweeps = line<iteration::async>("async", {may_have::omega});

}  // namespace vouch
