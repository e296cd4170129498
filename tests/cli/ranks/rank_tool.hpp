// tests/cli/ranks/rank_tool.hpp -- the tool by mpirun.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "cli/run_tool.hpp"

namespace vouch::testing {

/// A tool that several processes run at once.
class rank_tool : public tool_test {
 protected:
  // In a container, as root, with more ranks than cores; MPI itself leaves what it allocates to the system.
  static constexpr const char* launcher =
      "ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_plm_rsh_agent=/bin/sh "
      "OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1 "
      "timeout 120 mpirun --oversubscribe -n ";

  void require_mpi() const {
    const bool there = shell("command -v mpirun > .out && test -e \"$(dirname \"$VOUCH\")/vouch-mpi.so\"") == 0;
    if (std::getenv("VOUCH_REQUIRE_MPI") != nullptr) {
      ASSERT_TRUE(there) << "no mpirun, or no vouch-mpi.so";
    } else if (!there) {
      GTEST_SKIP() << "no mpirun, or no vouch-mpi.so: make mpi-test";
    }
  }
  tool_result run_on(int ranks, const std::string& arguments) const {
    const int code =
        shell(launcher + std::to_string(ranks) + " \"$VOUCH\" " + arguments + " > .out 2> .err < /dev/null");
    return {code, content(".out"), content(".err")};
  }
  void make(const std::string& problem, const std::string& name = "A.mtx") const {
    ASSERT_EQ(shell("\"$VOUCH\" gen " + problem + " -o " + name + " -q > .out 2> .err"), 0) << content(".err");
  }
  static int count(const std::string& text, const std::string& what) {
    int found = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
    return found;
  }

  /// Three of them, on a large A.mtx, when one is killed, and when all are told to end.
  void expect_to_end_soon(const std::string& engine) const {
    const std::string start = std::string(launcher) + "3 \"$VOUCH\" solve A.mtx " + engine +
                              " --fixed-iterations 1000000 -o \"$PWD/x.txt\" > .out 2> .err & ";
    const std::string others = "pgrep -f \"^[^ ]*vouch solve A.mtx .*$PWD/x.txt\"";
    const std::string wait_for_three =
        "for k in $(seq 200); do test $(" + others + " | wc -l) -ge 3 && break; sleep 0.1; done; sleep 1; ";
    EXPECT_EQ(shell(start + "pid=$!; " + wait_for_three + "kill -9 $(" + others + " | tail -1); wait $pid"),
              137);
    EXPECT_EQ(shell("sleep 1; test -z \"$(" + others + ")\""), 0);
    EXPECT_FALSE(exists("x.txt"));
    EXPECT_EQ(shell(start + "pid=$!; " + wait_for_three + "kill -TERM $(" + others + "); wait $pid"), 143);
  }
};

}  // namespace vouch::testing
