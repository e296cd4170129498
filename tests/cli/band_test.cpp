// vouch solve on tridiagonal matrices and batches of them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "npz.hpp"
#include "small_system.hpp"
#include "solve_fixture.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::chain;
using testing::numbers;
using testing::tool_result;

class tool_band : public testing::solve_test {};

// [0 2; 3 0]: no method without interchanges can do it.
constexpr const char* turned = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 2\n2 1 3\n";

TEST_F(tool_band, tridiagonal_matrices_are_recognised) {
  const auto A = chain(500);
  write("A.mtx", A.file());
  const json o = solve("A.mtx --rhs row-sums -o x.txt");
  EXPECT_EQ(o["method"], "thomas");  // all rows dominate
  EXPECT_EQ(o["status"], "converged");
  EXPECT_LE(o["residual"]["backward_error"].get<double>(), 1e-15);
  for (const double x : numbers(content("x.txt"))) EXPECT_NEAR(x, 1, 1e-9);
}

// Whatever way their entries are listed: doubled, with zeros elsewhere, and through a pipe.
TEST_F(tool_band, tridiagonal_matrices_in_any_form_are_recognised) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  write("doubled.mtx", head + "2 2 7\n2 2 1\n1 2 1\n2 1 1\n1 1 1\n2 2 2\n1 1 3\n1 2 1\n");
  write("b.txt", "6\n4\n");
  EXPECT_EQ(solve("doubled.mtx --rhs b.txt -o x.txt")["method"], "thomas");
  EXPECT_EQ(numbers(content("x.txt")), (std::vector<double>{1, 1}));
  write("shuffled.mtx",
        "%%MatrixMarket matrix coordinate integer symmetric\n3 3 4\n3 3 5\n3 2 -1\n1 1 4\n2 2 3\n");
  EXPECT_EQ(solve("shuffled.mtx")["method"], "thomas");
  EXPECT_EQ(shell("cat doubled.mtx | \"$VOUCH\" solve /dev/stdin --json > o.json"), 0);
  EXPECT_EQ(json::parse(content("o.json"))["method"], "thomas");
}

// A pure Neumann problem in one dimension: singular, and solved where the right-hand side allows it.
TEST_F(tool_band, rows_that_sum_to_zero_go_to_iterations) {
  write("A.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 1\n2 2 2\n3 3 1\n2 1 -1\n3 2 -1\n");
  write("b.txt", "1\n0\n-1\n");
  const json o = solve("A.mtx --rhs b.txt -o x.txt");
  EXPECT_EQ(o["method"], "cg");
  EXPECT_EQ(o["status"], "converged");
  EXPECT_EQ(numbers(content("x.txt")), (std::vector<double>{1, 0, -1}));
  EXPECT_EQ(solve("A.mtx --rhs b.txt --method band", 1)["status"], "breakdown");
  EXPECT_EQ(run("solve A.mtx --method band").err.find(" nan"), std::string::npos);
}

// What was asked for, not the default that stands for it elsewhere.
TEST_F(tool_band, a_tolerance_of_zero_is_one) {
  write("A.mtx", chain(20).file());
  write("s.txt", "0 3 1 1\n1 7 0 1\n");
  for (const char* system : {"A.mtx", "--batch s.txt"}) {
    const json o = solve(std::string(system) + " --rtol 0", 1);
    EXPECT_EQ(o["status"], "stagnated") << system;
    EXPECT_EQ(o["reason"].get<std::string>().find("single"), std::string::npos) << o["reason"];
    EXPECT_LE(o["residual"]["relative_true"], 1e-13) << system;
  }
}

TEST_F(tool_band, an_iteration_stays_one) {
  write("A.mtx", chain(50).file());
  for (const char* asked : {"--method cg", "--precond jacobi", "--fixed-iterations 3", "--max-iterations 100"})
    EXPECT_EQ(solve(std::string("A.mtx ") + asked)["method"], "cg") << asked;
}

