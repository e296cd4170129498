// One solve on several GPUs. A GPU may stand more than once in the list that cg() takes: so all of it but the wires
// between GPUs is tested on one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/device_group.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_system.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/solve/solver.hpp>

#include "groups.hpp"
#include "solve/cg_answer.hpp"

namespace vouch {
namespace {

using testing::answer;
using testing::relative_residual;
using testing::solve;

// Rows that sit far from those they are coupled to, so that no GPU is without need of another.
csr<double> scattered(std::int32_t n) {
  std::vector<testing::triplet> entries;
  const auto place = [n](std::int64_t i) { return static_cast<std::int32_t>(i * 389 % n); };
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({place(i), place(i), 4.1 + i % 5});
    for (const std::int32_t step : {1, 40})
      if (i + step < n) {
        entries.push_back({place(i), place(i + step), -1});
        entries.push_back({place(i + step), place(i), -1});
      }
  }
  return testing::from_triplets(n, entries);
}

// Each unknown of a grid three times, coupled within: blocks of 3 by 3.
csr<double> in_blocks(std::int32_t m) {
  const csr<double> grid = testing::laplacian(m);
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < m * m; ++i)
    for (std::int64_t k = grid.row_ptr[i]; k < grid.row_ptr[i + 1]; ++k)
      for (std::int32_t a = 0; a < 3; ++a)
        for (std::int32_t b = 0; b < 3; ++b) {
          const double within = a == b ? 2 : 0.5;
          entries.push_back({3 * i + a, 3 * grid.col[k] + b, grid.val[k] * within});
        }
  return testing::from_triplets(3 * m * m, entries);
}

// Hermitian, in its real form: neighbours on a grid are coupled by a turn.
csr<double> in_pairs(std::int32_t m) {
  const csr<double> grid = testing::laplacian(m);
  constexpr double real = 0.6, imaginary = 0.8;
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < m * m; ++i)
    for (std::int64_t k = grid.row_ptr[i]; k < grid.row_ptr[i + 1]; ++k) {
      const std::int32_t j = grid.col[k];
      const double a = i == j ? 4.5 : -real, b = i == j ? 0 : i < j ? imaginary : -imaginary;
      entries.insert(
          entries.end(),
          {{2 * i, 2 * j, a}, {2 * i, 2 * j + 1, -b}, {2 * i + 1, 2 * j, b}, {2 * i + 1, 2 * j + 1, a}});
    }
  return testing::from_triplets(2 * m * m, entries);
}

cg_options on(std::vector<int> gpus, layout kept_as = layout::automatic) {
  cg_options options;
  options.matrix_layout = kept_as;
  options.gpus = std::move(gpus);
  return options;
}

void expect_same_bits(const answer& a, const answer& b, const std::string& what) {
  EXPECT_EQ(a.report.iterations, b.report.iterations) << what;
  EXPECT_EQ(std::memcmp(a.x.data(), b.x.data(), a.x.size() * sizeof(double)), 0) << what;
  ASSERT_EQ(a.report.history.size(), b.report.history.size()) << what;
  for (std::size_t k = 0; k < a.report.history.size(); ++k)
    EXPECT_EQ(a.report.history[k].residual, b.report.history[k].residual) << what << ' ' << k;
}

template <class T>
void expect_right_and_same_on(const std::vector<std::vector<int>>& teams, const csr<double>& A, layout kept_as,
                              const char* precondition) {
  const device gpu = device::cuda(0);
  const std::vector<double> b = testing::random_vector(A.rows, 5);
  const answer one = solve<T>(gpu, A, b, on({0}, kept_as), precondition);
  const std::string what = std::string(name(kept_as)) + ' ' + precondition + ' ' + std::to_string(sizeof(T)) +
                           ' ' + std::to_string(A.rows) + ' ';
  ASSERT_EQ(one.report.status, solve_status::converged) << what << one.report.reason;
  EXPECT_NE(one.report.engine.find("8 slabs"), std::string::npos) << one.report.engine;
  EXPECT_LE(relative_residual(A, b, one.x), sizeof(T) == 4 ? 1e-5 : 1e-8) << what;
  for (const std::vector<int>& team : teams) {
    const std::string where =
        what + ' ' + std::to_string(team.size()) + " from " + std::to_string(team.front());
    expect_same_bits(solve<T>(gpu, A, b, on(team, kept_as), precondition), one, where);
  }
}

