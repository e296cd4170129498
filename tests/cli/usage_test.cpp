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
  EXPECT_TRUE(std::regex_search(r.out, std::regex("^vouch \\d+\\.\\d+\\.\\d+\n"))) << r.out;
  for (const char* fact : {"commit", "build", "cpu", "cuda", "gpus", "lapack", "sparse", "mpfr"})
    EXPECT_NE(r.out.find("\n" + std::string(fact) + " "), std::string::npos) << r.out;
  refuse("--version extra", "--version takes --json, no 'extra'", "");
  EXPECT_EQ(r.err, "");
}

TEST_F(tool_usage, pictures_have_names_of_their_kind) {
  refuse("solve A.mtx --plot a.png", "'a.png': the picture is SVG, not png", "name it with .svg");
  refuse("info A.mtx --svg a.pdf", "'a.pdf': the picture is SVG, not pdf", "name it with .svg");
  refuse("classify a.pgm --model m --plot a.jpg", "'a.jpg': the picture is SVG or PNG, not jpg",
         "name it with .svg");
}

TEST_F(tool_usage, help_of_every_command_fits_one_screen) {
  const tool_result overview = run("-h");
  EXPECT_EQ(overview.code, 0);
  for (const std::string command : {"solve", "info", "gen", "convert", "bench", "devices", "verify"}) {
    EXPECT_NE(overview.out.find("\n  " + command + " "), std::string::npos) << command;
    if (command == "bench" && !std::filesystem::exists(testing::tool() + std::string("-bench")))
      continue;  // a program of its own
    const tool_result r = run(command + " -h");
    EXPECT_EQ(r.code, 0) << command;
    EXPECT_EQ(r.err, "") << command;
    EXPECT_EQ(r.out.find("vouch " + command + " -- "), 0u) << r.out;
    // gen lists its problems besides its options, solve its methods
    EXPECT_LE(std::count(r.out.begin(), r.out.end(), '\n'), command == "gen"     ? 70
                                                            : command == "solve" ? 61
                                                                                 : 50)
        << command;
    EXPECT_LT(r.out.find("\nExamples\n"), r.out.find("\nUsage: vouch " + command)) << command;
    EXPECT_EQ(run(command + " --help").out, r.out);
  }
}

TEST_F(tool_usage, benchmarks_that_are_not_built_say_so) {
  EXPECT_EQ(
      shell("cp \"$VOUCH\" alone && PATH=/bin:/usr/bin LD_LIBRARY_PATH=$(dirname \"$VOUCH\")/../vouch ./alone "
            "bench cg > .out 2> .err"),
      3);
  EXPECT_EQ(content(".out"), "");
  EXPECT_NE(content(".err").find("vouch-bench cannot be started"), std::string::npos) << content(".err");
}

TEST_F(tool_usage, no_command) {
  const tool_result r = run("");
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find("Usage: vouch COMMAND"), std::string::npos);
}

