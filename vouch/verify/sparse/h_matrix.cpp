#include <vouch/verify/sparse/h_matrix.hpp>

#include <cmath>
#include <variant>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/krylov/bicgstab.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/loop/checkpoint.hpp>
#include <vouch/solve/precond/jacobi.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/verify/elements.hpp>
#include <vouch/verify/pass.hpp>
#include <vouch/verify/rows.hpp>

namespace vouch {
namespace {

using namespace detail;

// Iterations after which a matrix is not worth more: grids of any shape take a few times the longest side.
std::int64_t patience(std::int64_t n) {
  return 20000 + 8 * static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
}

// The comparison matrix with a unit diagonal, in single precision.
class scaled_comparison {
 public:
  scaled_comparison(const device& dev, csr_view<const double> A, const double* scale)
      : rows_(A.rows), values_(dev, A.nonzeros), pattern_(A) {
    for_rows(dev, A, scaled_comparison_body{scale, values_.data()});
  }
  csr_view<const float> matrix() const {
    return {rows_, rows_, pattern_.nonzeros, pattern_.row_ptr, pattern_.col, values_.data()};
  }

 private:
  std::int64_t rows_;
  array<float> values_;
  csr_view<const double> pattern_;
};

// What solve() says; false where the solver refuses numbers that lie beyond its range. Approximations may fail.
template <class Solve>
bool unless_refused(const Solve& solve) {
  try {
    return solve();
  } catch (const value_error&) {
    return false;
  }
}

// Improves z with S <A> S z = e; false where nothing more is to be gained.
bool improve(const device& dev, const scaled_comparison& B, bool symmetric, double rtol, array<float>& rhs,
             array<float>& z) {
  stopping_criterion goal;
  goal.rtol = rtol;
  goal.max_iterations = patience(rhs.size());
  return unless_refused([&] {
    const checkpoint_scope unsaved;
    const solve_report report = symmetric ? cg<float>(dev, B.matrix(), rhs, z, {goal, true})
                                          : bicgstab<float>(dev, B.matrix(), rhs, z, {goal});
    return report.status == solve_status::converged;
  });
}

}  // namespace

h_matrix::h_matrix(const device& dev, csr_view<const double> A, const h_matrix_options& options)
    : certificate(fingerprint_of(dev, A), options.within),
      device_(dev),
      A_(A),
      options_(options),
      comparison_(dev, A, options.within),
      scale_(dev, A.rows) {
  for_rows(dev, A, scale_body{scale_.data()});
}

// A loose tolerance in the 2-norm often leaves no component of <A> v negative; where it does, a tighter one may
// not.
std::unique_ptr<h_matrix> h_matrix::prove(const device& dev, csr_view<const double> A,
                                          const h_matrix_options& options, std::string& reason) {
  const ieee_environment here;
  detail::require_radii("h_matrix", options.within);
  const valid_csr valid("h_matrix", dev, A);
  if (A.rows != A.cols) throw shape_error("h_matrix: the matrix is not square");
  const std::int64_t n = A.rows;
  std::unique_ptr<h_matrix> proof(new h_matrix(dev, A, options));
  const double* const scale = proof->scale_.data();
  array<float> rhs(dev, n), z(dev, n);
  for_elements(dev, n, fill_body<float>{1.0F, rhs.data()});
  for_elements(dev, n, fill_body<float>{1.0F, z.data()});
  const scaled_comparison B(dev, A, scale);
  bool found = false;
  for (const double rtol : {3e-3, 3e-4, 3e-5}) {
    const bool converged = improve(dev, B, options.symmetric, rtol, rhs, z);
    check_cancellation();  // to conjugate gradients that is a status
    for_elements(dev, n, unscale_body{scale, z.data(), 1.0, proof->comparison_.v().data()});
    found = proof->comparison_.holds();
    if (found || !converged) break;
  }
  if (!found) {
    reason = "no positive v with <A> v > 0 was found: the matrix does not look like an H-matrix";
    return nullptr;
  }
  proof->inverse_norm_ = proof->comparison_.inverse_norm();
  proof->keep_what_is_read_faster();
  return proof;
}

void h_matrix::keep_what_is_read_faster() {
  if (!smooths()) return;
  smoother_ = std::make_unique<smoother>(device_, A_, scale_, positive());
  if (!smoother_->has_diagonals()) return;
  // That A is symmetric is looked up here: the half that is stored stands in the proof.
  diagonals_ = spmv_plan<double>::make(device_, A_);
  if (diagonals_->kept_as() == layout::dia) comparison_.read_from(diagonals_->as_dia());
}

matrix_fingerprint h_matrix::referred_matrix() const {
  if (std::holds_alternative<csr_view<const double>>(comparison_.rows())) return fingerprint_of(device_, A_);
  return proved_matrix();
}

void h_matrix::bound(view<const interval<double>> r, view<double> radius) {
  const ieee_environment here;
  require_lengths("bound", r.size(), radius.size());
  comparison_.bound(r, smooths() && positive() ? 0 : options_.steps, radius);
}

std::optional<double> h_matrix::bound_widened(view<const interval<double>> r, const double* lo,
                                              view<double> radius) {
  const ieee_environment here;
  require_lengths("bound_widened", r.size(), radius.size());
  if (!smooths() || !positive()) return std::nullopt;
  return comparison_.bound_widened(r, lo, radius);
}

bool h_matrix::smooth(view<const interval<double>> r, int steps, view<double> d) {
  const ieee_environment here;
  require_lengths("smooth", r.size(), d.size());
  return smooths() && steps > 0 && smoother_->smooth(r, scale_, steps, d);
}

bool h_matrix::solve(view<const double> s, view<double> d, double rtol) const {
  require_lengths("correct", s.size(), d.size());
  const double size = largest(device_, A_.rows, size_body{s.data()});
  if (!(size > 0) || !std::isfinite(size)) return false;
  for_elements(device_, A_.rows, fill_body<double>{0.0, d.data()});
  stopping_criterion goal;
  goal.rtol = rtol;
  goal.max_iterations = patience(A_.rows);
  const bool solved = unless_refused([&] {
    const checkpoint_scope unsaved;
    if (!positive()) return bicgstab<double>(device_, A_, s, d, {goal}).status == solve_status::converged;
    const std::unique_ptr<preconditioner<double>> M = make_jacobi(device_, A_);
    return has_solution(cg<double>(device_, A_, s, d, {goal, true}, M.get()).status);
  });
  check_cancellation();
  return solved;
}

}  // namespace vouch
