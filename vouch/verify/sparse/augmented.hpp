// vouch/verify/sparse/augmented.hpp -- least squares as a square system; private.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::detail {

/// [d I, B; B^T, 0], without entries in place of d I where d is 0. With d = 1 and (y, x) for unknowns, the right-hand
/// side (b, 0) asks for the least ||b - B x||_2 and its y = b - B x, and (0, b) for the shortest y with B^T y = b.
///
/// Shapes  B is m-by-n, the result (m + n)-by-(m + n); m + n is a number of 32 bits.
/// Memory  Both on the CPU.
csr<double> augmented(const device& cpu, csr_view<const double> B, double d);

}  // namespace vouch::detail
