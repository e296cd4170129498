// vouch/sparse/product.hpp -- the product of two sparse matrices.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// C = A B; entries that cancel are stored as zeros.
///
/// Shapes  A is m-by-k, B k-by-n, C m-by-n.
/// Types   T is float or double. Sums of float products are formed in double and rounded once.
/// Memory  A, B and C live on dev. C; on a GPU while it works 5 bytes a row and, where rows have more than 768 entries, 9
///         bytes a column for each multiprocessor.
/// Result  Each entry is summed in the order of its row of A, so its bits do not depend on threads, and are the same
///         on both kinds of device.
/// Cost    Two passes over the products a_ik b_kj.
/// Throws  shape_error  A has not as many columns as B rows
///         value_error  A or B is not what csr_view says
/// Source  Gustavson, ACM Trans. Math. Softw. 4 (1978); hash tables on GPUs: Nagasaka, Nukada, Matsuoka, ICPP 2017.
template <real T>
csr<T> multiply(const device& dev, csr_view<const T> A, csr_view<const T> B);

}  // namespace vouch
