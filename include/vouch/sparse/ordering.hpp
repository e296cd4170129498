// vouch/sparse/ordering.hpp -- new numberings of the unknowns, for narrow bands or sparse factors, and matrices in
// them.
#pragma once
#include <complex>
#include <cstdint>
#include <optional>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

// An order lists old numbers: order[i] is the old number of the unknown that becomes number i.

/// The reverse Cuthill-McKee order, which gathers entries near the diagonal: breadth-first from a
/// pseudo-peripheral node, neighbours by degree, then number; component after component, reversed at the end.
///
/// Shapes  A is square; rows must be a multiple of block.
/// Memory  A and the result live on the CPU; about 4 nnz bytes besides.
/// Result  A permutation that keeps groups of `block` consecutive unknowns together; depends on the pattern
///         of A + A^T alone.
/// Cost    O(nnz log(entries a row)) by one thread.
/// Throws  shape_error  A not square, rows no multiple of block
///         value_error  dev is a GPU
/// Source  Cuthill, McKee 1969; George, Liu, ACM Trans. Math. Softw. 5 (1979) for the start.
template <real T>
array<std::int32_t> reverse_cuthill_mckee(const device& dev, csr_view<const T> A, int block = 1);

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

/// As minimum_degree(), of a matrix with a symmetric pattern: separators come last, those of the parts before them.
/// Keeps the factors of meshes in space sparser than minimum degrees do.
///
/// Shapes  A is square.
/// Memory  A and the result live on the CPU; about 8 bytes an entry besides, and as much in METIS.
/// Result  A permutation, a function of the pattern and of METIS; nothing where there is no METIS (libmetis.so.5
///         with indices of 32 bits), where A has more than 2^31 entries and where METIS fails.
/// Cost    One thread, about a microsecond an entry. Cannot be interrupted.
/// Throws  shape_error  A is not square
///         value_error  dev is a GPU
/// Source  Karypis, Kumar, SIAM J. Sci. Comput. 20 (1998).
template <real T>
std::optional<array<std::int32_t>> nested_dissection(const device& dev, csr_view<const T> A);

/// A random order of n unknowns that keeps groups of `block` together; a function of n, block and seed.
/// Throws  shape_error  n is no multiple of block
/// Source  Fisher-Yates: Knuth TAOCP 2, 3.4.2.
array<std::int32_t> random_order(const device& dev, std::int64_t n, std::uint64_t seed, int block = 1);

/// inverse[order[i]] == i.
/// Throws  value_error  order is not a permutation of 0 to size - 1
array<std::int32_t> inverse_order(const device& dev, view<const std::int32_t> order);

/// P A P^T: entry (i, j) is A's (order[i], order[j]), columns ascending.
///
/// Shapes  A is square, order has as many elements.
/// Memory  All on the CPU.
/// Result  The same for any number of threads.
/// Throws  shape_error  the sizes differ
///         value_error  order is not a permutation
template <real T>
csr<T> permute(const device& dev, csr_view<const T> A, view<const std::int32_t> order);
csr<std::complex<double>> permute(const device& dev, csr_view<const std::complex<double>> A,
                                  view<const std::int32_t> order);

}  // namespace vouch
