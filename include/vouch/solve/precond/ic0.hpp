// vouch/solve/precond/ic0.hpp -- incomplete Cholesky on the pattern of the matrix.
#pragma once
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// M = (L D L^T)^-1, L D L^T = S^-1 (S A S + shift I) S^-1 on the pattern of A, S = diag(A)^-1/2. A pivot of
/// the scaled matrix that falls to 1e-4 or below doubles the shift, from 1e-3 on, until there is none; name()
/// tells the shift in use.
///
/// The order of elimination: on a GPU by colours, where no two rows of a colour share an entry, so that a sweep
/// has few barriers (a 7-point grid 2, stiffness matrices 15 to 40), unless the matrix's own order needs at
/// most twice as many; on the CPU the matrix's own order, which needs fewer iterations, unless it needs a shift
/// and the colours need none. name() tells which.
///
/// Shapes  A is n-by-n; n may be 0.
/// Types   T is float or double; the factorisation is in double.
/// Memory  A lives on dev, is symmetric (only one triangle is read) and is not needed afterwards.
/// Result  Symmetric positive definite. The same bits on every run; on the CPU for any number of threads.
/// Cost    Set-up on the CPU, wherever A lives: nnz (entries a row) operations for each shift, and about
///         40 nnz bytes. apply(): 2 nnz flops; nnz (4 + sizeof T) + 6 n sizeof T bytes; on a GPU 2 sets - 1
///         kernels for so many sets of rows, or where that pays one kernel of one block with the vector in its
///         shared memory.
/// Throws  shape_error  A is not square
///         value_error  a diagonal entry that is not positive, an entry that is not finite (the text names the
///                      row); a shift that is negative or not finite
/// Source  Meijerink, van der Vorst, Math. Comp. 31 (1977); Manteuffel, Math. Comp. 34 (1980); level sets and
///         colours: Saad, Iterative Methods for Sparse Linear Systems, 2003, chapters 11 and 12.
template <real T>
std::unique_ptr<preconditioner<T>> make_ic0(const device& dev, csr_view<const T> A, double shift = 0);

}  // namespace vouch