template <class T>
void expect_right_and_same_for_all_layouts(const std::vector<std::vector<int>>& teams) {
  const csr<double> grid = testing::laplacian(60), far = scattered(5003), blocks = in_blocks(24),
                    pairs = in_pairs(30);
  for (const char* precondition : {"none", "jacobi"}) {
    for (const layout kept_as : {layout::automatic, layout::dia, layout::csr, layout::sell})
      expect_right_and_same_on<T>(teams, grid, kept_as, precondition);
    for (const layout kept_as : {layout::automatic, layout::csr, layout::sell})
      expect_right_and_same_on<T>(teams, far, kept_as, precondition);
    expect_right_and_same_on<T>(teams, blocks, layout::bsr, precondition);
    expect_right_and_same_on<T>(teams, pairs, layout::complex, precondition);
  }
}

template <class T>
void expect_right_and_same_with_chebyshev(const std::vector<std::vector<int>>& teams) {
  for (const layout kept_as : {layout::automatic, layout::csr}) {
    expect_right_and_same_on<T>(teams, testing::laplacian(60), kept_as, "chebyshev");
    expect_right_and_same_on<T>(teams, scattered(5003), kept_as, "chebyshev");
  }
}

// Seven points of a box, some of whose couplings are weaker than others.
csr<double> in_space(std::int32_t nx, std::int32_t ny, std::int32_t nz) {
  std::vector<testing::triplet> entries;
  for (std::int32_t i = 0; i < nx * ny * nz; ++i) {
    const std::int32_t x = i % nx, y = i / nx % ny, z = i / (nx * ny);
    double sum = 1e-3;
    const auto link = [&](bool there, std::int32_t j) {
      const double weight = there ? 1 + 0.1 * (std::min(i, j) % 7) : 1;
      if (there) entries.push_back({i, j, -weight});
      sum += weight;
    };
    link(z > 0, i - nx * ny);
    link(y > 0, i - nx);
    link(x > 0, i - 1);
    link(x + 1 < nx, i + 1);
    link(y + 1 < ny, i + nx);
    link(z + 1 < nz, i + nx * ny);
    entries.push_back({i, i, sum});
  }
  return testing::from_triplets(nx * ny * nz, entries);
}

// By multigrid whose levels from least_rows rows on are shared.
template <class T>
answer solve_by_levels(const csr<double>& A, const std::vector<double>& b, const std::vector<int>& gpus,
                       int degree, std::int64_t least_rows) {
  const device gpu = device::cuda(0);
  const csr<T> matrix = convert_values<T, double>(device::cpu(1), A.all()).to(gpu);
  const std::vector<T> rhs(b.begin(), b.end());
  const array<T> right = array<T>::from(gpu, rhs);
  array<T> x = array<T>::zeros(gpu, A.rows);
  amg_options levels;
  levels.degree = degree;
  levels.type = amg_type::structured;
  const auto M = make_amg<T>(gpu, matrix.all(), levels);
  const auto engine = cg_gpus_general_cuda<T>(gpu, matrix.all(), *M, gpus, layout::automatic, least_rows);
  answer a;
  a.report = cg_with_engine<T>(gpu, matrix.all(), right, x, {}, *engine, M.get(), stopwatch{});
  const std::vector<T> got = x.to_vector();
  a.x.assign(got.begin(), got.end());
  return a;
}

template <class T>
void expect_right_and_same_with_levels(const std::vector<std::vector<int>>& teams, const csr<double>& A,
                                       int degree, std::int64_t least_rows) {
  const std::vector<double> b = testing::random_vector(A.rows, 5);
  const std::string what = std::to_string(A.rows) + " rows, degree " + std::to_string(degree) + ", from " +
                           std::to_string(least_rows) + " rows on ";
  const answer one = solve_by_levels<T>(A, b, {0}, degree, least_rows);
  ASSERT_EQ(one.report.status, solve_status::converged) << what << one.report.reason;
  EXPECT_LE(relative_residual(A, b, one.x), sizeof(T) == 4 ? 1e-5 : 1e-8) << what;
  if (degree == 2) {
    const answer alone = solve<T>(device::cuda(0), A, b, {}, "amg");
    EXPECT_LE(std::abs(alone.report.iterations - one.report.iterations), 1) << what;
  }
  for (const std::vector<int>& team : teams)
    expect_same_bits(solve_by_levels<T>(A, b, team, degree, least_rows), one,
                     what + std::to_string(team.size()));
  // Whoever visits a level.
  expect_same_bits(solve_by_levels<T>(A, b, teams.front(), degree, 1000000), one, what + "but one level");
}

