// vouch/verify/sparse/comparison.hpp -- bounds from v > 0 with <A> v > 0, for a matrix in any form; private.
#pragma once
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/verify/pass.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch {
namespace detail {

/// <A> = D - E has at most |a_ii| on the diagonal and -|a_ij| or less off it, for all matrices within a radius.
class comparison {
 public:
  /// Memory  What A refers to lives on dev and must outlive the object.
  comparison(const device& dev, const matrix_rows& A, const uncertainty& within);

  array<double>& v() { return v_; }
  /// Whether v and <A> v, rounded downwards, are positive: then A is an H-matrix.
  bool holds();
  /// v := about D^-1 (e + stretch E v), after holds(): once more, from a v that did not do.
  void improve_v(double stretch);
  /// At least ||<A>^-1||_inf, once holds() was true.
  double inverse_norm() const;

  /// radius := at least |A^-1 s| for every s in r, once holds() was true: with c_0 = |r| and
  /// c_(k+1) = E D^-1 c_k, <A>^-1 c_0 <= D^-1 (c_0 + ... + c_(m-1)) + max_i (c_m / (<A> v))_i v.
  ///
  /// Cost    A pass over A for each of m = steps.
  /// Source  Rump, Numer. Algorithms 63 (2013); Minamihata, Ogita, Rump, Oishi, J. Comput. Appl. Math. (2020),
  ///         theorem 3.3.
  void bound(view<const interval<double>> r, int steps, view<double> radius) const;

  /// The same for steps = 0, plus |lo| where that is not nullptr; returns the largest radius.
  double bound_widened(view<const interval<double>> r, const double* lo, view<double> radius) const;

  /// A where the passes of this object read it.
  const matrix_rows& rows() const { return A_; }
  void read_from(const matrix_rows& A) { A_ = A; }

 private:
  device device_;
  matrix_rows A_;
  uncertainty within_;
  std::int64_t n_;
  array<double> v_;
  array<double> d_;      // at most the diagonal of <A>
  array<double> image_;  // at most <A> v
};

}  // namespace detail
}  // namespace vouch
