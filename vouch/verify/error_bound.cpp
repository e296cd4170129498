#include <vouch/verify/error_bound.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/dense/require_entries.hpp>
#include <vouch/verify/bound_text.hpp>
#include <vouch/verify/elements.hpp>
#include <vouch/verify/enclosed_residual.hpp>
#include <vouch/verify/median.hpp>
#include <vouch/verify/pass.hpp>
#include <vouch/verify/rows.hpp>

namespace vouch {
namespace {

using namespace detail;

// Without a wish, x is improved once its error may be larger than this part of its largest component.
constexpr double acceptable = 1e-6;

// x as a pair while it is improved, with bounds of the error of the pair and of its upper half.
class bounded_solution {
 public:
  bounded_solution(const device& dev, const matrix_rows& A, certificate& proof, view<const double> b,
                   view<double> x, const bound_options& options)
      : dev_(dev),
        A_(proof.rows() != nullptr ? *proof.rows() : A),
        n_(row_count(A)),
        proof_(proof),
        b_(b),
        x_(x),
        within_(options.within),
        first_(options.about.first),
        count_(options.about.size(n_)),
        smoothing_(options.smoothing),
        r_(dev, n_),
        radius_(dev, n_) {}

  // Encloses the residual of the pair and bounds the error of x. Parts of the error that are cheap to find move
  // into the lower half before.
  void bound() {
    enclose();
    for (int k = 0; k < proof_.smoothing_rounds() && absorb(); ++k) enclose();
    const double* const lo = lo_.size() > 0 ? lo_.data() : nullptr;
    if (const std::optional<double> most = proof_.bound_widened(r_.all(), lo, radius_)) {
      largest_radius_ = *most;
    } else {
      proof_.bound(r_.all(), radius_);
      largest_radius_ = largest(dev_, n_, widen_body{lo, radius_.data()});
    }
    if (count_ < n_) largest_radius_ = largest_of(radius_.data());
    largest_relative_ =
        largest(dev_, count_, relative_body{x_.data() + first_, radius_.data() + first_, nullptr});
  }

  // Whether the bound is so many times what is known of the error.
  bool is_loose(double times) const {
    return lo_.size() > 0 && proved() && largest_radius_ > times * largest_of(lo_.data());
  }

  // Bounds the error of x by an approximation of it and a bound of the rest; keeps what is better.
  void sharpen() {
    const double radius = largest_radius_, relative = largest_relative_;
    const array<double> before = copied(lo_.data(), lo_.size());
    array<double> d = array<double>::zeros(dev_, n_);
    if (!approximate_error(d, true)) return;
    if (before.size() > 0) for_elements(dev_, n_, absorb_body{before.data(), d.data()});
    lo_ = std::move(d);
    bound();
    if (largest_radius_ <= radius && largest_relative_ <= relative) return;
    lo_ = copied(before.data(), before.size());
    bound();
  }

  // Moves x by an approximation of its error; false where there is none.
  bool improve() {
    array<double> d = array<double>::zeros(dev_, n_);
    if (!approximate_error(d, false)) return false;
    if (lo_.size() == 0) lo_ = array<double>::zeros(dev_, n_);
    for_elements(dev_, n_, improve_body{d.data(), x_.data(), lo_.data()});
    return true;
  }

  void restore(const array<double>& x, const array<double>& lo) {
    copy_bytes(x_.data(), dev_, x.data(), dev_, static_cast<std::size_t>(x.size()) * sizeof(double));
    lo_ = copied(lo.data(), lo.size());
    bound();
  }
  array<double> saved_x() const { return copied(x_.data(), x_.size()); }
  array<double> saved_lo() const { return copied(lo_.data(), lo_.size()); }

  double largest_radius() const { return largest_radius_; }
  double largest_relative() const { return largest_relative_; }
  bool proved() const { return std::isfinite(largest_radius_); }
  bool good_enough(double relative) const {
    if (relative > 0) return largest_relative_ <= relative;
    return largest_radius_ <= acceptable * largest_of(x_.data());
  }
  array<double> take_radius() { return std::move(radius_); }

 private:
  // Of the components that count.
  double largest_of(const double* v) const { return largest(dev_, count_, size_body{v + first_}); }

  array<double> copied(const double* from, std::int64_t size) const {
    array<double> result(dev_, size);
    copy_bytes(result.data(), dev_, from, dev_, static_cast<std::size_t>(size) * sizeof(double));
    return result;
  }

  void enclose() { enclosed_residual(dev_, A_, b_, x_, lo_.size() > 0 ? lo_.data() : nullptr, r_, within_); }

  bool absorb() {
    array<double> d(dev_, n_);
    if (!proof_.smooth(r_.all(), smoothing_, d)) return false;
    if (lo_.size() > 0)
      for_elements(dev_, n_, absorb_body{d.data(), lo_.data()});
    else
      lo_ = std::move(d);
    return true;
  }

