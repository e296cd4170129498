// Sweeps over sparse matrices on every device, against textbook sweeps in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/stationary/gauss_seidel.hpp>
#include <vouch/solve/stationary/jacobi.hpp>
#include <vouch/solve/stationary/sor.hpp>

#include "devices.hpp"
#include "solve/systems.hpp"

namespace vouch {
namespace {

using testing::from_triplets;
using testing::laplacian;
using testing::triplet;

// Integer entries, unsymmetric in pattern and values, dominant by rows. Rows refer to others of which `same`
// says so only.
template <class MayRefer>
csr<double> integer_matrix(std::int32_t n, int links, std::uint64_t seed, MayRefer may_refer) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    double sum = 1;
    for (int k = 0; k < links; ++k) {
      const auto at = static_cast<std::uint64_t>(i) * 64 + static_cast<std::uint64_t>(k);
      const auto j = static_cast<std::int32_t>(random_bits(seed, at) % static_cast<std::uint64_t>(n));
      if (j == i || !may_refer(i, j)) continue;
      const double value = static_cast<double>(random_bits(seed + 1, at) % 9) - 4;
      entries.push_back({i, j, value});
      sum += std::fabs(value);
    }
    entries.push_back({i, i, 1.25 * sum + (i % 3)});
  }
  return from_triplets(n, entries);
}

struct named_matrix {
  const char* name;
  csr<double> A;
};

std::vector<named_matrix> matrices() {
  std::vector<named_matrix> all;
  const auto any = [](std::int32_t, std::int32_t) { return true; };
  all.push_back({"one row", integer_matrix(1, 0, 1, any)});
  all.push_back({"diagonal", integer_matrix(70, 0, 2, any)});
  all.push_back({"many small sets", integer_matrix(300, 6, 3, any)});
  all.push_back({"some long rows", integer_matrix(90, 60, 4, any)});
  // Two sets and three of thousands of rows: many blocks on a GPU.
  all.push_back({"halves", integer_matrix(9000, 12, 5, [](std::int32_t i, std::int32_t j) {
                   return i / 4500 != j / 4500;
                 })});
  all.push_back({"thirds", integer_matrix(9000, 14, 6, [](std::int32_t i, std::int32_t j) {
                   return i % 3 != j % 3 && (i % 3 == 0 || j % 3 == 0 ? i / 3 > j / 3 : i > j);
                 })});
  return all;
}

enum class kind { jacobi, forward, backward, symmetric, sor, ssor };
constexpr kind kinds[] = {kind::jacobi, kind::forward, kind::backward, kind::symmetric, kind::sor, kind::ssor};
double omega_of(kind k) { return k == kind::jacobi ? 0.875 : k == kind::sor || k == kind::ssor ? 1.125 : 1; }

// One sweep of the textbook.
void sweep(const csr<double>& A, const std::vector<double>& b, std::vector<long double>& x, kind k) {
  const auto row = [&](const std::vector<long double>& from, std::int64_t i) {
    long double r = b[static_cast<std::size_t>(i)], diagonal = 0;
    for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e) {
      r -= static_cast<long double>(A.val[e]) * from[static_cast<std::size_t>(A.col[e])];
      if (A.col[e] == i) diagonal = A.val[e];
    }
    x[static_cast<std::size_t>(i)] += omega_of(k) * r / diagonal;
  };
  if (k == kind::jacobi) {
    const std::vector<long double> old = x;
    for (std::int64_t i = 0; i < A.rows; ++i) row(old, i);
    return;
  }
  if (k != kind::backward)
    for (std::int64_t i = 0; i < A.rows; ++i) row(x, i);
  if (k == kind::backward || k == kind::symmetric || k == kind::ssor)
    for (std::int64_t i = A.rows; i-- > 0;) row(x, i);
}

template <class T>
struct outcome {
  solve_report report;
  std::vector<T> x;
};

