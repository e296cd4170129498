// Krylov methods that keep small systems on the chip of a GPU, against the same methods on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <vouch/solve/krylov/bicgstab.hpp>
#include <vouch/solve/krylov/minres.hpp>

#include "../devices.hpp"
#include "krylov_answer.hpp"

namespace vouch {
namespace {

using testing::convection;
using testing::gpus;
using testing::krylov_answer;

// l of BiCGStab; 0: MINRES.
struct resident_method {
  int l;
  template <real T>
  krylov_answer solve(const device& dev, const csr<double>& A, const std::vector<double>& b,
                      const stopping_criterion& goal, const std::string& M, T) const {
    return testing::solve_from_zero<
        T>(dev, A, b, M, [&](const device& on, const auto& there, auto rhs, auto x, const auto* by) {
      return l == 0 ? minres<T>(on, there, rhs, x, {goal}, by) : bicgstab<T>(on, there, rhs, x, {goal, l}, by);
    });
  }
  bool needs_symmetry() const { return l == 0; }
};
constexpr resident_method methods[] = {{0}, {1}, {2}};

// Grids, whose blocks have halos from one neighbour or from many, rows of many lengths, fewer rows than blocks.
std::vector<csr<double>> systems(bool symmetric) {
  std::vector<csr<double>> all;
  all.push_back(symmetric ? testing::shifted_laplacian(61, 0.01) : convection(61, 3.0));
  all.push_back(testing::random_spd(700, 9, 4));
  all.push_back(symmetric ? testing::shifted_laplacian(3, 0.7) : convection(3, 2.0));
  all.push_back(symmetric ? testing::saddle_point(30, 0.3) : testing::random_spd(1500, 40, 5));
  return all;
}

bool is_resident(const krylov_answer& a) { return a.report.engine.find("resident") != std::string::npos; }

double distance(const krylov_answer& a, const krylov_answer& b) {
  double square = 0, size = 0;
  for (std::size_t i = 0; i < a.x.size(); ++i) {
    square += (a.x[i] - b.x[i]) * (a.x[i] - b.x[i]);
    size += b.x[i] * b.x[i];
  }
  return std::sqrt(square / size);
}

TEST(krylov_resident, first_iterates_are_those_of_the_cpu) {
  VOUCH_NEEDS_GPU();
  for (const device& dev : gpus())
    for (const resident_method& method : methods)
      for (const csr<double>& A : systems(method.needs_symmetry()))
        for (const char* M : {"none", "jacobi"}) {
          if (method.needs_symmetry() && *M == 'j' && A.rows == 1200) continue;  // no positive diagonal
          const std::vector<double> b = testing::random_vector(A.rows, 3);
          for (const int steps : {1, 2, 3, 7}) {
            if (A.rows < 16 && steps > 2) continue;  // rounding is all that is left
            stopping_criterion goal;
            goal.fixed_iterations = steps;
            const krylov_answer here = method.solve(dev, A, b, goal, M, 0.0),
                                there = method.solve(device::cpu(1), A, b, goal, M, 0.0);
            if (testing::runs_sm90_code(dev)) {
              EXPECT_TRUE(is_resident(here)) << here.report.engine;
            }
            EXPECT_EQ(here.report.iterations, there.report.iterations);
            EXPECT_EQ(here.report.status, there.report.status) << here.report.reason;
            EXPECT_LT(distance(here, there), 1e-9) << method.l << ' ' << A.rows << ' ' << M << ' ' << steps;
            ASSERT_EQ(here.report.history.size(), there.report.history.size());
            for (std::size_t k = 0; k < here.report.history.size(); ++k)
              EXPECT_NEAR(here.report.history[k].residual, there.report.history[k].residual,
                          1e-8 * there.report.history[k].residual + 1e-14 * there.report.history[0].residual);
          }
        }
}

TEST(krylov_resident, whole_solves_converge_with_the_same_bits_on_every_run) {
  VOUCH_NEEDS_GPU();
  for (const device& dev : gpus())
    for (const resident_method& method : methods)
      for (const csr<double>& A : systems(method.needs_symmetry()))
        for (const char* M : {"none", "jacobi"}) {
          if (method.needs_symmetry() && *M == 'j' && A.rows == 1200) continue;
          const std::vector<double> b = testing::random_vector(A.rows, 8);
          const krylov_answer found = method.solve(dev, A, b, {}, M, 0.0),
                              again = method.solve(dev, A, b, {}, M, 0.0),
                              single = method.solve(dev, A, b, {}, M, 0.0F);
          EXPECT_EQ(found.report.status, solve_status::converged) << found.report.reason;
          EXPECT_LE(testing::relative_residual(A, b, found.x), 1.0001e-8)
              << method.l << ' ' << A.rows << ' ' << M;
          EXPECT_EQ(found.x, again.x);
          EXPECT_EQ(found.report.iterations, again.report.iterations);
          if (single.report.status == solve_status::converged) {
            EXPECT_LE(testing::relative_residual(A, b, single.x), 1.001e-5);
          }
        }
}

TEST(krylov_resident, ends_when_it_is_told_to) {
  VOUCH_NEEDS_GPU();
  const csr<double> A = convection(40, 0.0);
  const std::vector<double> b = testing::random_vector(A.rows, 1);
  for (const device& dev : gpus())
    for (const resident_method& method : methods) {
      stopping_criterion goal;
      goal.max_iterations = 11;
      const krylov_answer few = method.solve(dev, A, b, goal, "none", 0.0);
      EXPECT_EQ(few.report.status, solve_status::max_iterations);
      EXPECT_EQ(few.report.iterations, 11);
      goal = {};
      goal.fixed_iterations = 100000000;
      goal.on_iteration = [](const iteration_record& r) { return r.iteration < 7; };
      const krylov_answer cut = method.solve(dev, A, b, goal, "none", 0.0);
      EXPECT_LT(cut.report.iterations, 100000000);
    }
}

}  // namespace
}  // namespace vouch
