// vouch solve --verify for tridiagonal and dense systems and for batches.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "run_tool.hpp"
#include "small_system.hpp"

namespace vouch {
namespace {

using testing::tool_result;
using json = nlohmann::json;

class tool_verify_forms : public testing::tool_test {};

// Solutions: (2.5, 4, 3.5), and (1/8, 5/8), which doubles hold.
TEST_F(tool_verify_forms, a_batch_proves_every_system) {
  write("batch.txt", "0 2 -1 1\n-1 2 -1 2\n-1 2 0 3\n\n0 3 1 1\n1 3 0 2\n");
  const tool_result r = run("solve --batch batch.txt --verify 12 --json --bounds bounds.txt");
  ASSERT_EQ(r.code, 0) << r.err;
  const json bound = json::parse(r.out)["error_bound"];
  EXPECT_EQ(bound["verified"], true);
  EXPECT_EQ(bound["method"], "h-matrix");
  EXPECT_LE(bound["max_relative"].get<double>(), 1e-12);
  EXPECT_TRUE(bound["condition_estimate"].is_number());
  const std::vector<double> bounds = testing::numbers(content("bounds.txt"));
  const std::vector<double> exact{2.5, 4, 3.5, 0.125, 0.625};
  ASSERT_EQ(bounds.size(), 10u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_LE(bounds[2 * i], exact[i]);
    EXPECT_GE(bounds[2 * i + 1], exact[i]);
  }
}

TEST_F(tool_verify_forms, a_singular_system_of_a_batch_is_exit_1) {
  write("batch.txt", "0 2 -1 1\n-1 2 0 2\n\n0 2 -2 1\n-2 2 0 2\n");
  const tool_result r = run("solve --batch batch.txt --verify --json");
  EXPECT_EQ(r.code, 1);
  const json o = json::parse(r.out);
  EXPECT_EQ(o["error_bound"]["verified"], false);
  EXPECT_EQ(o["batch"]["unproved"], 1);  // the other one is proved
  EXPECT_EQ(o["batch"]["first_unproved"], json::array({1}));
  write("none.txt", "0 2 -2 1\n-2 2 0 2\n");
  EXPECT_TRUE(json::parse(run("solve --batch none.txt --verify --json").out)["batch"]["unproved"].is_null());
}

// Zero diagonals: rows change places when it is solved, and its factors have pivots of two rows. x = (1, 2, 3,
// 4).
TEST_F(tool_verify_forms, a_batch_that_needs_interchanges_is_proved) {
  write("batch.txt", "0 0 1 2\n1 0 1 4\n1 0 1 6\n1 0 0 3\n\n0 2 1 4\n1 2 0 5\n");
  const tool_result r = run("solve --batch batch.txt --verify 12 --json -o x.txt");
  ASSERT_EQ(r.code, 0) << r.err << r.out;
  const json o = json::parse(r.out);
  EXPECT_EQ(o["error_bound"]["method"], "bidiagonal factors");
  EXPECT_EQ(o["batch"]["unproved"], 0);
  const std::vector<double> x = testing::numbers(content("x.txt")), exact{1, 2, 3, 4, 1, 2};
  ASSERT_EQ(x.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(x[i], exact[i], o["error_bound"]["max_absolute"].get<double>());
}

// An oscillating matrix, which no comparison matrix proves regular: x = (1, 0, -1, 1).
TEST_F(tool_verify_forms, a_tridiagonal_file_is_proved_by_its_factors) {
  write("A.mtx",
        "%%MatrixMarket matrix coordinate real general\n4 4 10\n1 1 1\n1 2 2\n2 1 2\n2 2 1\n2 3 3\n3 2 3\n"
        "3 3 2\n3 4 1\n4 3 1\n4 4 4\n");
  write("b.txt", "1\n-1\n-1\n3\n");
  const tool_result r = run("solve A.mtx --rhs b.txt --verify 10 --json -o x.txt");
  ASSERT_EQ(r.code, 0) << r.err;
  const json bound = json::parse(r.out)["error_bound"];
  EXPECT_EQ(bound["method"], "bidiagonal factors");
  const std::vector<double> x = testing::numbers(content("x.txt"));
  EXPECT_NEAR(x[0], 1, bound["max_absolute"].get<double>());
  EXPECT_NEAR(x[3], 1, bound["max_absolute"].get<double>());
}

// [[2, 3], [5, 7]] (x, y) = (5, 12) has the solution (1, 1).
TEST_F(tool_verify_forms, a_dense_matrix_is_proved_as_one) {
  write("A.mtx", "%%MatrixMarket matrix array real general\n3 3\n2\n5\n1\n3\n7\n1\n1\n1\n9\n");
  write("b.txt", "6\n13\n11\n");
  const tool_result r = run("solve A.mtx --rhs b.txt --verify 12 --json -o x.txt");
  ASSERT_EQ(r.code, 0) << r.err << r.out;
  const json bound = json::parse(r.out)["error_bound"];
  for (const double value : testing::numbers(content("x.txt")))
    EXPECT_NEAR(value, 1, bound["max_absolute"].get<double>());
}

// A third is no double: its bounds hold as decimals too, and as the doubles that these become.
TEST_F(tool_verify_forms, bounds_are_on_their_side_as_decimals) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 -10\n");
  ASSERT_EQ(run("solve A.mtx --verify 15 --bounds bounds.txt").code, 0);
  std::istringstream bounds(content("bounds.txt"));
  std::string least, most;
  bounds >> least >> most;
  EXPECT_LT(least, "0.33333333333333333333");
  EXPECT_GT(most, "0.33333333333333333334");
  EXPECT_LE(std::stod(most) - std::stod(least), 2e-16);
  bounds >> least >> most;  // -1/10: -0.1 would not be below the double that is
  EXPECT_GE(least, "-0.1");
  EXPECT_LE(most, "-0.1");
  ASSERT_EQ(run("solve A.mtx --verify 15 --bounds bounds.txt --bounds-form mid-radius").code, 0);
}

// A radius that no double is as small as is still one.
TEST_F(tool_verify_forms, the_least_radius_counts) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  write("b.txt", "2\n");
  write("r.txt", "1e-400\n");
  write("r.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e-400\n");
  const auto width = [&](const std::string& options) {
    EXPECT_EQ(run("verify A.mtx b.txt -b b.txt --bounds bounds.txt " + options).code, 0) << options;
    const std::vector<double> bounds = testing::numbers(content("bounds.txt"));
    return bounds.at(1) - bounds.at(0);
  };
  EXPECT_EQ(width(""), 0);
  for (const char* radius :
       {"--rhs-radius r.txt", "--rhs-radius 1e-400", "--matrix-radius r.mtx", "--matrix-radius 1e-400"})
    EXPECT_GT(width(radius), 0) << radius;
  write("twice.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 0.1\n1 1 0.2\n");
  EXPECT_EQ(run("verify A.mtx b.txt --matrix-radius twice.mtx").code, 2);
  const tool_result none = run("verify A.mtx b.txt --matrix-radius none.mtx");
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("'none.mtx' is neither a number nor a file that is there"), std::string::npos)
      << none.err;
  EXPECT_EQ(run("verify A.mtx b.txt --matrix-radius=-1").code, 2);
  EXPECT_EQ(run("verify A.mtx b.txt --rhs-radius 1e999").code, 2);
}

