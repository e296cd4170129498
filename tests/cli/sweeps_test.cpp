// vouch solve by sweeps, and vouch gen of dense problems.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/device.hpp>
#include <vouch/dense/factor/cusolver.hpp>
#include <vouch/dense/factor/lapack.hpp>

#include "small_system.hpp"
#include "solve_fixture.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::numbers;
using testing::tool_result;

class tool_sweeps : public testing::solve_test {
 protected:
  double largest_error(const std::string& x, const std::string& exact) const {
    const std::vector<double> a = numbers(content(x)), b = numbers(content(exact));
    EXPECT_EQ(a.size(), b.size());
    double largest = 0;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
      largest = std::max(largest, std::fabs(a[i] - b[i]));
    return largest;
  }
};

TEST_F(tool_sweeps, dense_problem_is_solved_within_the_proved_bound) {
  for (const char* file : {"A.npy", "A.mtx"}) {
    const std::string A = file;
    ASSERT_EQ(run("gen banded-dominant -n 150 --solution integers --rhs b.txt --exact e.txt -q -o " + A).code,
              0);
    for (const char* method :
         {"jacobi", "jacobi --omega 0.8", "jacobi --accel anderson:3", "gauss-seidel",
          "gauss-seidel --sweep backward", "sor --omega 1.1", "sor --sweep symmetric", "ssor --omega 1.05"})
      for (const char* precision : {"double", "single"}) {
        const json o =
            solve(A + " --rhs b.txt --initial ones -o x.txt --method " + method + " --precision " + precision);
        EXPECT_EQ(o["status"], "converged") << method;
        EXPECT_EQ(o["matrix"]["rows"], 150);
        EXPECT_EQ(o["matrix"]["symmetric"], false);
        const json& bound = o["error_bound"];
        ASSERT_TRUE(bound.is_object()) << method;
        EXPECT_EQ(bound["verified"], true);
        EXPECT_EQ(bound["method"], "dominance");
        EXPECT_GE(bound["max_absolute"].get<double>(), largest_error("x.txt", "e.txt")) << method;
        EXPECT_LE(bound["max_absolute"].get<double>(), 0.01) << method;
      }
  }
}

TEST_F(tool_sweeps, generated_band_is_as_described) {
  ASSERT_EQ(run("gen banded-dominant -n 40 -q -o A.mtx").code, 0);
  const std::string text = content("A.mtx");
  const std::vector<double> a = numbers(text.substr(text.find('\n') + 1));
  ASSERT_EQ(a.size(), 2 + 1600U);
  bool symmetric = true;
  for (int j = 0; j < 40; ++j)
    for (int i = 0; i < 40; ++i) {
      const double value = a[static_cast<std::size_t>(2 + i + 40 * j)];
      EXPECT_EQ(value, std::floor(value));
      if (i == j) {
        EXPECT_TRUE(value >= 40 && value < 90);
      } else {
        EXPECT_TRUE(value >= 0 && value <= 4);
      }
      EXPECT_TRUE(value == 0 || std::abs(i - j) <= 6);
      symmetric = symmetric && value == a[static_cast<std::size_t>(2 + j + 40 * i)];
    }
  EXPECT_FALSE(symmetric);
  EXPECT_EQ(run("gen banded-dominant -n 40 --rhs b.txt --exact x.txt -q -o B.mtx").code, 0);
  EXPECT_EQ(content("B.mtx"), text);
  // The published solution: whole numbers from 0 to 49; b = A x has no rounding.
  const std::vector<double> x = numbers(content("x.txt")), b = numbers(content("b.txt"));
  ASSERT_EQ(x.size(), 40U);
  ASSERT_EQ(b.size(), 40U);
  EXPECT_NE(std::count(x.begin(), x.end(), x[0]), 40);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_TRUE(x[i] >= 0 && x[i] <= 49 && x[i] == std::floor(x[i])) << x[i];
    double sum = 0;
    for (std::size_t j = 0; j < 40; ++j) sum += a[2 + i + 40 * j] * x[j];
    EXPECT_EQ(b[i], sum);
  }
  EXPECT_EQ(run("gen banded-dominant -n 40 --ny 3 -o B.mtx").code, 2);
  EXPECT_EQ(run("gen banded-dominant -n 40 --dominance 2 -o B.mtx").code, 2);
  EXPECT_EQ(run("gen poisson-2d -n 4 --signs random -o B.mtx").code, 2);
  EXPECT_EQ(run("gen dense-dominant -n 4 --dominance 0 -o B.mtx").code, 2);
}

