#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/cg_many.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch {
namespace {

// The matrix was looked at when the plan was made.
cg_options checked(const stopping_criterion& goal, const solve_options& asked) {
  return {{goal}, true, layout::automatic, asked.gpus};
}

template <real T>
class ready final : public method_in<T> {
 public:
  explicit ready(const method_setting& setting)
      : method_in<T>(setting), placed_(place_sparse<T>(setting)), M_(setting, placed_.A) {}
  std::int64_t at_once(std::int64_t) const override {
    const bool diagonal = M_.get() == nullptr || M_.get()->diagonal() != nullptr;
    return diagonal && options().gpus.empty() ? 8 : 1;
  }
  bool rounds() const override { return placed_.rounded || method_in<T>::rounds(); }

 private:
  std::vector<solve_report> run(std::int64_t columns, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    const cg_options rule = checked(goal, options());
    if (columns == 1 && (goal.on_iterate || !rule.gpus.empty() || checkpoint_scope::here() != nullptr))
      return {cg<T>(this->where(), placed_.A, b, x, rule, M_.get())};
    return cg_many<T>(this->where(), placed_.A, columns, b, x, rule, M_.get());
  }
  const solve_options& options() const { return this->setting().options; }

  placed_csr<T> placed_;
  chosen_preconditioner<T> M_;
};

// By the action of the matrix alone.
class ready_matrix_free final : public method_in<double> {
 public:
  explicit ready_matrix_free(const method_setting& setting) : method_in<double>(setting) {}

 private:
  std::vector<solve_report> run(std::int64_t, view<const double> b, view<double> x,
                                const stopping_criterion& goal) override {
    return {cg<double>(where(), setting().A.action(), b, x, checked(goal, setting().options),
                       setting().options.own_preconditioner)};
  }
};

// The preconditioner works in single precision.
class ready_mixed final : public method_in<double> {
 public:
  explicit ready_mixed(const method_setting& setting)
      : method_in<double>(setting), placed_(place_sparse<double>(setting)) {
    if (setting.taken.preconditioner.name == "none") return;
    single_ = place_sparse<float>(setting);
    M_.emplace(setting, single_.A);
  }
  bool rounds() const override { return false; }

 private:
  std::vector<solve_report> run(std::int64_t, view<const double> b, view<double> x,
                                const stopping_criterion& goal) override {
    return {cg_mixed(where(), placed_.A, b, x, checked(goal, setting().options), M_ ? M_->get() : nullptr)};
  }

