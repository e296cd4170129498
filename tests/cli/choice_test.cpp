// vouch solve without a method: what it takes, and factorisations that are named.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <vouch/dense/factor/lapack.hpp>

#include "small_system.hpp"
#include "solve_fixture.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::numbers;
using testing::tool_result;

class tool_choice : public testing::solve_test {};

TEST_F(tool_choice, factorisations_solve_what_sweeps_do_not) {
  if (!lapack::present()) GTEST_SKIP() << "no LAPACK on this machine";
  write("A.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n1\n");
  EXPECT_EQ(solve("A.mtx --method lu --rhs row-sums -o x.txt")["status"], "converged");
  for (const double x : numbers(content("x.txt"))) EXPECT_NEAR(x, 1, 1e-14);
  EXPECT_NE(refused("A.mtx --method cholesky").err.find("--method lu"), std::string::npos);
  write("A.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n2\n1\n");
  const tool_result indefinite = run("solve A.mtx --method cholesky");
  EXPECT_EQ(indefinite.code, 1);
  EXPECT_NE(indefinite.err.find("--method lu solves"), std::string::npos) << indefinite.err;
  write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 1\n2 2 3\n");
  EXPECT_EQ(solve("A.mtx --method cholesky --precision single")["method"], "cholesky");
  write("A.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n2\n4\n");
  EXPECT_EQ(solve("A.mtx --method lu -o y.txt", 1)["status"], "breakdown");
  EXPECT_FALSE(exists("y.txt"));
  refused("A.mtx --method lu --precision mixed");
  refused("A.mtx --method lu --fixed-iterations 3");
  refused("A.mtx --method lu --omega 1.2");
}

TEST_F(tool_choice, dense_matrices_need_no_method) {
  const std::string array = "%%MatrixMarket matrix array real general\n2 2\n";
  write("A.mtx", array + "4\n1\n1\n3\n");
  EXPECT_EQ(solve("A.mtx --rhs row-sums -o x.txt")["method"], lapack::present() ? "cholesky" : "gauss-seidel");
  for (const double x : numbers(content("x.txt"))) EXPECT_NEAR(x, 1, 1e-8);
  EXPECT_EQ(solve("A.mtx --fixed-iterations 2")["method"], "gauss-seidel");
  EXPECT_EQ(solve("A.mtx --precond jacobi")["method"], "cg");
  if (!lapack::present()) return;
  // Looks positive definite; has no dominance and no symmetry.
  for (const char* entries : {"1\n2\n2\n1\n", "1\n3\n2\n1\n"}) {
    write("A.mtx", array + entries);
    const json o = solve("A.mtx --rhs row-sums -o x.txt");
    EXPECT_EQ(o["status"], "converged") << entries;
    EXPECT_EQ(o["method_reason"], entries[2] == '2' ? "dense, not positive definite" : "dense");
    for (const double x : numbers(content("x.txt"))) EXPECT_NEAR(x, 1, 1e-14) << entries;
  }
}

// [[2, -1, 0], [-1, 2, -1], [0, -1, 2]] x = (1, 1, 1): x = (3/2, 2, 3/2).
TEST_F(tool_choice, every_method_reads_arrays_of_numpy) {
  write("A.txt", "2 -1 0\n-1 2 -1\n0 -1 2\n");
  ASSERT_EQ(run("convert A.txt A.npy -q").code, 0);
  for (const std::string method : {"auto", "cg", "sparse-lu", "band", "thomas", "gauss-seidel", "cholesky"}) {
    if (!lapack::present() && (method == "auto" || method == "cholesky")) continue;
    const json o = solve("A.npy -o x.txt --method " + method);
    EXPECT_EQ(o["status"], "converged") << method;
    const std::vector<double> x = numbers(content("x.txt"));
    ASSERT_EQ(x.size(), 3U);
    EXPECT_NEAR(x[0], 1.5, 1e-7) << method;
    EXPECT_NEAR(x[1], 2, 1e-7) << method;
    EXPECT_NEAR(x[2], 1.5, 1e-7) << method;
  }
  const tool_result facts = run("info A.npy");
  EXPECT_EQ(facts.code, 0);
  EXPECT_NE(facts.out.find("3 by 3, 7 nonzeros"), std::string::npos) << facts.out;
  EXPECT_NE(facts.out.find("NumPy array, 9 entries"), std::string::npos) << facts.out;
  EXPECT_EQ(json::parse(run("info A.npy --json").out)["structure"]["bandwidth"], 1);
}

// What a factorisation can do as well leads to no method that the matrix is not fit for.
TEST_F(tool_choice, auto_takes_what_the_matrix_is_fit_for) {
  const bool factorises = lapack::present();
  const std::string array = "%%MatrixMarket matrix array real general\n2 2\n";
  const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n2 2 4\n";
  write("ones.txt", "1\n1\n");
  write("dense.mtx", array + "1\n3\n2\n1\n");
  write("sparse.mtx", coordinate + "1 1 1\n1 2 2\n2 1 3\n2 2 1\n");
  for (const char* option : {"--initial ones.txt", "--max-iterations 9", "--history h.csv", "--plot p.svg"})
    for (const char* file : {"dense.mtx", "sparse.mtx"}) {
      if (!factorises && file[0] == 'd') continue;
      const json o = solve(std::string(file) + " --rhs row-sums -o x.txt " + option);
      EXPECT_EQ(o["status"], "converged") << file << option;
      EXPECT_EQ(o["method"], file[0] == 'd' ? "lu" : "sparse-lu") << option;
      EXPECT_EQ(o["method_reason"], file[0] == 'd' ? "dense" : "sparse, not symmetric") << option;
      for (const double x : numbers(content("x.txt"))) EXPECT_NEAR(x, 1, 1e-14) << file << option;
    }
  for (const char* needs : {"--fixed-iterations 3", "--stop recurrence:1e-3", "--precond jacobi"}) {
    EXPECT_EQ(run(std::string("solve dense.mtx ") + needs).code, 2) << needs;
    EXPECT_EQ(solve(std::string("sparse.mtx ") + needs)["method"], "gmres") << needs;
  }
  // Rows that dominate a little, in no symmetry.
  write("dense.mtx", array + "10\n-8\n-9\n9\n");
  write("sparse.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 10\n1 3 -9\n2 2 2\n3 3 1\n");
  for (const char* file : {"dense.mtx", "sparse.mtx"})
    for (const char* option : {"--precision mixed", "--fixed-iterations 9", "--stop recurrence:1e-3"}) {
      const json o = solve(std::string(file) + " " + option);
      EXPECT_EQ(o["method"], "gauss-seidel") << file << option;
      EXPECT_NE(o["method_reason"].get<std::string>().find("every row dominates"), std::string::npos);
    }
  write("spd.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 2 3\n3 3 4\n3 1 1\n");
  const json spd = solve("spd.mtx");
  EXPECT_EQ(spd["method"], "cg");
  EXPECT_EQ(spd["method_reason"], "symmetric with a positive diagonal");
}

}  // namespace
}  // namespace vouch
