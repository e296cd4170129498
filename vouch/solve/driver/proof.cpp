#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/solve/driver/moduli.hpp>
#include <vouch/solve/driver/operand.hpp>
#include <vouch/solve/driver/prove_solution.hpp>
#include <vouch/solve/driver/ready_method.hpp>
#include <vouch/solve/proof.hpp>
#include <vouch/solve/result.hpp>
#include <vouch/verify/bound_text.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/full_rank.hpp>
#include <vouch/verify/median.hpp>
#include <vouch/verify/prove.hpp>
#include <vouch/verify/tridiagonal_bound.hpp>

namespace vouch {
namespace {

// Of one component of one or two parts.
struct component_bound {
  double radius = 0;  // of what was given
  double least = 0;   // that the exact solution has
};
component_bound about_component(const double* given, const double* improved, const double* proved, int parts) {
  const auto radius = [&](int p) {
    const double apart = std::max(sub_up(given[p], improved[p]), sub_up(improved[p], given[p]));
    return add_up(apart, proved[p]);
  };
  if (parts == 1) return {radius(0), sub_down(std::fabs(improved[0]), proved[0])};
  return {modulus_above(radius(0), radius(1)),
          sub_down(modulus_below(improved[0], improved[1]), modulus_above(proved[0], proved[1]))};
}

// Elements first to first + proved.rows - 1: a column.
error_bound about_column(view<const double> given, view<const double> improved, const solution_proof& proved,
                         std::int64_t first, int parts) {
  error_bound column;
  std::vector<double> relative;
  for (std::int64_t i = first; i < first + proved.rows; i += parts) {
    const auto [radius, least] =
        about_component(given.data() + i, improved.data() + i, proved.radius.data() + i, parts);
    relative.push_back(radius == 0 ? 0
                       : least > 0 ? div_up(radius, least)
                                   : std::numeric_limits<double>::infinity());
    column.max_absolute = std::max(column.max_absolute, radius);
    column.max_relative = std::max(column.max_relative, relative.back());
  }
  column.median_relative = detail::median(std::move(relative));
  return column;
}

void judge(error_bound& column, double asked) {
  using namespace vouch::detail;
  column.verified = std::isfinite(column.max_absolute);
  column.reached = column.verified && (asked == 0 || column.max_relative <= asked);
  column.reason = !column.verified ? "the bound of the error overflows"
                  : column.reached ? every_component_within(column.max_absolute)
                                   : relative_shortfall(column.max_relative);
}

}  // namespace

void add_column(solution_proof& all, const error_bound& one, bool first) {
  all.method = one.method;
  if (first || !one.verified || (all.verified && !one.reached)) all.reason = one.reason;
  all.verified = (first || all.verified) && one.verified;
  all.reached = (first || all.reached) && one.reached;
  all.digits = first ? one.digits() : std::min(all.digits, one.digits());
  all.max_absolute = std::max(all.max_absolute, one.max_absolute);
  all.max_relative = std::max(all.max_relative, one.max_relative);
  all.median_relative = std::max(all.median_relative, one.median_relative);
  all.condition_estimate = one.condition_estimate;
  all.refinements = std::max(all.refinements, one.refinements);
}

void take_batch(solution_proof& all, const tridiagonal_bound& bound, view<const double> x) {
  const ieee_environment here;
  all.verified = bound.verified;
  all.reached = bound.reached;
  all.method = bound.method;
  all.reason = bound.reason;
  all.max_absolute = bound.max_absolute;
  all.max_relative = bound.max_relative;
  all.condition_estimate = bound.condition_estimate;
  all.digits = bound.digits();
  all.refinements = bound.refinements;
  all.systems_unproved = bound.systems_unproved;
  all.first_unproved = bound.first_unproved;
  all.seconds = bound.seconds;
  std::vector<double> relative;
  for (std::int64_t i = 0; i < x.size(); ++i)
    relative.push_back(all.radius[i] == 0 ? 0
                                          : div_up(all.radius[i], sub_down(std::fabs(x[i]), all.radius[i])));
  for (double& value : relative)
    if (!(value >= 0)) value = std::numeric_limits<double>::infinity();
  all.median_relative = detail::median(std::move(relative));
}

solution_proof unproved(const std::string& reason) {
  solution_proof none;
  none.reason = reason;
  return none;
}

std::optional<solution_proof> proof_by_dominance(const solve_report& r) {
  if (!r.error_bound) return {};
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  solution_proof proof;
  proof.verified = true;
  proof.method = "dominance";
  proof.reason = r.error_bound_source;
  proof.max_absolute = *r.error_bound;
  proof.max_relative = proof.median_relative = proof.condition_estimate = proof.seconds = unknown;
  return proof;
}

solution_proof about_given(view<const double> given, view<const double> improved, const solution_proof& proved,
                           double relative, int parts) {
  const ieee_environment here;
  solution_proof result;
  result.reason = proved.reason;
  result.verified = result.reached = proved.verified;
  result.digits = proved.digits;  // where there is no column
  for (std::int64_t first = 0; proved.verified && first < given.size(); first += proved.rows) {
    error_bound column = about_column(given, improved, proved, first, parts);
    column.method = proved.method;
    column.condition_estimate = proved.condition_estimate;
    judge(column, relative);
    add_column(result, column, first == 0);
  }
  result.method = proved.method;
  result.problem = proved.problem;
  result.rows = proved.rows;
  result.refinements = proved.refinements;
  result.seconds = proved.seconds;
  return result;
}

namespace {

constexpr int most_refinements = 10;
// Without a wish, x is improved once its error may be larger than this part of its largest component.
constexpr double acceptable = 1e-6;

struct proof_task {
  const proof_request& request;
  const operand& A;
  const device_group& devices;
  std::int64_t columns;
  view<const double> b;
  view<double> x;
  const device& dev = devices.front();

