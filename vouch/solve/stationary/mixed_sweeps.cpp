#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include <vouch/core/array.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/solve/loop/vector_update.hpp>
#include <vouch/solve/stationary/mixed_sweeps.hpp>

namespace vouch {
namespace {

// A matrix in single precision with all that it refers to.
struct single_matrix {
  array<float> values;
  std::unique_ptr<iteration_matrix<float>> A;
};

single_matrix rounded(const device& dev, csr_view<const double> A) {
  single_matrix single{array<float>(dev, A.nonzeros), nullptr};
  convert(dev, single.values.data(), A.val, A.nonzeros);
  single.A =
      make_iteration_matrix<float>(dev, {A.rows, A.cols, A.nonzeros, A.row_ptr, A.col, single.values.data()});
  return single;
}

single_matrix rounded(const device& dev, transpose op, matrix_view<const double> A) {
  single_matrix single{array<float>(dev, A.rows * A.cols), nullptr};
  float* const to = single.values.data();
  if (A.ld == A.rows)
    convert(dev, to, A.data, A.rows * A.cols);
  else
    for (std::int64_t j = 0; j < A.cols; ++j) convert(dev, to + j * A.rows, A.data + j * A.ld, A.rows);
  single.A = make_iteration_matrix<float>(dev, op, {to, A.rows, A.cols, std::max<std::int64_t>(1, A.rows)});
  return single;
}

// One way to keep the copy.
struct kind_of_copy {
  entry_precision precision;
  const char* name;
  double first_gain;   // what the sweeps of the first correction are to leave of the residual
  double worth;        // corrections that leave more of it are not worth their sweeps
  std::int64_t limit;  // sweeps of a correction, after which A has a look
};
constexpr kind_of_copy kinds[] = {
    {entry_precision::float8, "8-bit floats", 0x1p-5, 0.25, 1024},
    {entry_precision::bfloat16, "bfloat16", 0x1p-9, 0.25, 1024},
    {entry_precision::single, "single precision", 0, 0x1p-6, std::numeric_limits<std::int64_t>::max()}};
constexpr std::size_t all_kinds = std::size(kinds);
constexpr double deepest_gain = 0x1p-18;  // of sweeps in single precision
constexpr double deepest = 0x1p-40;       // that corrections take a residual of norm 1 to 2 to

// The copy with the loop over it.
struct copied_matrix {
  single_matrix single;  // where that is the precision
  std::unique_ptr<inner_solver<float>> sweeps;
};
using copy_maker = std::function<copied_matrix(entry_precision)>;

class mixed_engine final : public inner_solver<double> {
 public:
  mixed_engine(const device& dev, const iteration_matrix<double>& exact, const sweep_rule& rule,
               const acceleration& accelerate, std::string& warning, copy_maker make)
      : dev_(dev),
        n_(exact.rows()),
        exact_(exact),
        rule_(rule),
        accelerate_(accelerate),
        warning_(warning),
        make_(std::move(make)),
        rhs_(dev, n_),
        low_(dev, n_),
        correction_(dev, n_),
        r_(dev, n_),
        d_(dev, n_) {
    take_copy(first_kind());
  }

  std::string name() const override {
    std::string text = names_ + kinds[kind_of_last_].name + " inside, " + name_of_last_;
    return double_ ? text + "; then in double, " + double_->name() : text;
  }

  // r comes with a norm in [1, 2): residual_checked_solve scales it.
  inner_outcome run(double* r, double* d, const stopping_rule& rule, iteration_log& log) override {
    if (kind_ == all_kinds) return run_double(r, d, rule, log);
    const auto bytes = static_cast<std::size_t>(n_) * sizeof(double);
    copy_bytes(rhs_.data(), dev_, r, dev_, bytes);
    fill(dev_, d, 0.0, n_);
    fill(dev_, low_.data(), 0.0, n_);
    norm_ = nrm2<double>(dev_, view<const double>{r, n_});
    const double target = std::max(std::sqrt(rule.target_squared), deepest);
    inner_outcome all{solver_event::reached, 0, norm_ * norm_};
    while (norm_ > target && kind_ < all_kinds) {
      if (all.iterations >= rule.limit) {
        all.event = solver_event::iteration_limit;
        break;
      }
      const inner_outcome one = correct(r, d, target, rule, log, all.iterations);
      all.iterations += one.iterations;
      all.residual_squared = norm_ * norm_;
      if (one.event == solver_event::interrupted) {
        all.event = one.event;
        break;
      }
    }
    return all;
  }

 private:
  // What a Jacobi sweep leaves of the error at most, in a norm of its own; of other sweeps something below, 1
  // or more where nothing is proved.
  double contraction() const {
    const double reach = (1 - rule_.lowest_eigenvalue) / rule_.omega - 1;
    return std::fabs(1 - rule_.omega) + rule_.omega * reach;
  }

  // Each look at A, in double-double, takes as long as some sweeps, on the CPU as ten: where few sweeps are to
  // be expected, by proved dominance or with Anderson acceleration, corrections of few digits are not worth it.
  std::size_t first_kind() const {
    if (accelerate_.anderson > 0) return 2;
    if (contraction() < 0.75) return dev_.is_cuda() ? 1 : 2;
    return 0;
  }

  // The first copy from `kind` on that there is.
  void take_copy(std::size_t kind) {
    copy_ = {};
    for (kind_ = kind; kind_ < all_kinds; ++kind_) {
      copy_ = make_(kinds[kind_].precision);
      if (copy_.sweeps) break;
    }
    if (kind_ == all_kinds) return;
    if (!name_of_last_.empty()) names_ += std::string(kinds[kind_of_last_].name) + ", then ";
    kind_of_last_ = kind_;
    name_of_last_ = copy_.sweeps->name();
    gain_ = kinds[kind_].first_gain;
  }

