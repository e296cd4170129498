// vouch/solve/precond/ilut.hpp -- incomplete LU by a threshold.
#pragma once
#include <cstdint>
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

struct ilut_options {
  double drop = 1e-3;      // of the norm of a row, in [0, 1)
  std::int64_t fill = 10;  // entries more than the matrix has, in a row of either triangle
};

/// M = (L U)^-1 P, where L U is about P A: row by row, an entry is left out where it is less than `drop` times the norm of
/// its row of the scaled matrix, and in each triangle but for the largest, `fill` more than A's row has there.
///
/// P and the scales are those of maximum_product_matching, so that entries are measured by what they are beside the pivots;
/// then rows and columns come in the reverse Cuthill-McKee order of the pattern of P A + (P A)^T, which leaves less to drop.
/// A pivot below 1e-8 of its row becomes max(drop, 1e-4) times the norm of the row;
/// name() tells how many did, the entries as a multiple of those of A, and whether rows were matched.
///
/// Of the real form of complex numbers (vouch/solve/complex.hpp) all this is done to the complex matrix, and drop measures
/// moduli.
///
/// Shapes  A is n-by-n; n may be 0.
/// Types   T is float or double; the factorisation is in double.
/// Memory  A lives on dev and is not needed afterwards.
/// Result  Not symmetric: for GMRES and its like. The same bits on every run; on the CPU for any number of threads.
/// Cost    Set-up by one thread on the CPU, wherever A lives: (entries of the factors) (entries a row of them) operations.
///         apply(): as that of make_ilu0, with the entries of these factors.
/// Throws  shape_error  A is not square
///         value_error  as make_ilu0, but for small pivots; drop outside of [0, 1), fill negative
/// Source  Saad, Numer. Linear Algebra Appl. 1 (1994).
template <real T>
std::unique_ptr<preconditioner<T>> make_ilut(const device& dev, csr_view<const T> A,
                                             const ilut_options& options = {});

}  // namespace vouch
