#include <cmath>

#include <vouch/core/array.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/cg_system.hpp>
#include <vouch/solve/loop/spd_check.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

// Applies a single-precision M to double vectors.
class widened final : public preconditioner<double> {
 public:
  widened(const device& dev, const preconditioner<float>& M, std::int64_t n)
      : M_(M), r_(dev, n), z_(dev, n), diagonal_(dev, M.diagonal() != nullptr ? n : 0) {
    if (M.diagonal() != nullptr) convert(dev, diagonal_.data(), M.diagonal(), n);
  }
  void apply(const device& dev, view<const double> r, view<double> z) const override {
    convert(dev, r_.data(), r.data(), r.size());
    M_.apply(dev, r_.all(), z_);
    convert(dev, z.data(), z_.data(), z.size());
  }
  std::string name() const override { return M_.name(); }
  std::int64_t rows() const override { return M_.rows(); }
  const double* diagonal() const override { return M_.diagonal() != nullptr ? diagonal_.data() : nullptr; }

 private:
  const preconditioner<float>& M_;
  mutable array<float> r_, z_;
  array<double> diagonal_;
};

// Each run solves A d = r in single precision to a part of the way; a run that started no better than a
// hundredth of the one before has shown that single precision does not help, and double takes over.
class mixed_engine final : public inner_solver<double> {
 public:
  // wide is M for double vectors.
  mixed_engine(const device& dev, csr_view<const double> A, const preconditioner<float>* M, const widened* wide)
      : dev_(dev), A_(A), wide_(wide), val_(dev, A.nonzeros), r_(dev, A.rows), d_(dev, A.rows) {
    convert(dev, val_.data(), A.val, A.nonzeros);
    single_ = assemble_cg<float>(dev, {A.rows, A.cols, A.nonzeros, A.row_ptr, A.col, val_.data()}, M);
  }

  std::string name() const override { return "single precision inside, " + single_.engine->name(); }
  const std::string& fallback() const { return fallback_; }

  // r comes with a norm in [1, 2): residual_checked_solve scales it.
  inner_outcome run(double* r, double* d, const stopping_rule& rule, iteration_log& log) override {
    const double left = std::sqrt(rule.target_squared);
    if (fallback_.empty() && rounds_ > 0 && !progressed(left))
      fallback_ =
          "single precision stopped helping (the system is too ill-conditioned for it): went on in double";
    if (!fallback_.empty()) return run_double(r, d, rule, log);
    ++rounds_;
    last_left_ = left;
    const auto rounds = std::ceil(std::log(std::min(left, 0.5)) / std::log(most_a_round));
    const double target = std::max(left, std::pow(left, 1 / std::max(rounds, 1.0)));
    stopping_rule inner{target * target, 1e8, std::min(rule.limit, most_iterations)};
    convert(dev_, r_.data(), r, A_.rows);
    inner_outcome outcome = single_.engine->run(r_.data(), d_.data(), inner, log);
    convert(dev_, d, d_.data(), A_.rows);
    if (outcome.event == solver_event::interrupted ||
        (outcome.event == solver_event::iteration_limit && inner.limit == rule.limit))
      return outcome;
    if (outcome.event != solver_event::reached) {
      fallback_ = "single precision did not get through a round: went on in double";
      if (outcome.event != solver_event::iteration_limit)
        zero_bytes(dev_, d, static_cast<std::size_t>(A_.rows) * sizeof(double));
    }
    outcome.event = solver_event::reached;  // of this round; the verified loop looks at the true residual
    return outcome;
  }

 private:
  static constexpr double most_a_round = 1e-5;           // what single precision can reduce a residual by
  static constexpr std::int64_t most_iterations = 5000;  // a condition beyond about 10^6 has no place here

  // The target, relative to the residual at hand, must grow a hundredfold from round to round.
  bool progressed(double left) const { return left >= 100 * last_left_ || left >= 0.5; }

  inner_outcome run_double(double* r, double* d, const stopping_rule& rule, iteration_log& log) {
    if (!double_.engine) double_ = assemble_cg<double>(dev_, A_, wide_);
    return double_.engine->run(r, d, rule, log);
  }

  device dev_;
  csr_view<const double> A_;
  const widened* wide_;
  array<float> val_, r_, d_;
  cg_assembly<float> single_;
  cg_assembly<double> double_;
  std::string fallback_;
  double last_left_ = 0;
  int rounds_ = 0;
};

// Below this an iteration's time is latency or cache, and halving the bytes buys less than the rounds cost.
bool too_small(const device& dev, csr_view<const double> A) {
  const std::int64_t bytes = 12 * A.nonzeros + 80 * A.rows;
  return bytes < (dev.is_cuda() ? std::int64_t{60} << 20 : std::int64_t{32} << 20);
}

}  // namespace

solve_report cg_mixed(const device& dev, csr_view<const double> A, view<const double> b, view<double> x,
                      const cg_options& options, const preconditioner<float>* M) {
  const ieee_environment here;
  const valid_csr valid("cg_mixed", dev, A);
  check_preconditioner(M, A.rows);
  require_one_device("single precision inside", options);
  const bool own_rule = options.fixed_iterations || options.stop_recurrence;
  std::unique_ptr<widened> wide;
  if (M != nullptr) wide = std::make_unique<widened>(dev, *M, A.rows);
  if (own_rule || too_small(dev, A) || A.rows != A.cols) {
    solve_report report = cg<double>(dev, A, b, x, options, wide.get());
    report.precision = "mixed";
    report.warnings.push_back(
        own_rule ? "mixed: this stopping rule is counted in double iterations, so all are"
                 : "mixed: the system is too small for single precision to save time, all in double");
    return report;
  }
  const stopwatch clock;
  if (!options.matrix_checked) check_spd(dev, A);
  mixed_engine engine(dev, A, M, wide.get());
  solve_report report = cg_with_engine(dev, A, b, x, options, engine, wide.get(), clock);
  report.precision = "mixed";
  report.preconditioner = M != nullptr ? M->name() : "none";
  if (!engine.fallback().empty()) report.warnings.push_back("mixed: " + engine.fallback());
  return report;
}

}  // namespace vouch
