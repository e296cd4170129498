// Stationary iterations against textbook sweeps in long double, and against exact solutions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/solve/stationary/dominance.hpp>

#include "solve/stationary_systems.hpp"

namespace vouch {
namespace {

using namespace testing;

template <class T>
class stationary : public ::testing::Test {};
using precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(stationary, precisions);

TYPED_TEST(stationary, iterates_are_those_of_the_textbook) {
  using T = TypeParam;
  // Sizes around the block of 128 rows and the vectors of lanes.
  for (const std::int64_t n : {1, 2, 65, 127, 129, 257})
    for (const bool sparse : {false, true}) {
      const square A = random_square(n, 1.2, static_cast<std::uint64_t>(n), sparse);
      const std::vector<double> b = product(A, integers(n, 3));
      const std::vector<double> start = integers(n, 4);
      for (const method m : methods) {
        std::vector<long double> expected(start.begin(), start.end());
        int done = 0;
        for (const int sweeps : {1, 2, 3, 7}) {
          for (; done < sweeps; ++done) sweep(A, b, expected, m);
          for (const auto& [dev, form] : ways()) {
            stopping_criterion goal;
            goal.fixed_iterations = sweeps;
            const auto r = solve<T>(A, b, std::vector<T>(start.begin(), start.end()), m, form, goal, dev);
            EXPECT_EQ(r.report.status, solve_status::fixed);
            EXPECT_EQ(r.report.iterations, sweeps);
            EXPECT_LE(distance(r.x, expected), 64 * std::numeric_limits<T>::epsilon() * largest(expected))
                << "n " << n << " method " << static_cast<int>(m) << " form " << static_cast<int>(form)
                << " sweeps " << sweeps;
          }
        }
      }
    }
}

TYPED_TEST(stationary, converges_to_the_exact_solution_within_the_bound) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 40, 300}) {
    const square A = random_square(n, 1.1, 11);
    const std::vector<double> exact = integers(n, 5);
    const std::vector<double> b = product(A, exact);
    for (const method m : methods)
      for (const auto& [dev, form] : ways()) {
        const auto r = solve<T>(A, b, std::vector<T>(b.size(), T{1}), m, form, {}, dev);
        ASSERT_EQ(r.report.status, solve_status::converged) << r.report.reason;
        std::vector<double> x(r.x.begin(), r.x.end());
        EXPECT_LE(testing::relative_residual(sparse_of(A), b, x), sizeof(T) == 4 ? 1e-5 : 1e-8);
        ASSERT_TRUE(r.report.error_bound.has_value());
        const double error = distance(r.x, std::vector<long double>(exact.begin(), exact.end()));
        EXPECT_GE(*r.report.error_bound, error);
        // Of use as well: not above the tolerance times the norm of the inverse and of b.
        EXPECT_LE(*r.report.error_bound, 50 * (sizeof(T) == 4 ? 1e-5 : 1e-8) * std::sqrt(n) * 50);
      }
  }
}

TYPED_TEST(stationary, bound_holds_at_every_iterate_even_at_the_solution) {
  using T = TypeParam;
  const square A = random_square(90, 1.3, 12);
  const std::vector<double> exact = integers(90, 6), b = product(A, exact);
  for (const int sweeps : {0, 1, 4, 20, 60, 200})
    for (const auto& [dev, form] : ways()) {
      stopping_criterion goal;
      goal.fixed_iterations = sweeps;
      const auto r = solve<T>(A, b, std::vector<T>(b.size()), method::forward, form, goal, dev);
      ASSERT_TRUE(r.report.error_bound.has_value());
      EXPECT_GE(*r.report.error_bound, distance(r.x, std::vector<long double>(exact.begin(), exact.end())));
    }
}

// Sizes that a team sweeps together, more threads than there are cores among them.
TYPED_TEST(stationary, iterates_of_a_team_are_those_of_the_textbook_with_the_same_bits) {
  using T = TypeParam;
  stopping_criterion goal;
  goal.fixed_iterations = 3;
  for (const std::int64_t n : {641, 1100}) {
    const square dense = random_square(n, 1.05, 13), sparse = random_square(n, 1.05, 14, true);
    for (const method m : {method::jacobi, method::forward, method::backward, method::symmetric})
      for (const kept form : forms) {
        const square& A = form == kept::sparse ? sparse : dense;
        const std::vector<double> b = product(A, integers(n, 7));
        const std::vector<T> start(b.size(), T{1});
        std::vector<long double> expected(start.begin(), start.end());
        for (int k = 0; k < 3; ++k) sweep(A, b, expected, m);
        const auto one = solve<T>(A, b, start, m, form, goal, device::cpu(1));
        EXPECT_LE(distance(one.x, expected), 64 * std::numeric_limits<T>::epsilon() * largest(expected));
        for (const int threads : {2, 3, 16}) {
          const auto team = solve<T>(A, b, start, m, form, goal, device::cpu(threads));
          EXPECT_EQ(one.x, team.x);
          ASSERT_EQ(one.report.history.size(), team.report.history.size());
          for (std::size_t k = 0; k < one.report.history.size(); ++k)
            EXPECT_EQ(one.report.history[k].residual, team.report.history[k].residual);
          EXPECT_EQ(one.report.error_bound, team.report.error_bound);
        }
      }
  }
}