  placed_csr<double> placed_;
  placed_csr<float> single_;
  std::optional<chosen_preconditioner<float>> M_;
};

std::unique_ptr<ready_method> make(const method_setting& setting) {
  require_symmetric_preconditioner(setting);
  if (setting.A.form() == matrix_form::matrix_free) return std::make_unique<ready_matrix_free>(setting);
  if (setting.mixed() && !setting.options.gpus.empty())
    throw value_error("conjugate gradients on several GPUs: in double or single precision, not mixed");
  if (setting.mixed()) return std::make_unique<ready_mixed>(setting);
  return make_ready<ready<float>, ready<double>>(setting);
}

std::string advise(const method& self) {
  return std::string(self.title) + " need a symmetric positive definite matrix; --method " +
         direct_method_for_any(self).name + " takes any (mixed on a GPU alone)";
}

// Iterations until the residual is 1e-8 of the right-hand side, a hopeful guess: the bound where rows dominate, else what
// a grid takes whose cross-section is the bandwidth, in two or three dimensions. Where they are more, the solver sees it
// soon enough.
double guess_iterations(const structure_facts& facts) {
  const auto n = static_cast<double>(facts.rows);
  const double edge = n / std::max(1.0, static_cast<double>(facts.bandwidth()));
  const double of_a_grid = 3 * std::clamp(edge, std::cbrt(n), std::sqrt(n));
  if (facts.dominant != dominance::strict) return of_a_grid;
  const double q = 1 / facts.dominance_ratio;
  return std::min(of_a_grid, 1 + 9.5 * std::sqrt((1 + q) / (1 - q)));
}

// Whether the diagonals may be those of a grid.
bool may_be_of_a_grid(const structure_facts& facts) {
  constexpr std::int64_t least_diagonals = 5, most_diagonals = 27;
  return facts.distinct_diagonals >= least_diagonals && facts.distinct_diagonals <= most_diagonals;
}

// Multigrid, set-up included, in iterations that are scaled by the diagonal. Measured on grids: on a CPU iterations are
// far cheaper while the matrix stays in its caches. Where the diagonals may be those of a grid the set-up is that of
// structured multigrid; what does not grow with the rows is many iterations of a small system.
// On a GPU that is mostly launches.
double all_of_multigrid(const structure_facts& facts, const solve_options& options) {
  constexpr double on_gpu = 600, from_memory = 1000, from_cache = 5000;
  constexpr std::int64_t most_rows_in_cache = 4000000;
  const bool is_on_gpu = options.run_on && options.run_on->is_cuda();
  const auto n = static_cast<double>(facts.rows);
  if (may_be_of_a_grid(facts)) return is_on_gpu ? 80 + 1.2e8 / (n + 2e5) : 150 + 2e6 / n;
  if (is_on_gpu) return on_gpu;
  return facts.rows > most_rows_in_cache ? from_memory : from_cache;
}
constexpr double iteration_of_multigrid = 8;
constexpr std::int64_t least_rows_of_multigrid = 4096;

// Scaling by the diagonal costs next to nothing. Where A is singular, the constants are to stay its null space.
bool is_worth_scaling(const structure_facts& A, const solve_options& options) {
  constexpr double nearly_constant = 1.01;
  return options.goal.by_residual() && options.own_preconditioner == nullptr && !A.row_sums_zero &&
         A.diagonal_largest > nearly_constant * A.diagonal_least;
}

std::optional<prediction> predict(const system_facts& facts, const solve_options& options) {
  if (options.preconditioner && !is_symmetric(*options.preconditioner)) return {};
  prediction p;
  p.iteration_work =
      2 * static_cast<double>(facts.matrix.nonzeros) + 14 * static_cast<double>(facts.matrix.rows);
  p.work = guess_iterations(facts.matrix) * p.iteration_work;
  // To make a dense matrix sparse costs as much as so many products.
  if (facts.form == matrix_form::dense) p.work += 500 * 2 * static_cast<double>(facts.matrix.nonzeros);
  p.why = facts.form == matrix_form::matrix_free ? "they need the action of the matrix alone"
                                                 : "symmetric with a positive diagonal";
  if (facts.form != matrix_form::matrix_free && is_worth_scaling(facts.matrix, options))
    p.preconditioner.name = "jacobi";
  if (facts.form == matrix_form::sparse && facts.matrix.rows >= least_rows_of_multigrid &&
      options.goal.by_residual() && options.own_preconditioner == nullptr &&
      options.precision != working_precision::mixed &&
      (options.gpus.empty() || may_be_of_a_grid(facts.matrix))) {  // several share a structured hierarchy alone
    p.second_preconditioner = preconditioner_choice{"amg"};
    p.second_work = all_of_multigrid(facts.matrix, options) * p.iteration_work;
    p.second_iteration_work = iteration_of_multigrid * p.iteration_work;
  }
  return p;
}

device_choice choose(const system_facts& facts, const solve_options&, int threads) {
  return choose_device(facts.matrix.rows, facts.matrix.nonzeros, threads);
}

}  // namespace

constinit const method conjugate_gradients{
    .name = "cg",
    .title = "conjugate gradients",
    .takes = {matrix_form::sparse, matrix_form::matrix_free},
    .direct = false,
    .options = {method_option::preconditioner, method_option::several_gpus, method_option::fixed_iterations,
                method_option::stop_recurrence},
    .precisions = {working_precision::double_, working_precision::single, working_precision::mixed},
    .on_cuda = {false, true},
    .refuse = not_spd_reason,
    .advise = advise,
    .predict = predict,
    .choose = choose,
    .make = make};

}  // namespace vouch