template <real T>
outcome<T> solve(const device& dev, const csr<double>& A, const std::vector<double>& b, kind k,
                 const stopping_criterion& goal = {}, const acceleration& accelerate = {},
                 sweep_ordering ordering = sweep_ordering::natural) {
  const csr<T> placed = convert_values<T>(device::cpu(1), A.all()).to(dev);
  const array<T> rhs = array<T>::from(dev, std::vector<T>(b.begin(), b.end()));
  array<T> x = array<T>::zeros(dev, A.rows);
  outcome<T> out;
  const double omega = omega_of(k);
  const sweep_order order = k == kind::backward                       ? sweep_order::backward
                            : k == kind::symmetric || k == kind::ssor ? sweep_order::symmetric
                                                                      : sweep_order::forward;
  if (k == kind::jacobi)
    out.report = jacobi<T>(dev, placed, rhs.all(), x, {goal, omega, accelerate});
  else if (omega != 1)
    out.report = sor<T>(dev, placed, rhs.all(), x, {goal, omega, order, accelerate, ordering});
  else
    out.report = gauss_seidel<T>(dev, placed, rhs.all(), x, {goal, order, accelerate, ordering});
  out.x = x.to_vector();
  return out;
}

template <class T>
double distance(const std::vector<T>& x, const std::vector<long double>& y) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    largest = std::max(largest, static_cast<double>(std::fabs(static_cast<long double>(x[i]) - y[i])));
  return largest;
}

template <class T>
double relative_residual(const csr<double>& A, const std::vector<double>& b, const std::vector<T>& x) {
  return testing::relative_residual(A, b, std::vector<double>(x.begin(), x.end()));
}

std::vector<double> integers(std::int64_t n) {
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(random_bits(77, i) % 100);
  return v;
}

template <class T>
class sparse_sweeps : public ::testing::Test {};
using scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(sparse_sweeps, scalars);

TYPED_TEST(sparse_sweeps, iterates_are_the_textbooks_and_the_same_bits_twice) {
  using T = TypeParam;
  stopping_criterion goal;
  goal.fixed_iterations = 5;
  for (const named_matrix& m : matrices()) {
    const std::vector<double> b = integers(m.A.rows);
    for (const kind k : kinds) {
      std::vector<long double> expected(b.size(), 0);
      for (int s = 0; s < 5; ++s) sweep(m.A, b, expected, k);
      for (const device& dev : testing::devices()) {
        const auto first = solve<T>(dev, m.A, b, k, goal), second = solve<T>(dev, m.A, b, k, goal);
        EXPECT_EQ(first.report.status, solve_status::fixed) << m.name;
        EXPECT_EQ(first.report.iterations, 5);
        EXPECT_EQ(first.x, second.x) << m.name;
        // b is at most 99, the rows' dominance keeps x below 400; a row has up to 61 entries, five sweeps.
        EXPECT_LE(distance(first.x, expected), 2e4 * static_cast<double>(std::numeric_limits<T>::epsilon()))
            << m.name << ", " << dev.kind() << ", kind " << static_cast<int>(k);
      }
    }
  }
}

