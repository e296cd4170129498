// vouch/generate/elasticity.hpp -- linear elasticity by finite elements.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/generate/mesh.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

struct elasticity_options {
  double young = 1;            // Young's modulus of the softest element
  double poisson_ratio = 0.3;  // towards 0.5 the material becomes incompressible and the system harder
  double contrast = 1;         // each element's modulus is young * contrast^u, u uniform in [0, 1)
  std::uint64_t seed = 1;
  bool clamped = true;  // the face x = 0 is held; otherwise rigid-body motions stay in the null space
};

/// The stiffness matrix of an isotropic body (2D: plane strain), 2 or 3 unknowns a node side by side, held
/// nodes left out. Full integration: 2^d Gauss points, one for triangles and tetrahedra.
///
/// Memory  Built on dev, which is a CPU, by all its threads.
/// Result  Symmetric to the bit, dense d-by-d blocks; positive definite when clamped. Not an M-matrix. The
///         condition grows with the squared number of cells, the contrast, the stretch of the cells and
///         1 / (1 - 2 poisson_ratio).
/// Throws  value_error  young or contrast not positive and finite, poisson_ratio outside (-1, 0.5)
csr<double> elasticity(const device& dev, const mesh& m, const elasticity_options& options = {});

}  // namespace vouch
