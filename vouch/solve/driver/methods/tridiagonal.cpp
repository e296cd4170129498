#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <vouch/band/solve.hpp>
#include <vouch/solve/driver/method_table.hpp>
#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/loop/spd_check.hpp>

namespace vouch {
namespace {

solve_report as_solve_report(const tridiagonal_report& from, const stopping_criterion& goal) {
  solve_report report;
  report.status = from.status;
  report.reason = from.reason;
  report.method = from.method;
  report.engine = from.engine;
  report.precision = from.precision;
  report.preconditioner = "none";
  report.iterations = from.refinements;
  report.rhs_norm = from.rhs_norm;
  report.tolerance = std::max(*goal.rtol * from.rhs_norm, goal.atol);
  report.true_residual = from.true_residual;
  report.recurrence_residual = std::numeric_limits<double>::quiet_NaN();  // there is none
  report.backward_error = from.backward_error;
  report.warnings = from.warnings;
  return report;
}

// All columns at once.
template <real T, tridiagonal_method kind>
class ready final : public method_in<T> {
 public:
  explicit ready(const method_setting& setting) : method_in<T>(setting) {
    timed(setting.times.setup, [&] {
      const csr_view<const double> A = setting.A.sparse(setting.A.cpu());
      if constexpr (sizeof(T) < sizeof(double))
        rounded_ = !fits<T>(setting.A.cpu(), {A.val, A.nonzeros}, setting.options.names.matrix);
      A_ = diagonals_of<T>(setting.A.cpu(), A);
    });
    if (setting.dev.is_cuda()) timed(setting.times.transfer, [&] { A_ = A_.to(setting.dev); });
  }
  std::int64_t at_once(std::int64_t columns) const override { return columns; }
  bool rounds() const override { return rounded_ || method_in<T>::rounds(); }
  bool judges_each_column() const override { return false; }

 private:
  std::vector<solve_report> run(std::int64_t columns, view<const T> b, view<T> x,
                                const stopping_criterion& goal) override {
    const batch_shape one = contiguous(A_.d.size()), all = contiguous(A_.d.size(), columns);
    tridiagonal_options options;
    options.method = kind;
    options.mixed = this->setting().mixed();
    options.rtol = std::max(*goal.rtol, std::numeric_limits<double>::min());  // not its default
    options.atol = goal.atol;
    const tridiagonal_report report =
        vouch::solve<T>(this->where(), {A_.dl.data(), A_.d.data(), A_.du.data(), one}, {b.data(), all},
                        {x.data(), all}, options);
    return std::vector<solve_report>(static_cast<std::size_t>(columns), as_solve_report(report, goal));
  }

  diagonals<T> A_;
  bool rounded_ = false;
};

std::string refuse(const structure_facts& facts) {
  return facts.bandwidth() <= 1 ? "" : "the matrix is not tridiagonal";
}

// Conjugate gradients solve what has the constants as null space, where the right-hand side allows it.
std::optional<prediction> predict(const system_facts& facts, const solve_options& options) {
  if (facts.form != matrix_form::sparse || options.prefer_iterations) return {};
  if (facts.matrix.row_sums_zero && not_spd_reason(facts.matrix).empty()) return {};
  return prediction{20 * static_cast<double>(facts.matrix.rows), 0, "tridiagonal", {}};
}

device_choice choose(const system_facts&, const solve_options&, int threads) {
  return {device::cpu(threads), "solving costs less than sending the matrix to a GPU"};
}

template <tridiagonal_method kind>
constexpr method line(const char* name) {
  return {.name = name,
          .title = name,
          .takes = {matrix_form::tridiagonal},
          .direct = true,
          .options = {},
          .precisions = {working_precision::double_, working_precision::single, working_precision::mixed},
          .on_cuda = {false, true},
          .refuse = refuse,
          .advise =
              [](const method& self) {
                return std::string("--method ") + self.name + " solves tridiagonal systems only";
              },
          .predict = kind == tridiagonal_method::automatic ? predict : nullptr,
          .choose = choose,
          .make = make_ready<ready<float, kind>, ready<double, kind>>};
}

}  // namespace

constinit const method tridiagonal_band = line<tridiagonal_method::automatic>("band");
constinit const method tridiagonal_thomas = line<tridiagonal_method::thomas>("thomas");
constinit const method tridiagonal_reduction = line<tridiagonal_method::cyclic_reduction>("cyclic-reduction");
constinit const method tridiagonal_pcr = line<tridiagonal_method::pcr>("pcr");
constinit const method tridiagonal_partition = line<tridiagonal_method::partition>("partition");

}  // namespace vouch
