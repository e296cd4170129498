// vouch/verify/sparse/normal_equations.hpp -- bounds for least squares from a proof that B^T B is positive definite; private.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/sparse/positive_definite.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch::detail {

/// The proof that K = [I, B; B^T, 0] is nonsingular, by a lower bound of the smallest eigenvalue of S C B^T B C S, where S
/// and C are diagonals of powers of two.
class normal_equations final : public certificate {
 public:
  /// Encloses C B^T B C entry by entry, proves the middle of that positive definite and takes what it may be away from
  /// it off the bound of the smallest eigenvalue.
  ///
  /// Shapes  B is m-by-n; K, whose fingerprint is given, (m + n)-by-(m + n); exponents are those of C, which bring the
  ///         largest entry of each column near 1.
  /// Memory  B lives on the CPU, and a copy stays; B^T B twice, and its Cholesky factor.
  /// Result  nullptr and a reason where nothing was proved: a condition number of B, columns scaled, from about
  ///         10^8 / sqrt(n t) on with t entries a row of the factor, or B^T B too large. What is proved within a radius
  ///         is so of all K that are made of a B within it.
  /// Cost    The products of the entries of each row of B with one another, 25 flops each, and the factor.
  /// Source  docs/rigor.md.
  static std::unique_ptr<normal_equations> prove(const device& cpu, csr_view<const double> B,
                                                 const std::vector<int>& exponents, const matrix_fingerprint& K,
                                                 const uncertainty& within, std::string& reason);

  std::string method() const override { return "normal equations, cholesky"; }
  void bound(view<const interval<double>> r, view<double> radius) override;
  bool correct(view<const double> s, view<double> d) override;
  bool corrects_cheaply() const override { return true; }
  double inverse_norm() const override { return inverse_norm_; }

 private:
  normal_equations(const device& cpu, csr<double> B, const std::vector<int>& exponents,
                   const matrix_fingerprint& K, const uncertainty& within)
      : certificate(K, within), device_(cpu), within_(within), B_(std::move(B)), exponents_(exponents) {}
  bool prove_gram(std::string& reason);

  device device_;
  uncertainty within_;
  csr<double> B_;               // B C
  std::vector<int> exponents_;  // of C
  std::unique_ptr<positive_definite> gram_;
  double loosened_ = 1;  // what its bounds are to be multiplied by
  double inverse_norm_ = 1;
};

}  // namespace vouch::detail
