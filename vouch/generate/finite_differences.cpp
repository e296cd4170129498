// Finite differences on regular grids: Laplacians, anisotropic and varying diffusion, plates.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/random.hpp>
#include <vouch/generate/diffusion.hpp>
#include <vouch/generate/grid.hpp>
#include <vouch/generate/plate.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/text/number.hpp>

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

namespace {

void check_positive(const char* what, double value) {
  if (!(value > 0) || std::isinf(value))
    throw value_error(std::string(what) + " " + std::to_string(value), "give a positive finite number");
}

// The fraction of the way from 1 to the contrast, by powers, at the middle of a cell.
double exponent(const grid& g, const diffusion_options& options, std::int64_t cell) {
  const std::int64_t x = cell % g.nx, y = cell / g.nx % g.ny, z = cell / (g.nx * g.ny);
  if (options.kind == coefficient::random) return random_unit(options.seed, static_cast<std::uint64_t>(cell));
  if (options.kind == coefficient::jump)
    return static_cast<double>((8 * x / g.nx + 8 * y / g.ny + 8 * z / g.nz) % 2);
  const auto wave = [](std::int64_t i, std::int64_t n) {
    return n == 1 ? 1.0
                  : std::sin(2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
  };
  return 0.5 + 0.5 * wave(x, g.nx) * wave(y, g.ny) * wave(z, g.nz);
}

double harmonic_mean(double a, double b) { return 2 * (a * b) / (a + b); }

// The six neighbours of a cell in the order of their columns, the cell itself being fourth of seven.
struct neighbour {
  int dx, dy, dz;
};
constexpr neighbour below[] = {{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}};
constexpr neighbour above[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

}  // namespace

csr<double> anisotropic_2d(const device& dev, std::int64_t nx, std::int64_t ny, double epsilon, boundary edge) {
  const ieee_environment here;
  check_positive("epsilon", epsilon);
  return stencil_matrix(dev, checked_grid(nx, ny, 1),
                        {{0, -1, 0, -epsilon}, {-1, 0, 0, -1}, {1, 0, 0, -1}, {0, 1, 0, -epsilon}},
                        [&](std::int64_t, std::int64_t, std::int64_t, double sum) {
                          return edge == boundary::neumann ? 0.0 - sum : 2 + 2 * epsilon;
                        });
}

csr<double> anisotropic_3d(const device& dev, std::int64_t nx, std::int64_t ny, std::int64_t nz, double epsilon,
                           boundary edge) {
  const ieee_environment here;
  check_positive("epsilon", epsilon);
  return stencil_matrix(
      dev, checked_grid(nx, ny, nz),
      {{0, 0, -1, -epsilon}, {0, -1, 0, -1}, {-1, 0, 0, -1}, {1, 0, 0, -1}, {0, 1, 0, -1}, {0, 0, 1, -epsilon}},
      [&](std::int64_t, std::int64_t, std::int64_t, double sum) {
        return edge == boundary::neumann ? 0.0 - sum : 4 + 2 * epsilon;
      });
}

csr<double> diffusion(const device& dev, std::int64_t nx, std::int64_t ny, std::int64_t nz,
                      const diffusion_options& options) {
  const ieee_environment here;
  check_positive("contrast", options.contrast);
  const grid g = checked_grid(nx, ny, nz);
  array<double> k(dev, g.size());
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, g.size())) schedule(static)
  for (std::int64_t i = 0; i < g.size(); ++i) k[i] = std::pow(options.contrast, exponent(g, options, i));

