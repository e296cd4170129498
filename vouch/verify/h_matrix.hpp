// vouch/verify/h_matrix.hpp -- error bounds for H-matrices, sparse ones never leaving their form.
#pragma once
#include <memory>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch {

struct h_matrix_options {
  uncertainty within;
  bool symmetric = false;          // the caller knows that A is
  bool positive_diagonal = false;  // likewise
  int steps = 2;                   // Jacobi steps that sharpen a bound; each reads the matrix once
};

/// The proof that A is an H-matrix: v > 0 with <A> v > 0, where <A> has |a_ii| on and -|a_ij| off the diagonal.
/// M-matrices, diagonally dominant ones and most of finite differences and volumes are such.
class h_matrix final : public certificate {
 public:
  /// Solves <A> v = diag approximately and checks v with every rounding outward.
  ///
  /// Shapes  A is n-by-n.
  /// Memory  A lives on dev and must outlive the result, which has 3 n doubles; while it works, a copy of A in
  ///         single precision and about 8 n doubles.
  /// Result  nullptr and a reason where v was not found; A may be an H-matrix all the same.
  /// Cost    Conjugate gradients in single precision (symmetric) or stabilised biconjugate gradients to about
  /// one
  ///         digit, and a pass over A for each check.
  /// Throws  shape_error  A is not square
  /// Source  Ostrowski 1937; Neumaier, Interval Methods for Systems of Equations (1990), 3.7.
  static std::unique_ptr<h_matrix> prove(const device& dev, csr_view<const double> A,
                                         const h_matrix_options& options, std::string& reason);

  std::string method() const override { return "h-matrix"; }

  /// |A^-1 s| <= <A>^-1 c with c = |s|, and with c_0 = c, c_(k+1) = E D^-1 c_k and m = steps:
  /// <A>^-1 c <= D^-1 (c_0 + ... + c_(m-1)) + max_i (c_m / (<A> v))_i v.
  ///
  /// Cost    3 + m passes over vectors, m over A.
  /// Source  Rump, Numer. Algorithms 63 (2013); Minamihata, Ogita, Rump, Oishi, J. Comput. Appl. Math. (2020),
  ///         theorem 3.3.
  void bound(view<const interval<double>> r, view<double> radius) override;

  bool correct(view<const double> s, view<double> d) override;
  double inverse_norm() const override { return inverse_norm_; }

 private:
  h_matrix(const device& dev, csr_view<const double> A, const h_matrix_options& options);
  bool holds();

  device device_;
  csr_view<const double> A_;
  h_matrix_options options_;
  array<double> v_;      // positive
  array<double> d_;      // at most the diagonal of <A>
  array<double> image_;  // at most <A> v, positive
  double inverse_norm_ = 0;
};

}  // namespace vouch