template <class T>
void expect_right_and_same_with_levels(const std::vector<std::vector<int>>& teams) {
  const csr<double> space = in_space(25, 21, 23);
  for (const int degree : {1, 2, 3}) expect_right_and_same_with_levels<T>(teams, space, degree, 100);
  expect_right_and_same_with_levels<T>(teams, in_space(40, 4, 9), 2, 100);  // fewer planes than GPUs may be
  expect_right_and_same_with_levels<T>(teams, testing::laplacian(71), 2, 100);
}

// What compute-sanitizer follows: under it members on one GPU do not run beside each other.
TEST(cg_gpus, preconditioners_of_one_member) {
  VOUCH_NEEDS_GPU();
  expect_right_and_same_on<double>({}, testing::laplacian(60), layout::automatic, "chebyshev");
  expect_right_and_same_on<double>({}, scattered(5003), layout::csr, "chebyshev");
  expect_right_and_same_with_levels<double>({{0}}, in_space(25, 21, 23), 3, 100);
}

TEST(cg_gpus, members_on_one_gpu_share_chebyshev) {
  VOUCH_NEEDS_GPU();
  const std::vector<std::vector<int>> teams{{0, 0}, {0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}};
  expect_right_and_same_with_chebyshev<double>(teams);
  expect_right_and_same_with_chebyshev<float>(teams);
  for (const std::int32_t n : {1, 7, 97, 800})
    expect_right_and_same_on<double>({{0, 0}, {0, 0, 0, 0, 0}}, scattered(n), layout::automatic, "chebyshev");
}

TEST(cg_gpus, members_on_one_gpu_share_the_levels_of_a_grid) {
  VOUCH_NEEDS_GPU();
  const std::vector<std::vector<int>> teams{{0, 0}, {0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}};
  expect_right_and_same_with_levels<double>(teams);
  expect_right_and_same_with_levels<float>(teams);
}

TEST(cg_gpus, two_gpus_share_preconditioners) {
  VOUCH_NEEDS_TWO_GPUS();
  const std::vector<std::vector<int>> teams{{0, 1}, {1, 0}, {0, 1, 0, 1}};
  expect_right_and_same_with_chebyshev<double>(teams);
  expect_right_and_same_with_levels<double>(teams);
  expect_right_and_same_with_levels<float>(teams);
}

TEST(cg_gpus, a_preconditioner_ends_the_loop_where_the_start_is_the_solution) {
  VOUCH_NEEDS_GPU();
  const csr<double> A = testing::laplacian(30);
  const std::vector<double> b(static_cast<std::size_t>(A.rows));
  EXPECT_EQ(solve(device::cuda(0), A, b, on({0, 0}), "chebyshev").report.status, solve_status::converged);
}

TEST(cg_gpus, members_on_one_gpu_leave_the_bits_of_one) {
  VOUCH_NEEDS_GPU();
  const std::vector<std::vector<int>> teams{{0, 0}, {0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}};
  expect_right_and_same_for_all_layouts<double>(teams);
  expect_right_and_same_for_all_layouts<float>(teams);
}

TEST(cg_gpus, two_gpus_leave_the_bits_of_one) {
  VOUCH_NEEDS_TWO_GPUS();
  const std::vector<std::vector<int>> teams{{0, 1}, {1, 0}, {1}, {0, 1, 0, 1}};
  expect_right_and_same_for_all_layouts<double>(teams);
  expect_right_and_same_for_all_layouts<float>(teams);
}

TEST(cg_gpus, systems_smaller_than_their_slabs) {
  VOUCH_NEEDS_GPU();
  for (const std::int32_t n : {1, 2, 7, 95, 96, 97, 700, 800})
    expect_right_and_same_on<double>({{0, 0}, {0, 0, 0, 0, 0}}, scattered(n), layout::automatic, "jacobi");
  const answer none = solve(device::cuda(0), testing::from_triplets(0, {}), {}, on({0, 0}));
  EXPECT_EQ(none.report.status, solve_status::converged) << none.report.reason;
}

// An x that one GPU finds by itself, to what rounding leaves.
TEST(cg_gpus, agree_with_dense_cholesky) {
  VOUCH_NEEDS_GPU();
  const csr<double> A = testing::random_spd(150, 6, 3);
  const std::vector<double> b = testing::random_vector(150, 5), exact = testing::cholesky_solve(A, b);
  cg_options options = on({0, 0});
  options.rtol = 1e-14;
  const answer a = solve(device::cuda(0), A, b, options);
  ASSERT_EQ(a.report.status, solve_status::converged) << a.report.reason;
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(a.x[i], exact[i], 1e-12);
}

