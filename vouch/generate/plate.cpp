#include <vouch/core/ieee_environment.hpp>
#include <vouch/generate/grid.hpp>
#include <vouch/generate/plate.hpp>

namespace vouch {

csr<double> plate(const device& dev, std::int64_t nx, std::int64_t ny, plate_edge edge) {
  const ieee_environment here;
  static const std::vector<stencil_entry> entries = {
      {0, -2, 0, 1}, {-1, -1, 0, 2}, {0, -1, 0, -8}, {1, -1, 0, 2}, {-2, 0, 0, 1}, {-1, 0, 0, -8},
      {1, 0, 0, -8}, {2, 0, 0, 1},   {-1, 1, 0, 2},  {0, 1, 0, -8}, {1, 1, 0, 2},  {0, 2, 0, 1}};
  const grid g = checked_grid(nx, ny, 1);
  // The point beyond an edge carries minus the value before it (supported) or the same value (clamped).
  const double beyond = edge == plate_edge::supported ? -1 : 1;
  return stencil_matrix(dev, g, entries, [&](std::int64_t x, std::int64_t y, std::int64_t, double) {
    const int edges = (x == 0) + (x == g.nx - 1) + (y == 0) + (y == g.ny - 1);
    return 20 + beyond * edges;
  });
}

}  // namespace vouch
