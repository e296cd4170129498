// vouch/verify/dense/dense_inverse.hpp -- error bounds for any dense matrix, by an approximate inverse; private.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/certificate.hpp>
#include <vouch/verify/sparse/comparison.hpp>
#include <vouch/verify/sparse/powers_of_two.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch {

/// The proof that R A is an H-matrix, where R is an approximate inverse of A; or, where R is too far from one,
/// that X R A is, where X is an approximate inverse of R A.
class dense_inverse final : public certificate {
 public:
  /// Inverts A approximately, encloses R A and finds v > 0 with <R A> v > 0. R A is enclosed by midpoints and
  /// radii first, which proves all but ill-conditioned matrices, and tightly where that fails. Where that
  /// fails, too, and A has at most most_rows_twice rows, R A is formed without rounding and inverted once more.
  ///
  /// Shapes  A is n-by-n.
  /// Memory  A lives on the first device, where the work is done: 5 n^2 doubles and some scratch, 2 n^2 of them stay. On
  ///         a GPU R is made by cuSOLVER, or on the CPU where that is not installed: remark() says so. Several GPUs share
  ///         the columns of R and of R A; each of them factorises A, and takes 3 n^2 doubles.
  /// Result  nullptr and a reason where nothing was proved: singular, a condition number from about 10^16 / n
  ///         on (with the second step, 10^17 for 1,000 rows and 10^18 for 300 were proved), or more memory
  ///         needed than there is.
  ///         The same bits on every run on one device or so many GPUs.
  /// Cost    8/3 n^3 flops for R, 2 n^3 for R A and for ill-conditioned matrices 4 n^3 besides. The second step
  ///         takes as much again and an exact product, blas3.hpp: 2 s instead of 0.5 for 1,000 rows on one
  ///         core.
  /// Throws  shape_error  A is not square
  ///         value_error  a radius that is negative or not finite
  /// Source  Rump, Acta Numerica 19 (2010), 10.6; Rump, Numer. Algorithms 63 (2013). The second step:
  ///         Rump, Approximate inverses of almost singular matrices still contain useful information (1990);
  ///         Ogita, Oishi, Rump, Convergence of Rump's method, J. Comput. Appl. Math. 205 (2007).
  static std::unique_ptr<dense_inverse> prove(const device_group& devices, matrix_view<const double> A,
                                              const uncertainty& within, std::string& reason);
  /// The same for a sparse matrix, as a dense one.
  static std::unique_ptr<dense_inverse> prove(const device_group& devices, csr_view<const double> A,
                                              const uncertainty& within, std::string& reason);

  static constexpr std::int64_t most_rows_twice = 2048;

  std::string method() const override {
    return inverted_twice() ? "approximate inverse, second step" : "approximate inverse";
  }
  const std::string& remark() const { return remark_; }

  /// |A^-1 s| <= <R A>^-1 |R s|, or <X R A>^-1 |X R s|, and that as in comparison::bound with one step.
  void bound(view<const interval<double>> r, view<double> radius) override;
  bool correct(view<const double> s, view<double> d) override;
  bool corrects_cheaply() const override { return true; }
  double inverse_norm() const override { return inverse_norm_; }

 private:
  dense_inverse(const device_group& devices, const matrix_fingerprint& A, const uncertainty& within)
      : certificate(A, within), devices_(devices), device_(devices.front()), n_(A.rows) {}
  static std::unique_ptr<dense_inverse> prove(const device_group& devices, const matrix_fingerprint& given,
                                              matrix_view<const double> A, const uncertainty& within,
                                              std::string& reason);
  detail::powers_of_two equilibrate(matrix<double>& M) const;
  void scale(matrix<double>& M, const std::vector<int>& rows, const std::vector<int>& columns,
             detail::powers_of_two& all) const;
  bool invert_scaled(matrix<double> M);
  void undo_left(view<double> v) const;
  bool inverted_twice() const { return X_.rows() > 0; }
  template <class Entry>
  bool invert(matrix_view<const Entry> A);
  template <class Entry>
  bool invert_twice(matrix_view<const Entry> A);
  template <class Entry>
  bool is_h_matrix(const matrix<double>& left, matrix_view<const Entry> right, gemm_mode mode);
  template <class Entry>
  void compare_product(const matrix<double>& left, matrix_view<const Entry> right, gemm_mode mode);
  void enclose_product(view<const interval<double>> r, view<interval<double>> Rr) const;

  device_group devices_;
  device device_;  // the first
  std::int64_t n_;
  std::string remark_;
  matrix<double> R_;
  array<int> left_;  // with shift_ the exponents of D
  int shift_ = 0;
  matrix<double> X_;        // about (R A D)^-1; empty without a second step
  matrix<double> product_;  // <R A> or <X R A>: the smallest magnitudes on the diagonal, the largest off it
  std::optional<detail::comparison> comparison_;
  double inverse_norm_ = 0;
};

}  // namespace vouch
