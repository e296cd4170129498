// vouch solve, status by status: the exit code and whether x is written.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vouch/text/number.hpp>

#include "small_system.hpp"
#include "solve_fixture.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::chain;
using testing::numbers;
using testing::ones;
using testing::tool_result;
using testing::tool_solve;

TEST_F(tool_solve, status_converged_by_the_absolute_tolerance) {
  const auto A = chain(20);
  write("A.mtx", A.file());
  const json o = solve("A.mtx --rtol 0 --atol 1e-3 -o x.txt");
  EXPECT_EQ(o["status"], "converged");
  EXPECT_EQ(o["tolerance"]["absolute"], 1e-3);
  EXPECT_LE(A.relative_residual(ones(20), numbers(content("x.txt"))) * std::sqrt(20.0), 1e-3);
}

TEST_F(tool_solve, status_fixed) {
  const auto A = chain(200);
  write("A.mtx", A.file());
  const json o = solve("A.mtx --fixed-iterations 17 -o x.txt");
  EXPECT_EQ(o["status"], "fixed");
  EXPECT_EQ(o["iterations"], 17);
  EXPECT_NEAR(A.relative_residual(ones(200), numbers(content("x.txt"))),
              o["residual"]["relative_true"].get<double>(), 1e-9);
  const json none = solve("A.mtx --fixed-iterations 0 -o x.txt");
  EXPECT_EQ(none["residual"]["relative_true"], 1.0);
}

TEST_F(tool_solve, iterations_beyond_the_solution_are_done_too) {
  const auto A = chain(20);
  write("A.mtx", A.file());
  for (const std::string precond : {"none", "jacobi", "ic0"}) {
    const json o = solve("A.mtx --fixed-iterations 50000 -o x.txt --precond " + precond);
    EXPECT_EQ(o["status"], "fixed") << precond;
    EXPECT_EQ(o["iterations"], 50000) << precond;
    EXPECT_LE(A.relative_residual(ones(20), numbers(content("x.txt"))), 1e-12) << precond;
    EXPECT_EQ(solve("A.mtx --rtol 0 --precond " + precond, 1)["status"], "stagnated") << precond;
  }
}

TEST_F(tool_solve, units_of_the_right_hand_side_do_not_matter) {
  const auto A = chain(20);
  write("A.mtx", A.file());
  for (const std::string unit : {"1e-200", "1e-70", "1e70", "1e200"}) {
    std::string b;
    for (int i = 0; i < 20; ++i) b += unit + "\n";
    write("b.txt", b);
    EXPECT_EQ(solve("A.mtx --rhs b.txt")["status"], "converged") << unit;
  }
}

TEST_F(tool_solve, status_stopped) {
  const auto A = chain(200);
  write("A.mtx", A.file());
  const json o = solve("A.mtx --stop recurrence:1e-3 -o x.txt");
  EXPECT_EQ(o["status"], "stopped");
  EXPECT_LT(o["residual"]["relative_recurrence"].get<double>() * std::sqrt(200.0), 1e-3);
  EXPECT_NEAR(A.relative_residual(ones(200), numbers(content("x.txt"))),
              o["residual"]["relative_true"].get<double>(), 1e-9);
}

TEST_F(tool_solve, status_max_iterations) {
  write("A.mtx", chain(200).file());
  const json o = solve("A.mtx --max-iterations 5 -o x.txt", 1);
  EXPECT_EQ(o["status"], "max_iterations");
  EXPECT_EQ(o["iterations"], 5);
  EXPECT_EQ(numbers(content("x.txt")).size(), 200u);
}

TEST_F(tool_solve, status_stagnated) {
  const auto A = chain(50);
  write("A.mtx", A.file());
  const json o = solve("A.mtx --rtol 1e-19 -o x.txt", 1);
  EXPECT_EQ(o["status"], "stagnated");
  EXPECT_LE(A.relative_residual(ones(50), numbers(content("x.txt"))), 1e-13);
}

TEST_F(tool_solve, status_not_spd) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 2\n2 2 1\n");
  write("b.txt", "1\n-1\n");
  const json o = solve("A.mtx --rhs b.txt -o x.txt --history h.csv", 1);
  EXPECT_EQ(o["status"], "not_spd");
  EXPECT_FALSE(exists("x.txt"));
  EXPECT_TRUE(exists("h.csv"));
}

TEST_F(tool_solve, status_breakdown) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 1\n2 2 1\n");
  write("b.txt", "1\n-1\n");
  EXPECT_EQ(solve("A.mtx --rhs b.txt -o x.txt", 1)["status"], "breakdown");
  EXPECT_FALSE(exists("x.txt"));
  // rows that sum to zero and a right-hand side that no x can have
  write("N.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 -1\n2 2 1\n");
  EXPECT_EQ(solve("N.mtx -o x.txt", 1)["status"], "breakdown");
  EXPECT_FALSE(exists("x.txt"));
  const tool_result r = run("solve N.mtx --method cg --rhs b.txt -o x.txt --json");
  EXPECT_EQ(r.code, 0);
  EXPECT_NE(r.err.find("vouch: warning: every row sums to zero to rounding"), std::string::npos) << r.err;
}

