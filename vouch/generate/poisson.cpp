#include <cstdlib>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/generate/grid.hpp>
#include <vouch/generate/poisson.hpp>

namespace vouch {
namespace {

// Weights by the number of directions in which an entry lies off the centre; 0 leaves it out.
struct weights {
  double centre, face, edge, corner;
};

std::vector<stencil_entry> entries(int dimension, const weights& w) {
  std::vector<stencil_entry> list;
  const int ry = dimension > 1, rz = dimension > 2;
  for (int dz = -rz; dz <= rz; ++dz)
    for (int dy = -ry; dy <= ry; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const int off = std::abs(dx) + std::abs(dy) + std::abs(dz);
        const double weight = off == 1 ? w.face : off == 2 ? w.edge : w.corner;
        if (off > 0 && weight != 0) list.push_back({dx, dy, dz, weight});
      }
  return list;
}

csr<double> laplacian(const device& dev, const grid& g, int dimension, const weights& w, boundary edge) {
  return stencil_matrix(dev, g, entries(dimension, w),
                        [&](std::int64_t, std::int64_t, std::int64_t, double sum) {
                          return edge == boundary::neumann ? 0.0 - sum : w.centre;
                        });
}

}  // namespace

csr<double> poisson_1d(const device& dev, std::int64_t n, boundary edge) {
  const ieee_environment here;
  return laplacian(dev, checked_grid(n, 1, 1), 1, {2, -1, 0, 0}, edge);
}

csr<double> poisson_2d(const device& dev, std::int64_t nx, std::int64_t ny, int points, boundary edge) {
  const ieee_environment here;
  if (points != 5 && points != 9)
    throw value_error("a stencil of " + std::to_string(points) + " points in 2D", "give 5 or 9");
  const weights w = points == 5 ? weights{4, -1, 0, 0} : weights{20, -4, -1, 0};
  return laplacian(dev, checked_grid(nx, ny, 1), 2, w, edge);
}

csr<double> poisson_3d(const device& dev, std::int64_t nx, std::int64_t ny, std::int64_t nz, int points,
                       boundary edge) {
  const ieee_environment here;
  if (points != 7 && points != 27)
    throw value_error("a stencil of " + std::to_string(points) + " points in 3D", "give 7 or 27");
  const weights w = points == 7 ? weights{6, -1, 0, 0} : weights{26, -1, -1, -1};
  return laplacian(dev, checked_grid(nx, ny, nz), 3, w, edge);
}

}  // namespace vouch
