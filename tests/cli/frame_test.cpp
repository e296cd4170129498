// The frame that all subcommands share: help, version, mistyped words, exit codes, and vouch devices.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "run_tool.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::tool_result;

class tool_frame : public testing::tool_test {
 protected:
  /// A usage error: exit code 2, nothing on stdout, and exactly these lines on stderr.
  void expect_usage_error(const std::string& arguments, const std::string& message, const std::string& hint) {
    const tool_result r = run(arguments);
    EXPECT_EQ(r.code, 2) << arguments;
    EXPECT_EQ(r.out, "") << arguments;
    EXPECT_EQ(r.err, "vouch: error: " + message + "\n" + (hint.empty() ? "" : "hint: " + hint + "\n"));
  }
};

class tool_devices : public testing::tool_test {};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

constexpr std::array<const char*, 6> all_commands{"solve", "info", "gen", "convert", "bench", "devices"};

TEST_F(tool_frame, version) {
  for (const char* option : {"--version", "-V"}) {
    const tool_result r = run(option);
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(r.err, "");
    EXPECT_TRUE(std::regex_match(r.out, std::regex("vouch [0-9]+\\.[0-9]+\\.[0-9]+( \\(without CUDA\\))?\n")))
        << r.out;
  }
}

TEST_F(tool_frame, overview_lists_every_command) {
  for (const char* option : {"-h", "--help", "help"}) {
    const tool_result r = run(option);
    EXPECT_EQ(r.code, 0);
    EXPECT_EQ(r.err, "");
    for (const char* command : all_commands)
      EXPECT_TRUE(std::regex_search(r.out, std::regex(std::string("\n  ") + command + " +[a-z]"))) << command;
  }
}

TEST_F(tool_frame, no_command_is_a_usage_error_that_shows_the_overview) {
  const tool_result r = run("");
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(r.err, run("-h").out);
}

TEST_F(tool_frame, help_of_every_command_fits_a_screen_and_begins_with_examples) {
  for (const char* command : all_commands) {
    const tool_result r = run(std::string(command) + " -h");
    EXPECT_EQ(r.code, 0) << command;
    EXPECT_EQ(r.err, "") << command;
    EXPECT_EQ(run(std::string(command) + " --help").out, r.out);
    EXPECT_EQ(run(std::string("help ") + command).out, r.out);
    const std::vector<std::string> lines = lines_of(r.out);
    ASSERT_GE(lines.size(), 4u) << command;
    EXPECT_LE(lines.size(), 50u) << command;
    EXPECT_EQ(lines[0].rfind(std::string("vouch ") + command + " -- ", 0), 0u) << lines[0];
    EXPECT_EQ(lines[2], "Examples") << command;
    EXPECT_EQ(lines[3].rfind(std::string("  vouch ") + command, 0), 0u) << lines[3];
    for (const std::string& line : lines) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST_F(tool_frame, mistyped_commands) {
  expect_usage_error("slove A.mtx", "unknown command 'slove'", "did you mean solve?");
  expect_usage_error("device", "unknown command 'device'", "did you mean devices?");
  expect_usage_error("--verzion", "unknown option '--verzion'", "did you mean --version?");
  expect_usage_error("frobnicate", "unknown command 'frobnicate'", "vouch -h lists the commands");
  expect_usage_error("help slove", "unknown command 'slove'", "did you mean solve?");
}

TEST_F(tool_frame, mistyped_options_and_values) {
  expect_usage_error("solve A.mtx --rtool 1e-3", "unknown option --rtool", "did you mean --rtol?");
  expect_usage_error("solve --max-iteration=5 A.mtx", "unknown option --max-iteration",
                     "did you mean --max-iterations?");
  expect_usage_error("solve --rtool 1e-3", "unknown option --rtool", "did you mean --rtol?");
  expect_usage_error("devices --qqqqqqqq", "unknown option --qqqqqqqq", "vouch devices -h lists the options");
  expect_usage_error("solve A.mtx --method cgg", "option --method: unknown value 'cgg'",
                     "did you mean cg? valid values: auto or cg");
  expect_usage_error("solve A.mtx --precision doubel", "option --precision: unknown value 'doubel'",
                     "did you mean double? valid values: double, single or mixed");
  expect_usage_error("solve A.mtx --device gpu", "option --device: unknown value 'gpu'",
                     "did you mean cpu? valid values: auto, cpu, cuda or cuda:K");
  expect_usage_error("solve A.mtx --device cuda:x", "option --device cuda:K: 'x' is not a whole number", "");
}

TEST_F(tool_frame, numbers_are_checked) {
  expect_usage_error("solve A.mtx --rtol tiny", "option --rtol: 'tiny' is not a number", "");
  expect_usage_error("solve A.mtx --rtol 1e-8x", "option --rtol: '1e-8x' is not a number", "");
  expect_usage_error("solve A.mtx --rtol nan", "option --rtol: 'nan' is not a finite number", "");
  expect_usage_error("solve A.mtx --rtol -1", "option --rtol: -1 is below 0", "");
  expect_usage_error("solve A.mtx --atol 1e999", "option --atol: '1e999' is not a finite number", "");
  expect_usage_error("solve A.mtx --repeat 0", "option --repeat: 0 is below 1", "");
  expect_usage_error("solve A.mtx --repeat 1.5", "option --repeat: '1.5' is not a whole number", "");
  expect_usage_error("devices --threads 5000", "option --threads: 5000 is above 4096", "");
  expect_usage_error("devices --threads 99999999999999999999",
                     "option --threads: 99999999999999999999 is out of range", "");
}

TEST_F(tool_frame, missing_and_superfluous_arguments) {
  expect_usage_error("solve", "A is missing", "usage: vouch solve A [options]");
  expect_usage_error("solve A.mtx b.mtx", "one argument too many: 'b.mtx'", "usage: vouch solve A [options]");
  expect_usage_error("solve A.mtx --rtol", "option --rtol: its value is missing",
                     "vouch solve -h lists the options");
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

TEST_F(tool_frame, a_gpu_that_is_not_there_is_no_usage_error) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n1 1 1\n1 1 1\n");
  const tool_result r = run("solve A.mtx --device cuda:1000 --json");
  EXPECT_EQ(r.code, 3);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(r.err.rfind("vouch: error: ", 0), 0u) << r.err;
}

TEST_F(tool_devices, as_text) {
  const tool_result r = run("devices --threads 2");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err, "");
  const std::vector<std::string> lines = lines_of(r.out);
  ASSERT_GE(lines.size(), 2u);
  EXPECT_TRUE(std::regex_match(
      lines[0], std::regex("cpu     .+, [0-9]+ cores?, 2 threads in use, [0-9]+\\.[0-9] GiB free")))
      << lines[0];
  EXPECT_EQ(lines[1].rfind("cuda", 0), 0u) << lines[1];
}

TEST_F(tool_devices, as_json) {
  const tool_result r = run("devices --threads 2 --json");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err, "");
  const json object = json::parse(r.out);
  EXPECT_EQ(object["schema"], "vouch.devices/1");
  EXPECT_TRUE(object["built_with_cuda"].is_boolean());
  EXPECT_EQ(object["cpu"]["kind"], "cpu");
  EXPECT_EQ(object["cpu"]["threads"], 2);
  EXPECT_GT(object["cpu"]["memory_free_bytes"], 0);
  ASSERT_TRUE(object["gpus"].is_array());
  for (const json& gpu : object["gpus"]) EXPECT_EQ(gpu["kind"], "cuda");
}

TEST_F(tool_devices, no_gpu_is_listed_where_none_is_visible) {
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
