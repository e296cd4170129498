// vouch/verify/cusolver.hpp -- LU factors by NVIDIA's cuSOLVER, loaded when first needed; private.
#pragma once
#include <cstdint>
#include <string>

#include <vouch/core/device.hpp>

namespace vouch::detail::cusolver {

/// Whether the library is there for this process; why says what is missing otherwise.
bool present(std::string& why);

/// X := about A^-1 X by an LU factorisation that overwrites A; false where a pivot was 0.
///
/// Shapes  A is n-by-n, X n-by-columns, leading dimensions n.
/// Memory  On the GPU dev. Waits for it.
/// Result  An approximation by a library that promises no bound: nothing may be concluded from it.
/// Throws  value_error   the library is not present
///         device_error  a call failed
bool solve(const device& dev, std::int64_t n, double* A, std::int64_t columns, double* X);

}  // namespace vouch::detail::cusolver
