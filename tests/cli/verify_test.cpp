// vouch solve --verify and vouch verify: what is proved, what is not, and what the exit code says.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "run_tool.hpp"
#include "small_system.hpp"

namespace vouch {
namespace {

using testing::tool_result;
using json = nlohmann::json;

// Second differences: the solution of A x = e is i (n + 1 - i) / 2.
class tool_verify : public testing::tool_test {
 protected:
  static constexpr int n = 60;
  void SetUp() override {
    testing::small_system system{n, {}};
    for (int i = 0; i < n; ++i) {
      if (i > 0) system.lower.push_back({i, i - 1, -1});
      system.lower.push_back({i, i, 2});
    }
    write("A.mtx", system.file());
  }
  static double exact(int i) { return (i + 1) * (n - i) / 2.0; }
};

// Sweeps bound their error by dominance, which is about the matrix of the file alone.
TEST_F(tool_verify, one_statement_and_the_one_that_was_asked_for) {
  write("B.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 4\n2 1 1\n2 2 4\n3 2 1\n3 3 4\n");
  const tool_result quiet = run("solve B.mtx --method jacobi --matrix-radius 0.3 --verify -q");
  EXPECT_EQ(quiet.code, 0) << quiet.err;
  EXPECT_EQ(quiet.out.find("in every element"), std::string::npos) << quiet.out;
  const tool_result full = run("solve B.mtx --method jacobi --matrix-radius 0.3 --verify --json -v");
  const double proved = json::parse(full.out)["error_bound"]["max_absolute"];
  EXPECT_GT(proved, 0.05);
  EXPECT_EQ(full.err.find("by diagonal dominance"), std::string::npos) << full.err;
  const std::size_t at = quiet.out.find("no component of x is farther than ");
  ASSERT_NE(at, std::string::npos) << quiet.out;
  EXPECT_GE(std::stod(quiet.out.substr(at + 34)), proved);
  const tool_result without = run("solve B.mtx --method jacobi -q");
  const double bound =
      json::parse(run("solve B.mtx --method jacobi --json").out)["error_bound"]["max_absolute"];
  const std::size_t said = without.out.find("error at most ");
  ASSERT_NE(said, std::string::npos) << without.out;
  EXPECT_GE(std::stod(without.out.substr(said + 14)), bound);
}

TEST_F(tool_verify, a_solve_proves_its_error) {
  const tool_result r = run("solve A.mtx --method cg --verify --json -o x.txt --bounds bounds.txt");
  ASSERT_EQ(r.code, 0) << r.err;
  const json bound = json::parse(r.out)["error_bound"];
  EXPECT_EQ(bound["verified"], true);
  EXPECT_EQ(bound["method"], "h-matrix");
  for (const char* key : {"max_relative", "median_relative", "condition_estimate", "seconds"})
    EXPECT_TRUE(bound[key].is_number()) << key;
  EXPECT_TRUE(bound["reason"].is_string());
  EXPECT_EQ(bound.size(), 8u);
  const std::vector<double> x = testing::numbers(content("x.txt")),
                            bounds = testing::numbers(content("bounds.txt"));
  ASSERT_EQ(bounds.size(), 2u * n);
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_LE(std::fabs(x[at] - exact(i)), bound["max_absolute"].get<double>());
    EXPECT_LE(bounds[2 * at], exact(i));
    EXPECT_GE(bounds[2 * at + 1], exact(i));
  }
}

TEST_F(tool_verify, digits_asked_are_reached_by_refinement) {
  const tool_result r = run("solve A.mtx --method cg --rtol 0.9 --verify 1e-14 -o x.txt");
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_NE(r.out.find("correct to at least 1"), std::string::npos) << r.out;  // 14 or 15
  const std::vector<double> x = testing::numbers(content("x.txt"));
  for (int i = 0; i < n; ++i) EXPECT_NEAR(x[static_cast<std::size_t>(i)], exact(i), 1e-14 * exact(i));
  EXPECT_EQ(run("solve --verify=14 A.mtx").code, 0);
  EXPECT_EQ(run("solve --verify A.mtx").code, 0);
}

// What is said of the residual is about the x that is written.
TEST_F(tool_verify, an_improved_solution_is_judged_again) {
  const tool_result r =
      run("solve A.mtx --method cg --rtol 1e-14 --max-iterations 3 --verify 14 --json -o x.txt --bounds b.txt "
          "--bounds-form mid-radius");
  EXPECT_EQ(r.code, 0) << r.out;
  const json o = json::parse(r.out);
  EXPECT_EQ(o["status"], "converged");
  EXPECT_LE(o["residual"]["relative_true"], 1e-14);
  EXPECT_NE(o["reason"].get<std::string>().find("of x as its proof has improved it"), std::string::npos);
  const std::vector<double> x = testing::numbers(content("x.txt")), b = testing::numbers(content("b.txt"));
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(b[2 * i], x[i]);
    EXPECT_LE(std::fabs(x[i] - exact(static_cast<int>(i))), b[2 * i + 1]);
  }
  EXPECT_EQ(run("solve A.mtx --bounds b.txt --bounds-form upper").code, 2);
}

