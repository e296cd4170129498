// vouch/generate/mesh.hpp -- finite-element meshes of a rectangle or a box.
#pragma once
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Linear elements: straight-sided, with unknowns at their corners.
enum class element { triangle, quadrilateral, tetrahedron, hexahedron };

/// 2 or 3.
int dimension(element kind);
/// 3, 4, 4 or 8.
int corners(element kind);

/// Elements and their corners, on the CPU.
struct mesh {
  element kind = element::triangle;
  array<double> points;       // dimension coordinates a node
  array<std::int32_t> nodes;  // corners of each element: positively oriented, or in the order of bits (x, y, z)
  array<std::uint8_t> faces;  // of each node: bit 2d for the box's lower face in direction d, 2d+1 the upper

  std::int64_t node_count() const { return faces.size(); }
  std::int64_t element_count() const { return nodes.size() / corners(kind); }
};

struct box_options {
  std::int64_t nx = 1, ny = 1, nz = 1;  // cells; nz counts in 3D alone
  double lx = 1, ly = 1, lz = 1;        // edge lengths
  double perturb = 0;                   // inner nodes move by up to this part of a cell in each direction
  std::uint64_t seed = 1;
};

/// The rectangle or box cut into cells and, for triangle and tetrahedron, each cell into 2 or 6 of them.
/// Nodes are numbered with x running fastest.
///
/// Memory  Built on dev, which is a CPU, by all its threads.
/// Result  Conforming; every element keeps its orientation, also when perturbed. A perturbed triangulation
///         draws each cell's diagonal at random besides.
/// Throws  value_error  a count below 1, more than 2^31 - 1 unknowns or corners, a length not positive and
///                      finite, perturb outside [0, 0.15]
/// Source  Six tetrahedra a cell: Kuhn, IBM J. Res. Dev. 4 (1960).
mesh box_mesh(const device& dev, element kind, const box_options& options);

}  // namespace vouch
