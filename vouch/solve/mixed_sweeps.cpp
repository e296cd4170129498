#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <vouch/core/array.hpp>
#include <vouch/solve/mixed_sweeps.hpp>
#include <vouch/solve/vector_update.hpp>

namespace vouch {
namespace {

// A matrix in single precision with all that it refers to.
struct single_matrix {
  array<float> values;
  std::unique_ptr<sweepable_matrix<float>> A;
};

single_matrix rounded(const device& dev, csr_view<const double> A) {
  single_matrix single{array<float>(dev, A.nonzeros), nullptr};
  convert(dev, single.values.data(), A.val, A.nonzeros);
  single.A = make_sweepable<float>(dev, {A.rows, A.cols, A.nonzeros, A.row_ptr, A.col, single.values.data()});
  return single;
}

single_matrix rounded(const device& dev, transpose op, matrix_view<const double> A) {
  single_matrix single{array<float>(dev, A.rows * A.cols), nullptr};
  float* const to = single.values.data();
  if (A.ld == A.rows)
    convert(dev, to, A.data, A.rows * A.cols);
  else
    for (std::int64_t j = 0; j < A.cols; ++j) convert(dev, to + j * A.rows, A.data + j * A.ld, A.rows);
  single.A = make_sweepable<float>(dev, op, {to, A.rows, A.cols, std::max<std::int64_t>(1, A.rows)});
  return single;
}

class mixed_engine final : public cg_engine<double> {
 public:
  mixed_engine(const device& dev, single_matrix single, const sweepable_matrix<double>& exact,
               const sweep_rule& rule, const acceleration& accelerate)
      : dev_(dev),
        single_(std::move(single)),
        n_(single_.A->rows()),
        inner_(single_.A->make_engine(dev, rule, true, accelerate)),
        exact_(exact),
        rule_(rule),
        accelerate_(accelerate),
        r_(dev, n_),
        d_(dev, n_) {}

  std::string name() const override {
    const std::string text = "single precision inside, " + inner_->name();
    return double_ ? text + "; it stopped helping: went on in double, " + double_->name() : text;
  }

  // r comes with a norm in [1, 2): verified_solve scales it.
  cg_outcome run(double* r, double* d, const cg_rule& rule, cg_log& log) override {
    const double left = std::sqrt(rule.target_squared);
    const bool helps = last_left_ < 0 || left >= 100 * last_left_ || left >= 0.5;
    if (double_ || !helps) return run_double(r, d, rule, log);
    last_left_ = left;
    convert(dev_, r_.data(), static_cast<const double*>(r), n_);
    const cg_outcome outcome = inner_->run(r_.data(), d_.data(), rule, log);
    if (!std::isfinite(outcome.residual_squared)) return run_double(r, d, rule, log);
    convert(dev_, d, static_cast<const float*>(d_.data()), n_);
    return outcome;
  }

 private:
  cg_outcome run_double(double* r, double* d, const cg_rule& rule, cg_log& log) {
    if (!double_) double_ = exact_.make_engine(dev_, rule_, true, accelerate_);
    return double_->run(r, d, rule, log);
  }

  device dev_;
  single_matrix single_;
  std::int64_t n_;
  std::unique_ptr<cg_engine<float>> inner_;
  const sweepable_matrix<double>& exact_;
  sweep_rule rule_;
  acceleration accelerate_;
  std::unique_ptr<cg_engine<double>> double_;
  array<float> r_, d_;
  double last_left_ = -1;  // what the run before was asked to leave of its residual; negative: none
};

}  // namespace

std::unique_ptr<cg_engine<double>> mixed_sweeps(const device& dev, csr_view<const double> A,
                                                const sweepable_matrix<double>& exact, const sweep_rule& rule,
                                                const acceleration& accelerate) {
  return std::make_unique<mixed_engine>(dev, rounded(dev, A), exact, rule, accelerate);
}

std::unique_ptr<cg_engine<double>> mixed_sweeps(const device& dev, transpose op, matrix_view<const double> A,
                                                const sweepable_matrix<double>& exact, const sweep_rule& rule,
                                                const acceleration& accelerate) {
  return std::make_unique<mixed_engine>(dev, rounded(dev, op, A), exact, rule, accelerate);
}

}  // namespace vouch