// Columns of very different size: the bound of a sweep's dominance holds for all of them.
TEST_F(tool_verify, the_bound_of_a_sweep_holds_for_all_columns) {
  write("D.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n2 2 4\n1 2 1\n");
  write("B.txt", "1 1e9\n2 3e9\n");
  const json o = json::parse(run("solve D.mtx --method jacobi --rhs B.txt --rtol 1e-3 --json -o x.txt").out);
  const std::vector<double> x = testing::numbers(content("x.txt"));
  const double least = std::fabs(x[1] - 1e9 / 16), most = o["error_bound"]["max_absolute"];
  EXPECT_LE(least, most);
}

// Three digits of a bound are not below it.
TEST_F(tool_verify, sentences_round_upwards) {
  for (const char* start : {"1", "1.234", "2.7182818", "0.05555"}) {
    write("I.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 2 1\n3 3 1\n1 3 0.001\n");
    write("x.txt", start + std::string("\n1\n1\n"));
    const json bound = json::parse(run("verify I.mtx x.txt --rhs-radius 0.3333 --json").out)["error_bound"];
    const std::string reason = bound["reason"];
    const double said = std::stod(reason.substr(reason.find("within ") + 7));
    EXPECT_GE(said, bound["max_absolute"].get<double>()) << reason;
    EXPECT_LE(said, 1.02 * bound["max_absolute"].get<double>()) << reason;
  }
}

TEST_F(tool_verify, judges_a_solution_from_elsewhere) {
  std::string good, bad;
  for (int i = 0; i < n; ++i) {
    good += std::to_string(exact(i)) + "\n";
    bad += std::to_string(exact(i) * 1.01) + "\n";
  }
  write("good.txt", good);
  write("bad.txt", bad);
  const tool_result right = run("verify A.mtx good.txt --json");
  EXPECT_EQ(right.code, 0) << right.err;
  EXPECT_EQ(json::parse(right.out)["error_bound"]["max_absolute"], 0.0);
  const tool_result wrong = run("verify A.mtx bad.txt --matrix-radius 1e-9 --digits 6 --json");
  EXPECT_EQ(wrong.code, 1) << wrong.out;
  EXPECT_EQ(json::parse(wrong.out)["error_bound"]["verified"], true);
}

