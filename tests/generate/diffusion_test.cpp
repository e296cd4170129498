#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/generate/diffusion.hpp>

#include "dense.hpp"

namespace vouch {
namespace {

const device cpu = device::cpu(3);

TEST(diffusion, anisotropic_stencils) {
  const testing::dense M = testing::to_dense(anisotropic_2d(cpu, 3, 3, 0.25));
  EXPECT_EQ(M[4][4], 2.5L);
  EXPECT_EQ(M[4][3], -1);
  EXPECT_EQ(M[4][1], -0.25L);
  const csr<double> A = anisotropic_3d(cpu, 3, 3, 3, 0.5, boundary::neumann);
  const testing::dense N = testing::to_dense(A);
  EXPECT_EQ(N[13][13], 5);
  EXPECT_EQ(N[13][12], -1);
  EXPECT_EQ(N[13][10], -1);
  EXPECT_EQ(N[13][4], -0.5L);
  EXPECT_TRUE(testing::well_formed(A));
  EXPECT_TRUE(testing::exactly_symmetric(A));
  EXPECT_TRUE(testing::same_bits(anisotropic_3d(cpu, 4, 5, 3, 1), poisson_3d(cpu, 4, 5, 3)));
}

TEST(diffusion, two_cells_by_hand) {
  // Halves of the chequerboard: k = 1 and 4, harmonic mean 1.6; to the boundary 2k.
  diffusion_options options{coefficient::jump, 4, 1, boundary::dirichlet};
  const csr<double> A = diffusion(cpu, 8, 1, 1, options);
  const testing::dense M = testing::to_dense(A);
  EXPECT_DOUBLE_EQ(static_cast<double>(M[0][1]), -1.6);
  EXPECT_DOUBLE_EQ(static_cast<double>(M[0][0]), 1.6 + 3 * 2);
  EXPECT_DOUBLE_EQ(static_cast<double>(M[1][1]), 2 * 1.6 + 2 * 8);
}

TEST(diffusion, symmetric_and_definite_for_every_coefficient) {
  for (const coefficient kind : {coefficient::smooth, coefficient::jump, coefficient::random}) {
    diffusion_options options{kind, 1e6, 7, boundary::dirichlet};
    const csr<double> A = diffusion(cpu, 5, 6, 4, options);
    EXPECT_TRUE(testing::well_formed(A));
    EXPECT_TRUE(testing::exactly_symmetric(A));
    EXPECT_TRUE(testing::positive_definite(testing::to_dense(A)));
    EXPECT_TRUE(testing::same_bits(A, diffusion(device::cpu(1), 5, 6, 4, options)));
    options.edge = boundary::neumann;
    const csr<double> N = diffusion(cpu, 5, 6, 4, options);
    for (const long double sum : testing::multiply(N, std::vector<long double>(120, 1)))
      EXPECT_NEAR(static_cast<double>(sum), 0, 1e-8);  // entries up to 1e6, seven of them
  }
}

TEST(convection_diffusion, upwind_by_hand) {
  // In 2D at Peclet 4: out of the cell to the right 1 + 4, upwards 1 + 2; from the left 1 + 4, from below 1 + 2.
  const csr<double> A = convection_diffusion(cpu, 3, 3, 1, {4, flow::constant});
  const testing::dense M = testing::to_dense(A);
  EXPECT_EQ(M[4][4], 5 + 3 + 1 + 1);
  EXPECT_EQ(M[4][3], -5);
  EXPECT_EQ(M[4][5], -1);
  EXPECT_EQ(M[4][1], -3);
  EXPECT_EQ(M[4][7], -1);
  EXPECT_TRUE(testing::well_formed(A));
  EXPECT_TRUE(
      testing::same_bits(convection_diffusion(cpu, 4, 5, 3, {0, flow::constant}), poisson_3d(cpu, 4, 5, 3)));
  EXPECT_TRUE(
      testing::same_bits(convection_diffusion(cpu, 4, 5, 1, {0, flow::recirculating}), poisson_2d(cpu, 4, 5)));
}

TEST(convection_diffusion, what_flows_into_a_cell_flows_out) {
  // Conservative: columns sum to what leaves through the boundary, 0 inside; so do rows where the flow has no divergence.
  for (const flow kind : {flow::constant, flow::recirculating})
    for (const std::int64_t nz : {1, 6}) {
      const csr<double> A = convection_diffusion(cpu, 7, 9, nz, {100, kind});
      EXPECT_TRUE(testing::same_bits(A, convection_diffusion(device::cpu(1), 7, 9, nz, {100, kind})));
      const testing::dense M = testing::to_dense(A);
      const std::int64_t z = nz / 2;
      double fastest = 0;
      for (std::int64_t y = 1; y < 8; ++y)
        for (std::int64_t x = 1; x < 6; ++x) {
          const auto i = static_cast<std::size_t>(x + 7 * (y + 9 * z));
          long double row = 0, column = 0;
          for (std::size_t j = 0; j < M.size(); ++j) {
            row += M[i][j], column += M[j][i];
            if (i != j) {
              EXPECT_LE(M[i][j], 0);
              fastest = std::max(fastest, -1 - static_cast<double>(M[i][j]));
            }
          }
          EXPECT_NEAR(static_cast<double>(row), 0, 1e-11);
          EXPECT_NEAR(static_cast<double>(column), 0, 1e-11);
        }
      EXPECT_LE(fastest, 100);
      EXPECT_GE(fastest, 60);
    }
}

TEST(diffusion, refuses_senseless_coefficients) {
  EXPECT_THROW(convection_diffusion(cpu, 3, 3, 1, {-1, flow::constant}), value_error);
  EXPECT_THROW(convection_diffusion(cpu, 3, 3, 1, {std::numeric_limits<double>::infinity(), flow::constant}),
               value_error);
  EXPECT_THROW(anisotropic_2d(cpu, 3, 3, 0), value_error);
  EXPECT_THROW(anisotropic_2d(cpu, 3, 3, std::numeric_limits<double>::quiet_NaN()), value_error);
  EXPECT_THROW(diffusion(cpu, 3, 3, 1, {coefficient::jump, -1, 1, boundary::dirichlet}), value_error);
}

}  // namespace
}  // namespace vouch
