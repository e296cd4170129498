#include <vouch/solve/distributed/row_bound.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/solve/distributed/row_engines.hpp>
#include <vouch/solve/distributed/row_problem.hpp>
#include <vouch/solve/distributed/row_solver.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/verify/bound_text.hpp>
#include <vouch/verify/elements.hpp>
#include <vouch/verify/error_bound.hpp>
#include <vouch/verify/pass.hpp>
#include <vouch/verify/rows.hpp>

namespace vouch {
namespace {

using namespace detail;

class row_proof {
 public:
  row_proof(const device& cpu, const row_matrix& A)
      : cpu_(cpu),
        A_(A),
        vectors_(cpu, A),
        definite_(distributed::not_spd_reason(A).empty()),
        scale_(array<double>::zeros(cpu, A.length())),
        v_(array<double>::zeros(cpu, A.length())),
        d_(cpu, A.rows()),
        image_(cpu, A.rows()) {}

  // As h_matrix::prove: a loose tolerance in the 2-norm often leaves no component of <A> v negative.
  bool holds() {
    rows(scale_body{scale_.data()});
    A_.fetch_halo(scale_.data());
    const row_matrix B = A_.with_values(scaled_comparison());
    array<double> ones(cpu_, A_.rows()), z(cpu_, A_.rows());
    std::fill(ones.begin(), ones.end(), 1.0);
    std::fill(z.begin(), z.end(), 1.0);
    for (const double rtol : {1e-2, 1e-3, 1e-4}) {
      const bool found = solve(B, "none", ones, z, rtol);
      for (std::int64_t i = 0; i < A_.rows(); ++i) v_[i] = scale_[i] * z[i];
      A_.fetch_halo(v_.data());
      rows(comparison_body{v_.data(), d_.data(), image_.data(), {}});
      if (most(refutes_body{v_.data(), image_.data()}) == 0) return true;
      if (!found) return false;
    }
    return false;
  }

  // At least ||<A>^-1||_inf.
  double inverse_norm() const {
    array<double> ones(cpu_, A_.rows());
    std::fill(ones.begin(), ones.end(), 1.0);
    return mul_up(most(quotient_body{ones.data(), image_.data()}), most(size_body{v_.data()}));
  }

  // About ||A||_inf.
  double norm() const {
    array<double> sums(cpu_, A_.rows());
    rows(row_norm_body{sums.data()});
    return most(size_body{sums.data()});
  }

  // The error of x, by what is left of it behind x + lo; lo may be nullptr. Returns the largest radius.
  double bound(view<const double> b, double* x, double* lo, array<interval<double>>& r,
               array<double>& radius) const {
    A_.fetch_halo(x);
    if (lo != nullptr) A_.fetch_halo(lo);
    rows(residual_body{b.data(), x, lo, r.data(), {}});
    const double factor = most(interval_quotient_body{r.data(), image_.data()});
    return most(widen_multiple_body{lo, v_.data(), factor, radius.data()});
  }

  // lo := about the error whose residual is r; false where there is none.
  bool correct(const array<interval<double>>& r, array<double>& lo) const {
    array<double> middle(cpu_, A_.rows());
    for_elements(cpu_, A_.rows(), middle_body{r.data(), middle.data()});
    const double size = most(size_body{middle.data()});
    if (!(size > 0) || !std::isfinite(size)) return false;
    array<double> d = array<double>::zeros(cpu_, A_.rows());
    constexpr double digits = 1e-2;
    if (!solve(A_, "jacobi", middle, d, digits)) return false;
    std::copy_n(d.data(), A_.rows(), lo.data());
    return std::isfinite(most(size_body{d.data()}));
  }

  // The element that n / 2 are before, by halving the range of their bits, which are in order as numbers >= 0 are.
  double median_relative(const double* x, const array<double>& radius) const {
    array<double> relative(cpu_, A_.rows());
    for_elements(cpu_, A_.rows(), relative_body{x, radius.data(), relative.data()});
    std::uint64_t low = 0, high = std::bit_cast<std::uint64_t>(rounding::infinity<double>);
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const double bound = std::bit_cast<double>(middle);
      std::int64_t below[1] = {
          std::count_if(relative.begin(), relative.end(), [&](double v) { return v <= bound; })};
      A_.ranks().sum(below);
      if (below[0] > A_.all_rows() / 2)
        high = middle;
      else
        low = middle + 1;
    }
    return A_.all_rows() > 0 ? std::bit_cast<double>(low) : 0;
  }

