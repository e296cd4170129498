#include <vouch/solve/driver/batch.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/driver/rounding.hpp>
#include <vouch/verify/tridiagonal_bound.hpp>

namespace vouch {
namespace {

std::size_t bytes_of(std::int64_t values) { return static_cast<std::size_t>(values) * sizeof(double); }

// Systems, or rows, that lie in places of their own.
std::int64_t apart(std::int64_t count, std::int64_t stride) {
  return stride == 0 ? std::min<std::int64_t>(count, 1) : count;
}

template <class Work>
void for_elements(const batch_shape& shape, const Work& work) {
  const std::int64_t systems =
      shape.offsets != nullptr ? shape.systems : apart(shape.systems, shape.system_stride);
  for (std::int64_t s = 0; s < systems; ++s)
    for (std::int64_t i = 0; i < apart(shape.rows(s), shape.row_stride); ++i) work(shape.at(s, i));
}

// Those of the systems, gaps being 0.
array<double> tidied(const device& cpu, const double* from, const batch_shape& shape) {
  auto tidy = array<double>::zeros(cpu, shape.extent());
  for_elements(shape, [&](std::int64_t k) { tidy[k] = from[k]; });
  return tidy;
}

}  // namespace

bool is_gapless(const batch_shape& shape) {
  if (shape.offsets != nullptr) return shape.row_stride == 1;
  return shape.extent() == apart(shape.systems, shape.system_stride) * apart(shape.n, shape.row_stride);
}

template <real T>
array<T> rounded_elements(const device& cpu, const batch_view<const double>& values, const std::string& from) {
  if (is_gapless(values.shape)) return rounded_to<T>(cpu, {values.data, values.shape.extent()}, from);
  return rounded_to<T>(cpu, tidied(cpu, values.data, values.shape), from);
}

template <real T>
diagonals<T> rounded_diagonals(const device& cpu, const tridiagonal_view<const double>& A,
                               const std::string& from) {
  const batch_shape& shape = A.shape;
  diagonals<double> wide{tidied(cpu, A.dl, shape), tidied(cpu, A.d, shape), tidied(cpu, A.du, shape)};
  const bool unused = !A.periodic && shape.row_stride != 0;
  for (std::int64_t s = 0; s < shape.systems && unused; ++s) {
    if (shape.rows(s) == 0) continue;
    wide.dl[shape.at(s, 0)] = 0;
    wide.du[shape.at(s, shape.rows(s) - 1)] = 0;
  }
  return {rounded_to<T>(cpu, wide.dl, from), rounded_to<T>(cpu, wide.d, from),
          rounded_to<T>(cpu, wide.du, from)};
}

template <real T>
void put_elements(const device& cpu, const array<T>& from, const device& home, const batch_view<double>& x) {
  array<double> wide = rounded_to<double, T>(cpu, from.to(cpu).all());
  if (!is_gapless(x.shape)) {
    array<double> all(cpu, x.shape.extent());
    copy_bytes(all.data(), cpu, x.data, home, bytes_of(all.size()));
    for_elements(x.shape, [&](std::int64_t k) { all[k] = wide[k]; });
    wide = std::move(all);
  }
  copy_bytes(x.data, home, wide.data(), cpu, bytes_of(wide.size()));
}

template array<float> rounded_elements(const device&, const batch_view<const double>&, const std::string&);
template array<double> rounded_elements(const device&, const batch_view<const double>&, const std::string&);
template diagonals<float> rounded_diagonals(const device&, const tridiagonal_view<const double>&,
                                            const std::string&);
template void put_elements(const device&, const array<float>&, const device&, const batch_view<double>&);
template void put_elements(const device&, const array<double>&, const device&, const batch_view<double>&);

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

void take_batch_verdict(const tridiagonal_report& report, const detail::judgement& found,
                        const stopping_criterion& goal, solve_result& result) {
  static_cast<solve_report&>(result) = as_solve_report(report, goal);
  batch_verdict& batch = result.batch.emplace();
  batch.worst = report.worst_system;
  batch.missed = report.systems_missed;
  batch.first_missed = report.first_missed;
  for (std::size_t s = 0; s < found.residuals.size(); ++s)
    batch.systems.push_back({found.converged(s), found.relative(s), found.residuals[s].backward_error()});
}

void judge_batch(const operand& A, const batch_view<const double>& b, const batch_view<const double>& x,
                 const stopping_criterion& goal, tridiagonal_report& report, detail::judgement& found) {
  tridiagonal_view<const double> all = A.bands(A.home());
  if (all.shape.offsets == nullptr && all.shape.systems == 1) {  // for all right-hand sides
    all.shape.systems = b.shape.systems;
    all.shape.system_stride = 0;
  }
  const auto systems = static_cast<std::size_t>(b.shape.systems);
  found = {};
  found.residuals.resize(systems);
  found.eliminations.resize(systems);
  found.rtol = std::max(*goal.rtol, std::numeric_limits<double>::min());  // as it was solved to
  found.atol = goal.atol;
  found.unit = std::numeric_limits<double>::epsilon() / 2;
  found.rows = static_cast<double>(b.shape.n);
  detail::band_residual<double>(A.home(), all, b, x, nullptr, found.residuals.data());
  report.systems_missed = 0;
  report.first_missed.clear();
  report.backward_error = 0;
  detail::report_systems(found, report);
}

solution_proof prove_batch(const proof_request& request, const operand& A, const device& dev,
                           const batch_view<const double>& b, const batch_view<double>& x) {
  constexpr int most_refinements = 10;
  if (request.radii != nullptr)
    throw value_error("radii of entries are not for batches", "numbers that hold for all entries are");
  const bool alike = b.shape.n == x.shape.n && b.shape.systems == x.shape.systems &&
                     b.shape.row_stride == x.shape.row_stride &&
                     b.shape.system_stride == x.shape.system_stride &&
                     (b.shape.offsets == nullptr) == (x.shape.offsets == nullptr);
  if (!alike || !is_gapless(x.shape))
    throw shape_error("a proof takes right-hand sides and solutions that are stored alike, without gaps");
  const std::int64_t size = x.shape.extent();
  array<double> rhs, answer, radius(dev, size);
  batch_view<const double> b_there = b;
  batch_view<double> x_there = x;
  const bool elsewhere = !is_same_place(dev, A.home());
  if (elsewhere) {
    rhs = array<double>(dev, size);
    answer = array<double>(dev, size);
    copy_bytes(rhs.data(), dev, b.data, A.home(), bytes_of(size));
    copy_bytes(answer.data(), dev, x.data, A.home(), bytes_of(size));
    b_there.data = rhs.data();
    x_there.data = answer.data();
  }
  const tridiagonal_bound bound = bound_error(dev, A.bands(dev), b_there, x_there, {radius.data(), x.shape},
                                              {request.within, request.relative, most_refinements});
  if (elsewhere) copy_bytes(x.data, A.home(), answer.data(), dev, bytes_of(size));
  array<double> improved(A.cpu(), size);
  copy_bytes(improved.data(), A.cpu(), x.data, A.home(), bytes_of(size));
  solution_proof all;
  all.rows = size;
  all.radius = radius.to(A.cpu());
  take_batch(all, bound, improved);
  return all;
}

}  // namespace vouch
