#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/generate/elasticity.hpp>
#include <vouch/generate/finite_elements.hpp>

#include "dense.hpp"

namespace vouch {
namespace {

using testing::multiply;
using vector = std::vector<long double>;

const device cpu = device::cpu(3);

class every_element : public ::testing::TestWithParam<element> {
 protected:
  mesh irregular(double lx = 2) const {
    return box_mesh(cpu, GetParam(), {.nx = 3, .ny = 4, .nz = 3, .lx = lx, .perturb = 0.15, .seed = 5});
  }
  int dim() const { return dimension(GetParam()); }
};

// Twice the area or six times the volume of a simplex, by its edges from the first corner.
long double determinant(const mesh& m, std::int64_t e, const std::vector<int>& corner) {
  const int dim = dimension(m.kind);
  long double d[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const auto coordinate = [&](int c, int k) {
    return m.points[std::int64_t{m.nodes[e * corners(m.kind) + c]} * dim + k];
  };
  for (int c = 0; c < dim; ++c)
    for (int k = 0; k < dim; ++k)
      d[c][k] = static_cast<long double>(coordinate(corner[static_cast<std::size_t>(c) + 1], k)) -
                coordinate(corner[0], k);
  return d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
         d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]);
}

TEST(mesh, simplices_fill_the_box_and_keep_their_orientation) {
  for (const element kind : {element::triangle, element::tetrahedron}) {
    const mesh m = box_mesh(cpu, kind, {.nx = 6, .ny = 5, .nz = 4, .lx = 2, .perturb = 0.15, .seed = 3});
    long double volume = 0;
    for (std::int64_t e = 0; e < m.element_count(); ++e) {
      const long double d = determinant(m, e, {0, 1, 2, 3});
      EXPECT_GT(d, 0) << "element " << e;
      volume += d / (dimension(kind) == 2 ? 2 : 6);
    }
    EXPECT_NEAR(static_cast<double>(volume), 2.0, 1e-14);
  }
}

// Translations and, in each plane, the infinitesimal rotation.
std::vector<vector> rigid_modes(const mesh& m) {
  const int dim = dimension(m.kind);
  std::vector<vector> modes;
  for (int d = 0; d < dim; ++d) {
    vector v(static_cast<std::size_t>(m.points.size()));
    for (std::int64_t i = 0; i < m.node_count(); ++i) v[static_cast<std::size_t>(i * dim + d)] = 1;
    modes.push_back(v);
  }
  for (int a = 0; a < dim; ++a)
    for (int b = 0; b < a; ++b) {
      vector v(static_cast<std::size_t>(m.points.size()));
      for (std::int64_t i = 0; i < m.node_count(); ++i) {
        v[static_cast<std::size_t>(i * dim + a)] = m.points[i * dim + b];
        v[static_cast<std::size_t>(i * dim + b)] = -static_cast<long double>(m.points[i * dim + a]);
      }
      modes.push_back(v);
    }
  return modes;
}

TEST_P(every_element, rigid_motions_cost_nothing_unclamped) {
  const mesh m = irregular();
  const csr<double> A = elasticity(cpu, m, {.poisson_ratio = 0.4, .contrast = 10, .clamped = false});
  ASSERT_EQ(A.rows, dim() * m.node_count());
  EXPECT_TRUE(testing::well_formed(A));
  for (const vector& mode : rigid_modes(m))
    for (const long double force : multiply(A, mode)) ASSERT_NEAR(static_cast<double>(force), 0, 1e-12);
}

// A linear displacement has constant stress, so that inner nodes are in equilibrium: the patch test.
TEST_P(every_element, passes_the_patch_test) {
  const mesh m = irregular();
  const csr<double> A = elasticity(cpu, m, {.poisson_ratio = 0.35, .clamped = false});
  const long double gradient[3][3] = {{0.3L, -0.2L, 0.7L}, {0.5L, 0.9L, -0.4L}, {-0.6L, 0.1L, 0.8L}};
  vector u(static_cast<std::size_t>(A.rows));
  for (std::int64_t i = 0; i < m.node_count(); ++i)
    for (int a = 0; a < dim(); ++a)
      for (int b = 0; b < dim(); ++b)
        u[static_cast<std::size_t>(i * dim() + a)] += gradient[a][b] * m.points[i * dim() + b];
  const vector force = multiply(A, u);
  long double largest = 0;
  for (std::int64_t i = 0; i < m.node_count(); ++i)
    for (int a = 0; a < dim(); ++a) {
      const long double f = force[static_cast<std::size_t>(i * dim() + a)];
      if (m.faces[i] == 0) {
        ASSERT_NEAR(static_cast<double>(f), 0, 1e-13);
      }
      largest = std::max(largest, std::abs(f));
    }
  EXPECT_GT(largest, 0.01);  // the rim is loaded
}

// The energy of a linear displacement is the stress times the strain times the volume.
TEST_P(every_element, stretching_energy_is_exact) {
  const mesh m = irregular(2);
  const double young = 3, nu = 0.25, lambda = young * nu / ((1 + nu) * (1 - 2 * nu)),
               mu = young / (2 * (1 + nu));
  const csr<double> A = elasticity(cpu, m, {.young = young, .poisson_ratio = nu, .clamped = false});
  vector u(static_cast<std::size_t>(A.rows));
  for (std::int64_t i = 0; i < m.node_count(); ++i)
    u[static_cast<std::size_t>(i * dim())] = m.points[i * dim()];
  const vector force = multiply(A, u);
  long double energy = 0;
  for (std::size_t i = 0; i < u.size(); ++i) energy += u[i] * force[i];
  EXPECT_NEAR(static_cast<double>(energy), (lambda + 2 * mu) * 2, 1e-12);
}

TEST_P(every_element, clamped_is_symmetric_positive_definite) {
  for (const double nu : {0.0, 0.3, 0.499}) {
    const mesh m = irregular(20);
    const csr<double> A = elasticity(cpu, m, {.poisson_ratio = nu, .contrast = 1e3});
    EXPECT_EQ(A.rows, dim() * 3 * 5 * (dim() == 3 ? 4 : 1));
    EXPECT_TRUE(testing::well_formed(A));
    EXPECT_TRUE(testing::exactly_symmetric(A));
    EXPECT_TRUE(testing::positive_definite(testing::to_dense(A)));
  }
}

TEST_P(every_element, bits_do_not_depend_on_threads) {
  const mesh m = irregular();
  EXPECT_TRUE(testing::same_bits(elasticity(device::cpu(1), m), elasticity(device::cpu(4), m)));
}

TEST_P(every_element, scalar_elements_hold_constants_and_linear_functions) {
  const mesh m = irregular();
  const csr<double> A = finite_elements(cpu, m, boundary::neumann);
  EXPECT_TRUE(testing::well_formed(A));
  EXPECT_TRUE(testing::exactly_symmetric(A));
  for (const long double sum : multiply(A, vector(static_cast<std::size_t>(A.rows), 1)))
    ASSERT_NEAR(static_cast<double>(sum), 0, 1e-13);
  vector u;
  for (std::int64_t i = 0; i < m.node_count(); ++i)
    u.push_back(3 - 2 * m.points[i * dim()] + m.points[i * dim() + 1]);
  const vector flow = multiply(A, u);
  for (std::int64_t i = 0; i < m.node_count(); ++i)
    if (m.faces[i] == 0) {
      ASSERT_NEAR(static_cast<double>(flow[static_cast<std::size_t>(i)]), 0, 1e-13);
    }
  EXPECT_TRUE(testing::positive_definite(testing::to_dense(finite_elements(cpu, m))));
}

INSTANTIATE_TEST_SUITE_P(elements, every_element,
                         ::testing::Values(element::triangle, element::quadrilateral, element::tetrahedron,
                                           element::hexahedron));

TEST(finite_elements, triangles_of_squares_give_the_five_point_stencil) {
  const mesh m = box_mesh(cpu, element::triangle, {.nx = 4, .ny = 4});
  const testing::dense M = testing::to_dense(finite_elements(cpu, m));  // 3 by 3 inner nodes
  EXPECT_NEAR(static_cast<double>(M[4][4]), 4, 1e-15);
  for (const std::size_t j : {1, 3, 5, 7}) EXPECT_NEAR(static_cast<double>(M[4][j]), -1, 1e-15);
  for (const std::size_t j : {0, 2, 6, 8}) EXPECT_NEAR(static_cast<double>(M[4][j]), 0, 1e-15);
}

TEST(elasticity, refuses_senseless_options) {
  const mesh m = box_mesh(cpu, element::triangle, {.nx = 2, .ny = 2});
  EXPECT_THROW(elasticity(cpu, m, {.poisson_ratio = 0.5}), value_error);
  EXPECT_THROW(elasticity(cpu, m, {.poisson_ratio = -1}), value_error);
  EXPECT_THROW(elasticity(cpu, m, {.young = 0}), value_error);
  EXPECT_THROW(box_mesh(cpu, element::triangle, {.nx = 2, .ny = 2, .perturb = 0.2}), value_error);
  EXPECT_THROW(box_mesh(cpu, element::hexahedron, {.nx = 2, .ny = 2, .nz = 0}), value_error);
  EXPECT_THROW(box_mesh(cpu, element::hexahedron, {.nx = 2, .ny = 2, .nz = 2, .lz = -1}), value_error);
}

}  // namespace
}  // namespace vouch
