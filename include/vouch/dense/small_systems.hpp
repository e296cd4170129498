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

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/scalar.hpp>

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

}  // namespace vouch
