#include <vouch/solve/driver/verdict.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/solve/loop/least_squares_loop.hpp>
#include <vouch/solve/stationary/dominance.hpp>
#include <vouch/sparse/transpose.hpp>

namespace vouch {
namespace {

// In twice the precision; where the matrix is, if that is sparse.
residual_facts residual_of(const operand& A, view<const double> b, view<const double> x) {
  if (A.form() == matrix_form::sparse && A.home().is_cuda()) {
    array<double> there(A.home(), A.rows()), x_there(A.home(), A.cols());
    copy_bytes(there.data(), A.home(), b.data(), A.cpu(), static_cast<std::size_t>(A.rows()) * sizeof(double));
    copy_bytes(x_there.data(), A.home(), x.data(), A.cpu(),
               static_cast<std::size_t>(A.cols()) * sizeof(double));
    return residual<double>(A.home(), A.sparse(A.home()), there, x_there, nullptr, there);
  }
  array<double> r(A.cpu(), A.rows());
  if (A.form() == matrix_form::dense)
    return residual<double>(A.cpu(), transpose::no, A.dense(A.cpu()), b, x, nullptr, r);
  return residual<double>(A.cpu(), A.sparse(A.cpu()), b, x, nullptr, r);
}

// The residual and, where A is not square, its gradient: whether one of them is as small as the goal has it.
class improved_column {
 public:
  explicit improved_column(const operand& A) : A_(A) {
    if (is_square()) return;
    transposed_ = transpose<double>(A.cpu(), A.sparse(A.cpu()));
    norm_of_A_ = nrm2<double>(A.cpu(), transposed_.val);
  }

  bool judge(view<const double> b, view<const double> x, const stopping_criterion& goal,
             solve_report& report) const {
    if (is_square()) {
      take_residual(residual_of(A_, b, x), goal, report);
      return report.true_residual <= report.tolerance;
    }
    const device& cpu = A_.cpu();
    array<double> r(cpu, A_.rows());
    const least_squares_facts facts =
        judge_least_squares<double>({cpu, A_.sparse(cpu), transposed_, b}, norm_of_A_, x, r);
    take_residual(facts.residual, goal, report);
    report.normal_equations = facts.normal_equations;
    return report.true_residual <= report.tolerance || facts.normal_equations <= *goal.rtol;
  }

 private:
  bool is_square() const { return A_.rows() == A_.cols(); }

