// Stationary iterations against textbook sweeps in long double, and against exact solutions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/dense/residual.hpp>
#include <vouch/solve/dominance.hpp>
#include <vouch/solve/gauss_seidel.hpp>
#include <vouch/solve/jacobi.hpp>
#include <vouch/solve/sor.hpp>

#include "devices.hpp"
#include "solve/systems.hpp"

namespace vouch {
namespace {

using testing::from_triplets;
using testing::laplacian;
using testing::random_vector;
using testing::triplet;

// A dense matrix by rows, as the tests hold it.
struct square {
  std::int64_t n = 0;
  std::vector<double> a;
  double operator()(std::int64_t i, std::int64_t j) const { return a[static_cast<std::size_t>(i * n + j)]; }
  double& operator()(std::int64_t i, std::int64_t j) { return a[static_cast<std::size_t>(i * n + j)]; }
};

// Off-diagonal entries are small integers, most of them zero for a sparse one; the diagonal outweighs its row
// by `dominance`, rounded to an integer, with either sign.
square random_square(std::int64_t n, double dominance, std::uint64_t seed, bool sparse = false) {
  square A{n, std::vector<double>(static_cast<std::size_t>(n * n))};
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const auto bits = random_bits(seed, static_cast<std::uint64_t>(i * n + j));
      if (i == j || (sparse && bits % 7 != 0)) continue;
      A(i, j) = static_cast<double>(bits / 8 % 9) - 4;
      sum += std::fabs(A(i, j));
    }
    A(i, i) = (i % 3 == 0 ? -1 : 1) * (std::ceil(dominance * sum) + 1);
  }
  return A;
}

csr<double> sparse_of(const square& A) {
  std::vector<triplet> entries;
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t j = 0; j < A.n; ++j)
      if (A(i, j) != 0)
        entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), A(i, j)});
  return from_triplets(A.n, entries);
}

std::vector<double> product(const square& A, const std::vector<double>& x) {
  std::vector<double> b(x.size());
  for (std::int64_t i = 0; i < A.n; ++i) {
    long double sum = 0;
    for (std::int64_t j = 0; j < A.n; ++j)
      sum += static_cast<long double>(A(i, j)) * x[static_cast<std::size_t>(j)];
    b[static_cast<std::size_t>(i)] = static_cast<double>(sum);
  }
  return b;
}

std::vector<double> integers(std::int64_t n, std::uint64_t seed) {
  std::vector<double> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(random_bits(seed, i) % 50);
  return x;
}

enum class method { jacobi, damped, forward, backward, symmetric, sor, ssor };
constexpr method methods[] = {method::jacobi,    method::damped, method::forward, method::backward,
                              method::symmetric, method::sor,    method::ssor};

double omega_of(method m) { return m == method::damped ? 0.7 : m >= method::sor ? 1.2 : 1.0; }

// The textbook's sweep.
void sweep(const square& A, const std::vector<double>& b, std::vector<long double>& x, method m) {
  const auto row = [&](std::int64_t i, const std::vector<long double>& seen) {
    long double sum = b[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < A.n; ++j) sum -= A(i, j) * seen[static_cast<std::size_t>(j)];
    x[static_cast<std::size_t>(i)] += omega_of(m) * sum / A(i, i);
  };
  if (m == method::jacobi || m == method::damped) {
    const std::vector<long double> old = x;
    for (std::int64_t i = 0; i < A.n; ++i) row(i, old);
    return;
  }
  if (m != method::backward)
    for (std::int64_t i = 0; i < A.n; ++i) row(i, x);
  if (m == method::backward || m == method::symmetric || m == method::ssor)
    for (std::int64_t i = A.n; i-- > 0;) row(i, x);
}

enum class kept { sparse, by_rows, by_columns };
constexpr kept forms[] = {kept::sparse, kept::by_rows, kept::by_columns};

template <real T>
struct result {
  solve_report report;
  std::vector<T> x;
};

