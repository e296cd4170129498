#include <vouch/solve/pattern_batch.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/driver/verdict.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/sparse/check.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr std::size_t most_named = 100;

void name_system(std::int64_t s, std::vector<std::int64_t>& first) {
  if (first.size() < most_named) first.push_back(s);
}

// One system after another.
class batch_run {
 public:
  batch_run(const device& cpu, const pattern_batch& batch, view<double> x, const solve_options& options)
      : cpu_(cpu), batch_(batch), x_(x), options_(options), each_(options) {
    each_.proof.reset();
    each_.proof_follows = options.proof.has_value();
    all_.batch.emplace();
    if (!options.proof) return;
    all_.proof.emplace();
    all_.proof->rows = batch.rows;
    all_.proof->verified = all_.proof->reached = true;
    all_.proof->radius = array<double>(cpu, x.size());
  }

  void take(std::int64_t s) {
    const view<double> x(x_.data() + s * batch_.rows, batch_.rows);
    std::fill_n(x.data(), x.size(), 0.0);
    solve_result result = solve_one(s, x);
    const bool converged = result.status == solve_status::converged;
    if (!has_solution(result.status)) std::fill_n(x.data(), x.size(), std::numeric_limits<double>::quiet_NaN());
    if (options_.proof) {
      const solution_proof none = unproved("there is no solution to verify");
      take_proof(s, result.proof ? *result.proof : none);
    }
    batch_verdict& batch = *all_.batch;
    batch.systems.push_back({converged, result.relative_true(), result.backward_error});
    if (!converged) {
      ++batch.missed;
      name_system(s, batch.first_missed);
      // What auto took up for this one alone is not for the next.
      if (result.attempts.size() > 1) drop_solver();
    }
    add_times(result.times);
    if (all_.how == nullptr) take_choices(result);
    if (batch_.systems > 1) result.reason = "system " + std::to_string(s) + ": " + result.reason;
    add_column(all_, std::move(static_cast<solve_report&>(result)), s);
    all_.columns.resize(1);  // that there was one is all that is asked of them
  }

  solve_result finish() {
    if (!any_taken_ && refusal_) std::rethrow_exception(refusal_);
    all_.batch->worst = all_.column;
    // One that was refused was solved by nothing: the method is that of the others.
    if (all_.how != nullptr && all_.engine.empty()) {
      all_.method = method_;
      all_.engine = engine_;
    }
    all_.columns.clear();
    drop_solver();
    return std::move(all_);
  }

 private:
  void drop_solver() {
    if (solver_) all_.times.setup += solver_->setup_seconds();
    solver_.reset();
  }

  solve_result solve_one(std::int64_t s, view<double> x) {
    try {
      solve_result result = solve_with_values(s, x);
      any_taken_ = true;
      return result;
    } catch (const value_error& e) {
      if (!refusal_) refusal_ = std::current_exception();
      solve_result refused;
      refused.status = solve_status::breakdown;
      refused.reason = e.what();
      refused.true_residual = refused.rhs_norm = std::numeric_limits<double>::quiet_NaN();
      refused.method = options_.method;
      return refused;
    }
  }

  solve_result solve_with_values(std::int64_t s, view<double> x) {
    require_numbers(s);
    try {
      if (!solver_)
        solver_.emplace(cpu_, batch_.matrix(s), each_);
      else if (!batch_.one_matrix)
        solver_->renew(batch_.matrix(s));
      solver_->plan();
    } catch (...) {
      drop_solver();
      throw;
    }
    solve_result result = solver_->solve(batch_.rhs(s), x);
    if (options_.proof) {
      const std::int64_t n = batch_.rows, ld = std::max<std::int64_t>(1, n);
      solver_->prove({batch_.rhs(s).data(), n, 1, ld}, {x.data(), n, 1, ld}, *options_.proof, result);
    }
    return result;
  }

  // Others would choose the method of those that follow.
  void require_numbers(std::int64_t s) const {
    const auto is_number = [](double value) { return std::isfinite(value); };
    const csr_view<const double> A = batch_.matrix(s);
    const bool is_known = solver_ && batch_.one_matrix;
    if (!is_known && !std::all_of(A.val, A.val + A.nonzeros, is_number))
      throw value_error(options_.names.matrix + ": " + check(cpu_, A));
    const view<const double> b = batch_.rhs(s);
    if (!std::all_of(b.data(), b.data() + b.size(), is_number))
      throw value_error("the right-hand side holds a NaN or an infinity");
  }

  void take_proof(std::int64_t s, const solution_proof& one) {
    solution_proof& all = *all_.proof;
    double* const radius = all.radius.data() + s * batch_.rows;
    if (one.verified)
      std::copy(one.radius.begin(), one.radius.end(), radius);
    else
      std::fill_n(radius, batch_.rows, std::numeric_limits<double>::infinity());
    all.seconds += one.seconds;
    if (!one.verified) {
      ++all.systems_unproved;
      name_system(s, all.first_unproved);
    }
    const bool tells = s == 0 || (all.verified && !one.verified) || (all.reached && !one.reached);
    if (tells) {
      all.method = one.method;
      all.reason =
          batch_.systems > 1 && !one.reached ? "system " + std::to_string(s) + ": " + one.reason : one.reason;
    }
    all.digits = s == 0 ? one.digits : std::min(all.digits, one.digits);
    all.verified = all.verified && one.verified;
    all.reached = all.reached && one.reached;
    all.max_absolute = std::max(all.max_absolute, one.max_absolute);
    all.max_relative = std::max(all.max_relative, one.max_relative);
    all.median_relative = std::max(all.median_relative, one.median_relative);
    all.condition_estimate = std::max(all.condition_estimate, one.condition_estimate);
    all.refinements = std::max(all.refinements, one.refinements);
  }

  void add_times(const solve_times& times) {
    all_.times.cuda_start += times.cuda_start;
    all_.times.setup += times.setup;
    all_.times.transfer += times.transfer;
    all_.times.solve += times.solve;
  }
  void take_choices(const solve_result& first) {
    all_.how = first.how;
    method_ = first.method;
    engine_ = first.engine;
    all_.method_reason = first.method_reason;
    all_.precision_reason = first.precision_reason;
    all_.where = first.where;
    all_.device_reason = first.device_reason;
    all_.attempts = first.attempts;
  }

  const device& cpu_;
  const pattern_batch& batch_;
  view<double> x_;
  const solve_options& options_;
  solve_options each_;
  std::optional<solver> solver_;
  bool any_taken_ = false;  // or else what is asked for is refused
  std::exception_ptr refusal_;
  std::string method_, engine_;  // of the first that was taken
  solve_result all_;
};

}  // namespace

solve_result solve(const device& cpu, const pattern_batch& batch, view<double> x,
                   const solve_options& options) {
  const ieee_environment here;
  if (x.size() != batch.systems * batch.rows)
    throw shape_error("the solutions have " + std::to_string(x.size()) + " elements, the systems " +
                      std::to_string(batch.systems * batch.rows));
  const valid_csr valid("solve", cpu, batch.matrix(0));
  batch_run run(cpu, batch, x, options);
  for (std::int64_t s = 0; s < batch.systems; ++s) run.take(s);
  return run.finish();
}

}  // namespace vouch