// Too large to stay on a GPU's chip: other layouts, and a kernel for each sweep.
TYPED_TEST(sparse_sweeps, of_large_matrices) {
  VOUCH_NEEDS_GPU();
  using T = TypeParam;
  const auto any = [](std::int32_t, std::int32_t) { return true; };
  const named_matrix large[] = {{"grid", laplacian(550)}, {"random", integer_matrix(170000, 12, 9, any)}};
  for (const named_matrix& m : large) {
    const std::vector<double> b = integers(m.A.rows);
    std::vector<long double> expected(b.size(), 0);
    for (std::int64_t sweeps = 1; sweeps <= 4; ++sweeps) {
      sweep(m.A, b, expected, kind::jacobi);
      if (sweeps == 1) continue;
      stopping_criterion goal;
      goal.fixed_iterations = sweeps;
      for (const device& dev : testing::gpus()) {
        const auto r = solve<T>(dev, m.A, b, kind::jacobi, goal);
        EXPECT_EQ(r.report.status, solve_status::fixed) << m.name;
        EXPECT_EQ(r.report.iterations, sweeps);
        // Elements stay below 400; a row has up to 13 entries.
        EXPECT_LE(distance(r.x, expected), 1e4 * static_cast<double>(std::numeric_limits<T>::epsilon()))
            << m.name << ", " << dev.kind() << ", " << r.report.engine;
        if (sweeps == 3) {
          EXPECT_EQ(r.x, (solve<T>(dev, m.A, b, kind::jacobi, goal).x)) << m.name;
          stopping_criterion rule;
          rule.stop_recurrence = 1.001 * r.report.true_residual;
          const auto stopped = solve<T>(dev, m.A, b, kind::jacobi, rule);
          EXPECT_EQ(stopped.report.iterations, 3) << stopped.report.engine;
          EXPECT_EQ(stopped.x, r.x) << m.name;
        }
      }
    }
  }
  const csr<double>& A = large[1].A;
  const std::vector<double> b = integers(A.rows);
  for (const device& dev : testing::gpus())
    for (const acceleration& accelerate : {acceleration{}, acceleration{0, true}, acceleration{2, false}}) {
      const auto r = solve<T>(dev, A, b, kind::jacobi, {}, accelerate);
      EXPECT_EQ(r.report.status, solve_status::converged) << r.report.reason;
      EXPECT_LE(relative_residual(A, b, r.x), sizeof(T) == 4 ? 1e-5 : 1e-8);
    }
}

