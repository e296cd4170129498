// vouch/sparse/ordering.hpp -- new numberings of the unknowns and matrices in them.
#pragma once
#include <cstdint>

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

}  // namespace vouch
