// vouch/solve/precond/factor.hpp -- the values of a triangular preconditioner L D L^T; private, on the CPU.
#pragma once
#include <vector>

#include <vouch/solve/precond/elimination.hpp>

namespace vouch {

/// M^-1 = L D L^T with a unit lower triangle: lower holds L without its diagonal, pivots D.
struct unit_factor {
  sparse_rows lower;
  std::vector<double> pivots;
};

/// An incomplete factor and the shift it took.
struct shifted_factor {
  unit_factor factor;
  double shift = 0;
};

/// Incomplete Cholesky on the pattern of A: with S = diag(A)^-1/2 the factor of S^-1 (S A S + shift I) S^-1.
/// Where a pivot of the scaled matrix falls to 1e-4 or below the shift is doubled, from 1e-3 at least, and all
/// begins again.
///
/// Result  The same bits for any number of threads.
/// Throws  value_error  no shift up to 2^40 helps
/// Source  Meijerink, van der Vorst, Math. Comp. 31 (1977); Manteuffel, Math. Comp. 34 (1980).
shifted_factor incomplete_cholesky(lower_part A, const level_sets& levels, double shift, int threads);

/// Symmetric successive over-relaxation as a factor: L = I + omega L_A D_A^-1, D = D_A / (omega (2 - omega)).
/// Source  Axelsson, BIT 12 (1972).
unit_factor symmetric_sor(lower_part A, double omega);

}  // namespace vouch
