// vouch/dense/structure.hpp -- facts of a dense matrix that decide how it can be solved.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/sparse/structure.hpp>

namespace VOUCH_PUBLIC vouch {

/// Those of a sparse matrix that make sense for a dense one; entries that are zero count as not stored. Left at
/// their defaults: row_sums_zero, distinct_diagonals, block_size.
///
/// Memory  A lives on the CPU; 2 m values besides.
/// Result  The same for any number of threads. first_unsymmetric is the first by columns.
/// Cost    About two passes over A.
structure_facts structure(const device& dev, matrix_view<const double> A);

}  // namespace vouch
