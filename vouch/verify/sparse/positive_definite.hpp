// vouch/verify/sparse/positive_definite.hpp -- error bounds for symmetric positive definite matrices; private.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/sparse/sparse_cholesky.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch {

struct positive_definite_options {
  uncertainty within;
  std::int64_t most_entries = std::int64_t{1} << 28;  // of the factor's fronts
};

/// The proof that A is positive definite: a lower bound of the smallest eigenvalue of B = S P A P^T S, where S
/// are powers of two that bring the diagonal near 1 and P is a minimum degree order.
class positive_definite final : public certificate {
 public:
  /// Factors B, estimates its smallest eigenvalue, and factors B minus half of that times the identity: that
  /// this comes to its end proves a bound, by what rounding can have done at most.
  ///
  /// Shapes  A is n-by-n and symmetric.
  /// Memory  A lives on dev; the work is done on the CPU, by one thread. Two factors, and updates that wait,
  ///         while it works; one factor stays.
  /// Result  nullptr and a reason where nothing was proved: not positive definite, too ill-conditioned (from
  ///         about 10^16 / (n t) with rows of L of t entries on average on), or the factor too large.
  /// Throws  shape_error  A is not square
  ///         value_error  A is not symmetric; a radius that is negative or not finite
  /// Source  Rump, BIT 46 (2006); Rump, Jeannerod, SIAM J. Matrix Anal. Appl. 35 (2014); docs/rigor.md.
  static std::unique_ptr<positive_definite> prove(const device& dev, csr_view<const double> A,
                                                  const positive_definite_options& options,
                                                  std::string& reason);

  std::string method() const override { return "cholesky"; }

  /// |A^-1 s| <= S e ||S s||_2 / lambda.
  void bound(view<const interval<double>> r, view<double> radius) override;
  bool correct(view<const double> s, view<double> d) override;
  bool corrects_cheaply() const override { return true; }
  double inverse_norm() const override { return inverse_norm_; }

  /// The proved bound of the smallest eigenvalue of B.
  double eigenvalue_bound() const { return lambda_; }
  /// The exponents of the diagonal of S, for the unknowns of A.
  std::vector<int> exponents() const;

 private:
  positive_definite(const device& dev, const matrix_fingerprint& A, const uncertainty& within, csr<double> B,
                    array<std::int32_t> order, std::vector<int> scale, std::int64_t most_entries);
  double estimate_eigenvalue() const;
  double prove_eigenvalue(double shift, const uncertainty& within) const;

  device device_;
  csr<double> B_;
  array<std::int32_t> order_;
  std::vector<int> scale_;  // exponents of the diagonal of S, for the new unknowns
  detail::cholesky_structure structure_;
  std::unique_ptr<detail::sparse_cholesky> factor_;
  double lambda_ = 0;
  double inverse_norm_ = 0;
};

}  // namespace vouch