// A radius relative to a decimal number is one of that, not of its double: 0.3 times half a unit is missing
// else.
TEST_F(tool_verify_forms, radii_are_relative_to_decimals) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  write("b.txt", "0.1\n");
  ASSERT_EQ(run("solve A.mtx --rhs b.txt --decimal --rhs-radius 0.5 --bounds bounds.txt -o x.txt").code, 0);
  const std::vector<double> bounds = testing::numbers(content("bounds.txt"));
  EXPECT_LE(bounds[0], std::nextafter(0.05, 0));
  EXPECT_GE(bounds[1], 0.15000000000000002);
  EXPECT_LE(bounds[1], 0.1500000000000001);
}

TEST_F(tool_verify_forms, bounds_beyond_all_numbers_are_unverified) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  write("b.txt", "1.7e308\n");
  write("batch.txt", "0 1 0 1.7e308\n");
  for (const std::string call :
       {"solve A.mtx --rhs b.txt", "verify A.mtx b.txt -b b.txt", "solve --batch batch.txt"}) {
    const tool_result r = run(call + " --rhs-radius 0.5 --bounds bounds.txt --json");
    EXPECT_EQ(r.code, 1) << r.err;
    const json bound = json::parse(r.out)["error_bound"];
    EXPECT_EQ(bound["verified"], false);
    EXPECT_NE(bound["reason"].get<std::string>().find("overflows"), std::string::npos);
    EXPECT_FALSE(exists("bounds.txt"));
    EXPECT_EQ(run(call + " --rhs-radius 0.5 --bounds bounds.txt --bounds-form mid-radius").code, 0) << call;
    std::filesystem::remove(path("bounds.txt"));
  }
}

// A pipe is read once: its radii are rounded upwards blindly, and there are no decimals of it.
TEST_F(tool_verify_forms, radii_from_a_pipe) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  write("b.txt", "2\n");
  write("x.txt", "1\n");
  const std::string pipe = "b.pipe", verify = "verify A.mtx x.txt -b b.txt --bounds bounds.txt ";
  ASSERT_EQ(mkfifo(path(pipe).c_str(), 0600), 0);
  const auto feed = [&](const std::string& text) {
    return std::thread([text, to = path(pipe)] { std::ofstream(to) << text; });
  };
  std::thread radii = feed("0.25\n");
  EXPECT_EQ(run(verify + "--rhs-radius " + path(pipe)).code, 0);
  radii.join();
  EXPECT_EQ(testing::numbers(content("bounds.txt")),
            (std::vector<double>{std::nextafter(0.875, 0), 1.125 + 0x1p-52}));
  std::thread rhs = feed("2\n");
  const tool_result twice = run("verify A.mtx x.txt --decimal -b " + path(pipe));
  rhs.join();
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("decimal numbers are read twice"), std::string::npos) << twice.err;
}

// What a solve of nothing writes, every other call reads.
TEST_F(tool_verify_forms, a_system_of_no_rows_goes_round) {
  for (const char* matrix : {"%%MatrixMarket matrix array real general\n0 0\n",
                             "%%MatrixMarket matrix coordinate real general\n0 0 0\n"}) {
    write("A.mtx", matrix);
    write("B.mtx", "%%MatrixMarket matrix array real general\n0 3\n");
    for (const std::string x : {"x.txt", "x.mtx", "x.npy"}) {
      ASSERT_EQ(run("solve A.mtx -o " + x).code, 0);
      EXPECT_EQ(run("verify A.mtx " + x + " -b " + x + " --decimal --bounds bounds.txt").code, 0) << x;
      EXPECT_EQ(run("solve A.mtx --rhs " + x + " --initial " + x + " --verify --rhs-radius " + x).code, 0) << x;
      EXPECT_EQ(run("solve A.mtx --rhs B.mtx -o " + x).code, 0);
      EXPECT_EQ(run("verify A.mtx " + x + " -b B.mtx").code, 0) << x;
    }
  }
  write("x.txt", "");
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  EXPECT_EQ(run("verify A.mtx x.txt").code, 2);
  EXPECT_EQ(run("solve A.mtx --rhs x.txt").code, 2);
}

}  // namespace
}  // namespace vouch
