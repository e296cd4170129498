// vouch/solve/krylov/cg.hpp -- conjugate gradients for symmetric positive definite systems.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace VOUCH_PUBLIC vouch {

struct cg_options : stopping_criterion {
  bool matrix_checked = false;  // the caller knows A symmetric with a positive diagonal: skip the check
  layout matrix_layout = layout::automatic;  // another one also keeps the system out of on-chip memory
  /// GPUs that share the iterations, 1 to 8, each of which can read the others' memory; dev, which holds the operands,
  /// may be one of them. Empty: dev alone. M is absent, diagonal, of make_chebyshev(), or of make_amg() with a structured
  /// hierarchy and then on one of them; levels of fewer than 4 million rows are visited by that one alone.
  std::vector<int> gpus{};
};

/// Solves A x = b from the given x.
///
/// Shapes  A is n-by-n, b and x have n elements; n may be 0.
/// Types   T is float or double.
/// Memory  A, b and x live on dev; x holds the start and receives the result; overlaps nothing.
/// Result  The numerical contract of docs/contract.md: status converged means ||b - Ax||_2 <=
///         max(rtol ||b||_2, atol) for the x returned, recomputed in twice the working precision.
///         Same bits on every run; on the CPU for any number of threads, in options.gpus for any number of GPUs of one
///         kind.
///         Not converging is a status, never an exception.
/// Cost    An iteration: 2 nnz + 14 n flops; the matrix once and 9 n values.
/// Throws  shape_error  A not square, wrong lengths, M for another number of unknowns
///         value_error  A not symmetric, a zero or negative diagonal entry (the text names it), NaN or
///                      infinity in b or x; GPUs of different kinds, or an M that they do not share
///         no_cuda_error  no such GPU in options.gpus, or none of them may read another's memory
/// Source  Hestenes, Stiefel 1952; one reduction an iteration: Meurant, Parallel Computing 5 (1987);
///         D'Azevedo, Eijkhout, Romine, LAPACK Working Note 56 (1993).
template <real T>
solve_report cg(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                const cg_options& options = {}, const preconditioner<T>* M = nullptr);

/// The same for a matrix given by its action. The residual at the end is recomputed in the working precision,
/// since only the operator knows its entries; the report says so.
template <real T>
solve_report cg(const device& dev, const linear_operator<T>& A, view<const T> b, view<T> x,
                const cg_options& options = {}, const preconditioner<T>* M = nullptr);

/// Solves A x = b as cg() in double does, with most iterations in single precision.
///
/// Shapes  As cg().
/// Memory  A, b, x and M live on dev; 8 nnz + 24 n bytes besides.
/// Result  The contract of cg() in double: converged is said on the residual recomputed in double-double.
///         Single precision reduces the residual by some 10^4 a round, each round starts from the
///         recomputed one. Systems so small that their time is latency, a number of iterations or a
///         recurrence rule asked for, and a round that single precision cannot do (too ill-conditioned)
///         fall back to double; warnings say so.
/// Cost    An iteration moves half of the bytes of double.
/// Throws  As cg()
/// Source  Iterative refinement: Moler 1967; Goeddeke, Strzodka, Turek, IJPEDS 22 (2007).
solve_report cg_mixed(const device& dev, csr_view<const double> A, view<const double> b, view<double> x,
                      const cg_options& options = {}, const preconditioner<float>* M = nullptr);

/// How many iterations a solve will take, from a few of them.
struct iteration_forecast {
  std::optional<std::int64_t> iterations;  // nothing: it could not be told
  std::optional<double> reduction;         // of the residual by an iteration, measured
  std::string reason;                      // what it rests on, or why there is none
};

/// Iterations of cg() with M from x = 0 to a residual of rtol, whatever the right-hand side: 8 of them are done on one of
/// hashed numbers, the same on every run, and go on as the later half did, since the first ones take away what any
/// smoother would. constants_in_null_space: every row of A sums to 0, and the right-hand side then does, too.
///
/// Memory  A and M live on cpu. A is symmetric with a positive diagonal, which nobody checks.
/// Cost    8 iterations.
iteration_forecast forecast_cg(const device& cpu, csr_view<const double> A, const preconditioner<double>& M,
                               double rtol, bool constants_in_null_space = false);

}  // namespace vouch
