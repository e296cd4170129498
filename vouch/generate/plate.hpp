// vouch/generate/plate.hpp -- bending of a thin plate: the biharmonic operator on a rectangle.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// How the rim of a plate is held: it may turn, or not.
enum class plate_edge { supported, clamped };

/// The 13-point finite-difference matrix of the biharmonic operator times the fourth power of the spacing,
/// on nx*ny interior points, x running fastest.
///
/// Memory  Built on dev, which is a CPU, by all its threads.
/// Result  Symmetric positive definite, integer entries, not an M-matrix, condition O(max(nx, ny)^4).
///         supported is the square of poisson_2d(nx, ny).
/// Throws  value_error  a size below 1 or more than 2^31 - 1 points
csr<double> plate(const device& dev, std::int64_t nx, std::int64_t ny, plate_edge edge = plate_edge::supported);

}  // namespace vouch
