// vouch solve --batch on sparse matrices of one pattern.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "npz.hpp"
#include "small_system.hpp"
#include "solve_fixture.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::numbers;
using testing::tool_result;

class tool_pattern_batch : public testing::solve_test {
 protected:
  void archive(const std::vector<std::pair<std::string, std::string>>& arrays) {
    std::vector<testing::zip_member> members;
    for (const auto& [name, bytes] : arrays) members.push_back({name + ".npy", bytes, false, false});
    write("a.npz", testing::zip_writer().archive(members));
  }
};

using testing::npy_file;

// [a 1; 2 b]: entries (0,0), (0,1), (1,0), (1,1).
const std::pair<std::string, std::string> offsets{"indptr", npy_file("(3,)", {0, 2, 4})},
    columns{"indices", npy_file("(4,)", {0, 1, 0, 1})};

TEST_F(tool_pattern_batch, each_has_its_own_right_hand_side) {
  archive({offsets,
           columns,
           {"data", npy_file("(2, 4)", {3, 1, 2, 4, 0, 1, 2, 0})},
           {"b", npy_file("(2, 2)", {4, 6, 5, 8})}});
  for (const std::string how : {"", "--method sparse-lu", "--method gmres", "--repeat 2", "--verify 12"}) {
    const json o = solve("--batch a.npz -o x.txt " + how);
    EXPECT_EQ(o["status"], "converged") << how;
    EXPECT_EQ(o["batch"]["systems"], 2);
    EXPECT_EQ(o["batch"]["missed"], 0);
    EXPECT_EQ(o["matrix"]["rows"], 4);
    EXPECT_EQ(o["matrix"]["nonzeros"], 8);
    const std::vector<double> x = numbers(content("x.txt"));
    ASSERT_EQ(x.size(), 4U);
    EXPECT_NEAR(x[0], 1, 1e-7);
    EXPECT_NEAR(x[1], 1, 1e-7);
    EXPECT_NEAR(x[2], 4, 1e-7);
    EXPECT_NEAR(x[3], 5, 1e-7);
  }
  solve("--batch a.npz -o x.npy");
  EXPECT_NE(content("x.npy").find("'shape': (2, 2)"), std::string::npos);
}

TEST_F(tool_pattern_batch, one_that_is_singular_leaves_the_others_alone) {
  const double nan = std::nan("");
  archive({offsets,
           columns,
           {"data", npy_file("(4, 4)", {3, 1, 2, 4, 1, 1, 2, 2, nan, 1, 2, 4, 1, 1, 2, 3})},
           {"b", npy_file("(2,)", {1, 0})}});
  for (const std::string how : {"", "--method sparse-lu"}) {
    const json o = solve("--batch a.npz -o x.txt " + how, 1);
    EXPECT_EQ(o["status"], "breakdown") << how;
    EXPECT_EQ(o["batch"]["first_missed"], json::parse("[1, 2]"));
    const std::string x = content("x.txt");
    if (!how.empty()) {  // auto goes on to what has an x all the same
      EXPECT_EQ(x.substr(x.find("\n\n") + 2, 8), "nan\nnan\n") << x;
    }
    EXPECT_NEAR(std::stod(x), 0.4, 1e-12);
    EXPECT_NEAR(std::stod(x.substr(x.rfind("\n\n"))), 3, 1e-12);
    const json proved = solve("--batch a.npz --verify " + how, 1);
    EXPECT_EQ(proved["batch"]["unproved"], 2);
    EXPECT_EQ(proved["batch"]["first_unproved"], json::parse("[1, 2]"));
    EXPECT_FALSE(proved["error_bound"]["verified"].get<bool>());
  }
  EXPECT_NE(run("solve --batch a.npz").out.find("2 of 4 systems solved"), std::string::npos);
}

TEST_F(tool_pattern_batch, the_method_is_that_of_those_that_were_not_refused) {
  const double nan = std::nan("");
  archive({offsets,
           columns,
           {"data", npy_file("(2, 4)", {nan, 1, 2, 4, 3, 1, 2, 4})},
           {"b", npy_file("(2,)", {1, 0})}});
  const json o = solve("--batch a.npz", 1);
  EXPECT_EQ(o["status"], "breakdown");
  archive({offsets, columns, {"data", npy_file("(1, 4)", {3, 1, 2, 4})}, {"b", npy_file("(2,)", {1, 0})}});
  EXPECT_EQ(o["method"], solve("--batch a.npz")["method"]);
}

TEST_F(tool_pattern_batch, one_matrix_serves_all) {
  archive(
      {offsets, columns, {"data", npy_file("(4,)", {3, 1, 2, 4})}, {"b", npy_file("(2, 2)", {4, 6, 8, 12})}});
  solve("--batch a.npz -o x.txt --bounds bounds.txt");
  const std::vector<double> x = numbers(content("x.txt"));
  ASSERT_EQ(x.size(), 4U);
  EXPECT_NEAR(x[3], 2, 1e-12);
  EXPECT_EQ(numbers(content("bounds.txt")).size(), 8U);
}

TEST_F(tool_pattern_batch, what_does_not_fit_is_refused) {
  const auto refused = [&](const std::string& text) {
    const tool_result r = run("solve --batch a.npz");
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_NE(r.err.find(text), std::string::npos) << r.err;
  };
  const std::pair<std::string, std::string> data{"data", npy_file("(4,)", {3, 1, 2, 4})},
      b{"b", npy_file("(2,)", {1, 1})};
  archive({offsets, columns, data});
  refused("no array b");
  archive({offsets, columns, {"data", npy_file("(3,)", {3, 1, 2})}, b});
  refused("data is 3 where a row has 4");
  archive({offsets,
           columns,
           {"data", npy_file("(2, 4)", std::vector<double>(8, 1))},
           {"b", npy_file("(3, 2)", std::vector<double>(6, 1))}});
  refused("as many right-hand sides");
  archive({offsets, {"indices", npy_file("(4,)", {0, 1.5, 0, 1})}, data, b});
  refused("indices: element 1 is 1.5, no index");
  archive({offsets, {"indices", npy_file("(4,)", {1, 0, 0, 1})}, data, b});
  refused("row 0");
  EXPECT_EQ(run("solve --batch a.npz").err.find(".hpp"), std::string::npos);
  archive({offsets, {"indices", npy_file("(4,)", {0, 5, 0, 1})}, data, b});
  refused("row 0");
  archive({{"indptr", npy_file("(3,)", {0, 2, 7})}, columns, data, b});
  EXPECT_EQ(run("solve --batch a.npz").code, 2);
  for (const char* option : {"--precond jacobi", "--rhs ones", "--initial zeros", "--amg-type sa"}) {
    const testing::tool_result r = run(std::string("solve --batch a.npz ") + option);
    EXPECT_EQ(r.code, 2) << option;
    EXPECT_NE(r.err.find("option --batch: the file holds"), std::string::npos) << option << ": " << r.err;
  }
}

}  // namespace
}  // namespace vouch