  double most_relative(const double* x, const array<double>& radius) const {
    return most(relative_body{x, radius.data(), nullptr});
  }

 private:
  template <class Body>
  void rows(const Body& body) const {
    for_rows(cpu_, A_.local(), body);
  }
  template <class Body>
  double most(const Body& body) const {
    return vectors_.largest(detail::largest(cpu_, A_.rows(), body));
  }

  // S <A> S, S = scale.
  array<double> scaled_comparison() const {
    const csr_view<const double> local = A_.local();
    array<double> values(cpu_, local.nonzeros);
    for (std::int64_t i = 0; i < local.rows; ++i)
      for (std::int64_t k = local.row_ptr[i]; k < local.row_ptr[i + 1]; ++k) {
        const std::int32_t j = local.col[k];
        values[k] = j == i ? 1.0 : -(std::fabs(local.val[k]) * scale_[i] * scale_[j]);
      }
    return values;
  }

  // Approximations may fail: false where a solver refuses numbers beyond its range, as well. The preconditioner is that of
  // definite matrices.
  bool solve(const row_matrix& B, const char* preconditioner, view<const double> rhs, view<double> z,
             double rtol) const {
    row_solve_options options;
    options.rtol = rtol;
    options.max_iterations =
        20000 + 8 * static_cast<std::int64_t>(std::sqrt(static_cast<double>(B.all_rows())));
    options.method = definite_ ? row_method::cg : row_method::jacobi;
    options.matrix_checked = definite_;
    if (definite_) options.preconditioner.name = preconditioner;
    const checkpoint_scope unsaved;
    try {
      return solve_rows(cpu_, B, rhs, z, options).status == solve_status::converged;
    } catch (const value_error&) {
      return false;
    }
  }

  device cpu_;
  const row_matrix& A_;
  distributed::row_vectors vectors_;
  bool definite_;
  array<double> scale_, v_, d_, image_;
};

}  // namespace

solution_proof bound_rows(const device& cpu, const row_matrix& A, view<const double> b, view<const double> x,
                          double relative) {
  const ieee_environment here;
  distributed::require_rows("bound_rows", A, b, x);
  const stopwatch clock;
  solution_proof result;
  result.rows = A.all_rows();
  row_proof proof(cpu, A);
  if (!proof.holds()) {
    result.reason = "no positive v with <A> v > 0 was found: the matrix does not look like an H-matrix";
    result.seconds = clock.seconds();
    return result;
  }
  array<double> with_halo = array<double>::zeros(cpu, A.length()), low = array<double>::zeros(cpu, A.length());
  std::copy_n(x.data(), A.rows(), with_halo.data());
  array<interval<double>> r(cpu, A.rows());
  result.radius = array<double>(cpu, A.rows());
  result.max_absolute = proof.bound(b, with_halo.data(), nullptr, r, result.radius);
  if (result.max_absolute > 0 && proof.correct(r, low)) {
    array<double> sharper(cpu, A.rows());
    const double radius = proof.bound(b, with_halo.data(), low.data(), r, sharper);
    if (radius < result.max_absolute) {
      result.max_absolute = radius;
      result.radius = std::move(sharper);
    }
  }
  result.max_relative = proof.most_relative(with_halo.data(), result.radius);
  result.median_relative = proof.median_relative(with_halo.data(), result.radius);
  result.condition_estimate = proof.norm() * proof.inverse_norm();
  result.verified = std::isfinite(result.max_absolute);
  result.reached = result.verified && (relative == 0 || result.max_relative <= relative);
  result.reason = result.reached    ? every_component_within(result.max_absolute)
                  : result.verified ? relative_shortfall(result.max_relative)
                                    : "the bound of the error is not finite: x is not, or a bound overflows";
  if (result.verified) result.method = "h-matrix";
  error_bound as_digits;
  as_digits.verified = result.verified;
  as_digits.max_relative = result.max_relative;
  result.digits = as_digits.digits();
  result.seconds = clock.seconds();
  return result;
}

}  // namespace vouch
