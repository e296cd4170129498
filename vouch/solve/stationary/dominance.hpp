// vouch/solve/stationary/dominance.hpp -- diagonal dominance: what it proves of convergence and of the error; private.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <vouch/solve/stationary/stationary_iteration.hpp>

namespace vouch {

/// Which sums of off-diagonal entries the diagonal outweighs.
enum class dominance_kind {
  none,     // no proof was found
  rows,     // q = max over rows of sum |a_ij| / |a_ii| < 1
  columns,  // the same over columns
  scaled    // over the rows of A diag(v), v > 0
};

/// All ratios are rounded upwards.
struct dominance_proof {
  dominance_kind kind = dominance_kind::none;
  double ratio = 0;                // the q of that kind; of the rows where there is none
  double row_ratio = 0;            // q over the rows
  std::int64_t worst_row = 0;      // the first with that ratio, from 0
  std::vector<double> weights{};   // v where kind is scaled
  std::vector<double> diagonal{};  // magnitudes; empty where the proof did not need them on the host
  const void* matrix = nullptr;    // the object that it is about: its address

  /// Jacobi, Gauss-Seidel, SOR and SSOR converge from any start for omega below this: 2 / (1 + q), rounded
  /// down; 0 where nothing is proved.
  double proved_omega() const;
};

/// Refuses a diagonal that no stationary iteration can divide by.
///
/// Cost    One pass over A.
/// Throws  value_error  a diagonal entry that is zero, whose inverse overflows T, or that is below the rounding
///                      errors of its row; a NaN or an infinity in A: the text names the row, from 1
template <real T>
void check_diagonal(const device& dev, const iteration_matrix<T>& A);

/// Checks the diagonal as check_diagonal() does, and looks for a proof of convergence: by
/// rows, then by columns, then by at most 20 steps towards weights.
///
/// Memory  The matrix lives on the CPU; 3 n doubles besides.
/// Cost    One pass over A; where rows do not suffice a second one, and one for each step.
/// Throws  As check_diagonal().
/// Source  Varga, Matrix Iterative Analysis, 1962, 3.3 (H-matrices).
template <real T>
dominance_proof prove_dominance(const device& dev, const iteration_matrix<T>& A);

/// A bound of |x - exact|_inf that holds for the numbers as they are, or nothing where the proof is none or
/// something overflows: by rows |D^-1 (b - A x)|_inf / (1 - q), with the residual enclosed and all else rounded
/// upwards.
///
/// Cost    One pass over A.
/// Throws  value_error  the proof is for another object
template <real T>
std::optional<double> dominance_error_bound(const device& dev, const iteration_matrix<T>& A,
                                            const dominance_proof& proof, view<const T> b, view<const T> x);

}  // namespace vouch