TEST_F(tool_sweeps, published_rule_stops_and_the_residual_stands_beside_it) {
  ASSERT_EQ(run("gen dense-dominant -n 60 --dominance 1.5 -q -o A.mtx").code, 0);
  const json o = solve("A.mtx --method jacobi --stop mean-change:1e-5");
  EXPECT_EQ(o["status"], "stopped");
  EXPECT_GT(o["residual"]["relative_true"].get<double>(), 0);
  EXPECT_EQ(solve("A.mtx --method gauss-seidel --fixed-iterations 3")["iterations"], 3);
}

TEST_F(tool_sweeps, divergence_is_said_with_its_row_and_leaves_no_x) {
  write("A.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n1\n");
  const tool_result r = run("solve A.mtx --method gauss-seidel -o x.txt");
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.out.find("diverged"), std::string::npos);
  EXPECT_NE(r.out.find("row 2 breaks dominance"), std::string::npos) << r.out;
  EXPECT_NE(r.err.find("warning"), std::string::npos) << r.err;
  EXPECT_FALSE(exists("x.txt"));
  EXPECT_TRUE(solve("A.mtx --method gauss-seidel", 1)["error_bound"].is_null());
}

// Rows of different scale: with x_1 all of a sudden right the residual of row 2 grows 10^7 times, the error
// falls. x = (1, 1).
TEST_F(tool_sweeps, a_residual_that_grows_where_convergence_is_proved_is_no_divergence) {
  write("b.txt", "1.5\n3e9\n");
  for (const std::string form : {"array real general\n2 2\n1\n1e9\n0.5\n2e9\n",
                                 "coordinate real general\n2 2 4\n1 1 1\n1 2 0.5\n2 1 1e9\n2 2 2e9\n"}) {
    write("A.mtx", "%%MatrixMarket matrix " + form);
    write("start.txt", "1e3\n-498.5\n");
    for (const std::string method : {"jacobi", "gauss-seidel", "ssor", "sor --omega 0.9", "async",
                                     "jacobi --accel anderson:2", "gauss-seidel --accel chebyshev"})
      for (const std::string precision : {"double", "mixed"}) {
        const json o = solve("A.mtx --rhs b.txt --initial start.txt --rtol 1e-13 -o x.txt --method " + method +
                             " --precision " + precision);
        EXPECT_EQ(o["status"], "converged") << method << precision;
        for (const double x : numbers(content("x.txt"))) EXPECT_NEAR(x, 1, 1e-3) << method << precision;
      }
  }
}

