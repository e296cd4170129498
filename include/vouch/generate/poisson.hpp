// vouch/generate/poisson.hpp -- finite-difference matrices of the Laplace operator on a line, square or box.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// What holds on the boundary: value 0 beyond the grid (positive definite), or no flux (singular, constants
/// in the null space).
enum class boundary { dirichlet, neumann };

/// Minus the Laplace operator on n, nx*ny or nx*ny*nz points, x running fastest, times the square of the
/// spacing: integer entries.
///
/// poisson_1d        2 | -1
/// poisson_2d        5 points: 4 | -1;  9 points: 20 | -4 (edges) | -1 (corners), times six
/// poisson_3d        7 points: 6 | -1;  27 points: 26 | -1
///
/// Memory  Built on dev, which is a CPU, by all its threads.
/// Result  Symmetric. With dirichlet, product sine vectors are eigenvectors; with c = cos(k pi/(n+1)) for
///         each direction the eigenvalues are 2-2cx; 4-2cx-2cy; 20-8cx-8cy-4cx cy; 6-2cx-2cy-2cz;
///         27-(1+2cx)(1+2cy)(1+2cz). With neumann every row sums to 0.
/// Throws  value_error  a size below 1, more than 2^31 - 1 points, or an unknown number of stencil points
csr<double> poisson_1d(const device& dev, std::int64_t n, boundary edge = boundary::dirichlet);
csr<double> poisson_2d(const device& dev, std::int64_t nx, std::int64_t ny, int points = 5,
                       boundary edge = boundary::dirichlet);
csr<double> poisson_3d(const device& dev, std::int64_t nx, std::int64_t ny, std::int64_t nz, int points = 7,
                       boundary edge = boundary::dirichlet);

}  // namespace vouch
