// vouch reduce and vouch gen matrix-set as a user meets them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_tool.hpp"
#include "temporary.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::tool_result;

class tool_reduce : public testing::tool_test {
 protected:
  json reduced(const std::string& arguments) const {
    const tool_result r = run("reduce --json " + arguments);
    EXPECT_EQ(r.code, 0) << r.err;
    return r.code == 0 ? json::parse(r.out) : json();
  }
  void refuse(const std::string& arguments, int code, const std::string& message) const {
    const tool_result r = run("reduce -o out.txt --json " + arguments);
    EXPECT_EQ(r.code, code) << arguments;
    EXPECT_EQ(r.out, "") << arguments;
    EXPECT_EQ(r.err.substr(0, r.err.find('\n')), "vouch: error: " + message);
    EXPECT_FALSE(exists("out.txt")) << arguments;
  }
};

const std::string two = "2\n***\n1 2\n3 4\n***\n5 0\n-3 9\n";

TEST_F(tool_reduce, the_keys_of_the_object) {
  write("a.txt", two);
  const json all = reduced("a.txt --op min,max,sum,mean,argmin,count --threads 2");
  EXPECT_EQ(all["schema"], "vouch.reduce/1");
  EXPECT_EQ(all["count"], 2);
  EXPECT_EQ(all["rows"], 2);
  EXPECT_EQ(all["cols"], 2);
  EXPECT_EQ(all["type"], "integer");
  EXPECT_EQ(all["result"], json::parse(R"({"min": [[1, 0], [-3, 4]], "max": [[5, 2], [3, 9]],
    "sum": [[6, 2], [0, 13]], "mean": [[3.0, 1.0], [0.0, 6.5]], "argmin": [[0, 1], [1, 0]], "count": 2})"));
  EXPECT_TRUE(all["result"]["mean"][0][0].is_number_float());
  EXPECT_TRUE(all["enclosure"].is_null());
  EXPECT_EQ(all["device"]["kind"], "cpu");
  EXPECT_NE(all["device_reason"].get<std::string>().find("CPU"), std::string::npos);
  EXPECT_GT(all["time_s"]["total"], 0.0);
}