  // One correction: d += about A^-1 r, and r and norm_ are formed anew; or the next copy.
  inner_outcome correct(double* r, double* d, double target, const stopping_rule& rule,
                        const iteration_log& log, std::int64_t done) {
    const double up = std::ldexp(1.0, -std::ilogb(norm_)), was = norm_;
    convert(dev_, r_.data(), static_cast<const double*>(r), n_);
    vouch::scale(dev_, r_.data(), static_cast<float>(up), n_);
    stopping_rule inner = rule;
    const double aim = std::max(target / 2, gain_ * was), wanted = up * aim;
    inner.target_squared = wanted * wanted;
    inner.diverged_squared = std::min(rule.diverged_squared * up * up, std::numeric_limits<double>::max());
    inner.limit = std::min(rule.limit - done, kinds[kind_].limit);
    iteration_log inner_log = log;
    inner_log.advance(done);
    inner_log.set_scale(log.scale() * up);
    const inner_outcome outcome = copy_.sweeps->run(r_.data(), d_.data(), inner, inner_log);
    if (outcome.event == solver_event::diverged || !std::isfinite(outcome.residual_squared)) {
      take_copy(kind_ + 1);
      return outcome;
    }
    convert(dev_, correction_.data(), static_cast<const float*>(d_.data()), n_);
    vouch::scale(dev_, correction_.data(), 1 / up, n_);
    apply(r, d);
    if (outcome.event != solver_event::interrupted)
      judge(r, d, was, outcome, std::sqrt(outcome.residual_squared) / up, aim);
    return outcome;
  }

  void apply(double* r, double* d) {
    accumulate_pair(dev_, d, low_.data(), correction_.data(), n_);
    norm_ = exact_.residual(dev_, {rhs_.data(), n_}, d, low_.data(), r).norm2;
  }

  // What the correction has gained, beside what the sweeps believe that they have left of the residual, and
  // what they were to leave. Where their limit cut them off, proved dominance may say that sweeps over A would
  // have come much further.
  void judge(double* r, double* d, double was, const inner_outcome& sweeps, double left, double aim) {
    const bool cut_off = sweeps.event == solver_event::iteration_limit;
    const bool stood_still = !cut_off && left > 2 * std::max(aim, deepest_gain * was);
    const bool by_precision = stood_still || !(norm_ <= 2 * left);
    if (!(norm_ < was)) {
      vouch::scale(dev_, correction_.data(), -1.0, n_);
      apply(r, d);
      return take_copy(kind_ + 1);
    }
    const double proved = std::pow(std::min(1.0, contraction()), static_cast<double>(sweeps.iterations));
    const bool slow_by_itself = contraction() < 1 && proved > 0.5 * norm_ / was;
    if (norm_ > kinds[kind_].worth * was && (by_precision || (cut_off && !slow_by_itself)))
      return take_copy(kind_ + 1);
    if (gain_ > 0 && !cut_off) gain_ = by_precision ? norm_ / was / 2 : std::max(gain_ / 8, deepest_gain);
  }

  inner_outcome run_double(double* r, double* d, const stopping_rule& rule, iteration_log& log) {
    warning_ = "mixed: single precision stopped helping: went on in double";
    if (!double_) double_ = exact_.make_engine(dev_, rule_, true, accelerate_);
    return double_->run(r, d, rule, log);
  }

  device dev_;
  std::int64_t n_;
  const iteration_matrix<double>& exact_;
  sweep_rule rule_;
  acceleration accelerate_;
  std::string& warning_;
  copy_maker make_;
  copied_matrix copy_;
  std::size_t kind_ = 0;  // of the copy; all_kinds: there is none any more
  double gain_ = 0;  // what the next correction's sweeps are to leave of the residual; 0: as little as can be
  double norm_ = 0;  // of the residual
  std::unique_ptr<inner_solver<double>> double_;
  array<double> rhs_, low_, correction_;
  array<float> r_, d_;
  std::string names_, name_of_last_;  // of the copies before, and of the sweeps over the last
  std::size_t kind_of_last_ = 0;
};

template <class... Matrix>
std::unique_ptr<inner_solver<double>> make_mixed(const device& dev, const iteration_matrix<double>& exact,
                                                 const sweep_rule& rule, const acceleration& accelerate,
                                                 std::string& warning, Matrix... A) {
  return std::make_unique<mixed_engine>(
      dev, exact, rule, accelerate, warning, [=, &exact](entry_precision precision) -> copied_matrix {
        if (precision != entry_precision::single)
          return {{}, exact.make_rounded_engine(dev, precision, rule, accelerate)};
        copied_matrix copy{rounded(dev, A...), nullptr};
        copy.sweeps = copy.single.A->make_engine(dev, rule, true, accelerate);
        return copy;
      });
}

}  // namespace

std::unique_ptr<inner_solver<double>> mixed_sweeps(const device& dev, csr_view<const double> A,
                                                   const iteration_matrix<double>& exact,
                                                   const sweep_rule& rule, const acceleration& accelerate,
                                                   std::string& warning) {
  return make_mixed(dev, exact, rule, accelerate, warning, A);
}

std::unique_ptr<inner_solver<double>> mixed_sweeps(const device& dev, transpose op, matrix_view<const double> A,
                                                   const iteration_matrix<double>& exact,
                                                   const sweep_rule& rule, const acceleration& accelerate,
                                                   std::string& warning) {
  return make_mixed(dev, exact, rule, accelerate, warning, op, A);
}

}  // namespace vouch
