// vouch/verify/dense_inverse.hpp -- error bounds for any dense matrix, by an approximate inverse.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch {

/// The proof that R A is an H-matrix, where R is an approximate inverse of A.
class dense_inverse final : public certificate {
 public:
  /// Inverts A approximately, encloses R A and finds v > 0 with <R A> v > 0.
  ///
  /// Shapes  A is n-by-n.
  /// Memory  A lives on dev; the work is done on the CPU with 4 n^2 doubles, 2 n^2 of them stay.
  /// Result  nullptr and a reason where nothing was proved: singular, or a condition number from about 10^16 /
  /// n on. Cost    2 n^3 flops for R, 4 n^3 for R A (twice that with a radius). Throws  shape_error  A is not
  /// square Source  Rump, Acta Numerica 19 (2010), 10.6; Rump, Numer. Algorithms 63 (2013).
  static std::unique_ptr<dense_inverse> prove(const device& dev, csr_view<const double> A,
                                              const uncertainty& within, std::string& reason);

  std::string method() const override { return "approximate inverse"; }

  /// |A^-1 s| <= <R A>^-1 |R s| <= D^-1 c + max_i (E D^-1 c / (<R A> v))_i v with c = |R s|.
  void bound(view<const interval<double>> r, view<double> radius) override;
  bool correct(view<const double> s, view<double> d) override;
  bool corrects_cheaply() const override { return true; }
  double inverse_norm() const override { return inverse_norm_; }

 private:
  dense_inverse(const device& dev, const device& cpu) : device_(dev), cpu_(cpu) {}
  bool find_v();
  std::vector<double> off_diagonal_up(const std::vector<double>& t) const;

  device device_, cpu_;
  matrix<double> R_;
  matrix<double> E_;           // at least the magnitudes off the diagonal of R A, 0 on it
  std::vector<double> d_;      // at most those on it
  std::vector<double> v_;      // positive
  std::vector<double> image_;  // at most <R A> v, positive
  double inverse_norm_ = 0;
};

}  // namespace vouch
