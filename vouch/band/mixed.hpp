// vouch/band/mixed.hpp -- a double-precision system solved in single precision; private.
#pragma once
#include <string>

#include <vouch/band/elimination.hpp>
#include <vouch/band/solve.hpp>
#include <vouch/band/workspace.hpp>

namespace vouch::detail {

/// x := about A^-1 b, eliminated in float: rows are brought to size 1 by powers of two before they are rounded,
/// the right-hand side of each system as well.
///
/// facts may be nullptr on a GPU. Returns which implementation solved.
std::string solve_in_single(const device& dev, tridiagonal_method method,
                            const tridiagonal_view<const double>& A, const batch_view<const double>& b,
                            const batch_view<double>& x, elimination_facts* facts,
                            tridiagonal_workspace& workspace);

}  // namespace vouch::detail