TEST_F(tool_usage, an_argument_of_control_characters_is_a_name) {
  for (const char* name : {"\\037", "(describe yourself)"}) {
    const std::string typed = std::string("\"$(printf '") + name + "')\"";
    EXPECT_EQ(run("info " + typed).code, 3) << name;
    EXPECT_EQ(run("convert " + typed).code, 2) << name;
  }
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
  refuse("solve A.mtx --device cuda:0,x", "option --device: \"x\" is no number of a GPU", "cuda:all");
  refuse("solve A.mtx --device cuda:0,0", "option --device: GPU 0 is named twice", "cuda:all");
  refuse("solve A.mtx --device cuda:0,1 --method sor", "option --device: --method sor takes one GPU alone",
         "cg, lu, cholesky, band,");
  refuse("verify A.mtx x.txt --device cuda:1,1", "option --device: GPU 1 is named twice", "cuda:all");
  refuse("price --spot 100 --device cuda:0,1", "option --device: one device, not cuda:0,1",
         "several GPUs share");
  refuse("reduce set.txt --device cuda:1,1", "option --device: GPU 1 is named twice", "cuda:all");
  refuse("solve A.mtx --rhs row-sum", "option --rhs: ", "did you mean row-sums?");
  refuse("solve A.mtx --initial zeroes", "option --initial: ", "did you mean zeros?");
  refuse("solve A.mtx --stop recurence:1", "option --stop: unknown value 'recurence'",
         "did you mean recurrence?");
  refuse("solve A.mtx -o same --history same", "two outputs go to the same file 'same'", "");
  for (const char* command :
       {"solve A.mtx -o -", "solve A.mtx --history -", "solve A.mtx --plot -", "convert A.mtx -",
        "gen plate -n 3 -o -", "gen matrix-set -o -", "verify A.mtx x.txt -o -"})
    refuse(command, "an output is called '-', which is no file", "/dev/stdout is standard output");
  for (const char* command :
       {"solve A.mtx -o x.npy.gz", "gen plate -n 3 -o x.npy.gz", "convert A.mtx x.npy.gz"})
    refuse(command, "x.npy.gz: files are written as they are, not compressed", "leave .gz off");
  write("taken.mtx", "%%MatrixMarket matrix array real general\n1 1\n3\n");
  for (const char* option : {"-o", "--history", "--plot", "--bounds"})
    refuse("solve taken.mtx " + std::string(option) + " ./taken.mtx",
           "'./taken.mtx' is read, and an output would", "");
  refuse("info taken.mtx --svg taken.mtx", "'taken.mtx' is read, and an output would", "");
  refuse("verify taken.mtx x.txt -o taken.mtx", "'taken.mtx' is read, and an output would", "");
  refuse("gen plate -n 3 -o p.mtx --rhs ./p.mtx", "two outputs go to the same file './p.mtx'", "");
  refuse("convert taken.mtx B.mtx --seed 3", "--seed without --order random", "");
  refuse("convert taken.mtx B.npy --format coordinate", "--format is of .mtx files", "B.npy is written as");
  refuse("convert taken.mtx B.mtx --store symmetric", "--store is of coordinates", "give --format coordinate");
  refuse("convert taken.mtx B.mtx --block 3", "--block without --order", "give --order rcm or random");
  refuse("solve A.mtx --stop recurrence", "option --stop: recurrence needs a bound", "as in");
}

TEST_F(tool_usage, no_output_takes_the_place_of_an_input) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  for (const char* name : {"b.txt", "radius.txt"}) write(name, "1\n");
  ASSERT_EQ(
      shell("ln -s b.txt soft; ln b.txt hard; ln -s new.txt dangling; cp A.mtx set.txt; cp A.mtx book.csv"), 0);
  const std::string read = "is read, and an output would take its place";
  for (const std::string name : {"b.txt", "./b.txt", "soft", "hard"}) {
    refuse("solve A.mtx --rhs b.txt -o " + name, "'" + name + "' " + read, "name another file");
    refuse("solve A.mtx --initial b.txt --plot " + name, "'" + name + "' " + read, "");
    refuse("solve A.mtx --rhs b.txt --verify --bounds " + name, "'" + name + "' " + read, "");
    refuse("solve A.mtx --rhs b.txt --history " + name, "'" + name + "' " + read, "");
    refuse("verify A.mtx b.txt -o " + name, "'" + name + "' " + read, "");
    refuse("verify A.mtx radius.txt -b b.txt --bounds " + name, "'" + name + "' " + read, "");
    refuse("convert b.txt " + name, "'" + name + "' " + read, "");
    refuse("reduce b.txt set.txt -o " + name, "'" + name + "' " + read, "");
  }
  refuse("solve A.mtx --rhs-radius radius.txt -o radius.txt", "'radius.txt' " + read, "");
  refuse("convert A.mtx B.mtx --order rcm --permutation A.mtx", "'A.mtx' " + read, "");
  refuse("price --book book.csv -o ./book.csv", "'./book.csv' " + read, "");
  refuse("solve A.mtx -o new.txt --history dangling", "two outputs go to the same file 'dangling'", "");
  refuse("solve A.mtx -o soft --history hard", "two outputs go to the same file 'hard'", "");
  EXPECT_EQ(content("b.txt"), "1\n");
  EXPECT_EQ(run("solve A.mtx --rhs ones -o dangling").code, 0);
  for (int k = 0; k < 2; ++k)
    EXPECT_EQ(run("solve A.mtx -o ones --history zeros").code, 0);  // words, then names
  EXPECT_EQ(content("new.txt"), "0.5\n");
  EXPECT_EQ(shell("test -L dangling"), 0);
}

