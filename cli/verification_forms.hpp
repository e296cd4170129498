// cli/verification_forms.hpp -- proofs for matrices of a form that has ways of its own.
#pragma once
#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>

#include "verification.hpp"

namespace vouch {
struct tridiagonal_bound;
}

namespace vouch::cli {

/// Bounds the errors of all columns of x, a tridiagonal system's, and improves them where the bounds are wider
/// than asked; false, and x as it was, for other matrices, for radii of entries and where nothing is proved.
bool verify_tridiagonal(const verification_request& request, const device& cpu, const device& dev,
                        const linear_system& system, array<double>& x, verification& all);

/// What a bound of a batch says; all.radius is set and belongs to x.
void take_batch(verification& all, const tridiagonal_bound& bound, const array<double>& x);

}  // namespace vouch::cli