  const operand& A_;
  csr<double> transposed_;
  double norm_of_A_ = 0;
};

// The bound that was proved is one of the rounded system.
void bound_unrounded(const operand& A, view<const double> b, view<const double> x, solve_report& report) {
  if (!report.error_bound) return;
  const auto rows = A.form() == matrix_form::dense
                        ? make_iteration_matrix<double>(A.cpu(), transpose::no, A.dense(A.cpu()))
                        : make_iteration_matrix<double>(A.sparse(A.cpu()));
  const dominance_proof proof = prove_dominance(A.cpu(), *rows);
  report.error_bound = dominance_error_bound<double>(A.cpu(), *rows, proof, b, x);
}

// The estimate of the error goes with the residual.
void scale_estimate(double residual_before, solve_report& report) {
  if (residual_before > 0 && report.error_estimate)
    *report.error_estimate *= report.true_residual / residual_before;
}

// Factors know nothing of the rounding of what they are factors of.
void estimate_unrounded(const method& how, double rounded_residual, solve_report& report) {
  if (how.direct)
    report.error_estimate.reset();
  else
    scale_estimate(rounded_residual, report);
}

std::string residual_text(const solve_report& report) {
  return string_printf("true residual %.3g, tolerance %.3g", report.true_residual, report.tolerance);
}

std::string expected_of_rounding(const solve_report& report) {
  return string_printf(": relative %.2g, where rounding was expected to leave about %.1g",
                       report.relative_true(), report.attainable_relative);
}

// interrupted first, since it says that the others were not finished.
int severity(solve_status status) {
  switch (status) {
    case solve_status::interrupted:
      return 8;
    case solve_status::diverged:
      return 7;
    case solve_status::breakdown:
      return 6;
    case solve_status::not_spd:
      return 5;
    case solve_status::stagnated:
      return 4;
    case solve_status::max_iterations:
      return 3;
    case solve_status::stopped:
      return 2;
    case solve_status::fixed:
      return 1;
    case solve_status::converged:
      return 0;
  }
  return 0;
}

// Of columns that missed their goal that of the larger residual is worse, whichever way it ended.
bool worse(const solve_report& a, const solve_report& b) {
  const auto rank = [](const solve_report& r) {
    return r.status == solve_status::interrupted ? 2 : goal_reached(r.status) ? 0 : 1;
  };
  const auto residual = [](const solve_report& r) {
    const double relative = r.relative_true();
    return has_solution(r.status) && !std::isnan(relative) ? relative : std::numeric_limits<double>::infinity();
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  if (residual(a) != residual(b)) return residual(a) > residual(b);
  return severity(a.status) > severity(b.status);
}

// What holds for the errors of all columns; nothing where one has nothing.
std::optional<double> joined(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return {};
  return std::max(*a, *b);
}

}  // namespace

void take_residual(const residual_facts& facts, const stopping_criterion& goal, solve_report& report) {
  const double unit_roundoff = report.precision == "single" ? 0x1p-24 : 0x1p-53;
  report.rhs_norm = facts.rhs_norm2;
  report.tolerance = std::max(*goal.rtol * facts.rhs_norm2, goal.atol);
  report.true_residual = facts.norm2_at_most<double>();
  report.backward_error = facts.backward_error();
  report.attainable_relative = facts.rhs_norm2 > 0 ? unit_roundoff * facts.product_norm2 / facts.rhs_norm2 : 0;
}

void judge_column(const operand& A, view<const double> b, view<const double> x, const stopping_criterion& goal,
                  const method& how, bool rounds, solve_report& report) {
  if (!has_solution(report.status)) return;
  if (rounds) bound_unrounded(A, b, x, report);
  const double rounded_residual = report.true_residual;
  take_residual(residual_of(A, b, x), goal, report);
  if (rounds) estimate_unrounded(how, rounded_residual, report);
  if (rounds && report.status == solve_status::stagnated)
    report.reason += "; all of the system rounded to single precision";
  if (report.status != solve_status::converged) return;
  if (report.true_residual <= report.tolerance) {
    if (rounds && report.iterations > 0) report.reason = residual_text(report);
    return;
  }
  report.status = solve_status::stagnated;
  report.reason = rounds ? string_printf(
                               "the system rounded to single precision is solved, that of the files has "
                               "relative residual %.2g",
                               report.relative_true())
                         : residual_text(report) + expected_of_rounding(report);
}

void add_column(solve_result& result, solve_report report, std::int64_t j) {
  const bool first = result.columns.empty();
  result.columns.push_back(report);
  const auto iterations = (first ? 0 : result.iterations) + report.iterations;
  std::vector<std::string> warnings = first ? std::vector<std::string>{} : std::move(result.warnings);
  for (const std::string& w : report.warnings)
    if (std::find(warnings.begin(), warnings.end(), w) == warnings.end()) warnings.push_back(w);
  const solve_report& before = first ? report : result;
  const std::optional<double> bound = joined(before.error_bound, report.error_bound),
                              estimate = joined(before.error_estimate, report.error_estimate),
                              condition = std::max(before.condition_estimate, report.condition_estimate);
  if (first || worse(report, result)) {
    static_cast<solve_report&>(result) = std::move(report);
    result.column = j;
  }
  result.error_bound = bound;
  result.error_estimate = estimate;
  result.condition_estimate = condition;
  result.iterations = iterations;
  result.warnings = std::move(warnings);
}

void judge_improved(const operand& A, std::int64_t columns, view<const double> b, view<const double> x,
                    const stopping_criterion& goal, solve_result& result) {
  solve_report& report = result;
  report.error_bound.reset();
  const solve_report before = report;
  const std::int64_t m = A.rows(), n = A.cols();
  const improved_column improved(A);
  bool within = true;
  for (std::int64_t j = 0; j < columns; ++j) {
    solve_report column = before;
    const bool small = improved.judge({b.data() + j * m, m}, {x.data() + j * n, n}, goal, column);
    scale_estimate(before.true_residual, column);
    within = within && small;
    if (j > 0 && column.relative_true() <= report.relative_true()) continue;
    report = std::move(column);
    result.column = j;
  }
  if (!goal.by_residual()) return;
  const bool missed = report.status == solve_status::stagnated || report.status == solve_status::max_iterations;
  if (within && (missed || report.status == solve_status::converged)) {
    report.status = solve_status::converged;
    const bool least_squares = report.normal_equations && report.true_residual > report.tolerance;
    report.reason =
        (least_squares ? string_printf("the gradient of the true residual, %.3g, is relatively %.2g",
                                       report.true_residual, *report.normal_equations)
                       : residual_text(report)) +
        ", of x as its proof has improved it";
  } else if (!within && report.status == solve_status::converged) {
    report.status = solve_status::stagnated;
    report.reason =
        "the solution as its proof has improved it misses the tolerance" + expected_of_rounding(report);
  }
}

}  // namespace vouch
