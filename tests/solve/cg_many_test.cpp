#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_many.hpp>
#include <vouch/solve/precond/make.hpp>

#include "devices.hpp"
#include "solve/systems.hpp"

namespace vouch {
namespace {

using testing::devices;
using testing::relative_residual;

using columns = std::vector<std::vector<double>>;

struct answers {
  std::vector<solve_report> reports;
  columns x;
};

// Kept as csr, so that the columns do go together: a matrix of a few diagonals would not.
template <class T = double>
answers solve(const device& dev, const csr<double>& A, const columns& b, cg_options options = {},
              const std::string& precondition = "none", columns start = {}) {
  if (precondition != "ssor") options.matrix_layout = layout::csr;
  const csr<T> matrix = convert_values<T, double>(device::cpu(1), A.all()).to(dev);
  std::vector<T> rhs, from;
  start.resize(b.size(), std::vector<double>(static_cast<std::size_t>(A.rows), 0.0));
  for (std::size_t j = 0; j < b.size(); ++j) {
    rhs.insert(rhs.end(), b[j].begin(), b[j].end());
    from.insert(from.end(), start[j].begin(), start[j].end());
  }
  const array<T> right = array<T>::from(dev, rhs);
  array<T> x = array<T>::from(dev, from);
  const auto M = make_preconditioner<T>(dev, matrix.all(), precondition);
  answers a;
  a.reports = cg_many<T>(dev, matrix.all(), static_cast<std::int64_t>(b.size()), right, x, options, M.get());
  const std::vector<T> got = x.to_vector();
  for (std::size_t j = 0; j < b.size(); ++j) {
    const auto begin = got.begin() + static_cast<std::ptrdiff_t>(j) * A.rows;
    a.x.emplace_back(begin, begin + A.rows);
  }
  return a;
}

columns random_columns(std::int64_t n, int count) {
  columns b;
  for (int j = 0; j < count; ++j) b.push_back(testing::random_vector(n, 100 + static_cast<std::uint64_t>(j)));
  return b;
}

// A sine that is an eigenvector of the m-by-m Laplacian.
std::vector<double> sine(std::int32_t m, int waves_x, int waves_y) {
  std::vector<double> v;
  for (std::int32_t y = 1; y <= m; ++y)
    for (std::int32_t x = 1; x <= m; ++x)
      v.push_back(std::sin(M_PI * waves_x * x / (m + 1)) * std::sin(M_PI * waves_y * y / (m + 1)));
  return v;
}

bool same_bits(const columns& a, const columns& b) {
  for (std::size_t j = 0; j < a.size(); ++j)
    if (std::memcmp(a[j].data(), b[j].data(), a[j].size() * sizeof(double)) != 0) return false;
  return a.size() == b.size();
}

TEST(cg_many, agrees_with_dense_cholesky_in_every_column) {
  for (const std::int32_t n : {1, 3, 33, 150})
    for (const int count : {1, 2, 3, 5, 8, 17}) {
      const csr<double> A = testing::random_spd(n, 6, static_cast<std::uint64_t>(n));
      const columns b = random_columns(n, count);
      columns exact;
      for (const std::vector<double>& column : b) exact.push_back(testing::cholesky_solve(A, column));
      cg_options options;
      options.rtol = 1e-14;
      for (const device& dev : devices())
        for (const char* precondition : {"none", "jacobi", "ssor"}) {
          const answers a = solve(dev, A, b, options, precondition);
          ASSERT_EQ(a.reports.size(), b.size());
          for (std::size_t j = 0; j < b.size(); ++j) {
            EXPECT_EQ(a.reports[j].status, solve_status::converged) << a.reports[j].reason;
            EXPECT_EQ(a.reports[j].preconditioner.substr(0, 4), std::string(precondition).substr(0, 4));
            const bool together = a.reports[j].engine.find("columns at once") != std::string::npos;
            const bool wanted = count > 1 && j < 16 && precondition != std::string("ssor");
            // On a GPU a few columns stay on chip one after another.
            EXPECT_TRUE(n <= 3 || (dev.is_cuda() && count < 8) || together == wanted) << a.reports[j].engine;
            for (std::size_t i = 0; i < exact[j].size(); ++i)
              ASSERT_NEAR(a.x[j][i], exact[j][i], 1e-12) << dev.kind() << " column " << j << " of " << count;
          }
        }
    }
}

TEST(cg_many, converged_is_true_of_every_column_returned) {
  const csr<double> A = testing::laplacian(70);
  const columns b = random_columns(A.rows, 11);
  for (const device& dev : devices())
    for (const double rtol : {1e-3, 1e-8, 1e-12}) {
      cg_options options;
      options.rtol = rtol;
      const answers a = solve(dev, A, b, options);
      for (std::size_t j = 0; j < b.size(); ++j) {
        ASSERT_EQ(a.reports[j].status, solve_status::converged) << a.reports[j].reason;
        const double really = relative_residual(A, b[j], a.x[j]);
        EXPECT_LE(really, rtol) << dev.kind() << ' ' << j;
        EXPECT_NEAR(a.reports[j].relative_true(), really, 1e-6 * rtol);
      }
    }
}

TEST(cg_many, single_precision_is_judged_in_double) {
  const csr<double> A = testing::laplacian(40);
  const std::vector<double> ones(static_cast<std::size_t>(A.rows), 1.0);
  for (const device& dev : devices()) {
    const answers a = solve<float>(dev, A, {ones, ones, ones, ones, ones, ones});
    for (const solve_report& report : a.reports) {
      ASSERT_EQ(report.status, solve_status::converged) << report.reason;
      EXPECT_EQ(report.precision, "single");
    }
    for (const std::vector<double>& x : a.x) EXPECT_LE(relative_residual(A, ones, x), 1e-5);
  }
}

// A sum of k eigenvectors needs k iterations and a few for rounding: the columns end one after another, the
// last at some hundred.
TEST(cg_many, columns_end_each_at_its_own_iteration) {
  constexpr std::int32_t m = 50;
  const csr<double> A = testing::laplacian(m);
  columns b;
  std::vector<double> sum(static_cast<std::size_t>(A.rows), 0.0);
  for (int k = 1; k <= 7; ++k) {
    const std::vector<double> next = sine(m, k, k);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += next[i];
    b.push_back(sum);
  }
  b.push_back(testing::random_vector(A.rows, 1));
  for (const device& dev : devices()) {
    const answers a = solve(dev, A, b);
    for (std::size_t j = 0; j < b.size(); ++j) {
      EXPECT_EQ(a.reports[j].status, solve_status::converged) << a.reports[j].reason;
      EXPECT_LE(relative_residual(A, b[j], a.x[j]), 1e-8);
      EXPECT_NEAR(static_cast<double>(a.reports[j].iterations),
                  static_cast<double>(solve(dev, A, {b[j]}).reports[0].iterations), 2.0);
      EXPECT_GT(a.reports[j].iterations, j > 0 ? a.reports[j - 1].iterations : 0);
    }
  }
}

TEST(cg_many, columns_with_nothing_to_do) {
  const csr<double> A = testing::laplacian(20);
  const std::vector<double> zero(400, 0.0), ones(400, 1.0);
  const std::vector<double> sums = testing::row_sums(A);
  for (const device& dev : devices()) {
    const answers a = solve(dev, A, {zero, sums, ones, zero}, {}, "none", {ones, ones, zero, zero});
    EXPECT_EQ(a.x[0], zero);
    EXPECT_EQ(a.x[1], ones);
    EXPECT_EQ(a.x[3], zero);
    EXPECT_LE(relative_residual(A, ones, a.x[2]), 1e-8);
    for (const solve_report& report : a.reports) EXPECT_EQ(report.status, solve_status::converged);
    for (const std::size_t j : {0, 1, 3}) EXPECT_EQ(a.reports[j].iterations, 0);
    EXPECT_TRUE(solve(dev, A, {}).reports.empty());
    EXPECT_EQ(solve(dev, A, {zero, zero, zero}).x, (columns{zero, zero, zero}));
  }
}

TEST(cg_many, same_bits_on_every_run_and_for_any_threads) {
  const csr<double> A = testing::laplacian(70);
  const columns b = random_columns(A.rows, 6);
  for (const char* precondition : {"none", "jacobi"}) {
    const answers one = solve(device::cpu(1), A, b, {}, precondition);
    for (const int threads : {1, 2, 3})
      EXPECT_TRUE(same_bits(solve(device::cpu(threads), A, b, {}, precondition).x, one.x)) << threads;
    for (const device& gpu : testing::gpus()) {
      const answers first = solve(gpu, A, b, {}, precondition);
      EXPECT_TRUE(same_bits(solve(gpu, A, b, {}, precondition).x, first.x));
    }
  }
}

TEST(cg_many, an_indefinite_matrix_is_found_by_the_columns_that_meet_it) {
  // diag([1 2; 2 1], 3): eigenvalues 3, -1 and 3.
  const csr<double> A = testing::from_triplets(3, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}, {2, 2, 3}});
  for (const device& dev : devices()) {
    const answers a = solve(dev, A, {{1, -1, 0}, {1, 1, 0}, {0, 0, 3}, {1, 1, 1}});
    EXPECT_EQ(a.reports[0].status, solve_status::not_spd);
    EXPECT_EQ(a.reports[1].status, solve_status::converged);
    EXPECT_EQ(a.reports[2].status, solve_status::converged);
    EXPECT_EQ(a.x[2], (std::vector<double>{0, 0, 1}));
    EXPECT_EQ(a.reports[3].status, solve_status::converged);
  }
}

