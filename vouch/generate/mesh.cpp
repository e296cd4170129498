#include <algorithm>
#include <array>
#include <cmath>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/grid.hpp>
#include <vouch/generate/mesh.hpp>

namespace vouch {
namespace {

constexpr double most_perturbed = 0.15;  // below 1/6 no tetrahedron of a cell can turn over

void check(const box_options& options, int dim) {
  const double lengths[] = {options.lx, options.ly, dim == 3 ? options.lz : 1};
  for (const double length : lengths)
    if (!(length > 0) || std::isinf(length))
      throw value_error("a box with an edge of " + std::to_string(length), "give a positive finite length");
  if (!(options.perturb >= 0 && options.perturb <= most_perturbed))
    throw value_error("perturb " + std::to_string(options.perturb) + " lies outside [0, 0.15]");
}

// Cell corners of the elements of one cell, bit d of a corner being its place in direction d.
using corner_list = std::vector<std::uint8_t>;

corner_list cell_corners(element kind, bool other_diagonal) {
  switch (kind) {
    case element::quadrilateral:
      return {0, 1, 2, 3};
    case element::hexahedron:
      return {0, 1, 2, 3, 4, 5, 6, 7};
    case element::triangle:
      return other_diagonal ? corner_list{0, 1, 2, 1, 3, 2} : corner_list{0, 1, 3, 0, 3, 2};
    case element::tetrahedron:
      break;
  }
  // From corner 0 to corner 7 along the three axes in any order; odd orders are mirrored.
  return {0, 1, 3, 7, 0, 2, 6, 7, 0, 4, 5, 7, 0, 5, 1, 7, 0, 6, 4, 7, 0, 3, 2, 7};
}

std::int64_t place(const grid& g, std::int64_t node, int direction) {
  if (direction == 0) return node % g.nx;
  return direction == 1 ? node / g.nx % g.ny : node / (g.nx * g.ny);
}

void set_node(mesh& m, const box_options& options, const grid& g, std::int64_t node) {
  const int dim = dimension(m.kind);
  const std::int64_t points[] = {g.nx, g.ny, g.nz};
  const double lengths[] = {options.lx, options.ly, options.lz};
  std::uint8_t faces = 0;
  for (int d = 0; d < dim; ++d) {
    const std::int64_t i = place(g, node, d);
    faces |= static_cast<std::uint8_t>((i == 0 ? 1 : 0) << (2 * d) | (i == points[d] - 1 ? 2 : 0) << (2 * d));
  }
  for (int d = 0; d < dim; ++d) {
    const double move =
        faces != 0 ? 0 : 2 * random_unit(options.seed, static_cast<std::uint64_t>(node * dim + d)) - 1;
    const double i = static_cast<double>(place(g, node, d)) + options.perturb * move;
    m.points[node * dim + d] = lengths[d] * i / static_cast<double>(points[d] - 1);
  }
  m.faces[node] = faces;
}

}  // namespace

int dimension(element kind) { return kind == element::triangle || kind == element::quadrilateral ? 2 : 3; }

int corners(element kind) {
  switch (kind) {
    case element::triangle:
      return 3;
    case element::hexahedron:
      return 8;
    default:
      return 4;
  }
}

mesh box_mesh(const device& dev, element kind, const box_options& options) {
  const ieee_environment here;
  const int dim = dimension(kind);
  check(options, dim);
  const grid cells = checked_grid(options.nx, options.ny, dim == 3 ? options.nz : 1, 24);
  const grid g = checked_grid(cells.nx + 1, cells.ny + 1, dim == 3 ? cells.nz + 1 : 1, dim);
  const std::array<corner_list, 2> lists{cell_corners(kind, false), cell_corners(kind, true)};
  const auto per_cell = std::ssize(lists[0]);
  mesh m{kind, array<double>(dev, g.size() * dim), array<std::int32_t>(dev, cells.size() * per_cell),
         array<std::uint8_t>(dev, g.size())};
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, g.size())) schedule(static)
  for (std::int64_t node = 0; node < g.size(); ++node) set_node(m, options, g, node);
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, cells.size())) schedule(static)
  for (std::int64_t cell = 0; cell < cells.size(); ++cell) {
    // Another stream than the nodes': the seed's complement.
    const bool other =
        options.perturb > 0 && (random_bits(~options.seed, static_cast<std::uint64_t>(cell)) >> 63) != 0;
    const corner_list& list = lists[other];
    for (std::int64_t k = 0; k < per_cell; ++k) {
      const int c = list[static_cast<std::size_t>(k)];
      const std::int64_t x = place(cells, cell, 0) + (c & 1), y = place(cells, cell, 1) + (c >> 1 & 1),
                         z = place(cells, cell, 2) + (c >> 2);
      m.nodes[cell * per_cell + k] = static_cast<std::int32_t>(g.index(x, y, z));
    }
  }
  return m;
}

}  // namespace vouch
