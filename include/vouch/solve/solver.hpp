// vouch/solve/solver.hpp -- the front door: A x = b by the method that suits the matrix, with a verdict.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/options.hpp>
#include <vouch/solve/plan.hpp>
#include <vouch/solve/result.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/csr32.hpp>
#include <vouch/sparse/structure.hpp>

namespace VOUCH_PUBLIC vouch {

/// In which order a dense matrix is stored; matrix_view reads it by columns.
enum class storage_order { by_columns, by_rows };

/// Made once for a matrix, used for any number of right-hand sides.
///
/// Looks through the matrix once. When it is first asked to solve it makes a plan: which methods are tried, in
/// which order, and why; and the first of them ready (copies, preconditioner, factors). One that fails gives way
/// to the next, and what worked last is what the next solve begins with.
class solver {
 public:
  /// Memory  A lives on dev and must outlive the solver, unchanged; so must what options point to. A dense
  ///         matrix by rows is copied unless it is symmetric.
  /// Cost    Two or three passes over A.
  /// Throws  value_error  A is no matrix in CSR
  solver(const device& dev, csr_view<const double> A, const solve_options& options = {});
  /// With 32-bit offsets: those are widened once, into 8 bytes a row besides.
  solver(const device& dev, const csr32_view<const double>& A, const solve_options& options = {});
  solver(const device& dev, matrix_view<const double> A, const solve_options& options = {},
         storage_order order = storage_order::by_columns);
  /// A matrix given by its action, symmetric positive definite: nothing can be looked up or proved of it, and the
  /// residual is recomputed in working precision. Methods that need entries are refused.
  ///
  /// Memory  A works on dev and must outlive the solver.
  solver(const device& dev, const linear_operator<double>& A, const solve_options& options = {});
  /// Tridiagonal matrices, one or a batch, by their diagonals. Methods for tridiagonal systems alone take them.
  ///
  /// Memory  A lives on dev and must outlive the solver, unchanged; so must its offsets.
  /// Cost    A pass over A.
  /// Throws  value_error  as examine(): a NaN or infinity, a negative size
  solver(const device& dev, const tridiagonal_view<const double>& A, const solve_options& options = {});
  ~solver();
  solver(solver&&) noexcept;
  solver& operator=(solver&&) noexcept;

  /// Takes other values for a sparse matrix; it goes on with the method that worked last. A factorisation by a library
  /// keeps its order and symbolic analysis, all else is made anew by the next solve. Where the new values are
  /// symmetric and the old ones were not, or have a positive diagonal where those had not, or the reverse, there is
  /// a new plan.
  ///
  /// Shapes  A has the pattern of the matrix before it.
  /// Memory  A lives where that does and must outlive the solver, unchanged; from here on the old one need not. A
  ///         may be the old matrix itself, with its values changed.
  /// Cost    Two or three passes over A.
  /// Throws  value_error  another pattern; the solver's matrix is dense, tridiagonal, given by its action or with
  ///                      offsets of 32 bits
  void renew(csr_view<const double> A);

  /// Solves A X = B from the X given; where A is not square in the sense of least squares, and of all solutions the
  /// shortest if the result's problem is "least-norm".
  ///
  /// Shapes  A is m-by-n, B m-by-k and X n-by-k, k columns side by side (no gaps between them where k > 1); m, n and
  ///         k may be 0.
  /// Memory  B and X live on dev or, with a matrix on a GPU, on the CPU. X holds the starts and receives the
  ///         solutions; overlaps nothing. Used in place in double precision where the work is done on dev and they
  ///         live there.
  /// Result  The numerical contract of docs/contract.md for every column, about A and B as they are, in
  ///         whatever precision was worked. Not converging is a status, never an exception. A column that ends
  ///         interrupted or without a solution ends the solve: later columns keep their start. With
  ///         options.proof, bounds of the error, and X refined where these are wider than asked.
  /// Throws  as make_plan()
  ///         shape_error  B or X of other shapes
  ///         value_error  B and X overlap; NaN or infinity in A, B or X; a value that overflows single precision;
  ///                      what the last method tried refuses
  ///         out_of_memory, no_cuda_error, device_error
  solve_result solve(matrix_view<const double> B, matrix_view<double> X);
  /// The same for one right-hand side; b and x are contiguous.
  solve_result solve(view<const double> b, view<double> x);

  /// Solves every system of a batch of tridiagonal matrices.
  ///
  /// Shapes  b and x have the systems and rows of A, each with strides of its own; A of one system serves all of b's.
  ///         To the other functions the right-hand sides of a batch are one vector, system after system.
  /// Memory  b and x live on dev, neither between the other's elements, strided or not; what x held does not count.
  /// Result  As above, with the verdict on every system in the result's batch. The observer hears nothing.
  /// Throws  as the band room's solve()
  ///         value_error  the matrix is none of tridiagonal ones
  solve_result solve_batch(const batch_view<const double>& b, const batch_view<double>& x);

  /// Bounds the errors of X as solutions of A X = B, however they were found, and refines X where the bounds are wider
  /// than asked. Where A is not square it is the one solution of least squares, or the shortest of A X = B, that they
  /// are of, A has to have full rank, and the work is done on the CPU.
  ///
  /// Shapes, Memory  As for solve().
  /// Throws          value_error  the matrix is given by its action
  solution_proof prove(matrix_view<const double> B, matrix_view<double> X, const proof_request& request);
  /// The same for what solve() returned with X; where X was refined the verdict is that of the refined X.
  void prove(matrix_view<const double> B, matrix_view<double> X, const proof_request& request,
             solve_result& result);
  /// Both for a batch.
  ///
  /// Shapes  b and x are stored alike, without gaps; the proof's radius lies as they do.
  /// Throws  value_error  radii of entries are asked for
  solution_proof prove_batch(const batch_view<const double>& b, const batch_view<double>& x,
                             const proof_request& request);
  void prove_batch(const batch_view<const double>& b, const batch_view<double>& x, const proof_request& request,
                   solve_result& result);

  const structure_facts& facts() const;
  matrix_form form() const;
  /// The plan: see make_plan(), also for what it throws.
  ///
  /// Cost    Where that may change the plan and is cheap beside the solve, a symbolic factorisation.
  const std::vector<attempt>& plan();
  /// What the next solve begins with, and where it runs.
  const attempt& next();
  const device_choice& where();
  /// Seconds spent so far on looking at the matrix and making the plan.
  double setup_seconds() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Solves A x = b, or A X = B, once: see solver.
solve_result solve(const device& dev, csr_view<const double> A, view<const double> b, view<double> x,
                   const solve_options& options = {});
solve_result solve(const device& dev, csr_view<const double> A, matrix_view<const double> B,
                   matrix_view<double> X, const solve_options& options = {});
solve_result solve(const device& dev, matrix_view<const double> A, view<const double> b, view<double> x,
                   const solve_options& options = {});
solve_result solve(const device& dev, matrix_view<const double> A, matrix_view<const double> B,
                   matrix_view<double> X, const solve_options& options = {});
solve_result solve(const device& dev, const linear_operator<double>& A, view<const double> b, view<double> x,
                   const solve_options& options = {});
solve_result solve(const device& dev, const tridiagonal_view<const double>& A,
                   const batch_view<const double>& b, const batch_view<double>& x,
                   const solve_options& options);

}  // namespace vouch