TEST(cg_many, other_rules_than_the_residual) {
  const csr<double> A = testing::laplacian(30);
  const columns b = random_columns(A.rows, 5);
  for (const device& dev : devices()) {
    cg_options options;
    options.fixed_iterations = 17;
    const answers fixed = solve(dev, A, b, options);
    for (std::size_t j = 0; j < b.size(); ++j) {
      EXPECT_EQ(fixed.reports[j].status, solve_status::fixed);
      EXPECT_EQ(fixed.reports[j].iterations, 17);
      EXPECT_NEAR(fixed.reports[j].relative_true(), relative_residual(A, b[j], fixed.x[j]), 1e-10);
    }
    options.fixed_iterations.reset();
    options.stop_recurrence = 0.01;
    for (const solve_report& report : solve(dev, A, b, options).reports) {
      EXPECT_EQ(report.status, solve_status::stopped);
      EXPECT_LE(report.recurrence_residual, 0.01);
    }
    options.stop_recurrence.reset();
    options.max_iterations = 5;
    for (const solve_report& report : solve(dev, A, b, options).reports)
      EXPECT_EQ(report.status, solve_status::max_iterations);
  }
}

TEST(cg_many, the_iterates_are_those_of_one_column_alone) {
  const csr<double> A = testing::laplacian(25);
  const columns b = random_columns(A.rows, 8);
  for (const device& dev : devices())
    for (const std::int64_t iterations : {1, 2, 3, 10, 11}) {  // solutions move every other time
      cg_options options;
      options.fixed_iterations = iterations;
      const answers together = solve(dev, A, b, options);
      for (std::size_t j = 0; j < b.size(); ++j) {
        const answers alone = solve(dev, A, {b[j]}, options);
        for (std::size_t i = 0; i < b[j].size(); ++i) ASSERT_NEAR(together.x[j][i], alone.x[0][i], 1e-12);
      }
    }
}

