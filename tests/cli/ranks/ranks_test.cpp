// vouch solve --engine ranks, by mpirun where there is one.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vouch/core/random.hpp>

#include "cli/ranks/rank_tool.hpp"

namespace vouch {
namespace {

using tool_ranks = testing::rank_tool;

#define NEEDS_MPI() \
  require_mpi();    \
  if (IsSkipped() || HasFatalFailure()) return

const std::vector<std::string> forms{"A.mtx -o x.txt", "A.mtx -o x.npy --precond chebyshev",
                                     "A.mtx -o x.mtx --method cg --precond jacobi"};

TEST_F(tool_ranks, one_process_is_a_rank_too) {
  make("poisson-2d -n 60");
  const testing::tool_result r = run("solve A.mtx --engine ranks --json -o x.txt --verify");
  EXPECT_EQ(r.code, 0) << r.err;
  const auto report = nlohmann::json::parse(r.out);
  EXPECT_EQ(report["status"], "converged");
  EXPECT_EQ(report["error_bound"]["verified"], true);
  EXPECT_EQ(report["error_bound"]["method"], "h-matrix");
  EXPECT_EQ(report["matrix"]["rows"], 3600);
  EXPECT_EQ(run("verify A.mtx x.txt").code, 0);
}

TEST_F(tool_ranks, write_beside_whatever_else_is_there) {
  make("poisson-2d -n 20");
  std::string b;
  for (int i = 0; i < 400; ++i) b += std::to_string(i % 7) + "\n";
  write("x.txt.part", b);
  ASSERT_EQ(shell("ln -s x.txt.part link.txt.part"), 0);
  for (const std::string x : {"x.txt", "link.txt"}) {
    const testing::tool_result r = run("solve A.mtx --engine ranks --rhs x.txt.part -o " + x);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(content("x.txt.part") == b) << x;
    EXPECT_EQ(run("verify A.mtx --rhs x.txt.part " + x).code, 0);
  }
}

TEST_F(tool_ranks, leave_the_same_bytes_whatever_their_number) {
  NEEDS_MPI();
  for (const std::string problem :
       {"poisson-3d -n 30", "elements-3d -n 16 --order random", "poisson-1d -n 3"}) {
    make(problem);
    for (const std::string& form : forms) {
      const std::string file = form.substr(form.find("x."), 5);
      ASSERT_EQ(run("solve --engine ranks --history h.csv " + form).code, 0) << content(".err");
      const std::string alone = content(file), history = content("h.csv");
      for (const int ranks : {2, 4}) {
        const testing::tool_result r = run_on(ranks, "solve --engine ranks --history h.csv " + form);
        EXPECT_EQ(r.code, 0) << r.err;
        EXPECT_EQ(count(r.out, "converged"), 1) << r.out;
        EXPECT_TRUE(content(file) == alone) << problem << ' ' << ranks << ' ' << form;
        EXPECT_TRUE(content("h.csv") == history) << problem << ' ' << ranks << ' ' << form;
      }
    }
  }
}

TEST_F(tool_ranks, prove_the_same_bound) {
  NEEDS_MPI();
  make("poisson-3d -n 25");
  const auto bound_of = [](const testing::tool_result& r) {
    EXPECT_EQ(r.code, 0) << r.err;
    auto bound = nlohmann::json::parse(r.out)["error_bound"];
    bound.erase("seconds");
    return bound;
  };
  const std::string arguments = "solve A.mtx --engine ranks --verify --json";
  const auto alone = bound_of(run(arguments));
  EXPECT_EQ(alone["verified"], true);
  for (const int ranks : {2, 4}) EXPECT_EQ(bound_of(run_on(ranks, arguments)), alone);
}

// The files of other formats come to rank 0; right-hand sides, too.
TEST_F(tool_ranks, read_whatever_one_process_reads) {
  NEEDS_MPI();
  make("poisson-2d -n 50");
  ASSERT_EQ(shell("gzip -k A.mtx"), 0);
  ASSERT_EQ(run("solve A.mtx --engine ranks --rhs row-sums -o b.npy").code, 0);
  ASSERT_EQ(run("solve A.mtx --engine ranks --rhs b.npy -o x.txt").code, 0);
  const std::string alone = content("x.txt");
  for (const std::string file : {"A.mtx", "A.mtx.gz"}) {
    const testing::tool_result r = run_on(3, "solve " + file + " --engine ranks --rhs b.npy -o x.txt");
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_TRUE(content("x.txt") == alone) << file;
  }
}

// One complaint, with the line in the whole file, as one process has it.
TEST_F(tool_ranks, complain_once_of_what_is_wrong_in_any_part) {
  NEEDS_MPI();
  make("poisson-2d -n 300");
  const std::string good = content("A.mtx");
  std::string bad = good;
  bad.insert(bad.rfind("\n", bad.size() - 2) + 1, "x");
  std::string more = good + "1 1 4\n", fewer = good.substr(0, good.rfind("\n", good.size() - 2) + 1);
  std::string middle = good;
  middle.replace(middle.find("\n", middle.size() / 2) + 1, 1, "-");
  for (const std::string& text : {bad, more, fewer, middle}) {
    write("B.mtx", text);
    const testing::tool_result alone = run("solve B.mtx"), r = run_on(4, "solve B.mtx --engine ranks -o x.txt");
    EXPECT_EQ(r.code, 2);
    const std::string line = alone.err.substr(0, alone.err.find('\n') + 1);
    EXPECT_EQ(count(r.err, line), 1) << line << r.err;
    EXPECT_FALSE(exists("x.txt"));
  }
}

TEST_F(tool_ranks, say_once_what_they_do_not_take) {
  NEEDS_MPI();
  make("poisson-2d -n 20");
  for (const std::string arguments :
       {"solve A.mtx --engine ranks --coordinates A.mtx", "solve A.mtx --engine ranks --precond ic0",
        "solve A.mtx --engine ranks --method gmres", "solve A.mtx --engine ranks --precision single",
        "solve A.mtx --engine other", "solve missing.mtx --engine ranks", "solve A.mtx", "info A.mtx"}) {
    const testing::tool_result r = run_on(3, arguments);
    EXPECT_EQ(r.code, arguments.find("missing") == arguments.npos ? 2 : 3) << arguments << r.err;
    EXPECT_EQ(count(r.err, "vouch: error:"), 1) << arguments << r.err;
    EXPECT_EQ(r.out, "") << arguments;
  }
  EXPECT_EQ(run_on(2, "--version").code, 0);
}

TEST_F(tool_ranks, notice_that_they_were_asked_for_different_things) {
  NEEDS_MPI();
  make("poisson-2d -n 20");
  make("poisson-2d -n 30", "B.mtx");
  EXPECT_EQ(
      shell(std::string(launcher) + "1 \"$VOUCH\" solve A.mtx --engine ranks : -n 1 \"$VOUCH\" solve B.mtx "
                                    "--engine ranks > .out 2> .err"),
      2);
  EXPECT_EQ(count(content(".err"), "rank 1 has other options"), 1) << content(".err");
  // The same name in two folders.
  ASSERT_EQ(shell("mkdir -p one two; cp A.mtx one/A.mtx; cp B.mtx two/A.mtx"), 0);
  EXPECT_EQ(shell(std::string(launcher) + "1 --wdir \"$PWD/one\" \"$VOUCH\" solve A.mtx --engine ranks : -n 1 "
                                          "--wdir \"$PWD/two\" \"$VOUCH\" solve "
                                          "A.mtx --engine ranks > .out 2> .err"),
            2);
  EXPECT_EQ(count(content(".err"), "rank 1 has other a file"), 1) << content(".err");
  std::string other = content("one/A.mtx");
  other[other.rfind('4')] = '5';
  write("two/A.mtx", other);
  EXPECT_EQ(shell(std::string(launcher) + "1 --wdir \"$PWD/one\" \"$VOUCH\" solve A.mtx --engine ranks : -n 1 "
                                          "--wdir \"$PWD/two\" \"$VOUCH\" solve "
                                          "A.mtx --engine ranks > .out 2> .err"),
            2);
  EXPECT_EQ(count(content(".err"), "rank 1 has other bytes in the file"), 1) << content(".err");
  ASSERT_EQ(shell("rm two/A.mtx"), 0);
  EXPECT_EQ(shell(std::string(launcher) + "1 --wdir \"$PWD/one\" \"$VOUCH\" solve A.mtx --engine ranks : -n 1 "
                                          "--wdir \"$PWD/two\" \"$VOUCH\" solve "
                                          "A.mtx --engine ranks > .out 2> .err"),
            3);
  EXPECT_EQ(count(content(".err"), "rank 1: "), 1) << content(".err");
}

TEST_F(tool_ranks, name_the_package_of_a_missing_module) {
  make("poisson-2d -n 20");
  ASSERT_EQ(shell("cp \"$VOUCH\" vouch; OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 ./vouch solve A.mtx "
                  "--engine ranks > "
                  ".out 2> .err"),
            3);
  EXPECT_NE(content(".err").find("libopenmpi-dev"), std::string::npos) << content(".err");
}

TEST_F(tool_ranks, end_soon_when_one_of_them_is_killed_and_when_asked_to) {
  NEEDS_MPI();
  make("poisson-2d -n 700");
  expect_to_end_soon("--engine ranks");
}

TEST_F(tool_ranks, killed_at_any_time_they_go_on_from_a_whole_file_on_another_number_of_ranks) {
  NEEDS_MPI();
  make("plate -n 120");
  const std::string hard = " --engine ranks --method cg --precond none --rtol 1e-5 --max-iterations 1e6";
  ASSERT_EQ(run("solve A.mtx -o whole.txt --history whole.csv" + hard).code, 0) << content(".err");
  const std::string saves = " --checkpoint saved --checkpoint-every 0.01 --history h.csv -o \"$PWD/x.txt\"";
  const std::string others = "pgrep -f \"^[^ ]*vouch solve A.mtx .*$PWD/x.txt\"";
  constexpr int numbers[] = {3, 2, 4};
  int killed = 0;
  for (int k = 0; k < 3; ++k) {
    const bool goes_on = exists("saved");
    const std::string how = goes_on ? std::string(" --engine ranks --resume saved") : hard;
    const std::string a_file =
        "touch before; until test saved -nt before || ! kill -0 $pid; do sleep 0.01; done; ";
    const std::string after = std::to_string(0.1 * random_unit(6, static_cast<std::uint64_t>(k)));
    const int code = shell(launcher + std::to_string(numbers[k]) + " \"$VOUCH\" solve A.mtx" + how + saves +
                           " > .out 2> .err & pid=$!; " + a_file + "sleep " + after + "; kill -9 $(" + others +
                           " | shuf -n 1 --random-source=A.mtx); wait $pid");
    ASSERT_TRUE(code == 137 || code == 0) << code << content(".err");
    if (code == 137) ++killed;
    EXPECT_EQ(count(content(".err"), "resumed    at iteration"), goes_on ? 1 : 0) << content(".err");
  }
  EXPECT_GT(killed, 0);
  for (const int ranks : {1, 2}) {
    const std::string arguments = "solve A.mtx --engine ranks --resume saved --history h.csv -o x.txt";
    ASSERT_EQ((ranks == 1 ? run(arguments) : run_on(ranks, arguments)).code, 0) << content(".err");
    EXPECT_TRUE(content("x.txt") == content("whole.txt")) << ranks;
    EXPECT_TRUE(content("h.csv") == content("whole.csv")) << ranks;
  }
}

TEST_F(tool_ranks, refuse_a_checkpoint_of_another_solve_once) {
  NEEDS_MPI();
  make("poisson-2d -n 60");
  make("poisson-2d -n 61", "B.mtx");
  const std::string saves = " --checkpoint saved --checkpoint-every 0 ";
  ASSERT_EQ(run_on(2, "solve A.mtx --engine ranks --rtol 1e-9" + saves).code, 0) << content(".err");
  const auto expect = [&](const std::string& arguments, int code, const std::string& text) {
    const testing::tool_result r = run_on(3, "solve " + arguments);
    EXPECT_EQ(r.code, code) << arguments << r.err;
    EXPECT_EQ(count(r.err, text), 1) << arguments << r.err;
  };
  const std::string resumes = " --engine ranks --resume saved ";
  expect("A.mtx" + resumes + "--precond none", 2, "option --precond: the solve of saved has jacobi");
  expect("A.mtx" + resumes + "--rhs row-sums", 2, "row-sums is not the one of the checkpoint");
  expect("B.mtx" + resumes, 2, "B.mtx is not the one of the checkpoint");
  expect("A.mtx --engine ranks --resume none", 3, "none");
  expect("A.mtx --engine ranks --checkpoint /dev/full --checkpoint-every 0", 0, "the solve goes on");
  const testing::tool_result alone = run("solve A.mtx --resume saved");
  EXPECT_EQ(alone.code, 2);
  EXPECT_NE(alone.err.find("the solve of saved has --engine ranks"), std::string::npos) << alone.err;
  ASSERT_EQ(run("solve A.mtx --method cg --precond none" + saves).code, 0);
  expect("A.mtx" + resumes, 2, "option --engine: the solve of saved has none");
}

}  // namespace
}  // namespace vouch