// Devices, and in which ways they solve: all on the CPU, dense ones on a GPU.
std::vector<std::pair<device, kept>> ways() {
  std::vector<std::pair<device, kept>> all;
  for (const kept form : forms) all.emplace_back(device::cpu(2), form);
  for (const device& gpu : testing::gpus())
    for (const kept form : {kept::by_rows, kept::by_columns}) all.emplace_back(gpu, form);
  return all;
}

// Solves with A kept in one of three ways.
template <real T>
result<T> solve(const square& A, const std::vector<double>& b, std::vector<T> x, method m, kept form,
                const solve_goal& goal, const device& dev = device::cpu(2), int anderson = 0) {
  const std::int64_t n = A.n;
  const std::vector<T> rhs(b.begin(), b.end());
  const csr<double> wide = sparse_of(A);
  const csr<T> sparse = convert_values<T>(device::cpu(1), wide.all());
  std::vector<T> entries(A.a.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      entries[static_cast<std::size_t>(form == kept::by_rows ? i * n + j : i + j * n)] =
          static_cast<T>(A(i, j));
  const array<T> placed = array<T>::from(dev, entries), placed_rhs = array<T>::from(dev, rhs);
  array<T> solution = array<T>::from(dev, x);
  const matrix_view<const T> dense{placed.data(), n, n, std::max<std::int64_t>(1, n)};
  const transpose op = form == kept::by_rows ? transpose::yes : transpose::no;
  const view<const T> bv = placed_rhs;
  const view<T> xv = solution;
  const auto order = m == method::backward                         ? sweep_order::backward
                     : m == method::symmetric || m == method::ssor ? sweep_order::symmetric
                                                                   : sweep_order::forward;
  const acceleration accelerate{anderson};
  solve_report report;
  if (m == method::jacobi || m == method::damped) {
    const jacobi_options o{goal, omega_of(m), accelerate};
    report = form == kept::sparse ? jacobi<T>(dev, sparse, bv, xv, o) : jacobi<T>(dev, op, dense, bv, xv, o);
  } else if (m >= method::sor) {
    const sor_options o{goal, omega_of(m), order, accelerate};
    report = form == kept::sparse ? sor<T>(dev, sparse, bv, xv, o) : sor<T>(dev, op, dense, bv, xv, o);
  } else {
    const gauss_seidel_options o{goal, order, accelerate};
    report = form == kept::sparse ? gauss_seidel<T>(dev, sparse, bv, xv, o)
                                  : gauss_seidel<T>(dev, op, dense, bv, xv, o);
  }
  return {report, solution.to_vector()};
}

double largest(const std::vector<long double>& v) {
  long double most = 0;
  for (const long double x : v) most = std::max(most, std::fabs(x));
  return static_cast<double>(most);
}

template <class T>
double distance(const std::vector<T>& x, const std::vector<long double>& y) {
  std::vector<long double> difference(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) difference[i] = x[i] - y[i];
  return largest(difference);
}

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
            solve_goal goal;
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
      solve_goal goal;
      goal.fixed_iterations = sweeps;
      const auto r = solve<T>(A, b, std::vector<T>(b.size()), method::forward, form, goal, dev);
      ASSERT_TRUE(r.report.error_bound.has_value());
      EXPECT_GE(*r.report.error_bound, distance(r.x, std::vector<long double>(exact.begin(), exact.end())));
    }
}

