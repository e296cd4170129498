// vouch/solve/driver/method_table.hpp -- the lines of the table of methods, each of a file in methods/; private.
#pragma once
#include <vouch/solve/methods.hpp>

// X(line) in the order of help texts.
#define VOUCH_METHODS(X)              \
  X(conjugate_gradients)              \
  X(flexible_conjugate_gradients)     \
  X(minimal_residual)                 \
  X(conjugate_orthogonal_gradients)   \
  X(generalised_minimal_residual)     \
  X(flexible_minimal_residual)        \
  X(stabilised_biconjugate_gradients) \
  X(induced_dimension_reduction)      \
  X(least_squares_by_lsqr)            \
  X(least_squares_by_lsmr)            \
  X(jacobi_sweeps)                    \
  X(gauss_seidel_sweeps)              \
  X(sor_sweeps)                       \
  X(ssor_sweeps)                      \
  X(async_sweeps)                     \
  X(dense_lu)                         \
  X(dense_cholesky)                   \
  X(sparse_cholesky)                  \
  X(sparse_ldlt)                      \
  X(sparse_elimination)               \
  X(sparse_orthogonalisation)         \
  X(tridiagonal_band)                 \
  X(tridiagonal_thomas)               \
  X(tridiagonal_reduction)            \
  X(tridiagonal_pcr)                  \
  X(tridiagonal_partition)

namespace vouch {

#define VOUCH_DECLARE(line) extern const method line;
VOUCH_METHODS(VOUCH_DECLARE)
#undef VOUCH_DECLARE

}  // namespace vouch