// Sizes that fill a GPU: the matrix in registers, in shared memory and streamed, rows that fill 16 bytes and do
// not, several pieces a row, each block with rows of several steps.
TYPED_TEST(stationary, iterates_on_a_gpu_are_those_of_the_textbook) {
  VOUCH_NEEDS_GPU();
  using T = TypeParam;
  const device gpu = testing::gpus()[0];
  for (const std::int64_t n : {132, 1024, 1536, 2047, 2300, 5000}) {
    const square A = random_square(n, 1.05, static_cast<std::uint64_t>(n));
    const std::vector<double> b = product(A, integers(n, 3)), start = integers(n, 4);
    for (const method m : {method::jacobi, method::forward, method::backward, method::ssor}) {
      std::vector<long double> expected(start.begin(), start.end());
      const int sweeps = n < 3000 ? 5 : 2;
      for (int k = 0; k < sweeps; ++k) sweep(A, b, expected, m);
      stopping_criterion goal;
      goal.fixed_iterations = sweeps;
      const std::vector<T> x(start.begin(), start.end());
      const auto once = solve<T>(A, b, x, m, kept::by_rows, goal, gpu);
      EXPECT_EQ(once.report.iterations, sweeps);
      EXPECT_LE(distance(once.x, expected), 64 * std::numeric_limits<T>::epsilon() * largest(expected))
          << "n " << n << " method " << static_cast<int>(m);
      const auto again = solve<T>(A, b, x, m, kept::by_columns, goal, gpu);
      EXPECT_EQ(once.x, again.x);
      ASSERT_EQ(once.report.history.size(), again.report.history.size());
      for (std::size_t k = 0; k < once.report.history.size(); ++k)
        EXPECT_EQ(once.report.history[k].residual, again.report.history[k].residual);
    }
  }
}

// Rows of a grid in the order of a wave have many neighbours of one set: the team's way.
TEST(gauss_seidel_of_a_grid, same_bits_side_by_side_as_one_after_the_other) {
  const std::int32_t m = 64;
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < m * m * m; ++i) {
    entries.push_back({i, i, 6.5});
    for (const std::int32_t step : {1, m, m * m}) {
      if (i / step % m + 1 < m) entries.push_back({i, i + step, -1.25});  // unsymmetric
      if (i / step % m > 0) entries.push_back({i, i - step, -0.75});
    }
  }
  const csr<double> A = from_triplets(m * m * m, entries);
  const std::vector<double> b = random_vector(A.rows, 8);
  std::vector<double> x[2];
  std::string engine[2];
  for (const int k : {0, 1}) {
    x[k].assign(b.size(), 0.0);
    gauss_seidel_options o;
    o.goal.fixed_iterations = 4;
    o.order = sweep_order::symmetric;
    engine[k] =
        gauss_seidel<double>(device::cpu(1 + 2 * k), A, {b.data(), A.rows}, {x[k].data(), A.rows}, o).engine;
  }
  EXPECT_EQ(x[0], x[1]);
  EXPECT_EQ(engine[0], "1 thread, csr");
  EXPECT_NE(engine[1].find("sets of independent rows"), std::string::npos) << engine[1];
}

// An unsymmetric ring: colours 0 1 0 1 2, by hand; the sweep then takes rows 0 2, 1 3, 4.
TEST(gauss_seidel_by_colours, takes_the_rows_colour_after_colour) {
  std::vector<triplet> entries;
  const std::int32_t n = 5;
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 4.0 + i});
    entries.push_back({i, (i + 1) % n, -1.0});
  }
  const csr<double> A = from_triplets(n, entries);
  const std::vector<double> b{1, 2, 3, 4, 5};
  std::vector<long double> expected(5, 1);
  for (int sweeps = 0; sweeps < 3; ++sweeps)
    for (const std::size_t i : {0, 2, 1, 3, 4})
      expected[i] = (b[i] + expected[(i + 1) % 5]) / (4.0L + static_cast<long double>(i));
  for (const int threads : {1, 3}) {
    std::vector<double> x(5, 1.0);
    gauss_seidel_options o;
    o.goal.fixed_iterations = 3;
    o.ordering = sweep_ordering::multicolor;
    const solve_report report = gauss_seidel<double>(device::cpu(threads), A, {b.data(), n}, {x.data(), n}, o);
    EXPECT_NE(report.engine.find("3 colours"), std::string::npos) << report.engine;
    EXPECT_LE(distance(x, expected), 1e-15);
  }
  const matrix_view<const double> dense{b.data(), 1, 1, 1};
  std::vector<double> x{0};
  EXPECT_THROW(gauss_seidel<double>(device::cpu(1), transpose::no, dense, {b.data(), 1}, {x.data(), 1},
                                    {{}, sweep_order::forward, {}, sweep_ordering::multicolor}),
               value_error);
}

}  // namespace
}  // namespace vouch
