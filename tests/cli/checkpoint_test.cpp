// vouch solve --checkpoint and --resume: killed, interrupted, refused; what goes on against what nobody disturbed.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>
#include <vouch/core/random.hpp>

#include "run_tool.hpp"

namespace vouch {
namespace {

class tool_checkpoint : public testing::tool_test {
 protected:
  // Some thousands of iterations.
  void make_plate() const { ASSERT_EQ(run("gen plate -n 200 -o A.mtx").code, 0); }
  const std::string hard = " --rtol 1e-5 --max-iterations 1e6 --device cpu --threads 1 ";
};

TEST_F(tool_checkpoint, killed_at_any_time_it_finds_a_whole_file_and_goes_on_to_the_same_bits) {
  make_plate();
  ASSERT_EQ(run("solve A.mtx --method cg --precond none -o whole.txt --history whole.csv" + hard).code, 0);
  const std::string saves =
      " --checkpoint saved --checkpoint-every 0.01s --history h.csv -o x.txt > .out 2> .err";
  int resumed = 0, finished = 0;
  for (std::uint64_t k = 0; k < 20; ++k) {
    const bool goes_on = exists("saved");
    const std::string how =
        goes_on ? std::string(" --resume saved --threads 1") : " --method cg --precond none" + hard;
    const std::string first_file = "until test -e saved || ! kill -0 $pid; do sleep 0.005; done; ";
    const std::string after = std::to_string((goes_on ? 0.3 : 0.05) * random_unit(5, k));
    const int code = shell("\"$VOUCH\" solve A.mtx" + how + saves + " & pid=$!; " + first_file + "sleep " +
                           after + "; kill -9 $pid; wait $pid");
    ASSERT_TRUE(code == 137 || code == 0) << code << content(".err");
    EXPECT_EQ(content(".err").find("vouch: error"), std::string::npos) << content(".err");
    if (goes_on) ++resumed;
    if (code != 0) continue;
    EXPECT_EQ(content("x.txt"), content("whole.txt"));
    EXPECT_EQ(content("h.csv"), content("whole.csv"));
    ++finished;
    ASSERT_EQ(shell("rm -f saved*"), 0);
  }
  if (exists("saved")) {
    EXPECT_EQ(run("solve A.mtx --resume saved --history h.csv -o x.txt").code, 0) << content(".err");
    EXPECT_EQ(content("x.txt"), content("whole.txt"));
    EXPECT_EQ(content("h.csv"), content("whole.csv"));
    ++finished;
  }
  EXPECT_GT(resumed, 0);
  EXPECT_GT(finished, 0);
}

TEST_F(tool_checkpoint, a_signal_is_followed_by_a_last_file) {
  make_plate();
  ASSERT_EQ(run("solve A.mtx --method minres --precond jacobi -o whole.txt --history whole.csv" + hard).code,
            0);
  const std::string wait =
      "for k in $(seq 600); do grep -q ' iteration .*residual' .err && break; sleep 0.01; done; ";
  for (const auto& [signal, code] : {std::pair<std::string, int>{"TERM", 143}, {"INT", 130}}) {
    // The log of the run before would be taken for this one's, which may not have begun.
    EXPECT_EQ(shell("rm -f .err; touch .err; \"$VOUCH\" solve A.mtx --method minres --precond jacobi "
                    "--checkpoint saved" +
                    hard + "> .out 2> .err & pid=$!; " + wait + "kill -" + signal + " $pid; wait $pid"),
              code);
    EXPECT_NE(content(".err").find("checkpoint at iteration"), std::string::npos) << content(".err");
    EXPECT_EQ(run("solve A.mtx --resume saved --history h.csv -o x.txt").code, 0) << content(".err");
    EXPECT_EQ(content("x.txt"), content("whole.txt"));
    EXPECT_EQ(content("h.csv"), content("whole.csv"));
    EXPECT_TRUE(exists("saved"));
  }
}

TEST_F(tool_checkpoint, json_says_where) {
  ASSERT_EQ(run("gen poisson-2d -n 30 -o A.mtx").code, 0);
  const auto none = nlohmann::json::parse(run("solve A.mtx --json").out);
  EXPECT_TRUE(none["checkpoint"].is_null());
  const testing::tool_result saved =
      run("solve A.mtx --precond ic0 --checkpoint saved --checkpoint-every 0 --json");
  EXPECT_EQ(saved.code, 0) << saved.err;
  const auto written = nlohmann::json::parse(saved.out)["checkpoint"];
  EXPECT_EQ(written["file"], "saved");
  EXPECT_GT(written["written"], 3);
  EXPECT_TRUE(written["resumed_at"].is_null());
  const auto again = nlohmann::json::parse(run("solve A.mtx --resume saved --json").out);
  EXPECT_EQ(again["checkpoint"]["resumed_at"], written["iteration"]);
  EXPECT_EQ(again["checkpoint"]["written"], 0);
  EXPECT_EQ(again["preconditioner"], nlohmann::json::parse(saved.out)["preconditioner"]);
  EXPECT_EQ(again["iterations"], nlohmann::json::parse(saved.out)["iterations"]);
}

TEST_F(tool_checkpoint, a_disk_that_fills_does_not_end_the_solve) {
  make_plate();
  const std::string solve =
      "solve A.mtx --method cg --precond jacobi --rtol 1e-3 --checkpoint-every 0.01 --checkpoint ";
  const testing::tool_result full = run(solve + "/dev/full");
  EXPECT_EQ(full.code, 0) << full.err;
  EXPECT_NE(full.err.find("No space left on device; the solve goes on"), std::string::npos) << full.err;
  // 64 KiB, and a checkpoint takes more.
  EXPECT_EQ(shell("ulimit -f 64; \"$VOUCH\" " + solve + "saved > .out 2> .err"), 0) << content(".err");
  EXPECT_NE(content(".err").find("File too large; the solve goes on"), std::string::npos) << content(".err");
  EXPECT_FALSE(exists("saved"));
  EXPECT_EQ(files(), std::vector<std::string>{"A.mtx"});
}

TEST_F(tool_checkpoint, what_does_not_go_together_is_refused) {
  ASSERT_EQ(run("gen poisson-2d -n 20 -o A.mtx").code, 0);
  ASSERT_EQ(run("gen poisson-2d -n 21 -o B.mtx").code, 0);
  ASSERT_EQ(
      run("solve A.mtx --method cg --precond none --rtol 1e-9 --checkpoint saved --checkpoint-every 0").code,
      0);
  const auto expect = [&](const std::string& arguments, int code, const std::string& text) {
    const testing::tool_result result = run("solve " + arguments);
    EXPECT_EQ(result.code, code) << arguments << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << arguments << result.err;
  };
  expect("A.mtx --resume saved --method minres", 2, "option --method: the solve of saved has cg");
  expect("A.mtx --resume saved --rtol 1e-3", 2, "option --rtol: the solve of saved has 1e-09");
  expect("A.mtx --resume saved --precision single", 2, "option --precision: the solve of saved has double");
  expect("A.mtx --resume saved --initial ones", 2, "x comes from the checkpoint");
  expect("A.mtx --resume saved --omega 1.2", 2, "omega");
  expect("A.mtx --resume saved --method cg --rtol 1e-9", 0, "resumed");
  expect("A.mtx --resume saved --rhs row-sums", 2, "is not the one of the checkpoint");
  expect("B.mtx --resume saved", 2, "is not the one of the checkpoint");
  expect("A.mtx --resume A.mtx", 2, "no checkpoint of vouch");
  expect("A.mtx --resume none", 3, "none");
  expect("A.mtx --checkpoint A.mtx", 2, "A.mtx");
  expect("A.mtx --checkpoint-every 5min", 2, "there is no --checkpoint");
  expect("A.mtx --checkpoint s --checkpoint-every 5weeks", 2, "'5weeks' is no time");
  expect("A.mtx --checkpoint s --checkpoint-every -1", 2, "--checkpoint-every");
  expect("A.mtx --checkpoint s --method sparse-cholesky", 2, "no iterations to save");
  expect("A.mtx --checkpoint s --repeat 3", 2, "one solve is saved");
  expect("A.mtx --checkpoint s --method lsqr", 2, "no checkpoint can be written of lsqr");
  EXPECT_EQ(shell("head -c 3000 saved > cut"), 0);
  expect("A.mtx --resume cut", 2, "cut short or damaged");
}

}  // namespace
}  // namespace vouch
