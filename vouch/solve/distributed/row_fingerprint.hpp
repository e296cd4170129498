// vouch/solve/distributed/row_fingerprint.hpp -- what tells systems on several ranks from one another; private.
#pragma once
#include <vouch/core/view.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/verify/fingerprint.hpp>

namespace vouch::distributed {

/// That which fingerprint_of() has for the same matrix in one process.
matrix_fingerprint fingerprint_of(const row_matrix& A);
/// The same for a vector as a matrix of one column; v has A.rows() elements.
matrix_fingerprint fingerprint_of(const row_matrix& A, view<const double> v);

}  // namespace vouch::distributed