// Sets of rows too large for the chip: a kernel for each set.
TYPED_TEST(sparse_sweeps, of_large_sets) {
  VOUCH_NEEDS_GPU();
  using T = TypeParam;
  const std::int32_t half = 120000;
  const csr<double> A =
      integer_matrix(2 * half, 12, 5, [](std::int32_t i, std::int32_t j) { return i / half != j / half; });
  const std::vector<double> b = integers(A.rows);
  for (const kind k : {kind::forward, kind::backward, kind::sor}) {
    std::vector<long double> expected(b.size(), 0);
    for (int s = 0; s < 3; ++s) sweep(A, b, expected, k);
    stopping_criterion goal;
    goal.fixed_iterations = 3;
    for (const device& dev : testing::gpus()) {
      const auto first = solve<T>(dev, A, b, k, goal), second = solve<T>(dev, A, b, k, goal);
      EXPECT_EQ(first.report.status, solve_status::fixed);
      EXPECT_NE(first.report.engine.find("graph"), std::string::npos) << first.report.engine;
      EXPECT_EQ(first.x, second.x);
      EXPECT_LE(distance(first.x, expected), 1e4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
      const auto r = solve<T>(dev, A, b, k);
      EXPECT_EQ(r.report.status, solve_status::converged) << r.report.reason;
      EXPECT_LE(relative_residual(A, b, r.x), sizeof(T) == 4 ? 1e-5 : 1e-8);
    }
  }
}

TYPED_TEST(sparse_sweeps, solutions_lie_within_the_proved_bound) {
  using T = TypeParam;
  for (const named_matrix& m : matrices()) {
    const std::vector<double> exact = integers(m.A.rows);
    std::vector<double> b(exact.size(), 0.0);  // of integers and quarters: no rounding
    for (std::int64_t i = 0; i < m.A.rows; ++i)
      for (std::int64_t e = m.A.row_ptr[i]; e < m.A.row_ptr[i + 1]; ++e)
        b[static_cast<std::size_t>(i)] += m.A.val[e] * exact[static_cast<std::size_t>(m.A.col[e])];
    for (const device& dev : testing::devices())
      for (const kind k : kinds) {
        const auto r = solve<T>(dev, m.A, b, k);
        EXPECT_EQ(r.report.status, solve_status::converged) << m.name << ": " << r.report.reason;
        EXPECT_LE(relative_residual(m.A, b, r.x), sizeof(T) == 4 ? 1e-5 : 1e-8);
        ASSERT_TRUE(r.report.error_bound.has_value()) << m.name;
        EXPECT_GE(*r.report.error_bound, distance(r.x, std::vector<long double>(exact.begin(), exact.end())));
      }
  }
}

// An unsymmetric ring: colours 0 1 0 1 2, by hand; the sweep then takes rows 0 2, 1 3, 4.
TYPED_TEST(sparse_sweeps, colours_are_taken_one_after_another) {
  using T = TypeParam;
  std::vector<triplet> entries;
  const std::int32_t n = 5;
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 4.0 + i});
    entries.push_back({i, (i + 1) % n, -1.0});
  }
  const csr<double> A = from_triplets(n, entries);
  const std::vector<double> b{1, 2, 3, 4, 5};
  std::vector<long double> forward(5, 0), backward(5, 0);
  const auto take = [&](std::vector<long double>& x, std::size_t i) {
    x[i] = (b[i] + x[(i + 1) % 5]) / (4.0L + static_cast<long double>(i));
  };
  for (int sweeps = 0; sweeps < 3; ++sweeps) {
    for (const std::size_t i : {0, 2, 1, 3, 4}) take(forward, i);
    for (const std::size_t i : {4, 3, 1, 2, 0}) take(backward, i);
  }
  stopping_criterion goal;
  goal.fixed_iterations = 3;
  for (const device& dev : testing::devices()) {
    const auto f = solve<T>(dev, A, b, kind::forward, goal, {}, sweep_ordering::multicolor);
    const auto r = solve<T>(dev, A, b, kind::backward, goal, {}, sweep_ordering::multicolor);
    EXPECT_NE(f.report.engine.find("3 colours"), std::string::npos) << f.report.engine;
    EXPECT_LE(distance(f.x, forward), 8 * static_cast<double>(std::numeric_limits<T>::epsilon()));
    EXPECT_LE(distance(r.x, backward), 8 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
}

TEST(sparse_sweeps_status, slow_convergence_is_waited_for) {
  const csr<double> A = laplacian(30);
  const std::vector<double> b = testing::row_sums(A);
  for (const device& dev : testing::devices())
    for (const kind k : {kind::jacobi, kind::forward, kind::symmetric, kind::sor})
      for (const sweep_ordering ordering : {sweep_ordering::natural, sweep_ordering::multicolor}) {
        const auto r = solve<double>(dev, A, b, k, {}, {}, ordering);
        EXPECT_EQ(r.report.status, solve_status::converged) << r.report.reason;
        EXPECT_LE(relative_residual(A, b, r.x), 1e-8);
        EXPECT_LE(r.report.iterations, 5200);  // ln(1e8) over 0.875 times 1 - cos(pi/31), with room
        EXPECT_LE(r.report.restarts, 2);
      }
}

TEST(sparse_sweeps_status, rules_of_the_user_hold) {
  const csr<double> A = laplacian(20);
  const std::vector<double> b = testing::row_sums(A);
  for (const device& dev : testing::devices())
    for (const kind k : {kind::jacobi, kind::forward, kind::symmetric}) {
      std::vector<long double> x(b.size(), 0), old;
      int sweeps = 0;
      for (long double mean = 1; mean >= 1e-4L; ++sweeps) {
        old = x;
        sweep(A, b, x, k);
        mean = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
          mean += std::fabs(x[i] - old[i]) / static_cast<long double>(x.size());
      }
      stopping_criterion goal;
      goal.stop_mean_change = 1e-4;
      const auto r = solve<double>(dev, A, b, k, goal);
      EXPECT_EQ(r.report.status, solve_status::stopped);
      EXPECT_EQ(r.report.iterations, sweeps);
      EXPECT_LE(distance(r.x, x), 1e-12);

      stopping_criterion few;
      few.max_iterations = 3;
      EXPECT_EQ(solve<double>(dev, A, b, k, few).report.status, solve_status::max_iterations);
      stopping_criterion fine;
      fine.rtol = 1e-20;
      EXPECT_EQ(solve<double>(dev, A, testing::random_vector(A.rows, 8), k, fine).report.status,
                solve_status::stagnated);
      stopping_criterion endless;
      endless.fixed_iterations = 50000000;
      endless.on_iteration = [](const iteration_record& record) { return record.iteration < 1; };
      EXPECT_EQ(solve<double>(dev, A, b, k, endless).report.status, solve_status::interrupted);
    }
}

TEST(sparse_sweeps_status, divergence_names_its_row) {
  const csr<double> A = from_triplets(2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}});
  for (const device& dev : testing::devices())
    for (const kind k : {kind::jacobi, kind::forward}) {
      const auto r = solve<double>(dev, A, {1, 1}, k);
      EXPECT_EQ(r.report.status, solve_status::diverged);
      EXPECT_NE(r.report.reason.find("row 1 breaks dominance"), std::string::npos) << r.report.reason;
    }
}

