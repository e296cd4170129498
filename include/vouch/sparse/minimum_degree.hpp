// vouch/sparse/minimum_degree.hpp -- orders of elimination that keep the factors of a sparse matrix sparse.
#pragma once
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// An order for elimination with a symmetric pattern, that of A + A^T: the unknown with the fewest neighbours
/// first, degrees bounded from above. order[i] is the old number of the unknown that becomes number i.
///
/// Shapes  A is square.
/// Memory  A and the result live on the CPU; about 16 bytes an entry of A + A^T besides.
/// Result  A permutation; a function of the pattern alone. Rows with more than 10 sqrt(n) entries come last.
/// Cost    One thread; mostly little more than that of sorting the entries.
/// Throws  shape_error  A is not square
///         value_error  dev is a GPU
/// Source  Amestoy, Davis, Duff, SIAM J. Matrix Anal. Appl. 17 (1996).
template <real T>
array<std::int32_t> minimum_degree(const device& dev, csr_view<const T> A);

/// The same for the columns of A and the pattern of A^T A, which is never formed: that of its Cholesky factor
/// holds U of A's LU whatever rows partial pivoting takes. Rows with more than 10 sqrt(n) entries do not count.
///
/// Shapes  A is m-by-n, the order has n elements.
/// Source  Davis, Gilbert, Larimore, Ng, ACM Trans. Math. Softw. 30 (2004).
template <real T>
array<std::int32_t> minimum_column_degree(const device& dev, csr_view<const T> A);

}  // namespace vouch
