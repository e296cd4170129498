// The command line itself: help, version, mistakes and what was meant.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "run_tool.hpp"

namespace vouch {
namespace {

using testing::tool_result;

class tool_usage : public testing::tool_test {
 protected:
  // A usage error: exit 2, this message, this hint.
  void refuse(const std::string& arguments, const std::string& message, const std::string& hint) const {
    const tool_result r = run(arguments);
    EXPECT_EQ(r.code, 2) << arguments;
    EXPECT_EQ(r.out, "") << arguments;
    EXPECT_EQ(r.err.find("vouch: error: " + message), 0u) << arguments << "\n" << r.err;
    EXPECT_NE(r.err.find(hint.empty() ? "" : "hint: " + hint), std::string::npos) << r.err;
  }
};

TEST_F(tool_usage, version) {
  const tool_result r = run("--version");
  EXPECT_EQ(r.code, 0);
  EXPECT_TRUE(std::regex_match(r.out, std::regex("vouch \\d+\\.\\d+\\.\\d+( \\(without CUDA\\))?\n"))) << r.out;
  EXPECT_EQ(r.err, "");
}

TEST_F(tool_usage, help_of_every_command_fits_one_screen) {
  const tool_result overview = run("-h");
  EXPECT_EQ(overview.code, 0);
  for (const std::string command : {"solve", "info", "gen", "convert", "bench", "devices", "verify"}) {
    EXPECT_NE(overview.out.find("\n  " + command + " "), std::string::npos) << command;
    const tool_result r = run(command + " -h");
    EXPECT_EQ(r.code, 0) << command;
    EXPECT_EQ(r.err, "") << command;
    EXPECT_EQ(r.out.find("vouch " + command + " -- "), 0u) << r.out;
    // gen lists its problems besides its options
    EXPECT_LE(std::count(r.out.begin(), r.out.end(), '\n'), command == "gen" ? 56 : 50) << command;
    EXPECT_LT(r.out.find("\nExamples\n"), r.out.find("\nUsage: vouch " + command)) << command;
    EXPECT_EQ(run(command + " --help").out, r.out);
  }
}

TEST_F(tool_usage, no_command) {
  const tool_result r = run("");
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find("Usage: vouch COMMAND"), std::string::npos);
}

TEST_F(tool_usage, mistyped_names) {
  refuse("slove A.mtx", "unknown command 'slove'", "did you mean solve?");
  refuse("solve A.mtx --rtoll 1", "unknown option --rtoll", "did you mean --rtol?");
  refuse("solve A.mtx --percond jacobi", "unknown option --percond", "did you mean --precond?");
  refuse("solve A.mtx --frobnicate", "unknown option --frobnicate", "vouch solve -h lists the options");
  refuse("solve A.mtx extra", "one argument too many: 'extra'", "usage: vouch solve A [options]");
  refuse("solve", "A is missing", "usage: vouch solve A [options]");
}

TEST_F(tool_usage, mistyped_values) {
  refuse("solve A.mtx --precond jacoby", "option --precond: unknown value 'jacoby'", "did you mean jacobi?");
  refuse("solve A.mtx --precond ssor:3", "option --precond: ssor", "");
  refuse("solve A.mtx --precond ic0:x", "option --precond: ic0", "");
  refuse("solve A.mtx --precision duoble", "option --precision: unknown value 'duoble'",
         "did you mean double?");
  refuse("solve A.mtx --method gc", "option --method: unknown value 'gc'", "did you mean cg?");
  refuse("solve A.mtx --device cdua", "option --device: unknown value 'cdua'", "did you mean cuda?");
  refuse("solve A.mtx --device cuda:x", "option --device cuda:K: 'x' is not a whole number", "");
  refuse("solve A.mtx --rhs row-sum", "option --rhs: ", "did you mean row-sums?");
  refuse("solve A.mtx --initial zeroes", "option --initial: ", "did you mean zeros?");
  refuse("solve A.mtx --stop recurence:1", "option --stop: unknown value 'recurence'",
         "did you mean recurrence?");
  refuse("solve A.mtx -o same --history same", "two outputs go to the same file 'same'", "");
  for (const char* command :
       {"solve A.mtx -o x.npy.gz", "gen plate -n 3 -o x.npy.gz", "convert A.mtx x.npy.gz"})
    refuse(command, "x.npy.gz: files are written as they are, not compressed", "leave .gz off");
  write("taken.mtx", "%%MatrixMarket matrix array real general\n1 1\n3\n");
  for (const char* option : {"-o", "--history", "--plot", "--bounds"})
    refuse("solve taken.mtx " + std::string(option) + " ./taken.mtx", "'./taken.mtx' holds the matrix", "");
  refuse("info taken.mtx --svg taken.mtx", "'taken.mtx' holds the matrix", "");
  refuse("verify taken.mtx x.txt -o taken.mtx", "'taken.mtx' holds the matrix", "");
  refuse("gen plate -n 3 -o p.mtx --rhs ./p.mtx", "two outputs go to the same file './p.mtx'", "");
  refuse("convert taken.mtx B.mtx --seed 3", "--seed without --order random", "");
  refuse("convert taken.mtx B.npy --format coordinate", "--format is of .mtx files", "B.npy is written as");
  refuse("convert taken.mtx B.mtx --store symmetric", "--store is of coordinates", "give --format coordinate");
  refuse("convert taken.mtx B.mtx --block 3", "--block without --order", "give --order rcm or random");
  refuse("solve A.mtx --stop recurrence", "option --stop: recurrence needs a bound", "as in");
}

TEST_F(tool_usage, numbers_out_of_range) {
  refuse("solve A.mtx --rtol x", "option --rtol: expected a number, found 'x'", "");
  refuse("solve A.mtx --rtol nan", "option --rtol: NaN is not allowed", "");
  refuse("solve A.mtx --rtol -inf", "option --rtol: infinity is not allowed", "");
  refuse("solve A.mtx --rtol=-1", "option --rtol: -1 is below 0", "");
  refuse("solve A.mtx --atol 1e999", "option --atol: '1e999' overflows double precision", "");
  refuse("solve A.mtx --verify 1e999", "option --verify: '1e999' overflows double precision", "");
  refuse("solve A.mtx --precond ic0:1e999", "option --precond: ic0: '1e999' overflows double precision", "");
  refuse("solve A.mtx --rtol 1e-400", "option --rtol: '1e-400' underflows double precision", "give 0, or");
  refuse("solve A.mtx --omega -0.1e-400", "option --omega: '-0.1e-400' underflows", "give 0, or");
  refuse("solve A.mtx --rtol 0e-400 --frobnicate", "unknown option --frobnicate", "");
  refuse("solve A.mtx --max-iterations 0", "option --max-iterations: 0 is below 1", "");
  refuse("solve A.mtx --max-iterations 1.5", "option --max-iterations: '1.5' is not a whole number", "");
  refuse("solve A.mtx --max-iterations 1e-400", "option --max-iterations: '1e-400' is not a whole number", "");
  for (const std::string large : {"9223372036854775808", "1e19", "1e400"}) {
    refuse("solve A.mtx --max-iterations " + large,
           "option --max-iterations: " + large + " is above 9223372036854775807", "");
    refuse("solve A.mtx --max-iterations=-" + large, "option --max-iterations: -" + large + " is below 1", "");
  }
  refuse("gen matrix-set --range 0:1e30 -o x.txt", "option --range: 1e30 is above 9223372036854775807", "");
  refuse("gen matrix-set --range 7 -o x.txt", "option --range: '7' is no range of integers", "LO:HI");
  refuse("solve A.mtx --max-iterations 9.2e18 --frobnicate", "unknown option --frobnicate", "");
  refuse("solve A.mtx --repeat 0", "option --repeat: 0 is below 1", "");
  refuse("solve A.mtx --threads 0", "option --threads: 0 is below 1", "");
  refuse("solve A.mtx --rtol", "option --rtol: its value is missing", "vouch solve -h");
  refuse("solve A.mtx --stop recurrence:1 --fixed-iterations 3", "options --stop and --fixed-iterations", "");
}

TEST_F(tool_usage, devices) {
  EXPECT_EQ(run("devices").out.find("cpu     "), 0u);
  EXPECT_EQ(run("devices --json").out.find("{\n  \"schema\": \"vouch.devices/1\""), 0u);
}

}  // namespace
}  // namespace vouch