TYPED_TEST(sparse_sweeps, chebyshev_takes_far_fewer_sweeps) {
  using T = TypeParam;
  const csr<double> A = laplacian(40);
  const acceleration chebyshev{0, true};
  for (const std::vector<double>& b : {testing::row_sums(A), testing::random_vector(A.rows, 5)})
    for (const device& dev : testing::devices())
      for (const kind k : {kind::jacobi, kind::symmetric}) {
        const auto plain = solve<T>(dev, A, b, k);
        const auto fast = solve<T>(dev, A, b, k, {}, chebyshev);
        EXPECT_EQ(fast.report.status, solve_status::converged) << fast.report.reason;
        EXPECT_LE(relative_residual(A, b, fast.x), sizeof(T) == 4 ? 1e-5 : 1e-8);
        EXPECT_LE(5 * fast.report.iterations, plain.report.iterations) << fast.report.engine;
        EXPECT_NE(fast.report.engine.find("chebyshev over"), std::string::npos) << fast.report.engine;
        EXPECT_EQ(fast.x, (solve<T>(dev, A, b, k, {}, chebyshev).x));
      }
}

// The eigenvalues of the Jacobi iteration lie on a circle: the method has no interval to work on.
TEST(sparse_sweeps_chebyshev, is_given_up_where_eigenvalues_are_not_real) {
  std::vector<triplet> entries;
  const std::int32_t n = 101;
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 1});
    entries.push_back({i, (i + 1) % n, -0.95});
  }
  const csr<double> A = from_triplets(n, entries);
  const std::vector<double> b = testing::random_vector(n, 6);
  for (const device& dev : testing::devices()) {
    const auto r = solve<double>(dev, A, b, kind::jacobi, {}, {0, true});
    EXPECT_EQ(r.report.status, solve_status::converged) << r.report.reason;
    EXPECT_NE(r.report.engine.find("chebyshev given up"), std::string::npos) << r.report.engine;
    EXPECT_LE(relative_residual(A, b, r.x), 1e-8);
  }
}

TEST(sparse_sweeps_chebyshev, leaves_fast_iterations_alone_and_excludes_anderson) {
  const csr<double> A = from_triplets(2, {{0, 0, 10}, {0, 1, 1}, {1, 0, 1}, {1, 1, 10}});
  for (const device& dev : testing::devices()) {
    const auto plain = solve<double>(dev, A, {1, 2}, kind::forward);
    const auto fast = solve<double>(dev, A, {1, 2}, kind::forward, {}, {0, true});
    EXPECT_EQ(fast.x, plain.x);
    EXPECT_NE(fast.report.engine.find("chebyshev not needed"), std::string::npos) << fast.report.engine;
    EXPECT_THROW(solve<double>(dev, A, {1, 2}, kind::forward, {}, {2, true}), value_error);
  }
}

}  // namespace
}  // namespace vouch
