// vouch/solve/precond/ilu0.hpp -- incomplete LU on the pattern of the matrix.
#pragma once
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// M = (L U)^-1, where L U agrees with A + shift D on A's pattern, L with a unit diagonal.
///
/// Of the real form of complex numbers (vouch/solve/complex.hpp) the pattern is that of whole blocks [a -b; b a]: the
/// factors are those of the complex matrix.
///
/// A is scaled by powers of two, which changes nothing but what counts as small. Where a diagonal entry is zero, or one in
/// a hundred is less than 1e-3 of the largest entries of its row and of its column, rows are brought into the order of
/// maximum_product_matching and scaled by it, so that the pivots begin at about 1: M = (L U)^-1 P, still for A as it is.
/// D_ii has the sign of a_ii and is 1 where scaled entries are at most about 1. A pivot below 1e-8 of its row of U
/// doubles a shift that is not zero, up to 1024; without a shift it is refused. name() tells the shift in use, whether rows
/// were matched, and in how many sets of rows the matrix's own order can be followed, on CPUs and GPUs alike: colours need
/// fewer, and two to six times the iterations.
///
/// Shapes  A is n-by-n; n may be 0.
/// Types   T is float or double; the factorisation is in double.
/// Memory  A lives on dev and is not needed afterwards.
/// Result  Not symmetric: for GMRES and its like. The same bits on every run; on the CPU for any number of threads.
/// Cost    Set-up on the CPU, wherever A lives: nnz (entries a row) operations for each shift, about 60 nnz bytes, and the
///         matching where it is needed. apply(): as that of make_ic0.
/// Throws  shape_error  A is not square
///         value_error  an entry that is not finite; a row or column of zeros, a matrix that is singular whatever its
///                      values; a pivot below 1e-8 of its row (the texts name the row); factors so unstable that ones
///                      become 1e14; a factor that overflows T; a shift that is negative or not finite
/// Source  Meijerink, van der Vorst, Math. Comp. 31 (1977); Chow, Saad, J. Comput. Appl. Math. 86 (1997) for what makes
///         factors useless.
template <real T>
std::unique_ptr<preconditioner<T>> make_ilu0(const device& dev, csr_view<const T> A, double shift = 0);

}  // namespace vouch
