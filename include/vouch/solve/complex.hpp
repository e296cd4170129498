// vouch/solve/complex.hpp -- complex systems, solved, checked and proved by their real form.
#pragma once
#include <complex>
#include <cstdint>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/solve/solver.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// The real matrix that does to real and imaginary parts, in turns, what A does to complex numbers: an entry a + bi is
/// the block [a -b; b a].
///
/// Result  Symmetric where A is Hermitian, and then definite where A is; zero parts are not stored.
/// Memory  A lives on cpu. Up to four values of 8 bytes for one of 16.
/// Cost    Two passes over A.
/// Throws  value_error  A is no matrix in CSR, or has more than 2^30 - 1 rows or columns
/// Source  Day, Heroux: Solving complex-valued linear systems via equivalent real formulations,
///         SIAM J. Sci. Comput. 23 (2001); the form K1 with unknowns and equations interleaved.
csr<double> real_form(const device& cpu, csr_view<const std::complex<double>> A);
matrix<double> real_form(const device& cpu, matrix_view<const std::complex<double>> A);

/// Complex numbers as a solver of the real form takes them: the same memory.
matrix_view<const double> real_form(matrix_view<const std::complex<double>> X);
matrix_view<double> real_form(matrix_view<std::complex<double>> X);

/// Whether A equals its conjugate transpose, its transpose; what the diagonal is like, for people.
struct complex_symmetry {
  bool hermitian = false, symmetric = false;
  std::string diagonal;  // "real, positive", "real", "complex", "zero or not stored, first in row 3"
};

/// Looks through a matrix on the CPU.
complex_symmetry symmetry_of(const device& cpu, csr_view<const std::complex<double>> A);

/// The matrix of the moduli of A's entries, each rounded once; zeros of A are kept.
csr<double> moduli(const device& cpu, csr_view<const std::complex<double>> A);

/// class solver for complex matrices.
///
/// Every method, preconditioner and proof of a real solver is there; Hermitian positive definite matrices are solved by
/// conjugate gradients or Cholesky's factorisation, Hermitian ones by MINRES, others as unsymmetric ones. 2-norms,
/// residuals and tolerances are those of the complex system, the backward error that of the real form. Proofs bound moduli of errors, relative to moduli of
/// components; their radii are of real and imaginary parts, in turns.
class complex_solver {
 public:
  /// Memory  A lives on cpu; its real form is kept, A is not needed later. What options point to must outlive it.
  /// Throws  as real_form()
  complex_solver(const device& cpu, csr_view<const std::complex<double>> A, const solve_options& options = {});
  complex_solver(const device& cpu, matrix_view<const std::complex<double>> A,
                 const solve_options& options = {});

  /// As solver::solve().
  ///
  /// Memory  B and X live on the CPU.
  solve_result solve(matrix_view<const std::complex<double>> B, matrix_view<std::complex<double>> X);
  solve_result solve(view<const std::complex<double>> b, view<std::complex<double>> x);

  /// As solver::prove(); the radii are 2n for each column.
  solution_proof prove(matrix_view<const std::complex<double>> B, matrix_view<std::complex<double>> X,
                       const proof_request& request);

  /// The solver of the real form, with its facts and its plan.
  solver& real() { return solver_; }

 private:
  csr<double> sparse_;
  matrix<double> dense_;
  solver solver_;
};

/// What was proved of the parts of complex numbers, said of these: moduli of errors, relative to moduli. The radii stay.
void take_moduli(solution_proof& proof, view<const double> parts, double relative);

/// The moduli of numbers by their parts, which are not negative, rounded upwards.
array<double> moduli_above(view<const double> parts);

/// What a solve of the real form tells of complex numbers: half the rank, half the inertia where the counts are even
/// (rounding may make them odd where the matrix is nearly singular, and nothing is then said), and bounds of moduli.
void take_numbers(solve_result& result);

/// Solves A x = b once: see complex_solver.
solve_result solve(const device& cpu, csr_view<const std::complex<double>> A,
                   view<const std::complex<double>> b, view<std::complex<double>> x,
                   const solve_options& options = {});

}  // namespace vouch