TYPED_TEST(stationary, same_bits_for_any_number_of_threads) {
  using T = TypeParam;
  const square dense = random_square(1100, 1.05, 13), sparse = random_square(1100, 1.05, 14, true);
  solve_goal goal;
  goal.fixed_iterations = 3;
  for (const method m : {method::jacobi, method::forward, method::symmetric}) {
    for (const kept form : forms) {
      const square& A = form == kept::sparse ? sparse : dense;
      const std::vector<double> b = product(A, random_vector(A.n, 7));
      const auto one = solve<T>(A, b, std::vector<T>(b.size(), T{1}), m, form, goal, device::cpu(1));
      const auto three = solve<T>(A, b, std::vector<T>(b.size(), T{1}), m, form, goal, device::cpu(3));
      EXPECT_EQ(one.x, three.x);
      ASSERT_EQ(one.report.history.size(), three.report.history.size());
      for (std::size_t k = 0; k < one.report.history.size(); ++k)
        EXPECT_EQ(one.report.history[k].residual, three.report.history[k].residual);
      EXPECT_EQ(one.report.error_bound, three.report.error_bound);
    }
  }
}

// Sizes that fill a GPU: the matrix in shared memory and streamed, rows that fill 16 bytes and do not, several
// pieces a row, each block with rows of several steps.
TYPED_TEST(stationary, iterates_on_a_gpu_are_those_of_the_textbook) {
  VOUCH_NEEDS_GPU();
  using T = TypeParam;
  const device gpu = testing::gpus()[0];
  for (const std::int64_t n : {132, 700, 1536, 2047, 5000}) {
    const square A = random_square(n, 1.05, static_cast<std::uint64_t>(n));
    const std::vector<double> b = product(A, integers(n, 3)), start = integers(n, 4);
    for (const method m : {method::jacobi, method::forward, method::backward, method::ssor}) {
      std::vector<long double> expected(start.begin(), start.end());
      const int sweeps = n < 3000 ? 5 : 2;
      for (int k = 0; k < sweeps; ++k) sweep(A, b, expected, m);
      solve_goal goal;
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

TEST(stationary_status, divergence_names_the_factor_and_the_row) {
  square A{2, {1, 2, 2, 1}};  // Jacobi: radius 2; Gauss-Seidel: radius 4
  for (const auto& [dev, form] : ways()) {
    const auto r = solve<double>(A, {1, 2}, {0, 0}, method::jacobi, form, {}, dev);
    EXPECT_EQ(r.report.status, solve_status::diverged);
    EXPECT_NE(r.report.reason.find("factor of 2"), std::string::npos) << r.report.reason;
    EXPECT_NE(r.report.reason.find("row 1 breaks dominance"), std::string::npos) << r.report.reason;
    EXPECT_FALSE(r.report.error_bound.has_value());
    EXPECT_EQ(r.report.warnings.size(), 1U);
  }
}

TEST(stationary_status, converges_without_dominance) {
  // Positive definite, rows not dominant: Gauss-Seidel converges, Jacobi diverges (radius 1.8).
  square A{3, {1, .9, .9, .9, 1, .9, .9, .9, 1}};
  const std::vector<double> b{1, 2, 3};
  for (const auto& [dev, form] : ways()) {
    EXPECT_EQ(solve<double>(A, b, {0, 0, 0}, method::forward, form, {}, dev).report.status,
              solve_status::converged);
    EXPECT_EQ(solve<double>(A, b, {0, 0, 0}, method::jacobi, form, {}, dev).report.status,
              solve_status::diverged);
  }
}

TEST(stationary_status, columns_or_scaling_prove_what_rows_do_not) {
  const square by_columns{2, {3, 5, 1, 6}};                     // row 1: 5/3; columns: 1/3, 5/6
  const square scaled{3, {1, 1.5, 0, .25, 1, .25, 0, 1.5, 1}};  // rows 1.5, columns 3; radius sqrt(0.75)
  for (const square& A : {by_columns, scaled}) {
    const std::vector<double> exact = integers(A.n, 9), b = product(A, exact);
    for (const auto& [dev, form] : ways()) {
      const auto r = solve<double>(A, b, std::vector<double>(b.size()), method::jacobi, form, {}, dev);
      EXPECT_EQ(r.report.status, solve_status::converged);
      ASSERT_TRUE(r.report.error_bound.has_value()) << r.report.error_bound_source;
      EXPECT_GE(*r.report.error_bound, distance(r.x, std::vector<long double>(exact.begin(), exact.end())));
      EXPECT_LE(*r.report.error_bound, 1e-4);
      EXPECT_TRUE(r.report.warnings.empty());
    }
  }
}

TEST(stationary_status, stops_by_the_mean_change) {
  const square A = random_square(50, 1.05, 15);
  const std::vector<double> b = product(A, integers(50, 10));
  std::vector<long double> x(50, 1), old;
  int sweeps = 0;
  for (long double mean = 1; mean >= 1e-5L; ++sweeps) {
    old = x;
    sweep(A, b, x, method::jacobi);
    mean = 0;
    for (std::size_t i = 0; i < x.size(); ++i) mean += std::fabs(x[i] - old[i]) / 50;
  }
  for (const auto& [dev, form] : ways()) {
    solve_goal goal;
    goal.stop_mean_change = 1e-5;
    const auto r = solve<double>(A, b, std::vector<double>(50, 1.0), method::jacobi, form, goal, dev);
    EXPECT_EQ(r.report.status, solve_status::stopped);
    EXPECT_EQ(r.report.iterations, sweeps);
    EXPECT_LE(distance(r.x, x), 1e-12);
  }
}

TEST(stationary_status, tolerance_below_rounding_ends_as_stagnated) {
  const square A = random_square(100, 1.1, 16);
  const std::vector<double> b = product(A, random_vector(100, 11));
  for (const auto& [dev, form] : ways())
    for (const method m : {method::jacobi, method::forward}) {
      solve_goal goal;
      goal.rtol = 1e-20;
      const auto r = solve<double>(A, b, std::vector<double>(100), m, form, goal, dev);
      EXPECT_EQ(r.report.status, solve_status::stagnated) << r.report.reason;
      EXPECT_LE(r.report.relative_true(), 1e-14);
      goal.rtol = 1e-9;
      const auto f = solve<float>(A, b, std::vector<float>(100), m, form, goal, dev);
      EXPECT_EQ(f.report.status, solve_status::stagnated) << f.report.reason;
      EXPECT_LE(f.report.relative_true(), 1e-6);
    }
}

TEST(stationary_status, slow_convergence_is_waited_for) {
  const csr<double> A = laplacian(30);
  const std::vector<double> b = testing::row_sums(A);
  for (const int order : {0, 1, 2}) {
    std::vector<double> x(b.size(), 0.0);
    solve_report report;
    const view<const double> bv(b.data(), A.rows);
    const view<double> xv(x.data(), A.rows);
    if (order == 0)
      report = jacobi<double>(device::cpu(2), A, bv, xv);
    else
      report = gauss_seidel<double>(device::cpu(2), A, bv, xv,
                                    {{}, order == 1 ? sweep_order::forward : sweep_order::symmetric, {}});
    EXPECT_EQ(report.status, solve_status::converged) << report.reason;
    EXPECT_LE(testing::relative_residual(A, b, x), 1e-8);
    // -ln(1e-8) over the rate of the iteration, 1 - cos(pi/31) for Jacobi, bounds the sweeps; with room.
    EXPECT_LE(report.iterations, 4500);
  }
}

TEST(stationary_status, limit_fixed_zero_and_interruption) {
  const square A = random_square(30, 1.02, 17);
  const std::vector<double> b = product(A, integers(30, 12));
  for (const auto& [dev, form] : ways()) {
    solve_goal goal;
    goal.max_iterations = 2;
    EXPECT_EQ(solve<double>(A, b, std::vector<double>(30), method::jacobi, form, goal, dev).report.status,
              solve_status::max_iterations);
    EXPECT_EQ(
        solve<double>(A, std::vector<double>(30), std::vector<double>(30, 1.0), method::jacobi, form, {}, dev)
            .report.status,
        solve_status::converged);
    solve_goal endless;
    endless.fixed_iterations = 10000000;
    endless.on_iteration = [](const iteration_record& r) { return r.iteration < 1; };
    const auto r = solve<double>(A, b, std::vector<double>(30), method::jacobi, form, endless, dev);
    EXPECT_EQ(r.report.status, solve_status::interrupted);
    EXPECT_LT(r.report.iterations, 10000000);
  }
  std::vector<double> none;
  const matrix_view<const double> empty{nullptr, 0, 0, 1};
  EXPECT_EQ(jacobi<double>(device::cpu(1), transpose::no, empty, {none.data(), 0}, {none.data(), 0}).status,
            solve_status::converged);
}

std::string refusal(const square& A, double omega = 1) {
  std::vector<double> x(static_cast<std::size_t>(A.n)), b(x);
  const csr<double> S = sparse_of(A);
  try {
    sor<double>(device::cpu(1), S, {b.data(), A.n}, {x.data(), A.n}, {{}, omega, sweep_order::forward, {}});
  } catch (const value_error& e) {
    return e.what();
  }
  return "";
}

TEST(stationary_refusal, names_what_is_wrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refusal({2, {1, 0, 1, 0}}).find("diagonal entry of row 2 is zero"), std::string::npos);
  EXPECT_NE(refusal({2, {1, 0, 1, 1e-17}}).find("diagonal entry of row 2 is too small"), std::string::npos);
  EXPECT_NE(refusal({2, {1e-320, 0, 0, 1}}).find("diagonal entry of row 1 is too small"), std::string::npos);
  EXPECT_NE(refusal({2, {1, 0, nan, 1}}).find("row 2"), std::string::npos);
  for (const double omega : {0.0, -1.0, 2.0, 2.5, nan})
    EXPECT_NE(refusal({1, {1}}, omega).find("omega"), std::string::npos);
  EXPECT_EQ(refusal({1, {1}}, 1.999), "");

  std::vector<double> entries{1, 2, 3, 4}, x{0, 0}, b{1, nan};
  const matrix_view<const double> square_view{entries.data(), 2, 2, 2}, wide{entries.data(), 1, 2, 1};
  EXPECT_THROW(jacobi<double>(device::cpu(1), transpose::no, wide, {b.data(), 1}, {x.data(), 1}), shape_error);
  EXPECT_THROW(jacobi<double>(device::cpu(1), transpose::no, square_view, {b.data(), 1}, {x.data(), 2}),
               shape_error);
  EXPECT_THROW(jacobi<double>(device::cpu(1), transpose::no, square_view, {b.data(), 2}, {x.data(), 2}),
               value_error);
}

TYPED_TEST(stationary, anderson_takes_fewer_sweeps) {
  using T = TypeParam;
  square A = random_square(200, 0, 18);
  for (std::int64_t i = 0; i < A.n; ++i) {  // positive entries: one eigenvalue stands apart
    double sum = 0;
    for (std::int64_t j = 0; j < A.n; ++j) sum += i == j ? 0 : (A(i, j) = std::fabs(A(i, j)));
    A(i, i) = std::ceil(1.05 * sum);
  }
  const std::vector<double> exact = integers(200, 13), b = product(A, exact);
  for (const auto& [dev, form] : ways())
    for (const method m : {method::jacobi, method::forward}) {
      if (dev.is_cuda() && m != method::jacobi) continue;
      const auto plain = solve<T>(A, b, std::vector<T>(200), m, form, {}, dev);
      const auto mixed = solve<T>(A, b, std::vector<T>(200), m, form, {}, dev, 2);
      EXPECT_EQ(plain.report.status, solve_status::converged);
      EXPECT_EQ(mixed.report.status, solve_status::converged);
      EXPECT_LE((m == method::jacobi ? 5 : 1) * mixed.report.iterations, plain.report.iterations + 2);
    }
}

}  // namespace
}  // namespace vouch