// Without a file for an improved x, the bound is one of the x given, however good an x was found.
TEST_F(tool_verify, the_bound_is_about_the_solution_that_the_user_has) {
  std::string far;
  for (int i = 0; i < n; ++i) far += i == 7 ? "1e6\n" : std::to_string(exact(i)) + "\n";
  write("far.txt", far);
  const double error = 1e6 - exact(7);
  const tool_result r = run("verify A.mtx far.txt --json --bounds b.txt");
  EXPECT_EQ(r.code, 0) << r.err;
  const json o = json::parse(r.out);
  const double most = o["error_bound"]["max_absolute"];
  EXPECT_GE(most, error);
  EXPECT_LE(most, 1.001 * error);
  EXPECT_GE(o["error_bound"]["max_relative"].get<double>(), error / exact(7));
  EXPECT_EQ(o["given"]["max_absolute"], most);
  EXPECT_LE(o["improved"]["max_absolute"], 1e-6);
  EXPECT_GE(o["improved"]["corrections"], 1);
  for (const char* part : {"read", "verify", "write", "total"}) EXPECT_TRUE(o["time_s"][part].is_number());
  const std::vector<double> bounds = testing::numbers(content("b.txt"));  // of the exact solution
  EXPECT_LE(bounds[14], exact(7));
  EXPECT_GE(bounds[15], exact(7));
  EXPECT_LE(bounds[15] - bounds[14], 2e-6);

  const tool_result said = run("verify A.mtx far.txt");
  EXPECT_EQ(said.out.find("digit"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("no component of x is farther than 1e+06"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("-o FILE writes an improved x"), std::string::npos) << said.out;
  EXPECT_EQ(run("verify A.mtx far.txt --digits 3").code, 1);

  const tool_result written = run("verify A.mtx far.txt --digits 12 --json -o y.txt");
  EXPECT_EQ(written.code, 0) << written.out;
  const json w = json::parse(written.out);
  EXPECT_LE(w["error_bound"]["max_relative"], 1e-12);
  EXPECT_GE(w["given"]["max_absolute"].get<double>(), error);
  const std::vector<double> y = testing::numbers(content("y.txt"));
  for (int i = 0; i < n; ++i)
    EXPECT_LE(std::fabs(y[static_cast<std::size_t>(i)] - exact(i)),
              w["error_bound"]["max_absolute"].get<double>());
}

// Columns stand for themselves: the worst of all is said.
TEST_F(tool_verify, the_worst_of_several_given_columns_counts) {
  write("I.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 2 1\n1 2 0.5\n");
  write("B.txt", "1.5 1.5\n1 1\n");
  write("X.txt", "1 1\n1 3\n");
  const json o = json::parse(run("verify I.mtx X.txt -b B.txt --json").out);
  EXPECT_GE(o["error_bound"]["max_absolute"], 2.0);
  EXPECT_GE(o["error_bound"]["max_relative"], 2.0);
  EXPECT_LE(o["error_bound"]["max_absolute"], 2.001);
}

TEST_F(tool_verify, what_cannot_be_proved_is_not) {
  write("S.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n");
  write("x.txt", "1\n0\n");
  const tool_result r = run("verify S.mtx x.txt --json");
  EXPECT_EQ(r.code, 1);
  const json bound = json::parse(r.out)["error_bound"];
  EXPECT_EQ(bound["verified"], false);
  EXPECT_TRUE(bound["max_absolute"].is_null());
  EXPECT_NE(bound["reason"].get<std::string>().find("singular"), std::string::npos);
  EXPECT_NE(run("verify S.mtx x.txt").out.find("not verified: "), std::string::npos);
}

// a x = b with a in [3, 5] and b in [8, 12]: x in [1.6, 4]; the middle is 2.5.
TEST_F(tool_verify, covers_the_radii_of_files) {
  write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n");
  write("r.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  write("b.txt", "10\n");
  write("q.txt", "2\n");
  const tool_result r = run(
      "solve a.mtx --rhs b.txt --matrix-radius r.mtx --rhs-radius q.txt --json -o x.txt --bounds bounds.txt");
  ASSERT_EQ(r.code, 0) << r.err;
  const std::vector<double> bounds = testing::numbers(content("bounds.txt"));
  EXPECT_LE(bounds[0], 1.6);
  EXPECT_GE(bounds[1], 4.0);
  EXPECT_LE(json::parse(r.out)["error_bound"]["max_absolute"], 1.6);
  write("w.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n");
  const tool_result wide = run("verify a.mtx x.txt -b b.txt --matrix-radius w.mtx --json");
  EXPECT_EQ(wide.code, 1);
  EXPECT_NE(json::parse(wide.out)["error_bound"]["reason"].get<std::string>().find("singular"),
            std::string::npos);
}

// These decimals have the solution (1, 1); the doubles next to them another one.
TEST_F(tool_verify, decimals_as_they_are_written) {
  write("a.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 0.1\n1 2 0.2\n2 1 0.3\n2 2 0.6000001\n");
  write("b.txt", "0.3\n0.9000001\n");
  write("x.txt", "1\n1\n");
  ASSERT_EQ(run("verify a.mtx x.txt -b b.txt --digits 12 --bounds binary.txt -o y.txt").code, 0);
  const std::vector<double> binary = testing::numbers(content("binary.txt"));
  EXPECT_TRUE(binary[1] < 1 || binary[0] > 1);
  ASSERT_EQ(run("verify a.mtx x.txt -b b.txt --decimal --bounds decimal.txt").code, 0);
  const std::vector<double> bounds = testing::numbers(content("decimal.txt"));
  for (const std::size_t i : {0u, 1u}) {
    EXPECT_LE(bounds[2 * i], 1);
    EXPECT_GE(bounds[2 * i + 1], 1);
    EXPECT_LT(bounds[2 * i + 1] - bounds[2 * i], 1e-6);
  }
}

TEST_F(tool_verify, bad_radii) {
  write("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n");
  write("negative.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 -1\n");
  write("two.txt", "1\n2\n");
  write("inf.txt", "inf\n");
  for (const char* option :
       {"--matrix-radius negative.mtx", "--matrix-radius A.mtx", "--matrix-radius missing.mtx",
        "--matrix-radius -1", "--matrix-radius inf", "--rhs-radius two.txt", "--rhs-radius inf.txt"}) {
    const tool_result r = run(std::string("solve a.mtx ") + option);
    EXPECT_EQ(r.code, 2) << option << r.out << r.err;
    EXPECT_EQ(r.out, "") << option;
  }
}

TEST_F(tool_verify, bad_input) {
  write("short.txt", "1\n");
  write("nan.txt", "1\nnan\n");
  EXPECT_EQ(run("verify A.mtx short.txt").code, 2);
  EXPECT_EQ(run("verify A.mtx nan.txt").code, 2);
  EXPECT_EQ(run("verify A.mtx missing.txt").code, 3);
  EXPECT_EQ(run("verify A.mtx").code, 2);
  EXPECT_EQ(run("verify A.mtx short.txt -o y.txt --bounds y.txt").code, 2);
  EXPECT_EQ(run("solve A.mtx --verify=16").code, 2);
  EXPECT_EQ(run("solve A.mtx --verify=1.5").code, 2);
  EXPECT_EQ(run("solve A.mtx --matrix-radius 1").code, 2);
  EXPECT_EQ(run("solve A.mtx --bounds no/such/folder/b.txt").code, 3);
  EXPECT_EQ(run("solve A.mtx -o y.txt --history h.csv --bounds /dev/full").code, 3);
  EXPECT_FALSE(exists("y.txt") || exists("h.csv"));
}

}  // namespace
}  // namespace vouch