  // d := about the error of the pair; false where there is no such thing.
  bool approximate_error(array<double>& d, bool roughly) {
    array<double> middle(dev_, n_);
    for_elements(dev_, n_, middle_body{r_.data(), middle.data()});
    const bool found = roughly ? proof_.correct_roughly(middle, d) : proof_.correct(middle, d);
    return found && std::isfinite(largest(dev_, n_, size_body{d.data()}));
  }

  device dev_;
  matrix_rows A_;
  std::int64_t n_;
  certificate& proof_;
  view<const double> b_;
  view<double> x_;
  uncertainty within_;
  std::int64_t first_, count_;  // the components that count
  int smoothing_;
  array<double> lo_;  // empty: zero
  array<interval<double>> r_;
  array<double> radius_;
  double largest_radius_ = 0, largest_relative_ = 0;
};

// Refines while the radius shrinks to half at least; what made it wider is taken back.
int refine(bounded_solution& solution, const bound_options& options) {
  for (int k = 0; k < options.most_refinements; ++k) {
    check_cancellation();
    if (solution.good_enough(options.relative)) return k;
    const double radius = solution.largest_radius(), relative = solution.largest_relative();
    const array<double> x = solution.saved_x(), lo = solution.saved_lo();
    if (!solution.improve()) return k;
    solution.bound();
    const bool narrower =
        solution.proved() && (solution.largest_radius() <= radius || solution.largest_relative() < relative);
    if (!narrower) {
      solution.restore(x, lo);
      return k;
    }
    const bool halved = solution.largest_radius() <= radius / 2 || solution.largest_relative() <= relative / 2;
    if (!halved) return k + 1;
  }
  return options.most_refinements;
}

double median_relative(const device& dev, view<const double> x, const array<double>& radius,
                       const component_range& about) {
  array<double> relative(dev, about.size(x.size()));
  for_elements(dev, relative.size(),
               relative_body{x.data() + about.first, radius.data() + about.first, relative.data()});
  return detail::median(relative.to_vector());
}

void judge(bounded_solution& solution, const bound_options& options, error_bound& result) {
  result.max_absolute = solution.largest_radius();
  result.max_relative = solution.largest_relative();
  result.verified = solution.proved();
  result.reached = result.verified && (options.relative == 0 || result.max_relative <= options.relative);
  if (!result.verified)
    result.reason = "the bound of the error is not finite: x is not, or a bound overflows";
  else if (result.reached)
    result.reason = every_component_within(result.max_absolute);
  else
    result.reason = relative_shortfall(result.max_relative);
}

}  // namespace

int error_bound::digits() const {
  const ieee_environment here;
  constexpr int most = 15;
  int proved = 0;
  double power = 10;  // exact
  for (; verified && proved < most && mul_up(max_relative, power) <= 1; power *= 10) ++proved;
  return proved;
}

namespace {

// About ||A||_inf.
double norm_of(const device& dev, const matrix_rows& A) {
  array<double> norm(dev, row_count(A));
  for_rows(dev, A, row_norm_body{norm.data()});
  return largest(dev, norm.size(), size_body{norm.data()});
}

template <class Matrix>
error_bound bound_error_of(const device& dev, const Matrix& A, certificate& proof, view<const double> b,
                           view<double> x, const bound_options& options) {
  const stopwatch clock;
  proof.require_covers("bound_error", fingerprint_of(dev, A), options.within);
  error_bound result;
  result.method = proof.method();
  result.matrix = proof.proved_matrix();
  result.about = options.about;
  bounded_solution solution(dev, A, proof, b, x, options);
  solution.bound();
  if (proof.corrects_cheaply() || solution.is_loose(options.looseness)) solution.sharpen();
  result.refinements = refine(solution, options);
  judge(solution, options, result);
  result.radius = solution.take_radius();
  dev.synchronize();
  result.seconds = clock.seconds();
  result.median_relative = median_relative(dev, x, result.radius, options.about);
  result.condition_estimate = norm_of(dev, A) * proof.inverse_norm();
  return result;
}

}  // namespace

error_bound bound_error(const device& dev, csr_view<const double> A, certificate& proof, view<const double> b,
                        view<double> x, const bound_options& options) {
  const ieee_environment here;
  return bound_error_of(dev, A, proof, b, x, options);
}

error_bound bound_error(const device& dev, matrix_view<const double> A, certificate& proof,
                        view<const double> b, view<double> x, const bound_options& options) {
  const ieee_environment here;
  detail::require_entries("bound_error", A);
  return bound_error_of(dev, A, proof, b, x, options);
}

}  // namespace vouch
