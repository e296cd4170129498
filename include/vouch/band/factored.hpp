// vouch/band/factored.hpp -- tridiagonal matrices that are factored once and solve many right-hand sides.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/solve_status.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// How a factorisation went.
struct factor_report {
  solve_status status = solve_status::converged;  // or breakdown: some matrix is singular
  std::string reason;                             // one line, why it broke down
  bool interchanges = false;                      // rows are interchanged: the matrix forbids plain elimination
  double growth = 1;                // largest coefficient met while eliminating over the largest of the matrix
  std::int64_t broken_system = -1;  // first matrix that broke down
  tridiagonal_facts matrix;         // symmetry and dominance
};

/// The factors of elimination without interchanges; row i of a matrix has its numbers at shape.at(matrix, i).
///
///   y_i = inverse_i b_i - lower_i y_{i-1}    from the first row down, and then
///   x_i = y_i - upper_i x_{i+1}              from the last row up.
///
/// lower of a first row and upper of a last one are 0. A matrix of constant coefficients stores its first
/// shape.n rows only, until the factors no longer change: use row min(i, shape.n - 1), and upper as 0 in the
/// last row of all.
template <class T>
struct factor_view {
  const T* lower = nullptr;
  const T* inverse = nullptr;
  const T* upper = nullptr;
  batch_shape shape;
};

/// The factors of one tridiagonal matrix or of a batch, on the device where it was factored.
///
/// Plain elimination where it is safe (rows or columns diagonally dominant, or little growth measured),
/// interchanges of rows scaled by powers of two where it is not. Rings that do not dominate, and matrices of
/// numbers near the ends of the range, are kept as they are: every solve eliminates anew. The decay of the
/// inverse is read off the plain factors; where couplings are dropped to work on segments of a system at once,
/// they have fallen below 2^-57 for double, 2^-28 for float, of the largest |y| and |x|.
template <real T>
class factored_tridiagonal {
 public:
  factored_tridiagonal() = default;

  /// Copies what it needs of A, which lives on dev and may be periodic; report() says whether it is singular.
  ///
  /// Result  Same bits for any number of threads.
  /// Cost    About 10 flops and one division a row.
  /// Throws  value_error  a NaN or infinity among the coefficients that are used: the text names it
  factored_tridiagonal(const device& dev, const tridiagonal_view<const T>& A);

  /// Solves A x = b for every right-hand side of b. With m matrices and k m right-hand sides, those from s k to
  /// s k + k - 1 belong to matrix s.
  ///
  /// Shapes  as many rows as the matrices have; b and x alike but for strides
  /// Memory  b and x live on where(). x is b itself, element for element, or overlaps nothing. On a GPU one
  ///         solve at a time uses an object, and long systems in place cost a copy of b.
  /// Result  Same bits on every run and for any number of threads. Normwise backward stable: the residual is at
  ///         most about 8 growth() units in the last place of |A| |x|.
  /// Cost    5 flops a row without interchanges; reads three numbers a row besides b (none to speak of for
  ///         constant coefficients) and writes x. Waits for nothing on a GPU, which reads everything twice
  ///         where factors do not decay within 512 rows and a system has more than some 540,000, or several
  ///         have more than 16,384 each, and eliminates anew where they grow.
  /// Throws  shape_error  shapes that do not fit
  ///         value_error  a matrix that broke down; a negative size or stride; elements of x upon each other
  void solve(const batch_view<const T>& b, const batch_view<T>& x) const;
  /// One right-hand side for one matrix.
  void solve(view<const T> b, view<T> x) const;

  const factor_report& report() const { return report_; }
  const device& where() const;
  std::int64_t rows() const { return shape_.n; }
  std::int64_t matrices() const { return shape_.systems; }
  bool periodic() const { return periodic_; }

  /// True where elimination needed no interchanges, wraps around nowhere and a GPU holds the factors: factors()
  /// gives everything.
  bool plain() const;
  /// For callers with sweeps of their own.
  /// Throws  value_error  not plain()
  factor_view<T> factors() const;
  /// The least h such that h factors in a row, of lower and of upper, multiply to at most bound in magnitude,
  /// everywhere: a sweep that starts h rows early, from 0, is off by at most bound times the largest |y| (|x|
  /// on the way up) there. rows() where the factors do not decay so.
  ///
  /// Throws  value_error  not plain()
  std::int64_t decay_rows(double bound) const;

  /// What the solver holds; private to the room.
  struct storage;

 private:
  std::shared_ptr<const storage> kept_;
  batch_shape shape_;
  bool periodic_ = false;
  factor_report report_;
};

}  // namespace vouch
