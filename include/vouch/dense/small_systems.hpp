// vouch/dense/small_systems.hpp -- rigorous solutions, inverses and determinants of dense systems.
//
// For all routines of this header:
//
// Shapes  A is n-by-n, B is n-by-k; sizes may be 0.
// Types   T is float or double. Matrices of intervals mean every matrix with entries in them.
// Memory  On the CPU; scratch of up to 8 matrices of intervals.
// Result  An enclosure is rigorous whatever the quality of the approximations inside. A matrix that is
// singular,
//         or an interval matrix that holds a singular one, is never verified. Same bits for any number of
//         threads.
// Throws  shape_error  A is not square, or the rows of B are not those of A; the text has both
//         value_error  an operand on a GPU, an entry that is empty, NaN or unbounded
#pragma once
#include <concepts>
#include <cstdint>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/scalar.hpp>
#include <vouch/interval/interval.hpp>

namespace VOUCH_PUBLIC vouch {

/// What could be proved.
enum class proof {
  verified,     // A, and every matrix in A, is regular, and the enclosure holds
  singular,     // no approximate inverse: A is singular to working precision
  not_verified  // A is too ill-conditioned, or its intervals are too wide
};

/// "verified", "singular to working precision", "not verified".
const char* name(proof result);

/// A matrix of intervals that encloses the exact one where result is verified, and is entire elsewhere.
template <real T>
struct enclosed_matrix {
  proof result = proof::not_verified;
  matrix<interval<T>> enclosure;
};

/// Encloses X with A X = B, for all points of A and B.
///
/// Result  With R near the inverse of mid(A) and C = I - R A, an X with R (B - A X0) + C X inside its interior
///         proves that the solutions lie in X0 + X. Works to condition numbers of about 1e14 in double, 1e6 in
///         single. For points and few right-hand sides (n k <= 4096) the residual is rounded once, and most
///         bounds are then neighbours or nearly so.
/// Cost    2 n^3 for R, an interval product R A, and a few interval products n-by-n times n-by-k.
/// Source  Krawczyk, Computing 4 (1969); Rump, Acta Numerica 19 (2010), section 10.
template <scalar TA, scalar TB>
requires std::same_as<bound_of<TA>, bound_of<TB>> enclosed_matrix<bound_of<TA>> enclose_solution(
    const device& dev, matrix_view<const TA> A, matrix_view<const TB> B);

/// Encloses the inverse of A: enclose_solution for B = I.
template <scalar TA>
enclosed_matrix<bound_of<TA>> enclose_inverse(const device& dev, matrix_view<const TA> A);

/// A number enclosed in any case.
template <real T>
struct enclosed_number {
  proof result = proof::not_verified;
  interval<T> enclosure;
};

/// Encloses the determinants of all points of A.
///
/// Result  Always an enclosure. With X P A Y = I + E for triangular X and Y near the inverse factors and
///         |E| < 1 in the maximum norm, the determinant of I + E lies in [(1-|E|)^n, (1+|E|)^n], and those of
///         the factors are products of diagonals; verified, it has a sign. Elsewhere, the bound of Hadamard
///         with both signs, not verified.
/// Source  The proof stands in docs/rigor.md.
template <scalar TA>
enclosed_number<bound_of<TA>> enclose_determinant(const device& dev, matrix_view<const TA> A);

// Triangular factors of matrices of intervals, and substitution with them. Intervals lose dependencies at every step of an
// elimination: widths grow with a power of the order. These factors are for small systems, for matrices with a dominant
// diagonal, and for preconditioned ones (R A near the identity); what stands above preconditions by itself.
//
// Shapes  A is n-by-n, B is n-by-k; sizes may be 0.
// Memory  On the CPU. Results are new matrices.

/// P A = L U: row k of P A is row rows[k] of A; L with unit diagonal below, U on and above the diagonal of
/// factors. Every regular point of A has its factors, for this P, in them.
template <real T>
struct interval_lu {
  bool complete =
      false;  // false: column `failed` has no pivot that does not hold 0; factors are not to be used
  std::int64_t failed = -1;
  matrix<interval<T>> factors;
  std::vector<std::int64_t> rows;
};

/// Pivots are those of the largest mignitude in their column.
template <real T>
interval_lu<T> lu(const device& dev, matrix_view<const interval<T>> A);

/// A = L L^T for the symmetric matrices in A, of which the lower triangle is read.
template <real T>
struct interval_cholesky {
  bool complete = false;  // true proves that every symmetric point of A is positive definite
  std::int64_t failed = -1;
  matrix<interval<T>> factor;  // L, zeros above the diagonal
};
template <real T>
interval_cholesky<T> cholesky(const device& dev, matrix_view<const interval<T>> A);

/// Encloses the X with A X = B by substitution with complete factors.
/// Throws  value_error  the factors are not complete
template <real T>
matrix<interval<T>> substitute(const device& dev, const interval_lu<T>& lu, matrix_view<const interval<T>> B);
template <real T>
matrix<interval<T>> substitute(const device& dev, const interval_cholesky<T>& cholesky,
                               matrix_view<const interval<T>> B);

}  // namespace vouch
