// What all subcommands share besides their options: help, output and the log.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "run_tool.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::tool_result;

class tool_frame : public testing::tool_test {};

TEST_F(tool_frame, help_is_as_wide_as_a_screen_and_has_two_names) {
  for (const char* command : {"solve", "info", "gen", "convert", "price", "bench", "devices"}) {
    const tool_result r = run(std::string(command) + " -h");
    EXPECT_EQ(run(std::string("help ") + command).out, r.out);
    std::istringstream stream(r.out);
    for (std::string line; std::getline(stream, line);) EXPECT_LE(line.size(), 100u) << line;
  }
  EXPECT_EQ(run("help slove").err, "vouch: error: unknown command 'slove'\nhint: did you mean solve?\n");
}

TEST_F(tool_frame, the_log_is_silent_beside_json_unless_asked_for) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 1\n");
  EXPECT_NE(run("solve A.mtx").err, "");
  EXPECT_EQ(run("solve A.mtx -q").err, "");
  EXPECT_EQ(run("solve A.mtx --json").err, "");
  EXPECT_NE(run("solve A.mtx --json -v").err, "");
}

TEST_F(tool_frame, the_last_value_of_an_option_counts) {
  const tool_result r = run("devices --json --threads 3 --threads 2");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(json::parse(r.out)["cpu"]["threads"], 2);
}

TEST_F(tool_frame, a_closed_standard_output_is_an_error) {
  const tool_result r = run("devices > /dev/full; echo $? > code; true");
  EXPECT_EQ(content("code"), "3\n");
}

TEST_F(tool_frame, no_gpu_is_listed_where_none_is_visible) {
  const tool_result r = run("devices --json");
  const tool_result hidden = [&] {
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    const tool_result result = run("devices --json");
    unsetenv("CUDA_VISIBLE_DEVICES");
    return result;
  }();
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(hidden.code, 0);
  EXPECT_EQ(json::parse(hidden.out)["gpus"], json::array());
}

}  // namespace
}  // namespace vouch
