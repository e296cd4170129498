// cli/given_solution.hpp -- what a proof for an improved x says of the x that was given.
#pragma once
#include <vouch/core/array.hpp>

#include "verification.hpp"

namespace vouch::cli {

/// The bounds of the errors of given, from those proved of improved, which it was before corrections moved it:
/// |given - x*| <= |given - improved| + radius, all rounded upwards. The radii themselves stay where they are.
verification about_given(const verification_request& request, const array<double>& given,
                         const array<double>& improved, const verification& proved);

}  // namespace vouch::cli
