// vouch/generate/diffusion.hpp -- diffusion with a coefficient that depends on direction or place.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// -u_xx - epsilon u_yy (2D) or -u_xx - u_yy - epsilon u_zz (3D), 5 or 7 points, times the squared spacing.
///
/// Memory  Built on dev, which is a CPU, by all its threads.
/// Result  Symmetric; positive definite with dirichlet, singular with neumann.
/// Throws  value_error  a size below 1, more than 2^31 - 1 points, epsilon not positive and finite
csr<double> anisotropic_2d(const device& dev, std::int64_t nx, std::int64_t ny, double epsilon,
                           boundary edge = boundary::dirichlet);
csr<double> anisotropic_3d(const device& dev, std::int64_t nx, std::int64_t ny, std::int64_t nz, double epsilon,
                           boundary edge = boundary::dirichlet);

/// How the coefficient k varies over the unit square or cube, between 1 and contrast.
enum class coefficient {
  smooth,  // a wave of one period in each direction
  jump,    // 1 and contrast by turns on a chequerboard of 8 fields an edge
  random   // each cell contrast^u with u uniform in [0, 1)
};

struct diffusion_options {
  coefficient kind = coefficient::smooth;
  double contrast = 10;
  std::uint64_t seed = 1;
  boundary edge = boundary::dirichlet;
};

/// -div(k grad u) by finite volumes on nx*ny*nz cells, nz = 1 being 2D: harmonic averages between cells, half
/// a cell to a dirichlet boundary; times the squared spacing.
///
/// Memory  Built on dev, which is a CPU, by all its threads; 8 bytes a cell besides the result.
/// Result  Symmetric M-matrix; positive definite with dirichlet, singular with neumann.
/// Throws  value_error  a size below 1, more than 2^31 - 1 cells, contrast not positive and finite
csr<double> diffusion(const device& dev, std::int64_t nx, std::int64_t ny, std::int64_t nz,
                      const diffusion_options& options = {});

/// The flow that carries u along.
enum class flow {
  constant,      // (1, 1/2, 1/4) of the largest speed
  recirculating  // one eddy in x and y that fills the box, faster in its middle planes; none through the boundary
};

struct convection_options {
  double peclet = 10;  // the largest speed times the spacing, over the diffusion
  flow kind = flow::constant;
};

/// -div(grad u) + w . grad u by finite volumes and first-order upwind differences on nx*ny*nz cells, nz = 1 being 2D;
/// u = 0 one spacing beyond the boundary; times the squared spacing.
///
/// Memory  Built on dev, which is a CPU, by all its threads.
/// Result  Not symmetric; an M-matrix, weakly dominant by rows up to the rounding of the flow, which is free of divergence.
/// Throws  value_error  a size below 1, more than 2^31 - 1 cells, a Peclet number outside [0, 1e200]
csr<double> convection_diffusion(const device& dev, std::int64_t nx, std::int64_t ny, std::int64_t nz,
                                 const convection_options& options = {});

}  // namespace vouch