// What the log says of convergence, for programs.
TEST_F(tool_sweeps, what_is_known_of_convergence_stands_in_the_object) {
  write("none.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n1\n");
  const json none = solve("none.mtx --method gauss-seidel", 1)["convergence"];
  EXPECT_EQ(none["proved"], false);
  EXPECT_EQ(none["dominance"], "none");
  EXPECT_NEAR(none["ratio"].get<double>(), 3, 1e-12);
  EXPECT_EQ(none["weakest_row"], 2);
  EXPECT_TRUE(none["omega_below"].is_null());
  const std::string why = none["reason"];
  EXPECT_NE(why.find("row 2 breaks dominance"), std::string::npos) << why;
  EXPECT_NE(why.find("neither columns nor scaling"), std::string::npos) << why;

  write("rows.mtx", "%%MatrixMarket matrix array real general\n2 2\n4\n1\n2\n4\n");
  const json rows = solve("rows.mtx --method sor --omega 1.25")["convergence"];
  EXPECT_EQ(rows["proved"], true);
  EXPECT_EQ(rows["dominance"], "rows");
  EXPECT_NEAR(rows["ratio"].get<double>(), 0.5, 1e-12);
  EXPECT_EQ(rows["weakest_row"], 1);
  EXPECT_NEAR(rows["omega_below"].get<double>(), 4.0 / 3, 1e-12);
  EXPECT_EQ(rows["omega"], 1.25);
  EXPECT_EQ(rows["reason"], "diagonal dominance of the rows, q = 0.5");
  EXPECT_EQ(solve("rows.mtx --method sor --omega 1.5")["convergence"]["proved"], false);

  write("columns.mtx", "%%MatrixMarket matrix array real general\n2 2\n3\n1\n5\n6\n");
  EXPECT_EQ(solve("columns.mtx --method jacobi")["convergence"]["dominance"], "columns");
  EXPECT_TRUE(solve("rows.mtx --method sparse-lu")["convergence"].is_null());

  // Nothing stands beside the diagonal: q is 0, however small the diagonal is.
  write("bare.mtx", "%%MatrixMarket matrix array real general\n2 2\n1e-300\n0\n0\n1\n");
  write("thin.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e-300\n2 2 1\n");
  for (const char* file : {"bare.mtx", "thin.mtx"}) {
    const json bare = solve(std::string(file) + " --method jacobi")["convergence"];
    EXPECT_EQ(bare["ratio"], 0) << file;
    EXPECT_EQ(bare["omega_below"], 2) << file;
  }
}

// D^-1 R of this matrix has eigenvalue 5 for the ones, and -1/4 else.
TEST_F(tool_sweeps, growth_is_measured_where_it_has_settled) {
  constexpr int n = 21;
  std::string text = "%%MatrixMarket matrix array real general\n21 21\n", b;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) text += i == j ? "4\n" : "-1\n";
  for (int i = 0; i < n; ++i) b += i == 0 ? "1\n" : "-0.049\n";
  write("A.mtx", text);
  write("b.txt", b);
  const std::string reason = solve("A.mtx --rhs b.txt --method jacobi", 1)["reason"];
  const std::string before = "changes the residual by a factor of ";
  const std::size_t at = reason.find(before);
  ASSERT_NE(at, std::string::npos) << reason;
  EXPECT_NEAR(std::stod(reason.substr(at + before.size())), 5, 0.05) << reason;
  // Residuals that grow 2 and 3 times by turns: sqrt(6) a sweep.
  write("A.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n1\n");
  const std::string by_turns = solve("A.mtx --method jacobi", 1)["reason"];
  EXPECT_NE(by_turns.find(before + "2.449"), std::string::npos) << by_turns;
}

// Verdict and bound are about the numbers of the files, where only the right-hand side is rounded as well.
TEST_F(tool_sweeps, single_precision_is_judged_by_the_right_hand_side_of_the_file) {
  write("I.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n1\n");
  write("b.txt", "0.1\n-0.7\n");
  for (const char* method : {"jacobi", "gauss-seidel", "cg", "lu", "sparse-lu"}) {
    const json o = solve("I.mtx --rhs b.txt --precision single -o x.txt --method " + std::string(method));
    EXPECT_GT(o["residual"]["relative_true"], 1e-9) << method;
    if (o["error_bound"].is_null()) continue;
    const std::vector<double> x = numbers(content("x.txt"));
    EXPECT_GE(o["error_bound"]["max_absolute"], std::max(std::fabs(x[0] - 0.1), std::fabs(x[1] + 0.7)))
        << method;
  }
}

// Where x overflows another factorisation would not help, nor is the start at fault.
TEST_F(tool_sweeps, an_overflowing_solution_is_a_result) {
  if (!lapack::present()) GTEST_SKIP() << "no LAPACK on this machine";
  write("A.mtx", "%%MatrixMarket matrix array real general\n1 1\n1e-310\n");
  const json o = solve("A.mtx --verify", 1);
  EXPECT_EQ(o["status"], "diverged");
  EXPECT_EQ(o["error_bound"]["verified"], false);
}