// The rows of a regular matrix may sum to zero to rounding: nothing is said of it that is not so, and auto goes on where
// dominance tells that it is one.
TEST_F(tool_solve, nearly_singular_is_not_called_singular) {
  constexpr int m = 30, n = m * m;
  constexpr double shift = 0x1p-46;
  std::string entries;
  int count = 0;
  const auto put = [&](int i, int j, double value) {
    entries += std::to_string(i + 1) + ' ' + std::to_string(j + 1) + ' ' + number_text(value) + '\n';
    ++count;
  };
  for (int i = 0; i < n; ++i) {
    const int column = i % m, line = i / m;
    if (line > 0) put(i, i - m, -1);
    if (column > 0) put(i, i - 1, -1);
    put(i, i, (line > 0) + (line < m - 1) + (column > 0) + (column < m - 1) + shift);
  }
  write("N.mtx", "%%MatrixMarket matrix coordinate real symmetric\n" + std::to_string(n) + ' ' +
                     std::to_string(n) + ' ' + std::to_string(count) + '\n' + entries);
  const tool_result by_cg = run("solve N.mtx --method cg");
  EXPECT_EQ(by_cg.code, 1);
  EXPECT_NE(by_cg.out.find("sum to zero to rounding"), std::string::npos) << by_cg.out;
  for (const char* untrue : {"singular", "no solution"})
    EXPECT_EQ(by_cg.out.find(untrue), std::string::npos) << by_cg.out;
  const tool_result by_auto = run("solve N.mtx -o x.txt");
  EXPECT_NE(by_auto.err.find("went on with sparse-"), std::string::npos) << by_auto.err;
  for (const double x : numbers(content("x.txt"))) EXPECT_NEAR(x, 1 / shift, 0.1 / shift);
}

TEST_F(tool_solve, an_empty_matrix_is_not_singular) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
  for (const std::string method : {"auto", "cg", "sparse-lu", "jacobi", "band"}) {
    const tool_result r = run("solve A.mtx --json --method " + method);
    EXPECT_EQ(r.code, 0) << method;
    EXPECT_EQ(r.err, "") << method;
  }
  const std::string log = run("solve A.mtx").err;
  EXPECT_NE(log.find("matrix     A.mtx: 0 x 0, nothing to solve\n"), std::string::npos) << log;
  EXPECT_EQ(log.find("diagonal dominance"), std::string::npos) << log;
}

TEST_F(tool_solve, status_diverged) {
  // One step of steepest descent makes the residual 2^54 times larger.
  write("A.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 18014398509481984\n"
        "2 2 324518553658426726783156020576256\n");
  write("b.txt", "1\n0\n");
  EXPECT_EQ(solve("A.mtx --rhs b.txt -o x.txt", 1)["status"], "diverged");
  EXPECT_FALSE(exists("x.txt"));
}

// Here by 2^14, the fourth root of the condition number; all numbers on the way are integers.
TEST_F(tool_solve, a_residual_that_grows_for_a_while_is_no_divergence) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 16384\n2 2 268435457\n");
  write("b.txt", "1\n0\n");
  EXPECT_EQ(solve("A.mtx --rhs b.txt -o x.txt")["status"], "converged");
  EXPECT_EQ(numbers(content("x.txt")), (std::vector<double>{268435457, -16384}));
}

class tool_interrupted : public tool_solve {
 protected:
  // Sends the signal once the table of residuals has begun; the exit code.
  int solve_and_send(const std::string& signal, const std::string& arguments) {
    return shell(
        "\"$VOUCH\" solve A.mtx --fixed-iterations 4e15 -o x.txt " + arguments +
        " > .out 2> .err & pid=$!; for k in $(seq 600); do grep -qs iteration .err && break; sleep 0.1; "
        "done; kill -" +
        signal + " $pid; wait $pid");
  }
};

TEST_F(tool_interrupted, ctrl_c_writes_the_iterate_so_far) {
  const auto A = chain(2000);
  write("A.mtx", A.file());
  EXPECT_EQ(solve_and_send("INT", "--history h.csv"), 130) << content(".err");
  EXPECT_EQ(content(".out").find("interrupted: "), 0u) << content(".out");
  const std::vector<double> x = numbers(content("x.txt"));
  ASSERT_EQ(x.size(), 2000u);
  EXPECT_LT(A.relative_residual(ones(2000), x), 1e3);
  EXPECT_EQ(files(), (std::vector<std::string>{"A.mtx", "h.csv", "x.txt"}));
}

TEST_F(tool_interrupted, terminated) {
  write("A.mtx", chain(2000).file());
  EXPECT_EQ(solve_and_send("TERM", ""), 143) << content(".err");
  EXPECT_TRUE(exists("x.txt"));
}

}  // namespace
}  // namespace vouch
