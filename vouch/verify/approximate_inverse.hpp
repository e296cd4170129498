// vouch/verify/approximate_inverse.hpp -- inverses that proofs start from; private.
#pragma once
#include <string>

#include <vouch/core/device.hpp>
#include <vouch/dense/matrix.hpp>

namespace vouch::detail {

/// R := about A^-1 by LU factors with partial pivoting.
///
/// Shapes  A and R are n-by-n, A contiguous.
/// Memory  On dev, A is overwritten. On a GPU by cuSOLVER; where that is absent, on the CPU, and `remark` says
///         so.
/// Result  False where a pivot was 0, or R is not finite. Nothing is proved.
/// Cost    8/3 n^3 flops.
bool invert_approximately(const device& dev, matrix<double> A, matrix<double>& R, std::string& remark);

}  // namespace vouch::detail