// A rule that is never met says nothing of rates of the residual.
TEST_F(tool_sweeps, another_rule_that_is_not_met_is_said_to_be) {
  write("A.mtx", "%%MatrixMarket matrix array real general\n2 2\n4\n1\n2\n4\n");
  const std::string reason =
      solve("A.mtx --method jacobi --stop mean-change:0 --max-iterations 90", 1)["reason"];
  EXPECT_EQ(reason, "90 iterations were not enough; the rule that was asked for is not met");
}

TEST_F(tool_sweeps, coordinate_files_are_swept_as_sparse) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 4\n1 2 1\n2 2 -4\n3 3 2\n3 1 1\n");
  const json o = solve("A.mtx --method gauss-seidel --rhs row-sums -o x.txt");
  EXPECT_EQ(o["matrix"]["nonzeros"], 5);
  for (const double x : numbers(content("x.txt"))) EXPECT_NEAR(x, 1, 1e-7);
  EXPECT_EQ(solve("A.mtx --method ssor --ordering multicolor")["status"], "converged");
}

TEST_F(tool_sweeps, chebyshev_and_async_solve_dense_and_sparse_systems) {
  ASSERT_EQ(
      run("gen banded-dominant -n 150 --solution integers --rhs b.txt --exact e.txt -q -o dense.npy").code, 0);
  ASSERT_EQ(run("gen poisson-2d -n 24 --solution smooth --rhs c.txt --exact f.txt -q -o sparse.mtx").code, 0);
  const json plain = solve("sparse.mtx --rhs c.txt --method jacobi");
  for (const std::string method : {"jacobi --accel chebyshev", "ssor --omega 1 --accel chebyshev", "async"}) {
    const json d = solve("dense.npy --rhs b.txt -o x.txt --method " + method);
    EXPECT_EQ(d["status"], "converged") << method;
    EXPECT_GE(d["error_bound"]["max_absolute"].get<double>(), largest_error("x.txt", "e.txt")) << method;
    const json s = solve("sparse.mtx --rhs c.txt -o y.txt --method " + method);
    EXPECT_EQ(s["status"], "converged") << method;
    EXPECT_EQ(s["reproducible"], method != "async");
    EXPECT_LE(largest_error("y.txt", "f.txt"), 1e-5) << method;
    const int times = method == "async" ? 0 : 4;
    EXPECT_LE(times * s["iterations"].get<int>(), plain["iterations"].get<int>()) << method;
  }
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 2 1\n2 2 4\n");
  refused("A.mtx --method async --accel chebyshev");
  refused("A.mtx --method async --ordering multicolor");
  refused("A.mtx --method async --sweep backward");
  refused("A.mtx --method jacobi --accel chebyshev:3");
  refused("A.mtx --method cg --accel chebyshev");
  EXPECT_NE(refused("A.mtx --method jacobi --accel chebychev").err.find("did you mean chebyshev"),
            std::string::npos);
}

TEST_F(tool_sweeps, factorisations_and_sweeps_run_on_a_gpu) {
  if (cuda_devices().empty()) GTEST_SKIP() << "no GPU on this machine";
  ASSERT_EQ(
      run("gen banded-dominant -n 150 --solution integers --rhs b.txt --exact e.txt -q -o dense.npy").code, 0);
  std::vector<std::string> methods{"jacobi", "async", "jacobi --accel chebyshev", "jacobi --precision mixed",
                                   "jacobi --accel anderson:2 --precision mixed"};
  if (cuda_devices().front().processors >= 128) methods.emplace_back("sor --omega 1.1 --accel anderson:2");
  if (cusolver::present()) methods.emplace_back("lu");
  for (const std::string& method : methods) {
    const json o = solve("dense.npy --rhs b.txt -o x.txt --device cuda --method " + method);
    EXPECT_EQ(o["status"], "converged") << method;
    EXPECT_EQ(o["device"]["kind"], "cuda");
    EXPECT_LE(largest_error("x.txt", "e.txt"), 1e-5) << method;
  }
  if (cusolver::present()) {
    EXPECT_EQ(solve("dense.npy --device cuda")["method"], "lu");
  }
  ASSERT_EQ(run("gen poisson-2d -n 24 --solution smooth --rhs c.txt --exact f.txt -q -o sparse.mtx").code, 0);
  for (const char* method :
       {"gauss-seidel", "ssor --omega 1.2", "sor --omega auto", "async", "gauss-seidel --accel anderson:3",
        "gauss-seidel --ordering multicolor --precision mixed"}) {
    const json o = solve(std::string("sparse.mtx --rhs c.txt -o y.txt --device cuda --method ") + method);
    EXPECT_EQ(o["status"], "converged") << method;
    EXPECT_LE(largest_error("y.txt", "f.txt"), 1e-5) << method;
  }
}