TEST_F(tool_reduce, integers_of_any_size_stay_exact) {
  write("a.txt", "2\n***\n9223372036854775807\n***\n9223372036854775807\n");
  const tool_result r = run("reduce a.txt --op sum,max --json");
  EXPECT_NE(r.out.find("\"sum\": [[18446744073709551614]]"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("\"max\": [[9223372036854775807]]"), std::string::npos) << r.out;
}

TEST_F(tool_reduce, several_files_gzip_and_standard_input) {
  write("a.txt", two);
  write("b.txt.gz", testing::gzipped("1\r\n***\r\n-7 0\r\n0 0\r\n***\r\n"));
  EXPECT_EQ(reduced("a.txt b.txt.gz --op min,argmin")["result"],
            json::parse(R"({"min": [[-7, 0], [-3, 0]], "argmin": [[2, 1], [1, 2]]})"));
  EXPECT_EQ(shell("cat a.txt | \"$VOUCH\" reduce - --json > piped.json"), 0);
  EXPECT_EQ(json::parse(content("piped.json"))["result"], json::parse(R"({"min": [[1, 0], [-3, 4]]})"));
}

TEST_F(tool_reduce, output_is_a_set_again) {
  write("a.txt", two);
  const tool_result r = run("reduce a.txt --op min,max -o out.txt");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(content("out.txt"), "2\n***\n 1 0\n-3 4\n***\n5 2\n3 9\n");
  EXPECT_NE(r.out.find("2 matrices, 2 by 2, integers"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("parsed by "), std::string::npos) << r.out;
  EXPECT_EQ(reduced("out.txt --op range")["result"], json::parse(R"({"range": [[4, 2], [6, 5]]})"));
}

TEST_F(tool_reduce, sums_are_rounded_once_and_rigorous_ones_enclosed) {
  write("a.txt", "4\n***\n1e300\n***\n0.1\n***\n-1e300\n***\n1e-300\n");
  const json all = reduced("a.txt --op sum,mean");
  EXPECT_EQ(all["result"]["sum"][0][0], 0.1);
  const json bounds = reduced("a.txt --op sum --rigorous")["enclosure"]["sum"];
  EXPECT_LT(bounds["lower"][0][0], 0.1);
  EXPECT_GT(bounds["upper"][0][0], 0.1);
  refuse("a.txt --op min --rigorous", 2, "--rigorous encloses sums and means, and --op asks for neither");
}

TEST_F(tool_reduce, what_overflows_costs_no_other_result) {
  write("a.txt", "2\n***\n1e308 1.0\n***\n1e308 2.0\n");
  const tool_result both = run("reduce a.txt --op min,sum --json -o out.txt");
  EXPECT_EQ(both.code, 1) << both.err;
  EXPECT_EQ(json::parse(both.out)["result"], json::parse(R"({"min": [[1e308, 1.0]], "sum": null})"));
  EXPECT_NE(both.err.find("the sum of element (1, 1) overflows double precision"), std::string::npos)
      << both.err;
  EXPECT_FALSE(exists("out.txt"));
  const tool_result text = run("reduce a.txt --op sum,max -q");
  EXPECT_NE(text.out.find("sum\n  none: the sum of element (1, 1) overflows"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("max\n  1e+308 2\n"), std::string::npos) << text.out;
  refuse("a.txt --op sum", 2, "the sum of element (1, 1) overflows double precision");
}

TEST_F(tool_reduce, bad_input) {
  const auto bad = [&](const std::string& text, const std::string& message) {
    write("bad.txt", text);
    refuse("bad.txt", 2, "bad.txt:" + message);
  };
  bad("", "1:1: the file is empty");
  bad("***\n1\n", "1:1: expected the number of matrices, found '***'");
  bad("-1\n", "1:1: the number of matrices is negative: '-1'");
  bad("2\n***\n1\n", "4:1: the file ends after 1 matrix, the first line announces 2");
  bad("1\n***\n1 2\n3\n", "4:2: row 2 of matrix 1 has 1 number, not 2");
  bad("1\n***\n1 nan\n", "3:3: NaN is not allowed");
  bad("1\n***\n1 9223372036854775808\n", "3:3: '9223372036854775808' is beyond integers of 64 bits");
  std::string packed = testing::gzipped(two);
  packed.resize(packed.size() / 2);
  write("cut.gz", packed);
  EXPECT_EQ(run("reduce cut.gz").code, 2);
  write("a.txt", two);
  refuse("a.txt --shape 3x3", 2, "a.txt:3:4: row 1 of matrix 1 has 2 numbers, not 3");
  refuse("a.txt --op mini", 2, "option --op: unknown operation 'mini'");
  refuse("missing.txt", 3, "cannot read 'missing.txt': No such file or directory");
}

TEST_F(tool_reduce, generated_sets) {
  ASSERT_EQ(run("gen matrix-set --count 20000 --shape 2x3 --range -12:99999 --seed 5 -o a.txt").code, 0);
  ASSERT_EQ(
      run("gen matrix-set --count 20000 --shape 2x3 --range -12:99999 --seed 5 --threads 3 -o b.txt").code, 0);
  EXPECT_EQ(content("a.txt"), content("b.txt"));
  const json all = reduced("a.txt --op min,max,mean");
  EXPECT_EQ(all["count"], 20000);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      const json& r = all["result"];
      EXPECT_GE(r["min"][i][j], -12);
      EXPECT_LT(r["min"][i][j], 100);
      EXPECT_LE(r["max"][i][j], 99999);
      EXPECT_GT(r["max"][i][j], 99900);
      EXPECT_NEAR(r["mean"][i][j].get<double>(), 49993.5, 1000);  // five standard deviations
    }
  EXPECT_EQ(run("gen matrix-set --range 5:2 -o c.txt").code, 2);
  EXPECT_FALSE(exists("c.txt"));
}

}  // namespace
}  // namespace vouch
