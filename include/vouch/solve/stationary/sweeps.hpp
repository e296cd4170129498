// vouch/solve/stationary/sweeps.hpp -- sweeps of a stationary iteration as an operator, to smooth with.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/solve/stationary/stationary_options.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

template <real T>
class stationary_iteration;
template <real T>
class iteration_matrix;

/// Gauss-Seidel, if nothing is said.
struct sweep_options {
  bool simultaneous = false;                          // Jacobi: all rows see the old iterate
  double omega = 1;                                   // relaxation, in (0, 2)
  sweep_order order = sweep_order::forward;           // symmetric: SSOR
  sweep_ordering ordering = sweep_ordering::natural;  // of sparse matrices
};

/// Sweeps over one matrix, set up once and applied any number of times. What jacobi(), gauss_seidel() and sor()
/// do beyond it is to decide when to end.
///
/// Shapes  A is n-by-n, b and x have n elements; n may be 0.
/// Types   T is float or double.
/// Memory  On the CPU. A must outlive the object and keep its values; b and x are contiguous and do not overlap.
/// Result  The textbook's iterates up to rounding: the same bits on every run, for any number of threads.
/// Cost    Set-up: two passes over A. A sweep: one; symmetric ones two.
/// Throws  shape_error  A is not square, wrong lengths, vectors with strides
///         value_error  a GPU's device; omega outside of (0, 2); a diagonal entry that is zero or too small (the
///                      text names its row); NaN or infinity in A; multicolor for a dense matrix; a negative count
///         cancelled    the end was requested
template <real T>
class sweeps {
 public:
  sweeps(const device& dev, csr_view<const T> A, const sweep_options& options = {});
  sweeps(const device& dev, transpose op, matrix_view<const T> A, const sweep_options& options = {});
  ~sweeps();
  sweeps(sweeps&&) noexcept;
  sweeps& operator=(sweeps&&) noexcept;

  /// `count` sweeps for op(A) x = b, in place. Not for two threads at once.
  void apply(view<const T> b, view<T> x, std::int64_t count = 1);
  std::int64_t rows() const { return residual_.size(); }
  /// How it works: "2 threads, csr, 7 colours".
  std::string name() const;

 private:
  sweeps(const device& dev, const iteration_matrix<T>& A, const sweep_options& options);

  std::unique_ptr<stationary_iteration<T>> iteration_;
  array<T> residual_;
};

}  // namespace vouch
