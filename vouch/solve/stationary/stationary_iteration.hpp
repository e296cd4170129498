// vouch/solve/stationary/stationary_iteration.hpp -- one sweep of a stationary iteration, and the matrices that can be swept; private.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/core/types.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/stationary/chebyshev_steps.hpp>
#include <vouch/solve/stationary/stationary_options.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {

struct sweep_rule {
  bool simultaneous = false;  // Jacobi: all rows see the old iterate
  sweep_order order = sweep_order::forward;
  double omega = 1;
  sweep_ordering ordering = sweep_ordering::natural;
  bool asynchronous = false;          // every row sees what the others happen to have written
  double lowest_eigenvalue = 0;       // of the iteration, for Chebyshev's acceleration
  chebyshev_steps* learnt = nullptr;  // not nullptr: receives what a run has learnt of the spectrum
};

/// Sweeps for A d = r with one matrix and rule. Vectors are contiguous, of n elements.
template <real T>
class stationary_iteration {
 public:
  virtual ~stationary_iteration() = default;
  /// From d = 0. r must stay as it is while sweeps go on.
  virtual void start(const T* r) = 0;
  /// One iteration, in place. The sum of squares of the residual, each element as the (first) sweep met it; for
  /// Jacobi that is the residual of the d given.
  virtual double sweep(T* d) = 0;
  /// s := r - A d; its sum of squares. To be called when d was changed between two sweeps.
  virtual double residual(const T* d, T* s) = 0;
  /// Whether sweeps need that call.
  virtual bool keeps_residual() const { return false; }
  /// How it works, for the report.
  virtual std::string name() const = 0;
};

/// How entries of a matrix are kept inside mixed sweeps: e4m3 with a scale for each row, or with the exponents
/// of single precision.
enum class entry_precision { float8, bfloat16, single };

/// Whether a stationary iteration can divide by a diagonal entry of this magnitude beside the sum of its row's
/// other ones: neither is infinite or NaN, the inverse does not overflow, and it is not within their rounding
/// errors.
VOUCH_HOST_DEVICE inline bool is_divisor(double diagonal, double others, double largest, double unit_roundoff) {
  constexpr double finite = std::numeric_limits<double>::max();
  return diagonal <= finite && others <= finite && diagonal >= 4 / largest && diagonal > unit_roundoff * others;
}

/// What the rows of a matrix say of its dominance.
struct row_dominance {
  double ratio = 0;           // the largest of (sum of the others) / |a_ii|, rounded upwards
  std::int64_t row = 0;       // the first that has it, from 0
  std::int64_t refused = -1;  // the first whose diagonal entry is no divisor, with the magnitudes of that row
  double diagonal = 0, others = 0;
};

/// What the solver needs of a square matrix, dense or sparse.
template <real T>
class iteration_matrix {
 public:
  virtual ~iteration_matrix() = default;
  virtual std::int64_t rows() const = 0;
  virtual T diagonal(std::int64_t i) const = 0;
  /// sums[i] >= the sum over j != i of |a_ij| v[j], at most a few units in 10^12 above; v >= 0.
  virtual void off_diagonal_sums(const device& dev, const double* v, double* sums) const = 0;
  /// What these sums say, without weights; nothing where they are better looked at on the host.
  virtual std::optional<row_dominance> judge_rows(const device&) const { return {}; }
  /// sums[j] >= the sum over i != j of |a_ij|.
  virtual void off_diagonal_column_sums(const device& dev, double* sums) const = 0;
  virtual residual_facts residual(const device& dev, view<const T> b, const T* x, const T* x_lo,
                                  T* r) const = 0;
  /// The next residual() will be that of these two, as they are now: a pass over the matrix for the sums may
  /// form it on its way.
  virtual void announce(view<const T>, const T*) const {}
  /// bound[i] >= |b - A x|_i, exactly, on the host. x is the one that residual() was last called with, without
  /// x_lo.
  virtual void residual_bound(const device& dev, view<const T> b, view<const T> x,
                              view<double> bound) const = 0;
  /// The largest of these bounds over |a_ii|, rounded upwards, where that is better found where they are.
  virtual std::optional<double> residual_quotient(const device&) const { return {}; }
  /// Its sweeps one by one; nullptr where they come in loops alone, on GPUs.
  virtual std::unique_ptr<stationary_iteration<T>> make_sweeps(const device&, const sweep_rule&) const {
    return nullptr;
  }
  /// The loop of its sweeps. by_residual: the target is the goal's own tolerance, not a rule of the user.
  virtual std::unique_ptr<inner_solver<T>> make_engine(const device& dev, const sweep_rule& rule,
                                                       bool by_residual,
                                                       const acceleration& accelerate) const = 0;
  /// The same in single precision over a copy whose entries have still less of it, but for the diagonal;
  /// nullptr where there is none of this kind.
  virtual std::unique_ptr<inner_solver<float>> make_rounded_engine(const device&, entry_precision,
                                                                   const sweep_rule&,
                                                                   const acceleration&) const {
    return nullptr;
  }
};

/// Memory  The matrix lives on dev, without one on the CPU; it must outlive the result.
/// Throws  shape_error  it is not square
template <real T>
std::unique_ptr<iteration_matrix<T>> make_iteration_matrix(csr_view<const T> A);
template <real T>
std::unique_ptr<iteration_matrix<T>> make_iteration_matrix(const device& dev, csr_view<const T> A);
template <real T>
std::unique_ptr<iteration_matrix<T>> make_iteration_matrix(const device& dev, transpose op,
                                                           matrix_view<const T> A);
template <real T>
std::unique_ptr<iteration_matrix<T>> make_iteration_matrix_cuda(const device& dev, transpose op,
                                                                matrix_view<const T> A);
template <real T>
std::unique_ptr<iteration_matrix<T>> make_iteration_matrix_cuda(const device& dev, csr_view<const T> A);

namespace detail {

/// d[i] += factor[i] s[i]; the sum of squares of s. The bits do not depend on the threads.
template <real T>
double relax(int threads, std::int64_t n, const T* factor, const T* s, T* d);
template <real T>
double sum_of_squares(int threads, std::int64_t n, const T* s);

}  // namespace detail
}  // namespace vouch