TEST_F(tool_band, interchanges_where_they_are_needed) {
  write("A.mtx", turned);
  write("b.txt", "4\n9\n");
  EXPECT_EQ(solve("A.mtx --rhs b.txt -o x.txt")["status"], "converged");
  EXPECT_EQ(numbers(content("x.txt")), (std::vector<double>{3, 2}));
  EXPECT_EQ(solve("A.mtx --rhs b.txt --method thomas", 1)["status"], "breakdown");
}

TEST_F(tool_band, every_method_and_precision) {
  write("A.mtx", chain(300).file());
  for (const char* method : {"band", "thomas", "cyclic-reduction", "pcr", "partition"})
    for (const char* precision : {"double", "single", "mixed"}) {
      const json o = solve(std::string("A.mtx --rtol 1e-3 --method ") + method + " --precision " + precision);
      EXPECT_EQ(o["status"], "converged") << method << precision;
      EXPECT_EQ(o["precision"], precision);
      EXPECT_EQ(o["method"], std::string(method) == "band" ? o["method"] : json(method)) << precision;
    }
}

// What a direct solve cannot say is left out, not made up.
TEST_F(tool_band, the_log_is_true) {
  write("A.mtx", chain(300).file());
  for (const char* precision : {"double", "single", "mixed"}) {
    const tool_result r = run(std::string("solve A.mtx --rtol 1e-3 --precision ") + precision);
    const std::size_t at = r.err.find("rounding may leave");
    ASSERT_NE(at, std::string::npos) << r.err;
    EXPECT_GT(std::stod(r.err.substr(at + 18)), 0) << r.err;
    EXPECT_EQ(r.err.find("recurrence"), std::string::npos) << r.err;
  }
  EXPECT_TRUE(solve("A.mtx")["residual"]["relative_recurrence"].is_null());
  write("zero.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 0\n");
  EXPECT_EQ(run("solve zero.mtx").err.find("rounding may leave"), std::string::npos);
}

TEST_F(tool_band, what_belongs_to_iterations_is_refused) {
  write("A.mtx", chain(5).file());
  write("s.txt", "0 1 0 1\n");
  for (const char* asked : {"--fixed-iterations 3", "--stop recurrence:1e-3", "--precond jacobi"})
    EXPECT_EQ(run(std::string("solve A.mtx --method thomas ") + asked).code, 2) << asked;
  for (const char* asked : {"--fixed-iterations 3", "--stop recurrence:1e-3", "--max-iterations 5",
                            "--history h.csv", "--plot p.svg", "--initial ones", "-o x.mtx"})
    EXPECT_EQ(run(std::string("solve --batch s.txt ") + asked).code, 2) << asked;
}

// The column that misses, or is worst, is the one that is reported.
TEST_F(tool_band, single_precision_reports_the_worst_column) {
  // In single precision 16777219 is 16777220: the first column's residual is half of its size.
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 16777219\n1 2 -16777216\n2 2 1\n");
  write("b.txt", "1 0\n1 0\n");
  json o = solve("A.mtx --rhs b.txt --precision single", 1);
  EXPECT_EQ(o["status"], "stagnated");
  EXPECT_NEAR(o["residual"]["relative_true"].get<double>(), std::sqrt(0.5), 0.01);
  write("b.txt", "3 1\n3 0\n");
  o = solve("A.mtx --rhs b.txt --precision single --rtol 0.9");
  EXPECT_GT(o["residual"]["relative_true"].get<double>(), 0.1);
}

TEST_F(tool_band, other_matrices_are_refused_by_name) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 2 1\n3 3 1\n3 1 1\n");
  const tool_result r = run("solve A.mtx --method pcr");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("A.mtx: the matrix is not tridiagonal"), std::string::npos) << r.err;
}

TEST_F(tool_band, batch) {
  // [2 1; 1 2] x = (3, 3); 4 x = 8; what stands where nothing is coupled is not used.
  write("systems.txt", "# two systems\n77 2 1 3\n1 2 77 3  # second row\n\n\n0 4 0 8\n");
  const json o = solve("--batch systems.txt -o x.txt");
  EXPECT_EQ(o["batch"]["systems"], 2);
  EXPECT_EQ(o["batch"]["missed"], 0);
  EXPECT_EQ(o["status"], "converged");
  EXPECT_EQ(content("x.txt"), "1\n1\n\n2\n");
}

