// vouch/sparse/fill.hpp -- what eliminating a sparse matrix would cost, from its pattern alone.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

struct elimination_cost {
  double entries = 0;  // of both triangles and the diagonal
  double flops = 0;    // of the factorisation
};

/// The cost of A's LU factors with pivots on the diagonal in this order, for an A of symmetric pattern:
/// order[i] is the old number of the unknown that becomes number i.
///
/// Shapes  A is n-by-n, order a permutation of n.
/// Memory  All on the CPU; 20 bytes a row besides.
/// Result  Exact but for cancellation; infinite where a triangle has more than most_entries off the diagonal.
/// Cost    A step an entry of a triangle, one thread.
/// Throws  shape_error  A not square, an order of another size
///         value_error  an order that is no permutation
/// Source  Davis, ACM Trans. Math. Softw. 31 (2005), LDL's symbolic analysis.
template <real T>
elimination_cost predict_elimination(csr_view<const T> A, view<const std::int32_t> order,
                                     std::int64_t most_entries);

}  // namespace vouch
