// vouch/verify/sparse/h_matrix.hpp -- error bounds for H-matrices, sparse ones never leaving their form; private.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_plan.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/sparse/comparison.hpp>
#include <vouch/verify/sparse/smoother.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch {

struct h_matrix_options {
  uncertainty within;
  bool symmetric = false;          // the caller knows that A is
  bool positive_diagonal = false;  // likewise
  int steps = 2;          // Jacobi steps that sharpen a bound; none where a symmetric matrix is smoothed
  bool smoothing = true;  // false: smooth() does nothing
};

/// The proof that A is an H-matrix: v > 0 with <A> v > 0, where <A> has |a_ii| on and -|a_ij| off the diagonal.
/// M-matrices, diagonally dominant ones and most of finite differences and volumes are such.
class h_matrix final : public certificate {
 public:
  /// Solves <A> v = diag approximately and checks v with every rounding outward.
  ///
  /// Shapes  A is n-by-n.
  /// Memory  A lives on dev and must outlive the result unchanged; this has 4 n doubles and, for smoothing, A
  ///         in single precision; where a few diagonals hold all entries, these as doubles besides. While it
  ///         works, another copy in single precision and about 8 n doubles.
  /// Result  nullptr and a reason where v was not found; A may be an H-matrix all the same.
  /// Cost    Conjugate gradients in single precision (symmetric) or stabilised biconjugate gradients to
  ///         about one digit, and a pass over A for each check.
  /// Throws  shape_error  A is not square
  ///         value_error  a radius that is negative or not finite
  /// Source  Ostrowski 1937; Neumaier, Interval Methods for Systems of Equations (1990), 3.7.
  static std::unique_ptr<h_matrix> prove(const device& dev, csr_view<const double> A,
                                         const h_matrix_options& options, std::string& reason);

  std::string method() const override { return "h-matrix"; }

  /// |A^-1 s| <= <A>^-1 |s|, see comparison::bound.
  ///
  /// Cost    A pass over A for each of `steps`; with smoothing none.
  void bound(view<const interval<double>> r, view<double> radius) override;
  std::optional<double> bound_widened(view<const interval<double>> r, const double* lo,
                                      view<double> radius) override;
  bool smooth(view<const interval<double>> r, int steps, view<double> d) override;
  int smoothing_rounds() const override { return positive() ? 1 : 2; }
  const detail::matrix_rows* rows() const override { return &comparison_.rows(); }

  bool correct(view<const double> s, view<double> d) override { return solve(s, d, 1e-8); }
  bool correct_roughly(view<const double> s, view<double> d) override { return solve(s, d, 1e-3); }
  double inverse_norm() const override { return inverse_norm_; }

 private:
  h_matrix(const device& dev, csr_view<const double> A, const h_matrix_options& options);
  matrix_fingerprint referred_matrix() const override;
  bool smooths() const { return options_.smoothing; }
  bool positive() const { return options_.symmetric && options_.positive_diagonal; }
  void keep_what_is_read_faster();
  bool solve(view<const double> s, view<double> d, double rtol) const;

  device device_;
  csr_view<const double> A_;
  h_matrix_options options_;
  detail::comparison comparison_;
  array<double> scale_;                         // about 1/sqrt(|a_ii|)
  std::optional<spmv_plan<double>> diagonals_;  // where comparison_ reads A, if that is worth it
  std::unique_ptr<detail::smoother> smoother_;
  double inverse_norm_ = 0;
};

}  // namespace vouch