TEST(cg_gpus, restarts_and_impossible_tolerances_end_as_on_one_device) {
  VOUCH_NEEDS_GPU();
  const csr<double> A = testing::laplacian(60);
  const std::vector<double> b = testing::random_vector(A.rows, 2);
  cg_options options = on({0, 0});
  options.rtol = 1e-18;
  const answer a = solve(device::cuda(0), A, b, options);
  EXPECT_EQ(a.report.status, solve_status::stagnated) << a.report.reason;
  EXPECT_LT(a.report.relative_true(), 1e-13);
}

TEST(cg_gpus, stop_together_when_asked) {
  VOUCH_NEEDS_GPU();
  const csr<double> A = testing::laplacian(200);
  const std::vector<double> b = testing::random_vector(A.rows, 2);
  for (const std::vector<int>& team : std::vector<std::vector<int>>{{0}, {0, 0}}) {
    cg_options options = on(team);
    options.rtol = 1e-30;
    options.max_iterations = 2000000;
    options.on_iteration = [](const iteration_record& record) { return record.iteration < 3; };
    EXPECT_EQ(solve(device::cuda(0), A, b, options).report.status, solve_status::interrupted);
  }
}

TEST(cg_gpus, indefinite_matrices_are_seen) {
  VOUCH_NEEDS_GPU();
  const csr<double> A = testing::from_triplets(2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}});
  EXPECT_EQ(solve(device::cuda(0), A, {1, -1}, on({0, 0})).report.status, solve_status::not_spd);
}

TEST(cg_gpus, a_solver_takes_conjugate_gradients_for_several) {
  VOUCH_NEEDS_GPU();
  const csr<double> A = testing::laplacian(100);
  const std::vector<double> b = testing::random_vector(A.rows * 2, 2);
  std::vector<double> x(b.size());
  solve_options options;
  options.gpus = {0};
  const device cpu = device::cpu(1);
  solver s(cpu, A.all(), options);
  const solve_result result = s.solve(matrix_view<const double>(b.data(), A.rows, 2, A.rows),
                                      matrix_view<double>(x.data(), A.rows, 2, A.rows));
  EXPECT_EQ(result.status, solve_status::converged) << result.reason;
  EXPECT_NE(result.engine.find("8 slabs"), std::string::npos) << result.engine;
  for (const std::size_t column : {0, 1}) {
    const auto from = static_cast<std::ptrdiff_t>(column) * A.rows;
    const std::vector<double> rhs(b.begin() + from, b.begin() + from + A.rows);
    const std::vector<double> got(x.begin() + from, x.begin() + from + A.rows);
    EXPECT_LE(relative_residual(A, rhs, got), 1e-8);
  }
}

TEST(cg_gpus, what_they_do_not_take_is_refused) {
  VOUCH_NEEDS_GPU();
  const csr<double> A = testing::laplacian(20);
  const std::vector<double> b = testing::random_vector(A.rows, 2);
  EXPECT_THROW(solve(device::cuda(0), A, b, on({0, 0}), "ic0"), value_error);
  EXPECT_THROW(solve(device::cpu(1), A, b, on({0})), value_error);
  EXPECT_THROW(solve(device::cuda(0), A, b, on({0, 1000})), no_cuda_error);
  const auto refuses = [&](const solve_options& options) {
    std::vector<double> x(b.size());
    solver s(device::cpu(1), A.all(), options);
    EXPECT_THROW(s.solve(view<const double>(b.data(), A.rows), view<double>(x.data(), A.rows)), value_error);
  };
  solve_options options;
  options.gpus = {0};
  options.method = "gmres";
  refuses(options);
  options.method = "cg";
  options.precision = working_precision::mixed;
  refuses(options);
  options.precision = working_precision::double_;
  options.preconditioner = preconditioner_choice{"ic0"};
  refuses(options);
  // by aggregation
  const csr<double> far = scattered(5003);
  EXPECT_THROW(solve(device::cuda(0), far, testing::random_vector(far.rows, 2), on({0, 0}), "amg"),
               value_error);
}

TEST(gpus_named, lists_and_what_is_wrong_with_them) {
  EXPECT_EQ(gpus_named("0,1"), (std::vector<int>{0, 1}));
  EXPECT_EQ(gpus_named("3"), (std::vector<int>{3}));
  EXPECT_EQ(gpus_named("7,0,2"), (std::vector<int>{7, 0, 2}));
  for (const char* wrong :
       {"", ",", "0,", "0,,1", "x", "0,x", "-1", "0,0", "1,2,1", "0 1", "0,1,2,3,4,5,6,7,8"})
    EXPECT_THROW(gpus_named(wrong), value_error) << wrong;
}

}  // namespace
}  // namespace vouch
