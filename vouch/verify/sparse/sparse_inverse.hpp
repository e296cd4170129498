// vouch/verify/sparse/sparse_inverse.hpp -- error bounds for any sparse matrix whose factors are sparse; private.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/lu_factors.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/sparse/powers_of_two.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch {

struct sparse_inverse_options {
  uncertainty within;
  std::int64_t most_work = std::int64_t{1} << 38;  // rows times entries of the factors
};

/// The proof that A Y is near the identity, where the columns of Y come from a sparse factorisation, one after
/// another: of Y only the largest magnitude of each row is kept.
class sparse_inverse final : public certificate {
 public:
  /// Factorises A and solves for the columns of an approximate inverse, 8 at a time, with a bound of the
  /// residual of each.
  ///
  /// Shapes  A is n-by-n.
  /// Memory  A lives on dev; the work is done on the CPU with the factors and 8 n doubles a thread.
  /// Result  nullptr and a reason where nothing was proved: singular, a condition number from about 10^16 /
  ///         sqrt(n) on, or more work than allowed. Same bits on every run, for any number of threads.
  /// Cost    2 n entries of the factors, mostly half of it, and 4 n nnz flops.
  /// Throws  shape_error  A is not square
  ///         value_error  a radius that is negative or not finite
  /// Source  Rump, Acta Numerica 19 (2010), 10.6, for I - A Y in the 1-norm; docs/rigor.md.
  static std::unique_ptr<sparse_inverse> prove(const device& dev, csr_view<const double> A,
                                               const sparse_inverse_options& options, std::string& reason);

  /// Whether so few entries are stored that a sparse factorisation has a point.
  static bool is_for(csr_view<const double> A) { return A.nonzeros <= A.rows / 8 * A.rows; }

  std::string method() const override { return "sparse inverse"; }

  /// |A^-1 s|_i <= c_i max_j |Y_ij| ||D R s||_1 / (1 - g) with D R A C Y = I - G and ||G||_1 <= g < 1; R and C
  /// are powers of two.
  void bound(view<const interval<double>> r, view<double> radius) override;
  bool correct(view<const double> s, view<double> d) override;
  bool corrects_cheaply() const override { return true; }
  double inverse_norm() const override { return inverse_norm_; }

 private:
  sparse_inverse(const device& dev, csr_view<const double> A, const uncertainty& within)
      : certificate(fingerprint_of(dev, A), within), device_(dev) {}

  device device_;
  detail::powers_of_two
      scale_;  // A is what it was made of; factors and Y are those of its rows and columns scaled
  lu_factors<double> factors_;
  std::vector<double> largest_;  // of |Y|, in each row
  double gap_ = 0;               // at most 1 - g, positive
  double inverse_norm_ = 0;
};

}  // namespace vouch
