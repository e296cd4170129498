// vouch/verify/dense_inverse.hpp -- error bounds for any dense matrix, by an approximate inverse.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/comparison.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch {

/// The proof that R A is an H-matrix, where R is an approximate inverse of A.
class dense_inverse final : public certificate {
 public:
  /// Inverts A approximately, encloses R A and finds v > 0 with <R A> v > 0. R A is enclosed by midpoints and
  /// radii first, which proves all but ill-conditioned matrices, and tightly where that fails.
  ///
  /// Shapes  A is n-by-n.
  /// Memory  A lives on dev, where the work is done: 5 n^2 doubles and some scratch, 2 n^2 of them stay. On a
  ///         GPU R is made by cuSOLVER, or on the CPU where that is not installed: remark() says so.
  /// Result  nullptr and a reason where nothing was proved: singular, a condition number from about 10^16 / n
  ///         on, or more memory needed than there is.
  /// Cost    8/3 n^3 flops for R, 2 n^3 for R A and for ill-conditioned matrices 4 n^3 besides.
  /// Throws  shape_error  A is not square
  /// Source  Rump, Acta Numerica 19 (2010), 10.6; Rump, Numer. Algorithms 63 (2013).
  static std::unique_ptr<dense_inverse> prove(const device& dev, matrix_view<const double> A,
                                              const uncertainty& within, std::string& reason);
  /// The same for a sparse matrix, as a dense one.
  static std::unique_ptr<dense_inverse> prove(const device& dev, csr_view<const double> A,
                                              const uncertainty& within, std::string& reason);

  std::string method() const override { return "approximate inverse"; }
  const std::string& remark() const { return remark_; }

  /// |A^-1 s| <= <R A>^-1 |R s|, and that as in comparison::bound with one step.
  void bound(view<const interval<double>> r, view<double> radius) override;
  bool correct(view<const double> s, view<double> d) override;
  bool corrects_cheaply() const override { return true; }
  double inverse_norm() const override { return inverse_norm_; }

 private:
  dense_inverse(const device& dev, std::int64_t n) : device_(dev), n_(n) {}
  bool is_h_matrix(matrix_view<const double> A, const uncertainty& within, gemm_mode mode);

  device device_;
  std::int64_t n_;
  std::string remark_;
  matrix<double> R_;
  matrix<double> product_;  // <R A>: the smallest magnitudes on the diagonal, the largest off it
  std::optional<detail::comparison> comparison_;
  double inverse_norm_ = 0;
};

}  // namespace vouch
