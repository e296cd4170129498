// What vouch solve says of input that cannot be worked on: one message with the place, the right exit code,
// nothing on stdout, no file left behind.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include <vouch/core/config.hpp>

#include "devices.hpp"
#include "run_tool.hpp"
#include "small_system.hpp"

namespace vouch {
namespace {

using testing::chain;
using testing::tool_result;

class tool_bad_input : public testing::tool_test {
 protected:
  // The message begins with "vouch: error: " and start; the folder stays as it was.
  void refuse(const std::string& arguments, int code, const std::string& start,
              const std::string& part = "") const {
    const std::vector<std::string> before = files();
    const tool_result r = run("solve " + arguments);
    EXPECT_EQ(r.code, code) << arguments << "\n" << r.err;
    EXPECT_EQ(r.out, "") << arguments;
    const std::size_t at = r.err.find("vouch: error: ");
    ASSERT_NE(at, std::string::npos) << arguments << "\n" << r.err;
    EXPECT_EQ(r.err.find("vouch: error: ", at + 1), std::string::npos) << r.err;
    EXPECT_EQ(r.err.compare(at + 14, start.size(), start), 0) << arguments << "\n" << r.err;
    EXPECT_NE(r.err.find(part, at), std::string::npos) << part << "\n" << r.err;
    EXPECT_EQ(files(), before) << arguments;
  }
  void refuse_matrix(const std::string& text, const std::string& start, const std::string& part = "") const {
    write("bad.mtx", text);
    refuse("bad.mtx -o x.txt --history h.csv --plot p.svg --json", 2, start, part);
  }
  void refuse_by_cg(const std::string& text, const std::string& start, const std::string& part = "") const {
    write("bad.mtx", text);
    refuse("bad.mtx --method cg -o x.txt --history h.csv --plot p.svg --json", 2, start, part);
  }
};

const std::string head = "%%MatrixMarket matrix coordinate real general\n";

TEST_F(tool_bad_input, malformed_matrices) {
  refuse_matrix("", "bad.mtx");
  refuse_matrix("hello\n", "bad.mtx:1");
  refuse_matrix("%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n", "bad.mtx:1");
  refuse_matrix("%%MatrixMarket matrix coordinate real triangular\n1 1 1\n1 1 1\n", "bad.mtx:1");
  refuse_matrix("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1\n", "bad.mtx:3", "imaginary");
  refuse_matrix("%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 1\n", "bad.mtx:3",
                "not real");
  refuse_matrix(head, "bad.mtx");
  refuse_matrix(head + "2 2\n1 1 1\n", "bad.mtx:2");
  refuse_matrix(head + "2 2 two\n1 1 1\n", "bad.mtx:2:5");
  refuse_matrix(head + "-2 2 1\n1 1 1\n", "bad.mtx:2:1");
}

TEST_F(tool_bad_input, malformed_entries) {
  refuse_matrix(head + "2 2 3\n1 1 1\n2 2 1\n", "bad.mtx");      // too few
  refuse_matrix(head + "2 2 1\n1 1 1\n2 2 1\n", "bad.mtx:4");    // too many
  refuse_matrix(head + "2 2 2\n1 1 1\n2 2", "bad.mtx:4");        // truncated
  refuse_matrix(head + "2 2 2\n1 1 1\n3 2 1\n", "bad.mtx:4:1");  // row out of range
  refuse_matrix(head + "2 2 2\n1 1 1\n2 3 1\n", "bad.mtx:4:3", "column 3");
  refuse_matrix(head + "2 2 2\n1 1 1\n0 2 1\n", "bad.mtx:4:1");  // zero
  refuse_matrix(head + "2 2 2\n1 1 1\n2 2 x\n", "bad.mtx:4:5");  // no number
  refuse_matrix(head + "2 2 2\n1 1 1\n2 2 1e999\n", "bad.mtx:4:5", "overflow");
  refuse_matrix(head + "2 2 2\n1 1 1\n2 2 nan\n", "bad.mtx:4:5");
  refuse_matrix(head + "2 2 2\n1 1 1\n2 2 inf\n", "bad.mtx:4:5");
  refuse_matrix(head + "2 2 2\n1 1 1\n2 2 1 1\n", "bad.mtx:4");  // one token too many
  refuse_matrix(head + "2 2 999999999999\n1 1 1\n", "bad.mtx");  // more than the bytes can hold
  refuse_matrix("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n1 2 1\n2 2 1\n",
                "bad.mtx:4");  // above the diagonal
}

TEST_F(tool_bad_input, matrices_that_conjugate_gradients_cannot_take) {
  refuse_by_cg(head + "2 3 2\n1 1 1\n2 2 1\n", "bad.mtx: the matrix is 2 by 3, not square");
  refuse_by_cg(head + "2 2 3\n1 1 1\n2 1 5\n2 2 1\n",
               "bad.mtx: the matrix is not symmetric: entry (2, 1) is 5, entry (1, 2) is 0");
  refuse_by_cg("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n",
               "bad.mtx: ", "not symmetric");
  refuse_by_cg(head + "2 2 2\n1 1 1\n2 2 0\n", "bad.mtx: the diagonal entry of row 2 is zero");
  refuse_by_cg(head + "2 2 1\n1 1 1\n", "bad.mtx: the diagonal entry of row 2 is zero");
  refuse_by_cg(head + "2 2 2\n1 1 1\n2 2 -3\n", "bad.mtx: the diagonal entry of row 2 is not positive");
  refuse_by_cg(head + "2 2 2\n1 1 -1\n2 2 -3\n", "bad.mtx: ", "negate");
}

TEST_F(tool_bad_input, values_beyond_single_precision) {
  write("A.mtx", head + "1 1 1\n1 1 1e300\n");
  refuse("A.mtx --precision single -o x.txt", 2, "A.mtx: 1e+300 overflows single precision");
}

TEST_F(tool_bad_input, vectors) {
  write("A.mtx", chain(3).file());
  write("short.txt", "1\n2\n");
  refuse("A.mtx --rhs short.txt -o x.txt", 2, "short.txt: 2 rows, but A.mtx has 3 rows");
  refuse("A.mtx --initial short.txt -o x.txt", 2, "short.txt: 2 rows, but A.mtx has 3 rows");
  write("row.txt", "1 2 3\n");
  refuse("A.mtx --rhs row.txt", 2, "row.txt: 1 row, but A.mtx has 3 rows", "hint: ");
  write("two.txt", "1 2\n3 4\n5 6\n");
  refuse("A.mtx --initial two.txt", 2, "two.txt: 2 columns, but the right-hand side has 1");
  write("nan.txt", "1\nnan\n2\n");
  refuse("A.mtx --rhs nan.txt -o x.txt", 2, "nan.txt:2:1: ");
  write("word.txt", "1\n2\nthree\n");
  refuse("A.mtx --rhs word.txt -o x.txt", 2, "word.txt:3:1: ");
  write("complex.mtx", "%%MatrixMarket matrix array complex general\n3 1\n1 0\n1 0\n1 0\n");
  refuse("A.mtx --initial complex.mtx -o x.txt", 2, "complex.mtx: complex numbers");
  write("empty.txt", "");
  refuse("A.mtx --rhs empty.txt", 2, "empty.txt");
}

TEST_F(tool_bad_input, files) {
  write("A.mtx", chain(3).file());
  refuse("none.mtx", 3, "cannot read 'none.mtx': No such file");
  refuse(".", 3, "cannot read '.': ");
  refuse("A.mtx --rhs none.txt", 3, "cannot read 'none.txt': No such file");
  refuse("A.mtx -o .", 3, ".: is a directory");
  refuse("A.mtx -o nowhere/x.txt", 3, "nowhere/x.txt: there is no folder nowhere");
  refuse("A.mtx --history nowhere/h.csv -o x.txt", 3, "nowhere/h.csv: there is no folder");
  refuse("A.mtx --plot nowhere/p.svg -o x.txt", 3, "nowhere/p.svg: there is no folder");
  ASSERT_EQ(shell("gzip -c A.mtx | head -c 40 > cut.mtx.gz"), 0);
  refuse("cut.mtx.gz -o x.txt", 2, "cut.mtx.gz");
  if (geteuid() == 0) return;  // who may read everything
  ASSERT_EQ(shell("cp A.mtx secret.mtx; chmod 000 secret.mtx"), 0);
  refuse("secret.mtx", 3, "cannot read 'secret.mtx': Permission denied");
}

TEST_F(tool_bad_input, more_memory_than_there_is) {
  if (testing::tool_is_sanitized())
    GTEST_SKIP() << "sanitizers need the address space that this test takes away";
  write("huge.mtx", head + "2000000000 2000000000 1\n1 1 1\n");
  EXPECT_EQ(shell("ulimit -v 4000000; \"$VOUCH\" solve huge.mtx -o x.txt > .out 2> .err"), 3);
  EXPECT_EQ(content(".out"), "");
  EXPECT_EQ(content(".err").find("vouch: error: out of memory"), 0u) << content(".err");
  EXPECT_FALSE(exists("x.txt"));
}

TEST_F(tool_bad_input, no_gpu) {
  const std::string reason = built_with_cuda ? "no CUDA device" : "this build of vouch has no CUDA";
  write("A.mtx", chain(3).file());
  refuse("A.mtx --device cuda:1000 -o x.txt", 3, reason);
  if (testing::gpus().empty()) refuse("A.mtx --device cuda -o x.txt", 3, reason, "hint: ");
}

TEST_F(tool_bad_input, an_older_file_survives_a_failure) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 2\n2 2 1\n");
  write("b.txt", "1\n-1\n");
  write("x.txt", "precious\n");
  EXPECT_EQ(run("solve A.mtx --method cg --rhs b.txt -o x.txt").code, 1);
  EXPECT_EQ(content("x.txt"), "precious\n");
}

}  // namespace
}  // namespace vouch
