#include <gtest/gtest.h>

#include <vouch/core/error.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/generate/problems.hpp>
#include <vouch/generate/solution.hpp>
#include <vouch/sparse/structure.hpp>

#include "dense.hpp"

namespace vouch {
namespace {

const device cpu = device::cpu(3);

problem_options small(const problem_facts& facts) {
  problem_options options;
  if (facts.dimension > 0) options.nx = 4;
  return options;
}

TEST(problems, all_but_those_that_say_otherwise_are_symmetric_and_positive_definite) {
  for (const problem_facts& facts : problems()) {
    if (facts.dimension == 0 || !facts.symmetric) continue;
    const csr<double> A = generate_problem(cpu, facts.name, small(facts));
    EXPECT_TRUE(testing::well_formed(A)) << facts.name;
    EXPECT_TRUE(testing::exactly_symmetric(A)) << facts.name;
    EXPECT_TRUE(testing::positive_definite(testing::to_dense(A))) << facts.name;
  }
}

TEST(problems, every_order_keeps_rows_together) {
  for (const char* order : {"random", "rcm"}) {
    problem_options options{.nx = 3, .order = order};
    const csr<double> A = generate_problem(cpu, "elasticity-3d", options);
    EXPECT_EQ(structure<double>(cpu, A).block_size, 3) << order;
    EXPECT_TRUE(testing::exactly_symmetric(A));
    EXPECT_EQ(A.nonzeros(), generate_problem(cpu, "elasticity-3d", {.nx = 3}).nonzeros());
    EXPECT_FALSE(testing::same_bits(A, generate_problem(cpu, "elasticity-3d", {.nx = 3})));
  }
}

TEST(problems, sizes_follow_the_one_before) {
  EXPECT_TRUE(
      testing::same_bits(generate_problem(cpu, "poisson-3d", {.nx = 3, .nz = 5}), poisson_3d(cpu, 3, 3, 5)));
  EXPECT_TRUE(
      testing::same_bits(generate_problem(cpu, "poisson-2d", {.nx = 3, .ny = 4}), poisson_2d(cpu, 3, 4)));
}

TEST(problems, fixed_ones_have_the_size_they_say) {
  const csr<double> A = generate_problem(cpu, "elasticity-11k");
  EXPECT_EQ(A.rows, 10944);
  EXPECT_EQ(A.nonzeros(), 428706);
  const csr<double> B = generate_problem(cpu, "elasticity-100k");
  EXPECT_EQ(B.rows, 98304);
  EXPECT_TRUE(structure<double>(cpu, B).symmetric);
}

TEST(problems, singular_ones_are_recognised) {
  for (const char* name : {"poisson-2d", "poisson-3d-27", "diffusion-3d", "elements-2d", "elements-3d"}) {
    problem_options options{.nx = 6, .boundary = "neumann"};
    EXPECT_TRUE(structure<double>(cpu, generate_problem(cpu, name, options)).row_sums_zero) << name;
    EXPECT_FALSE(structure<double>(cpu, generate_problem(cpu, name, {.nx = 6})).row_sums_zero) << name;
  }
}

TEST(problems, refuses_what_a_problem_does_not_take) {
  EXPECT_THROW(generate_problem(cpu, "poisson-4d"), value_error);
  EXPECT_THROW(generate_problem(cpu, "poisson-2d", {.epsilon = 1}), value_error);
  EXPECT_THROW(generate_problem(cpu, "poisson-2d", {.nz = 1}), value_error);
  EXPECT_THROW(generate_problem(cpu, "poisson-2d", {.boundary = "free"}), value_error);
  EXPECT_THROW(generate_problem(cpu, "poisson-2d", {.order = "sorted"}), value_error);
  EXPECT_THROW(generate_problem(cpu, "elasticity-2d", {.element = "hexahedron"}), value_error);
  EXPECT_THROW(generate_problem(cpu, "elasticity-11k", {.nx = 3}), value_error);
  try {
    generate_problem(cpu, "plate", {.boundary = "dirichlet"});
    FAIL();
  } catch (const value_error& e) {
    EXPECT_STREQ(e.what(), "unknown boundary 'dirichlet'");
    EXPECT_EQ(e.hint(), "give supported or clamped");
  }
}

TEST(solution, ones_give_exact_row_sums_of_integers) {
  const csr<double> A = poisson_2d(cpu, 5, 4, 9);
  const array<double> b = right_hand_side(cpu, A, make_solution(cpu, known_solution::ones, 20));
  const std::vector<long double> sums = testing::multiply(A, std::vector<long double>(20, 1));
  for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(b[i], static_cast<double>(sums[static_cast<std::size_t>(i)]));
}

// In plain double the sum of 2^60 + 3 - 2^60 + 2^-20 loses everything but a multiple of 2^8.
TEST(solution, cancellation_costs_nothing) {
  const std::vector<std::int64_t> row_ptr{0, 4};
  const std::vector<std::int32_t> col{0, 1, 2, 3};
  const std::vector<double> val{0x1p60, 3, -0x1p60, 0x1p-20};
  const csr<double> A{1, 4, array<std::int64_t>::from(cpu, row_ptr), array<std::int32_t>::from(cpu, col),
                      array<double>::from(cpu, val)};
  EXPECT_EQ(right_hand_side(cpu, A, make_solution(cpu, known_solution::ones, 4))[0], 3 + 0x1p-20);
  EXPECT_THROW(right_hand_side(cpu, A, make_solution(cpu, known_solution::ones, 3)), shape_error);
}

TEST(solution, kinds) {
  const array<double> smooth = make_solution(cpu, known_solution::smooth, 4);
  EXPECT_NEAR(smooth[0], 1 + 0.5 * std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(smooth[3], 1 - 0.5 * std::sqrt(0.5), 1e-15);
  const array<double> random = make_solution(cpu, known_solution::random, 1000, 3);
  double mean = 0;
  for (const double x : random) {
    EXPECT_TRUE(x >= -1 && x < 1);
    mean += x / 1000;
  }
  EXPECT_LT(std::abs(mean), 0.1);
  EXPECT_EQ(random.to_vector(), make_solution(device::cpu(1), known_solution::random, 1000, 3).to_vector());
  EXPECT_NE(random.to_vector(), make_solution(cpu, known_solution::random, 1000, 4).to_vector());
}

}  // namespace
}  // namespace vouch