TEST(cg_many, an_impossible_tolerance_ends_stagnated) {
  const csr<double> A = testing::laplacian(60);
  const columns b = random_columns(A.rows, 3);
  cg_options options;
  options.rtol = 1e-18;
  for (const device& dev : devices())
    for (const solve_report& report : solve(dev, A, b, options).reports) {
      EXPECT_EQ(report.status, solve_status::stagnated) << report.reason;
      EXPECT_LT(report.relative_true(), 1e-13);
    }
}

TEST(cg_many, units_differ_from_column_to_column) {
  const csr<double> A = testing::laplacian(20);
  columns b = random_columns(A.rows, 4);
  const int exponents[] = {0, -330, 400, 40};
  for (std::size_t j = 0; j < b.size(); ++j)
    for (double& v : b[j]) v = std::ldexp(v, exponents[j]);
  for (const device& dev : devices()) {
    const answers a = solve(dev, A, b);
    for (std::size_t j = 0; j < b.size(); ++j) {
      EXPECT_EQ(a.reports[j].status, solve_status::converged) << a.reports[j].reason;
      EXPECT_LE(relative_residual(A, b[j], a.x[j]), 1e-8);
    }
  }
}

TEST(cg_many, a_pure_neumann_problem_is_recognised) {
  const csr<double> A = testing::laplacian(30, true);
  columns b = random_columns(A.rows, 3);
  for (const std::size_t j : {0, 2}) {  // the other column has no solution
    const double mean = std::accumulate(b[j].begin(), b[j].end(), 0.0) / static_cast<double>(b[j].size());
    for (double& v : b[j]) v -= mean;
  }
  for (const device& dev : devices()) {
    const answers a = solve(dev, A, b);
    EXPECT_EQ(a.reports[1].status, solve_status::breakdown);
    for (const std::size_t j : {0, 2}) {
      EXPECT_EQ(a.reports[j].status, solve_status::converged) << a.reports[j].reason;
      EXPECT_LE(relative_residual(A, b[j], a.x[j]), 1e-8);
      EXPECT_NEAR(std::accumulate(a.x[j].begin(), a.x[j].end(), 0.0), 0.0, 1e-9);
      EXPECT_FALSE(a.reports[j].warnings.empty());
    }
  }
}

