// vouch/generate/finite_elements.hpp -- the Laplace operator by linear finite elements on a mesh.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/generate/mesh.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// The stiffness matrix of -div grad u, one unknown a node; with dirichlet the nodes on the box's faces are
/// left out.
///
/// Memory  Built on dev, which is a CPU, by all its threads.
/// Result  Symmetric to the bit; positive definite with dirichlet; with neumann constants are in the null
///         space up to rounding. Rows differ in length where the mesh is irregular.
csr<double> finite_elements(const device& dev, const mesh& m, boundary edge = boundary::dirichlet);

}  // namespace vouch
