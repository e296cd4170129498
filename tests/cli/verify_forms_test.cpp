// vouch solve --verify for tridiagonal and dense systems and for batches.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

}  // namespace
}  // namespace vouch