TEST_F(tool_band, singular_systems_of_a_batch_are_named) {
  write("systems.txt", "0 1 0 1\n\n0 0 0 1\n\n0 2 0 1\n");
  const json o = solve("--batch systems.txt", 1);
  EXPECT_EQ(o["status"], "breakdown");
  EXPECT_EQ(o["batch"]["first_missed"], json::parse("[1]"));
}

// In single precision 16777219 is 16777220: that system is solved, and leaves a residual of 1 in the file's.
TEST_F(tool_band, batches_in_single_precision_are_judged_by_their_file) {
  write("systems.txt", "0 16777219 -16777216 1\n0 1 0 1\n\n0 2 0 2\n");
  const json o = solve("--batch systems.txt --precision single", 1);
  EXPECT_EQ(o["status"], "stagnated");
  EXPECT_EQ(o["batch"]["first_missed"], json::parse("[0]"));
  EXPECT_NEAR(o["residual"]["relative_true"].get<double>(), std::sqrt(0.5), 0.01);
  EXPECT_EQ(o["reproducible"], true);
  EXPECT_TRUE(o["convergence"].is_null());
  EXPECT_EQ(solve("--batch systems.txt --precision single --verify 12 -o x.txt")["status"], "converged");
  write("huge.txt", "0 1e300 0 1\n");
  const tool_result r = run("solve --batch huge.txt --precision single");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("overflows single precision"), std::string::npos) << r.err;
}

TEST_F(tool_band, broken_batches_are_refused_with_their_place) {
  const auto refuse = [&](const std::string& text, const std::string& message) {
    write("s.txt", text);
    const tool_result r = run("solve --batch s.txt");
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find(message), std::string::npos) << r.err;
  };
  refuse("1 2 3 4\n1 2 3\n", "s.txt:2:6: 3 numbers where a row has 4");
  refuse("1 2 x 4\n", "s.txt:1:5: expected a number, found 'x'");
  refuse("1 2 nan 4\n", "s.txt:1:5: NaN is not allowed");
  refuse("1 2 3-4\n", "s.txt:1:5: expected a number, found '3-4'");
  refuse("1 2 3 4 5\n", "s.txt:1:9: more than 4 numbers in a row");
  refuse("1 2 3 1e999\n", "s.txt:1:7: '1e999' overflows double precision");
  refuse("# nothing\n", "there is no system in the file");
}

// An archive with the arrays of a batch.
std::string batch_archive(const std::string& matrix_shape, const std::vector<double> (&diagonals)[3],
                          const std::string& shape, const std::vector<double>& b) {
  std::vector<testing::zip_member> members;
  const char* const names[] = {"dl.npy", "d.npy", "du.npy"};
  for (int k = 0; k < 3; ++k)
    members.push_back({names[k], testing::npy_file(matrix_shape, diagonals[k]), k == 1, false});
  members.push_back({"b.npy", testing::npy_file(shape, b), true, false});
  return testing::zip_writer().archive(members);
}

const double unused = std::numeric_limits<double>::quiet_NaN();

TEST_F(tool_band, batch_from_an_archive) {
  // [2 1; 1 2] x = (3, 3) and [4 1; 0 2] x = (6, 4).
  write("a.npz", batch_archive("(2, 2)", {{unused, 1, unused, 0}, {2, 2, 4, 2}, {1, unused, 1, unused}},
                               "(2, 2)", {3, 3, 6, 4}));
  const json o = solve("--batch a.npz -o x.txt");
  EXPECT_EQ(o["batch"]["systems"], 2);
  EXPECT_EQ(o["status"], "converged");
  EXPECT_EQ(content("x.txt"), "1\n1\n\n1\n2\n");
  solve("--batch a.npz -o x.npy");
  EXPECT_NE(content("x.npy").find("'fortran_order': False, 'shape': (2, 2)"), std::string::npos);
  EXPECT_EQ(content("x.npy").substr(128), std::string("\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf0\x3f"
                                                      "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40",
                                                      32));
}