  const device& cpu() const { return A.cpu(); }
  // Radii of entries come after the bound for A and b themselves.
  uncertainty within() const { return request.radii != nullptr ? uncertainty{} : request.within; }
};

std::size_t bytes_of(std::int64_t values) { return static_cast<std::size_t>(values) * sizeof(double); }

array<double> placed(const proof_task& task, view<const double> values) {
  array<double> there(task.dev, values.size());
  copy_bytes(there.data(), task.dev, values.data(), task.cpu(), bytes_of(values.size()));
  return there;
}

// The radii of the entries of the right-hand side j.
array<double> rhs_radii(const proof_task& task, std::int64_t j) {
  const std::int64_t m = task.A.rows();
  return array<double>::from(task.cpu(), {task.request.radii->rhs.data() + j * m, static_cast<std::size_t>(m)});
}

// The certificate is for A, which lives on the device.
template <class Matrix>
void bound_columns(const proof_task& task, const Matrix& A, certificate& proof, solution_proof& all) {
  const std::int64_t n = task.A.rows();
  all.radius = array<double>(task.cpu(), n * task.columns);
  data_radii data;
  if (task.request.radii != nullptr) data.matrix = task.request.radii->matrix.to(task.cpu());
  for (std::int64_t j = 0; j < task.columns; ++j) {
    const array<double> b = placed(task, {task.b.data() + j * n, n});
    array<double> x = placed(task, {task.x.data() + j * n, n});
    error_bound bound =
        bound_error(task.dev, A, proof, b, x, {task.within(), task.request.relative, most_refinements});
    if (task.request.radii != nullptr) {
      data.rhs = rhs_radii(task, j);
      widen_to_data(task.dev, proof, data, x, task.request.relative, bound);
    }
    add_column(all, bound, j == 0);
    copy_bytes(task.x.data() + j * n, task.cpu(), x.data(), task.dev, bytes_of(n));
    copy_bytes(all.radius.data() + j * n, task.cpu(), bound.radius.data(), task.dev, bytes_of(n));
  }
}

// False where nothing is proved of a dense matrix as such.
bool prove_dense(const proof_task& task, solution_proof& all) {
  const matrix_view<const double> A = task.A.dense(task.dev);
  const std::unique_ptr<certificate> proof = prove_nonsingular(task.devices, A, task.within(), all.reason);
  if (proof != nullptr) bound_columns(task, A, *proof, all);
  return proof != nullptr;
}

// Dense matrices come here after all, for what an inverse cannot prove.
void prove_sparse(const proof_task& task, solution_proof& all) {
  const bool dense = task.A.form() == matrix_form::dense;
  const csr_view<const double> A = task.A.sparse(task.dev);
  const structure_facts facts = dense ? structure<double>(task.dev, A) : task.A.facts().matrix;
  std::string reason;
  const std::unique_ptr<certificate> proof =
      dense ? prove_by_structure(task.dev, A, facts, task.within(), reason)
            : prove_nonsingular(task.devices, A, facts, task.within(), reason);
  if (proof != nullptr)
    bound_columns(task, A, *proof, all);
  else
    all.reason = all.reason.empty() ? reason : all.reason + "; " + reason;
}

// What is not square, on the CPU.
void prove_least_squares(const proof_task& task, solution_proof& all) {
  const std::int64_t m = task.A.rows(), n = task.A.cols();
  const device& cpu = task.cpu();
  const csr_view<const double> A = task.A.sparse(cpu);
  const std::unique_ptr<full_rank> proof = full_rank::prove(cpu, A, task.within(), all.reason);
  if (proof == nullptr) return;
  all.radius = array<double>(cpu, n * task.columns);
  data_radii data;
  if (task.request.radii != nullptr) data.matrix = task.request.radii->matrix.to(cpu);
  for (std::int64_t j = 0; j < task.columns; ++j) {
    if (task.request.radii != nullptr) data.rhs = rhs_radii(task, j);
    const error_bound bound =
        bound_error(cpu, A, *proof, {task.b.data() + j * m, m}, {task.x.data() + j * n, n},
                    {task.within(), task.request.relative, most_refinements},
                    task.request.radii != nullptr ? &data : nullptr);
    add_column(all, bound, j == 0);
    std::copy(bound.radius.begin(), bound.radius.end(), all.radius.begin() + j * n);
  }
}

// False, and x as it was, for other matrices, for radii of entries and where nothing is proved.
bool prove_tridiagonal(const proof_task& task, solution_proof& all) {
  const std::int64_t n = task.A.rows();
  const structure_facts& facts = task.A.facts().matrix;
  if (n == 0 || task.request.radii != nullptr || facts.bandwidth() > 1) return false;
  diagonals<double> A = diagonals_of<double>(task.cpu(), task.A.sparse(task.cpu()));
  if (task.dev.is_cuda()) A = A.to(task.dev);
  const view<const double> given(task.x.data(), task.x.size());
  const array<double> b = placed(task, task.b);
  array<double> x = placed(task, given), radius(task.dev, given.size());
  const batch_shape one = contiguous(n), shape = contiguous(n, task.columns);
  const auto bound_to = [&](double relative) {
    return bound_error(task.dev, {A.dl.data(), A.d.data(), A.du.data(), one}, {b.data(), shape},
                       {x.data(), shape}, {radius.data(), shape},
                       {task.request.within, relative, most_refinements});
  };
  tridiagonal_bound bound = bound_to(task.request.relative);
  double largest = 0;
  for (std::int64_t i = 0; i < given.size(); ++i) largest = std::max(largest, std::fabs(given[i]));
  if (bound.verified && task.request.relative == 0 && bound.max_absolute > acceptable * largest) {
    bound = bound_to(acceptable);
    bound.reached = bound.verified;
    bound.reason = detail::every_component_within(bound.max_absolute);
  }
  if (!bound.verified) return false;
  copy_bytes(task.x.data(), task.cpu(), x.data(), task.dev, bytes_of(x.size()));
  all.radius = radius.to(task.cpu());
  take_batch(all, bound, task.x);
  return true;
}

}  // namespace

solution_proof prove_solution(const proof_request& request, const operand& A, const device_group& devices,
                              std::int64_t columns, view<const double> b, view<double> x) {
  const stopwatch clock;
  const proof_task task{request, A, devices, columns, b, x};
  solution_proof all;
  all.rows = A.cols();
  if (A.rows() != A.cols()) {
    all.problem = A.rows() > A.cols() ? "least-squares" : "least-norm";
    prove_least_squares(task, all);
  } else {
    const bool proved = A.form() == matrix_form::dense ? prove_dense(task, all) : prove_tridiagonal(task, all);
    if (!proved) prove_sparse(task, all);
  }
  all.seconds = clock.seconds();
  return all;
}

}  // namespace vouch