TEST_F(tool_sweeps, mixed_precision_reaches_what_double_reaches) {
  ASSERT_EQ(
      run("gen banded-dominant -n 150 --solution integers --rhs b.txt --exact e.txt -q -o dense.npy").code, 0);
  ASSERT_EQ(run("gen poisson-2d -n 12 --solution smooth --rhs c.txt --exact f.txt -q -o sparse.mtx").code, 0);
  for (const std::string method : {"jacobi", "gauss-seidel", "gauss-seidel --sweep symmetric",
                                   "ssor --omega 1.1", "async", "jacobi --accel chebyshev"}) {
    const json d = solve("dense.npy --rhs b.txt -o x.txt --rtol 1e-13 --precision mixed --method " + method);
    EXPECT_EQ(d["status"], "converged") << method;
    EXPECT_EQ(d["precision"], "mixed");
    EXPECT_LE(largest_error("x.txt", "e.txt"), 1e-10) << method;
    EXPECT_GE(d["error_bound"]["max_absolute"].get<double>(), largest_error("x.txt", "e.txt")) << method;
    const json s = solve("sparse.mtx --rhs c.txt -o y.txt --rtol 1e-12 --precision mixed --method " + method);
    EXPECT_EQ(s["status"], "converged") << method;
    EXPECT_LE(largest_error("y.txt", "f.txt"), 1e-9) << method;
  }
  const tool_result counted = run("solve dense.npy --method jacobi --precision mixed --fixed-iterations 3");
  EXPECT_EQ(counted.code, 0);
  EXPECT_NE(counted.err.find("counted in double sweeps"), std::string::npos) << counted.err;
}

