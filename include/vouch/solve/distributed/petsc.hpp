// vouch/solve/distributed/petsc.hpp -- systems whose rows stand on several ranks, solved by PETSc and judged by Vouch.
#pragma once
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/distributed/communicator.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/stopping_criterion.hpp>

struct vouch_petsc;  // vouch/solve/distributed/petsc/petsc.h

namespace VOUCH_PUBLIC vouch {

/// "auto", "cg", "minres", "gmres", "bicgstab", "sparse-lu", "sparse-cholesky".
std::span<const std::string_view> petsc_method_names();

/// "none", "jacobi", "block-jacobi" (a block a rank, ILU(0) or IC(0) in it), "ilu0", "ic0" (the same by name), "asm",
/// "gamg", "boomeramg".
std::span<const std::string_view> petsc_preconditioner_names();

struct petsc_options : stopping_criterion {
  std::string method = "auto";
  /// "": boomeramg where the matrix may be positive definite; else asm, of minres jacobi.
  std::string preconditioner{};
};

struct petsc_report : solve_report {
  std::string asked;          // of petsc_method_names(): what was taken, whatever the words made of it
  std::string method_reason;  // why auto took it; "" where it was named
  bool symmetric = false;     // the matrix
};

/// PETSc, started for all ranks at once and ended with this object: one in a process. Where an exception ends it, of which
/// other ranks may not know, PETSc is left as it is.
class petsc {
 public:
  /// words: PETSc's own options, with blanks between them: "-ksp_view -pc_hypre_boomeramg_strong_threshold 0.5". They go
  /// before what the names in petsc_options stand for. The same on all ranks.
  ///
  /// Memory  ranks are those of start_mpi(), which the module vouch-petsc.so, looked for as vouch-mpi.so is, speaks
  ///         through; they outlive it.
  /// Throws  file_error   there is no such module; the text names the package; no file that -options_file names
  ///         value_error, on every rank  a word that begins no option; PETSc does not start
  explicit petsc(communicator& ranks, std::string_view words = {});
  /// The same over functions of yours in the place of PETSc's.
  petsc(communicator& ranks, const vouch_petsc& functions, std::string_view words = {});
  ~petsc();
  petsc(const petsc&) = delete;
  petsc& operator=(const petsc&) = delete;

  /// "PETSc 3.18.5".
  std::string library() const;

  /// Solves A x = b from the given x. All ranks call it with the same options.
  ///
  /// Shapes  b and x have A.rows() elements: this rank's.
  /// Memory  PETSc's copy of A and what it makes for it; about 8 vectors.
  /// Result  The numerical contract of docs/contract.md: PETSc says when its iteration is done, which is the report's
  ///         recurrence, and b - A x in twice the precision decides; where that misses the tolerance PETSc is asked for a
  ///         correction. The verdict on an x has the same bits for any number of ranks, x has not. reproducible: the same
  ///         bits on as many ranks. auto goes on where it misses: conjugate gradients where the matrix may be positive
  ///         definite, then GMRES, then LU factors of up to 200,000 rows, else BiCGStab; where all miss, x is that of the least
  ///         residual. With rules other than the residual, and with words about the method or the preconditioner, it takes
  ///         the first of them alone.
  /// Cost    PETSc's, and for each run one residual.
  /// Throws  value_error, on every rank  a name that is not there; a matrix that the method cannot take (as
  ///                      not_spd_reason, not_symmetric_reason); what PETSc refuses; NaN or infinity in A, b or x
  ///         file_error, on every rank   what PETSc has no memory or library for; a rank's entries exceed its indices
  ///         shape_error  b or x of another length
  ///         std::runtime_error  PETSc failed on this rank, and others may wait for it: end them
  petsc_report solve(const device& cpu, const row_matrix& A, view<const double> b, view<double> x,
                     const petsc_options& options = {}) const;

 private:
  communicator& ranks_;
  const vouch_petsc& functions_;
  std::vector<std::string> words_;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace vouch
