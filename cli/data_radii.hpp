// cli/data_radii.hpp -- how far the data of a system may be from what was read, entry by entry.
#pragma once
#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/verify/interval_data.hpp>

#include "solve_system.hpp"
#include "verification.hpp"

namespace vouch::cli {

/// The sum of all that the request says: files of radii, decimal numbers as written, relative radii.
/// Those of the right-hand sides lie column by column.
///
/// Throws  what the readers throw; shape_error  a file of another shape; value_error  a negative radius
data_radii read_radii(const device& cpu, const verification_request& request, const linear_system& system);

}  // namespace vouch::cli