// Also where one length is 1.
TEST_F(tool_band, x_has_the_shape_of_b) {
  for (const std::string shape : {"(2,)", "(2, 1)", "(1, 2)"}) {
    write("a.npz", batch_archive(shape, {{0, 0}, {2, 2}, {0, 0}}, shape, {2, 4}));
    solve("--batch a.npz -o x.npy");
    EXPECT_NE(content("x.npy").find("'shape': " + shape), std::string::npos) << content("x.npy").substr(0, 128);
  }
}

TEST_F(tool_band, one_matrix_for_a_whole_archive) {
  write("a.npz", batch_archive("(2,)", {{unused, 1}, {2, 2}, {1, unused}}, "(3, 2)", {3, 3, 6, 6, 4, 5}));
  EXPECT_EQ(solve("--batch a.npz -o x.txt")["batch"]["systems"], 3);
  // Judged again by the numbers of the file: every system by the one matrix.
  for (const std::string again : {"--precision single", "--precision single --verify=12", "--rtol 1e-6"}) {
    const json o = solve("--batch a.npz -o x.txt " + again);
    EXPECT_EQ(o["status"], "converged") << again;
    EXPECT_EQ(o["batch"]["missed"], 0) << again;
    EXPECT_LE(o["residual"]["relative_true"], 1e-6) << again;
  }
  EXPECT_EQ(content("x.txt"), "1\n1\n\n2\n2\n\n1\n2\n");
  write("a.npz", batch_archive("(2,)", {{unused, 1}, {2, 2}, {1, unused}}, "(2,)", {3, 3}));
  EXPECT_EQ(solve("--batch a.npz -o x.txt")["batch"]["systems"], 1);
}

TEST_F(tool_band, systems_without_rows_numbers_without_use_and_other_members) {
  const double huge = 1e300;
  std::vector<testing::zip_member> members;
  members.push_back({"dl.npy", testing::npy_file("(3,)", {huge, 1, huge}), false, false});
  members.push_back({"d.npy", testing::npy_file("(3,)", {2, 2, 4}), false, false});
  members.push_back({"du.npy", testing::npy_file("(3,)", {1, -huge, unused}), false, false});
  members.push_back({"b.npy", testing::npy_file("(3,)", {3, 3, 8}), false, false});
  members.push_back({"offsets.npy", testing::npy_file("(5,)", {0, 0, 2, 2, 3}), false, false});
  members.push_back({"remark.npy", "what else a program keeps there", true, false});
  write("a.npz", testing::zip_writer().archive(members));
  for (const std::string with : {"", "--precision single", "--precision mixed", "--verify"}) {
    const json o = solve("--batch a.npz -o x.npy --repeat 3 " + with);
    EXPECT_EQ(o["status"], "converged") << with;
    EXPECT_EQ(o["matrix"]["nonzeros"], 5) << with;
    EXPECT_EQ(o["repeat"]["count"], 3) << with;
  }
}

TEST_F(tool_band, archives_that_hold_no_batch) {
  const auto refuse = [&](const std::string& bytes, const std::string& message) {
    write("s.npz", bytes);
    const tool_result r = run("solve --batch s.npz");
    EXPECT_EQ(r.code, 2);
    EXPECT_NE(r.err.find(message), std::string::npos) << r.err;
  };
  refuse(testing::zip_writer().archive({}), "s.npz: there is no array d in it");
  refuse(batch_archive("(2,)", {{1, 1}, {2, 2}, {1, 1}}, "(3,)", {3, 3, 3}), "s.npz: b is 3, d is 2");
  refuse(batch_archive("(1, 2)", {{1, 1}, {2, 2}, {1, 1}}, "(2,)", {3, 3}), "s.npz: b is 2, d is 1 x 2");
  refuse(batch_archive("(0,)", {{}, {}, {}}, "(0,)", {}), "there is no system in the file");
  refuse(batch_archive("(2,)", {{1, 1}, {unused, 2}, {1, 1}}, "(2,)", {3, 3}), "d[0] is NaN");
}

}  // namespace
}  // namespace vouch