TEST(cg_many, the_monitor_sees_every_column_and_stops_one) {
  const csr<double> A = testing::laplacian(40);
  const columns b = random_columns(A.rows, 4);
  for (const device& dev : devices()) {
    cg_options options;
    std::vector<std::int64_t> seen(b.size(), 0);
    options.on_iteration = [&](const iteration_record& record) {
      return ++seen[static_cast<std::size_t>(record.column)], true;
    };
    const answers a = solve(dev, A, b, options);
    for (std::size_t j = 0; j < b.size(); ++j) {
      EXPECT_EQ(seen[j], static_cast<std::int64_t>(a.reports[j].history.size()));
      EXPECT_GE(seen[j], a.reports[j].iterations);
      for (const iteration_record& record : a.reports[j].history)
        EXPECT_EQ(record.column, static_cast<std::int64_t>(j));
    }
    options.fixed_iterations = 5000;
    options.on_iteration = [](const iteration_record& r) { return r.column != 2 || r.iteration < 50; };
    const answers stopped = solve(dev, A, b, options);
    for (std::size_t j = 0; j < b.size(); ++j)
      EXPECT_EQ(stopped.reports[j].status, j == 2 ? solve_status::interrupted : solve_status::fixed);
    EXPECT_LT(stopped.reports[2].iterations, 5000);
  }
}

TEST(cg_many, every_layout_gives_true_answers) {
  const columns b = random_columns(900, 9);
  for (const csr<double>& A : {testing::laplacian(30), testing::random_spd(900, 40, 3)})
    for (const device& dev : devices()) {
      const csr<double> matrix = A.to(dev);
      std::vector<double> all;
      for (const std::vector<double>& column : b) all.insert(all.end(), column.begin(), column.end());
      const array<double> right = array<double>::from(dev, all);
      array<double> x = array<double>::zeros(dev, right.size());
      for (const solve_report& report : cg_many<double>(dev, matrix.all(), 9, right, x))
        EXPECT_EQ(report.status, solve_status::converged) << report.reason;
      const std::vector<double> got = x.to_vector();
      for (std::size_t j = 0; j < b.size(); ++j)
        EXPECT_LE(relative_residual(A, b[j],
                                    {got.begin() + 900 * static_cast<std::ptrdiff_t>(j),
                                     got.begin() + 900 * static_cast<std::ptrdiff_t>(j + 1)}),
                  1e-8);
    }
}

TEST(cg_many, widths_by_the_stored_model) {
  // One core, measured: columns of a 7-point matrix kept by diagonals are faster one after another, of an
  // unstructured one together from two on, of a stiffness matrix in tiles from four on.
  const block_cg_shape stencil{false, layout::dia, 13824, 93312, 8, 0},
      mesh{false, layout::csr, 24389, 345997, 8, 0}, stiffness{false, layout::tile, 1944, 123750, 8, 0};
  for (int count = 1; count <= 8; ++count) EXPECT_EQ(block_cg_width(stencil, count), 1);
  EXPECT_EQ(block_cg_width(mesh, 1), 1);
  EXPECT_EQ(block_cg_width(mesh, 2), 2);
  EXPECT_EQ(block_cg_width(mesh, 8), 8);
  EXPECT_EQ(block_cg_width(stiffness, 2), 1);
  EXPECT_EQ(block_cg_width(stiffness, 4), 4);
  // On a GPU a single small system stays on chip, eight of them go together.
  const block_cg_shape small{true, layout::automatic, 1473, 34241, 8, 0};
  EXPECT_EQ(block_cg_width(small, 1), 1);
  EXPECT_EQ(block_cg_width(small, 2), 1);
  EXPECT_EQ(block_cg_width(small, 8), 8);
  // A stiffness matrix in blocks goes eight at a time; three columns are faster one by one.
  const block_cg_shape body{true, layout::bsr, 648000, 51000000, 8, 440000000};
  EXPECT_EQ(block_cg_width(body, 8), 8);
  EXPECT_EQ(block_cg_width(body, 3), 1);
}

TEST(cg_many, bad_operands) {
  const csr<double> A = testing::laplacian(3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const device& dev : devices()) {
    columns b(3, std::vector<double>(9, 1.0));
    b[1][4] = nan;
    EXPECT_THROW(solve(dev, A, b), value_error);
    const csr<double> matrix = A.to(dev);
    const array<double> right = array<double>::zeros(dev, 17);
    array<double> x = array<double>::zeros(dev, 18);
    EXPECT_THROW(cg_many<double>(dev, matrix.all(), 2, right, x), shape_error);
  }
}

}  // namespace
}  // namespace vouch