  const bool flat = nz == 1;  // 2D: nothing flows through the faces above and below
  return build_rows(dev, g.size(), g.size(), [&](std::int64_t row, auto& out) {
    const std::int64_t x = row % g.nx, y = row / g.nx % g.ny, z = row / (g.nx * g.ny);
    const auto column = [&](neighbour n) { return g.index(x + n.dx, y + n.dy, z + n.dz); };
    const auto inside = [&](neighbour n) { return g.contains(x + n.dx, y + n.dy, z + n.dz); };
    double diagonal = 0;
    const auto add_flow = [&](neighbour n) {
      if (inside(n))
        diagonal += harmonic_mean(k[row], k[column(n)]);
      else if (options.edge == boundary::dirichlet && !(flat && n.dz != 0))
        diagonal += 2 * k[row];
    };
    for (const neighbour n : below) add_flow(n);
    for (const neighbour n : above) add_flow(n);
    for (const neighbour n : below)
      if (inside(n)) out.add(column(n), -harmonic_mean(k[row], k[column(n)]));
    out.add(row, diagonal);
    for (const neighbour n : above)
      if (inside(n)) out.add(column(n), -harmonic_mean(k[row], k[column(n)]));
  });
}

namespace {

// sin(pi i / n), i = 0 to n, with zeros at both ends.
std::vector<double> half_wave(std::int64_t n) {
  std::vector<double> values(static_cast<std::size_t>(n + 1));
  for (std::int64_t i = 1; i < n; ++i)
    values[static_cast<std::size_t>(i)] =
        std::sin(std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  return values;
}

// The flow through the face between a cell and its neighbour, out of the cell.
class face_flow {
 public:
  face_flow(const grid& g, const convection_options& options)
      : options_(options),
        flat_(g.nz == 1),
        shorter_(static_cast<double>(std::min(g.nx, g.ny))),
        in_x_(half_wave(g.nx)),
        in_y_(half_wave(g.ny)),
        in_z_(half_wave(2 * g.nz)) {}

  double out_of(std::int64_t x, std::int64_t y, std::int64_t z, neighbour to) const {
    if (options_.kind == flow::constant) return options_.peclet * (to.dx + 0.5 * to.dy + 0.25 * to.dz);
    if (to.dz != 0) return 0;
    // Differences of a stream function between the two corners of the face: what flows in flows out.
    const double middle = flat_ ? 1 : in_z_[static_cast<std::size_t>(2 * z + 1)];
    const std::int64_t face_x = x + (to.dx > 0), face_y = y + (to.dy > 0);
    return middle * (to.dx != 0 ? to.dx * (stream(face_x, y + 1) - stream(face_x, y))
                                : to.dy * (stream(x, face_y) - stream(x + 1, face_y)));
  }

 private:
  double stream(std::int64_t x, std::int64_t y) const {
    return options_.peclet * shorter_ / std::numbers::pi * in_x_[static_cast<std::size_t>(x)] *
           in_y_[static_cast<std::size_t>(y)];
  }

  convection_options options_;
  bool flat_;
  double shorter_;
  std::vector<double> in_x_, in_y_, in_z_;
};

}  // namespace

csr<double> convection_diffusion(const device& dev, std::int64_t nx, std::int64_t ny, std::int64_t nz,
                                 const convection_options& options) {
  const ieee_environment here;
  constexpr double most = 1e200;
  if (!(options.peclet >= 0 && options.peclet <= most))
    throw value_error("a Peclet number of " + number_text(options.peclet), "give one from 0 to 1e200");
  const grid g = checked_grid(nx, ny, nz);
  const face_flow through(g, options);
  return build_rows(dev, g.size(), g.size(), [&](std::int64_t row, auto& out) {
    const std::int64_t x = row % g.nx, y = row / g.nx % g.ny, z = row / (g.nx * g.ny);
    double diagonal = 0;
    const auto meets = [&](neighbour n) { return nz > 1 || n.dz == 0; };
    const auto add_outflow = [&](neighbour n) {
      if (meets(n)) diagonal += 1 + std::max(through.out_of(x, y, z, n), 0.0);
    };
    for (const neighbour n : below) add_outflow(n);
    for (const neighbour n : above) add_outflow(n);
    const auto couple = [&](neighbour n) {
      if (meets(n) && g.contains(x + n.dx, y + n.dy, z + n.dz))
        out.add(g.index(x + n.dx, y + n.dy, z + n.dz), -1 - std::max(-through.out_of(x, y, z, n), 0.0));
    };
    for (const neighbour n : below) couple(n);
    out.add(row, diagonal);
    for (const neighbour n : above) couple(n);
  });
}

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