TEST_F(tool_sweeps, omega_is_estimated_and_checked) {
  ASSERT_EQ(run("gen poisson-2d -n 40 --rhs b.txt -q -o A.mtx").code, 0);
  const json plain = solve("A.mtx --rhs b.txt --method gauss-seidel");
  // Young's: 2 / (1 + sin(pi / 41)) = 1.8577; the radius of SOR is then 0.8577, that of Gauss-Seidel 0.9941.
  const json best = solve("A.mtx --rhs b.txt --method sor --omega 1.8577");
  const json found = solve("A.mtx --rhs b.txt --method sor --omega auto");
  EXPECT_EQ(found["status"], "converged");
  EXPECT_NEAR(found["convergence"]["omega"].get<double>(), 1.8577, 0.005);
  EXPECT_LE(found["iterations"].get<int>(), 2 * best["iterations"].get<int>());
  EXPECT_LE(8 * found["iterations"].get<int>(), plain["iterations"].get<int>());
  const json symmetric = solve("A.mtx --rhs b.txt --method ssor --omega auto");
  EXPECT_LE(8 * symmetric["iterations"].get<int>(), plain["iterations"].get<int>());
  // The Jacobi iteration's eigenvalues lie on a circle: no omega is found, the sweeps go on.
  std::string ring = "%%MatrixMarket matrix coordinate real general\n41 41 82\n";
  for (int i = 0; i < 41; ++i)
    ring += std::to_string(i + 1) + " " + std::to_string(i + 1) + " 1\n" + std::to_string(i + 1) + " " +
            std::to_string((i + 1) % 41 + 1) + " -0.95\n";
  write("A.mtx", ring);
  const tool_result r = run("solve A.mtx --method sor --omega auto");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("omega stays 1"), std::string::npos) << r.err;
  // A real spectrum, but no consistent order: what Young's formula gives is slower than 1.
  ASSERT_EQ(run("gen dense-dominant -n 60 --dominance 0.2 --seed 1 -q -o D.npy").code, 0);
  for (const char* method : {"sor", "ssor"}) {
    const json one = solve("D.npy --omega 1 --method " + std::string(method));
    const json automatic = solve("D.npy --omega auto --method " + std::string(method));
    EXPECT_EQ(automatic["status"], "converged");
    EXPECT_LE(automatic["iterations"], one["iterations"]) << method;
  }
  // No consistent order either, but Young's omega is worth a lot.
  std::string minus = "%%MatrixMarket matrix array integer general\n40 40\n";
  const auto entry = [](int i, int j) { return i == j ? 0 : -((i * i * 7 + j * 13 + i * j * 5) % 11); };
  for (int j = 0; j < 40; ++j)
    for (int i = 0; i < 40; ++i) {
      int rest = 0;
      for (int k = 0; k < 40; ++k) rest -= entry(i, k);
      minus += std::to_string(i == j ? rest + rest / 100 + 1 : entry(i, j)) + "\n";
    }
  write("M.mtx", minus);
  const json tried = solve("M.mtx --method sor --omega auto");
  EXPECT_LE(4 * tried["iterations"].get<int>(), solve("M.mtx --method sor")["iterations"].get<int>());
  refused("A.mtx --method jacobi --omega auto");
  refused("A.mtx --method gauss-seidel --omega auto");
  refused("A.mtx --method sor --omega fast");
}

TEST_F(tool_sweeps, bad_requests_are_refused) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 2 1\n2 1 1\n");
  EXPECT_NE(refused("A.mtx --method jacobi").err.find("A.mtx: the diagonal entry of row 2 is zero"),
            std::string::npos);
  EXPECT_NE(refused("A.mtx --method jacobbi").err.find("did you mean jacobi"), std::string::npos);
  for (const char* omega : {"0", "2", "-1", "3"})
    EXPECT_NE(refused("A.mtx --method sor --omega " + std::string(omega)).err.find("between 0 and 2"),
              std::string::npos);
  refused("A.mtx --method gauss-seidel --omega 1.2");
  refused("A.mtx --method cg --omega 1.2");
  refused("A.mtx --method jacobi --sweep backward");
  refused("A.mtx --method jacobi --ordering multicolor");
  refused("A.mtx --method jacobi --precond ic0");
  refused("A.mtx --method jacobi --accel anderson:0");
  refused("A.mtx --method jacobi --accel anderson");
  refused("A.mtx --method cg --accel anderson:2");
  refused("A.mtx --stop mean-change:1e-5");
  EXPECT_NE(refused("A.mtx --method jacobi --stop mean-change").err.find("as in --stop mean-change:"),
            std::string::npos);
  refused("A.mtx --method jacobi --stop mean-change:1e-5 --fixed-iterations 3");
  EXPECT_NE(
      refused("A.mtx --method jacobi --max-iterations 9 --fixed-iterations 3").err.find("--max-iterations"),
      std::string::npos);
  EXPECT_NE(refused("A.mtx --stop mean-chnge:1").err.find("did you mean mean-change"), std::string::npos);
  write("A.mtx", "%%MatrixMarket matrix array real general\n1 2\n1\n3\n");
  EXPECT_NE(refused("A.mtx --method jacobi").err.find("1 by 2, not square"), std::string::npos);
  write("A.mtx", "%%MatrixMarket matrix array real general\n2 2\n1e-300\n0\n0\n1\n");
  EXPECT_NE(refused("A.mtx --method jacobi --precision single").err.find("row 1 is zero in single precision"),
            std::string::npos);
}

}  // namespace
}  // namespace vouch
