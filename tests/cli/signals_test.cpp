// What the tool does when the log is lost, when signals come and when files may not grow.
#include <gtest/gtest.h>

#include <fstream>

#include "run_tool.hpp"

namespace vouch {
namespace {

class tool_signals : public testing::tool_test {
 protected:
  void write_system() const {
    write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 1\n2 2 2\n");
  }
  // Sends the signal to the command as soon as it catches hangups and `when` holds; its exit code.
  int send(const std::string& signal, const std::string& arguments, const std::string& when) const {
    return shell("\"$VOUCH\" " + arguments + " > .out 2> .err & pid=$!; " +
                 until("grep -q 'SigCgt.*[13579bdf]$' /proc/$pid/status") + until(when) + "kill -" + signal +
                 " $pid; wait $pid");
  }
  static std::string until(const std::string& condition) {
    return "for k in $(seq 600); do { " + condition + "; } && break; sleep 0.05; done; ";
  }
  const std::vector<std::pair<std::string, int>> signals{{"INT", 130}, {"TERM", 143}, {"HUP", 129}};
};

const std::string temporary_there = "ls | grep -q vouch-tmp";

TEST_F(tool_signals, a_log_that_cannot_be_written_costs_no_result) {
  write_system();
  for (const std::string log : {"2> /dev/full", "2>&-", "2> /dev/full < /dev/null"}) {
    EXPECT_EQ(shell("\"$VOUCH\" solve A.mtx -o x.txt > .out " + log), 0) << log;
    EXPECT_EQ(content("x.txt").substr(0, 3), "0.3") << log << content("x.txt");
    EXPECT_EQ(content(".out").find("converged"), 0u) << log;
    EXPECT_EQ(shell("\"$VOUCH\" convert A.mtx B.mtx " + log), 0) << log;
    EXPECT_EQ(content("B.mtx"), content("A.mtx")) << log;
    EXPECT_EQ(shell("\"$VOUCH\" gen poisson-2d -n 2 -o p.mtx " + log), 0) << log;
    EXPECT_EQ(content("p.mtx").find("%%MatrixMarket"), 0u) << log;
    EXPECT_EQ(shell("\"$VOUCH\" verify A.mtx x.txt > .out " + log), 0) << log;
    EXPECT_EQ(shell("\"$VOUCH\" solve none.mtx " + log), 3) << log;
    EXPECT_EQ(shell("\"$VOUCH\" solve A.mtx --frobnicate " + log), 2) << log;
    EXPECT_EQ(shell("\"$VOUCH\" " + log), 2) << log;
    for (const char* name : {"x.txt", "B.mtx", "p.mtx"}) EXPECT_EQ(shell(std::string("rm ") + name), 0);
  }
  EXPECT_EQ(shell("\"$VOUCH\" solve A.mtx -o x.txt 2>&1 > .out | true; test -s x.txt"), 0);
}

TEST_F(tool_signals, results_that_cannot_be_written_are_an_error) {
  write_system();
  EXPECT_EQ(shell("\"$VOUCH\" solve A.mtx -q > /dev/full 2> .err"), 3);
  EXPECT_NE(content(".err").find("vouch: error: standard output could not be written"), std::string::npos);
  EXPECT_EQ(shell("\"$VOUCH\" solve A.mtx -q -o x.txt >&- 2> .err"), 3);
  EXPECT_EQ(content("x.txt").find("converged"), std::string::npos);
}

TEST_F(tool_signals, generating_ends_and_leaves_nothing) {
  for (const auto& [signal, code] : signals) {
    EXPECT_EQ(send(signal, "gen poisson-3d -n 220 -o A.mtx", "true"), code) << content(".err");
    EXPECT_EQ(send(signal, "gen matrix-set --count 30000000 -o set.txt", temporary_there), code);
    EXPECT_EQ(content(".err"), "vouch: interrupted\n");
    EXPECT_EQ(files(), std::vector<std::string>{}) << signal;
  }
}

TEST_F(tool_signals, what_takes_minutes_ends) {
  ASSERT_EQ(run("gen poisson-3d -n 40 -o A.mtx").code, 0);
  ASSERT_EQ(run("gen plate -n 60 -o P.mtx --rhs b.txt --exact x.txt").code, 0);
  // Every option has an exercise boundary of its own.
  std::ofstream book(path("book.csv"));
  book << "type,spot,strike,rate,volatility,expiry,exercise\n";
  for (int k = 0; k < 300000; ++k) book << "put,100,100,0.05," << 0.2 + 1e-6 * k << ",1,american\n";
  book.close();
  const std::vector<std::string> before = files();
  EXPECT_EQ(send("TERM", "solve A.mtx --method sparse-lu --backend own -o y.txt", "grep -qs goal .err"), 143)
      << content(".err");
  EXPECT_EQ(content(".out"), "");
  EXPECT_EQ(send("INT", "verify P.mtx x.txt -b b.txt --matrix-radius 1e-4 -o y.txt", "true"), 130);
  EXPECT_EQ(send("HUP", "price --book book.csv -o prices.csv --tolerance 1e-8", temporary_there), 129);
  EXPECT_EQ(files(), before);
}

TEST_F(tool_signals, a_second_one_ends_what_the_first_could_not) {
  write_system();
  ASSERT_EQ(shell("mkfifo nobody-reads"), 0);
  EXPECT_EQ(
      shell("\"$VOUCH\" solve A.mtx --method jacobi --fixed-iterations 4e15 -o nobody-reads > .out 2> .err & "
            "pid=$!; " +
            until("grep -qs iteration .err") + "kill -INT $pid; " + until("grep -qs checked .err") +
            "kill -TERM $pid; wait $pid"),
      130);
  EXPECT_EQ(content(".out"), "");
}

TEST_F(tool_signals, waiting_for_input_ends) {
  ASSERT_EQ(shell("mkfifo pipe"), 0);
  for (const std::string command : {"reduce pipe", "solve pipe -o x.txt"})
    EXPECT_EQ(send("TERM", command, "true"), 143) << command;
  EXPECT_EQ(files(), std::vector<std::string>{"pipe"});
}

TEST_F(tool_signals, a_hangup_that_is_ignored_stays_so) {
  EXPECT_EQ(
      shell("trap '' HUP; \"$VOUCH\" gen poisson-2d -n 100 -o A.mtx 2> /dev/null & pid=$!; kill -HUP $pid; "
            "wait $pid"),
      0);
  EXPECT_TRUE(exists("A.mtx"));
}

TEST_F(tool_signals, files_that_may_not_grow_are_an_error) {
  EXPECT_EQ(shell("ulimit -f 4; \"$VOUCH\" gen poisson-2d -n 100 -o A.mtx 2> /dev/null"), 3);
  EXPECT_EQ(files(), std::vector<std::string>{});
}

}  // namespace
}  // namespace vouch
