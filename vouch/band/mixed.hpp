// vouch/band/mixed.hpp -- a double-precision system solved in single precision; private.
#pragma once
#include <vouch/band/elimination.hpp>

namespace vouch::detail {

/// x := about A^-1 b, eliminated in float: rows are brought to size 1 by powers of two before they are rounded,
/// the right-hand side of each system as well.
void solve_in_single(const device& dev, const tridiagonal_view<const double>& A,
                     const batch_view<const double>& b, const batch_view<double>& x, elimination_facts* facts);

}  // namespace vouch::detail
