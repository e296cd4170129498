#include <vouch/verify/h_matrix.hpp>

#include <cmath>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/solve/cg.hpp>
#include <vouch/solve/precond/jacobi.hpp>
#include <vouch/verify/bicgstab.hpp>
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

// Improves z with S <A> S z = e; false where nothing more is to be gained.
bool improve(const device& dev, const scaled_comparison& B, bool symmetric, double rtol, array<float>& rhs,
             array<float>& z) {
  if (!symmetric) return bicgstab<float>(dev, B.matrix(), rhs, z, rtol);
  cg_options options;
  options.rtol = rtol;
  options.matrix_checked = true;
  options.max_iterations = patience(rhs.size());
  const solve_report report = cg<float>(dev, B.matrix(), rhs, z, options);
  return report.status == solve_status::converged;
}

}  // namespace

h_matrix::h_matrix(const device& dev, csr_view<const double> A, const h_matrix_options& options)
    : device_(dev), A_(A), options_(options), v_(dev, A.rows), d_(dev, A.rows), image_(dev, A.rows) {}

bool h_matrix::holds() {
  for_rows(device_, A_, comparison_body{v_.data(), d_.data(), image_.data(), options_.within});
  return largest(device_, A_.rows, refutes_body{v_.data(), image_.data()}) == 0;
}

// A loose tolerance in the 2-norm often leaves no component of <A> v negative; where it does, a tighter one may
// not.
std::unique_ptr<h_matrix> h_matrix::prove(const device& dev, csr_view<const double> A,
                                          const h_matrix_options& options, std::string& reason) {
  if (A.rows != A.cols) throw shape_error("h_matrix: the matrix is not square");
  const std::int64_t n = A.rows;
  std::unique_ptr<h_matrix> proof(new h_matrix(dev, A, options));
  array<double> scale(dev, n);
  for_rows(dev, A, scale_body{scale.data()});
  array<float> rhs(dev, n), z(dev, n);
  for_elements(dev, n, fill_body<float>{1.0F, rhs.data()});
  for_elements(dev, n, fill_body<float>{1.0F, z.data()});
  const scaled_comparison B(dev, A, scale.data());
  bool found = false;
  for (const double rtol : {3e-3, 3e-4, 3e-5}) {
    const bool converged = improve(dev, B, options.symmetric, rtol, rhs, z);
    for_elements(dev, n, unscale_body{scale.data(), z.data(), proof->v_.data()});
    found = proof->holds();
    if (found || !converged) break;
  }
  if (!found) {
    reason = "no positive v with <A> v > 0 was found: the matrix does not look like an H-matrix";
    return nullptr;
  }
  const double largest_v = largest(dev, n, size_body{proof->v_.data()});
  array<double> ones(dev, n);
  for_elements(dev, n, fill_body<double>{1.0, ones.data()});
  proof->inverse_norm_ = mul_up(largest(dev, n, quotient_body{ones.data(), proof->image_.data()}), largest_v);
  return proof;
}

void h_matrix::bound(view<const interval<double>> r, view<double> radius) {
  const std::int64_t n = A_.rows;
  array<double> c(device_, n), t(device_, n), sum = array<double>::zeros(device_, n);
  for_elements(device_, n, magnitude_body{r.data(), c.data()});
  for (int m = 0; m < options_.steps; ++m) {
    for_elements(device_, n, jacobi_body{c.data(), d_.data(), t.data(), sum.data()});
    for_rows(device_, A_, off_diagonal_body{t.data(), c.data(), options_.within});
  }
  const double factor = largest(device_, n, quotient_body{c.data(), image_.data()});
  for_elements(device_, n, radius_body{sum.data(), v_.data(), factor, radius.data()});
}

bool h_matrix::correct(view<const double> s, view<double> d) {
  const double size = largest(device_, A_.rows, size_body{s.data()});
  if (!(size > 0) || !std::isfinite(size)) return false;
  for_elements(device_, A_.rows, fill_body<double>{0.0, d.data()});
  if (!options_.symmetric || !options_.positive_diagonal) return bicgstab<double>(device_, A_, s, d, 1e-8);
  const std::unique_ptr<preconditioner<double>> M = make_jacobi(device_, A_);
  cg_options options;
  options.matrix_checked = true;
  options.max_iterations = patience(A_.rows);
  const solve_report report = cg<double>(device_, A_, s, d, options, M.get());
  return has_solution(report.status);
}

}  // namespace vouch