TEST_F(tool_usage, what_follows_two_dashes_is_no_option) {
  write("-A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  EXPECT_EQ(run("solve -q -- -A.mtx").code, 0);
  EXPECT_EQ(run("solve --verify -- -A.mtx").code, 0);
  EXPECT_EQ(run("convert -- -A.mtx -B.mtx").code, 0);
  EXPECT_TRUE(exists("-B.mtx"));
  EXPECT_EQ(run("info ./-A.mtx --").code, 0);
  refuse("solve -- -A.mtx -q", "one argument too many: '-q'", "");
}

TEST_F(tool_usage, names_of_files_are_no_commands_to_a_terminal) {
  const std::string name = "$(printf 'a\\033[31m\\nb\\302\\233.mtx')";
  const tool_result missing = run("solve \"" + name + "\"");
  EXPECT_EQ(missing.code, 3);
  EXPECT_EQ(missing.err, "vouch: error: cannot read 'a\\x1b[31m\\nb\\x9b.mtx': No such file or directory\n");
  const tool_result made = run("gen poisson-2d -n 3 -o \"" + name + "\"");
  EXPECT_NE(made.err.find("a\\x1b[31m\\nb\\x9b.mtx written"), std::string::npos) << made.err;
  for (const std::string command : {"solve", "info"}) {
    const tool_result used = run(command + " \"" + name + "\"");
    EXPECT_EQ(used.code, 0) << used.err;
    EXPECT_EQ((used.err + used.out).find('\033'), std::string::npos) << command;
  }
}

TEST_F(tool_usage, threads_beyond_reason) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  EXPECT_EQ(shell("OMP_NUM_THREADS=100000 \"$VOUCH\" solve A.mtx -o x.txt --json > .out 2> .err"), 0);
  EXPECT_EQ(shell("OMP_NUM_THREADS=100000 \"$VOUCH\" gen poisson-2d -n 3 -o p.mtx 2> .err"), 0);
  EXPECT_EQ(shell("OMP_NUM_THREADS=100000 \"$VOUCH\" convert p.mtx q.mtx --order rcm 2> .err"), 0);
}

TEST_F(tool_usage, numbers_out_of_range) {
  refuse("solve A.mtx --rtol x", "option --rtol: expected a number, found 'x'", "");
  refuse("solve A.mtx --rtol nan", "option --rtol: NaN is not allowed", "");
  refuse("solve A.mtx --rtol -inf", "option --rtol: infinity is not allowed", "");
  refuse("solve A.mtx --rtol=-1", "option --rtol: -1 is below 0", "");
  refuse("solve A.mtx --atol 1e999", "option --atol: '1e999' overflows double precision", "");
  refuse("solve A.mtx --verify 0", "option --verify: 0 is neither a number of digits nor an error", "leave");
  refuse("solve A.mtx --verify=0.0", "option --verify: 0 is neither a number of digits nor an error", "leave");
  refuse("verify A.mtx x.txt --digits 0", "option --digits: 0 is neither a number of digits nor an error",
         "leave");
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
