// vouch solve on sparse matrices that are factorised.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include <vouch/solve/direct/sparse_backends.hpp>

#include "run_tool.hpp"
#include "small_system.hpp"

namespace vouch {
namespace {

using testing::tool_result;
using json = nlohmann::json;

// A cyclic shift with 2 on it and 1 beside it: x_(i+1) 2 + x_(i+2) = 3 has the solution of all ones.
class tool_sparse_lu : public testing::tool_test {
 protected:
  static constexpr int n = 50;
  void SetUp() override {
    std::string text = "%%MatrixMarket matrix coordinate real general\n50 50 100\n";
    for (int i = 0; i < n; ++i)
      for (const int ahead : {1, 2})
        text += std::to_string(i + 1) + " " + std::to_string((i + ahead) % n + 1) + " " +
                std::to_string(3 - ahead) + "\n";
    write("A.mtx", text);
    std::string b;
    for (int i = 0; i < n; ++i) b += "3\n";
    write("b.txt", b);
  }
};

TEST_F(tool_sparse_lu, is_what_auto_means_for_unsymmetric_matrices) {
  const tool_result r = run("solve A.mtx --rhs b.txt --json -o x.txt");
  ASSERT_EQ(r.code, 0) << r.err;
  const json result = json::parse(r.out);
  EXPECT_EQ(result["method"], "sparse-lu");
  EXPECT_EQ(result["status"], "converged");
  EXPECT_NE(run("solve A.mtx").err.find("sparse-lu (sparse, not symmetric)"), std::string::npos);
  EXPECT_EQ(testing::numbers(content("x.txt")), std::vector<double>(n, 1.0));
  for (const char* precision : {"double", "single"})
    EXPECT_EQ(run(std::string("solve A.mtx --method sparse-lu --precision ") + precision).code, 0);
}

TEST_F(tool_sparse_lu, back_ends_are_taken_by_name_and_said) {
  const json devices = json::parse(run("devices --json").out);
  ASSERT_EQ(devices["backends"][0]["name"], "own");
  for (const json& backend : devices["backends"]) {
    const std::string name = backend["name"];
    if (name == "cudss") continue;  // another test's
    const tool_result r = run("solve A.mtx --rhs b.txt --method sparse-lu --json --backend " + name);
    const bool no_lu = name == "cholmod" || name == "spqr";
    if (!backend["missing"].is_null() || no_lu) {
      EXPECT_EQ(r.code, 2) << name;
      EXPECT_NE(r.err.find(no_lu && backend["missing"].is_null() ? "makes no LU factors" : "install"),
                std::string::npos)
          << r.err;
      continue;
    }
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(json::parse(r.out)["backend"], name);
    EXPECT_EQ(json::parse(r.out)["reproducible_at"], name == "own" ? "any-threads" : "same-threads");
  }
  EXPECT_EQ(json::parse(run("solve A.mtx --method gmres --json").out)["backend"], nullptr);
  EXPECT_EQ(run("solve A.mtx --method cg --backend own").code, 2);
  EXPECT_EQ(run("solve A.mtx --backend no-such").code, 2);
}

TEST_F(tool_sparse_lu, cudss_is_for_gpus) {
  const json known = json::parse(run("devices --json").out), cudss = known["backends"].back();
  ASSERT_EQ(cudss["name"], "cudss");
  const tool_result r = run("solve A.mtx --rhs b.txt --method sparse-lu --json --backend cudss");
  const bool there = cudss["missing"].is_null() && !known["gpus"].empty();
  EXPECT_EQ(r.code, there ? 0 : 3) << r.err;
  if (there) {
    const json result = json::parse(r.out);
    EXPECT_EQ(result["backend"], "cudss");
    EXPECT_EQ(result["reproducible_at"], "any-threads");
    EXPECT_EQ(result["device"]["kind"], "cuda");
  }
  EXPECT_EQ(run("solve A.mtx --backend cudss --device cpu").code, 2);
  // What it does not do is no hint.
  const auto hint = [&](const char* arguments) {
    const tool_result refused = run(std::string("solve A.mtx --method sparse-qr --backend cudss ") + arguments);
    EXPECT_EQ(refused.code, 2);
    return refused.err;
  };
  EXPECT_NE(hint("").find("take --backend auto"), std::string::npos) << hint("");
  EXPECT_NE(hint("--device cuda").find("take --backend auto and --device cpu"), std::string::npos);
  EXPECT_EQ(shell("VOUCH_CUDSS=b.txt \"$VOUCH\" devices > .out"), 0);
  EXPECT_NE(content(".out").find("cuDSS does not load: "), std::string::npos) << content(".out");
  EXPECT_NE(content(".out").find("b.txt: "), std::string::npos) << content(".out");
  EXPECT_EQ(shell("VOUCH_CUDSS=no-such-folder/libcudss.so.1 \"$VOUCH\" devices > .out"), 0);
  EXPECT_NE(content(".out").find("pip install nvidia-cudss-cu13"), std::string::npos) << content(".out");
}

TEST_F(tool_sparse_lu, modules_that_are_none_are_named) {
  ASSERT_EQ(shell("mkdir modules && echo text > modules/vouch-backend-umfpack.so"), 0);
  EXPECT_EQ(shell("VOUCH_BACKENDS=modules \"$VOUCH\" devices > .out"), 0);
  EXPECT_NE(content(".out").find("vouch-backend-umfpack.so does not load"), std::string::npos);
  EXPECT_EQ(shell("VOUCH_BACKENDS=modules \"$VOUCH\" solve A.mtx --rhs b.txt --backend umfpack 2> .err"), 2);
  EXPECT_NE(content(".err").find("does not load"), std::string::npos);
  EXPECT_EQ(shell("VOUCH_BACKENDS=modules \"$VOUCH\" solve A.mtx --rhs b.txt"), 0);
}

TEST_F(tool_sparse_lu, eigenvalues_are_counted_by_their_signs) {
  write("S.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 1 2\n2 2 1\n3 3 5\n");
  const tool_result info = run("info S.mtx --inertia --json"),
                    solved = run("solve S.mtx --method sparse-ldlt --json");
  if (info.code != 0) {
    EXPECT_NE(info.err.find("install libmumps-seq-dev"), std::string::npos) << info.err;
    EXPECT_EQ(solved.code, 2);
    GTEST_SKIP() << "there is no MUMPS";
  }
  const json wanted{{"positive", 2}, {"negative", 1}, {"zero", 0}};
  EXPECT_EQ(json::parse(info.out)["inertia"], wanted);
  EXPECT_EQ(json::parse(solved.out)["inertia"], wanted);
  EXPECT_EQ(json::parse(solved.out)["backend"], "mumps");
  EXPECT_NE(run("info S.mtx --inertia").out.find("2 positive, 1 negative, 0 zero"), std::string::npos);
  EXPECT_EQ(run("info A.mtx --inertia").code, 2);  // not symmetric
  EXPECT_EQ(json::parse(run("solve A.mtx --json").out)["inertia"], nullptr);
  for (const char* zeros : {"3 3 2\n1 1 1\n2 2 0\n", "3 3 0\n"}) {
    write("Z.mtx", std::string("%%MatrixMarket matrix coordinate real symmetric\n") + zeros);
    const tool_result singular = run("info Z.mtx --inertia");
    EXPECT_EQ(singular.code, 2);
    EXPECT_NE(singular.err.find("the matrix is singular in double precision, and mumps met a pivot of zero"),
              std::string::npos)
        << singular.err;
  }
}

TEST_F(tool_sparse_lu, a_matrix_without_entries_is_singular_for_every_back_end) {
  write("Z.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 0\n");
  write("z.txt", "0\n0\n0\n");
  for (const sparse_backend& b : sparse_backends()) {
    if (!b.missing.empty() || b.on_gpu || b.name == "cholmod" || b.name == "spqr") continue;
    const std::string solve = "solve Z.mtx --method sparse-lu --json --backend " + std::string(b.name);
    EXPECT_EQ(json::parse(run(solve + " --rhs z.txt").out)["status"], "converged") << b.name;
    EXPECT_EQ(json::parse(run(solve + " --rhs ones").out)["status"], "breakdown") << b.name;
  }
}

TEST_F(tool_sparse_lu, modules_are_not_believed) {
  const std::string with = std::string("VOUCH_BACKENDS=") + VOUCH_LYING_BACKEND + " \"$VOUCH\" solve ";
  EXPECT_EQ(shell(with + "A.mtx --rhs b.txt --backend klu --json > .out 2> .err"), 1);
  EXPECT_EQ(json::parse(content(".out"))["status"], "stagnated") << content(".out");
  // What is predicted not to fit is not tried.
  write(
      "B.mtx", "%%MatrixMarket matrix coordinate real general\n51 51 51\n" + [] {
        std::string diagonal;
        for (int i = 1; i <= 51; ++i) diagonal += std::to_string(i) + " " + std::to_string(i) + " 2\n";
        return diagonal;
      }());
  EXPECT_EQ(shell(with + "B.mtx --method sparse-lu --backend klu > .out 2> .err"), 3);
  EXPECT_NE(content(".err").find("the factors of Liar 1.0"), std::string::npos) << content(".err");
}

TEST_F(tool_sparse_lu, rectangular_systems_are_solved_in_the_sense_of_least_squares) {
  write("R.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 1\n2 2 1\n3 1 1\n3 2 1\n");
  write("r.txt", "1\n2\n6\n");
  const tool_result r = run("solve R.mtx --rhs r.txt --json -o x.txt");
  ASSERT_EQ(r.code, 0) << r.err;
  const json tall = json::parse(r.out);
  EXPECT_EQ(tall["problem"], "least-squares");
  EXPECT_LE(tall["residual"]["normal_equations"].get<double>(), 1e-8);
  EXPECT_GT(tall["residual"]["relative_true"].get<double>(), 0.1);
  const std::vector<double> x = testing::numbers(content("x.txt"));
  ASSERT_EQ(x.size(), 2U);
  EXPECT_NEAR(x[0], 2, 1e-7);
  EXPECT_NEAR(x[1], 3, 1e-7);
  write("W.mtx", "%%MatrixMarket matrix coordinate real general\n1 3 3\n1 1 1\n1 2 2\n1 3 2\n");
  const tool_result w = run("solve W.mtx --json --rhs ones -o x.txt");
  ASSERT_EQ(w.code, 0) << w.err;
  EXPECT_EQ(testing::numbers(content("x.txt")).size(), 3U);
  EXPECT_EQ(json::parse(run("solve A.mtx --json").out)["problem"], "square");
  EXPECT_EQ(json::parse(run("solve A.mtx --json").out)["residual"]["normal_equations"], nullptr);
  const tool_result proved = run("solve R.mtx --rhs r.txt --verify 12 -o y.txt --bounds bounds.txt");
  EXPECT_EQ(proved.code, 0) << proved.err;
  EXPECT_NE(proved.out.find("of the exact least-squares solution"), std::string::npos) << proved.out;
  const std::vector<double> bounds = testing::numbers(content("bounds.txt"));
  ASSERT_EQ(bounds.size(), 4U);
  EXPECT_TRUE(bounds[0] <= 2 && 2 <= bounds[1] && bounds[2] <= 3 && 3 <= bounds[3]);
  write("near.txt", "2.001\n3\n");
  const json verified = json::parse(run("verify R.mtx near.txt -b r.txt --json").out);
  EXPECT_EQ(verified["problem"], "least-squares");
  EXPECT_NEAR(verified["error_bound"]["max_absolute"].get<double>(), 0.001, 1e-9);
  write("D.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 1\n2 1 1\n1 2 2\n2 2 2\n");
  const tool_result deficient = run("verify D.mtx near.txt -b r.txt");
  EXPECT_EQ(deficient.code, 1) << deficient.err;
  EXPECT_NE(deficient.out.find("not full column rank"), std::string::npos) << deficient.out;
  EXPECT_EQ(run("verify R.mtx near.txt -b r.txt --decimal").code, 0);
  EXPECT_EQ(run("verify R.mtx near.txt -b r.txt --matrix-radius R.mtx").code, 1);
  EXPECT_EQ(run("verify R.mtx near.txt -b r.txt --rhs-radius 1e-9").code, 0);
  EXPECT_EQ(run("solve R.mtx --rhs x.txt").code, 0);
  EXPECT_EQ(run("solve R.mtx --initial r.txt").code, 2);
}

TEST_F(tool_sparse_lu, takes_dense_and_singular_matrices) {
  write("D.mtx", "%%MatrixMarket matrix array real general\n3 3\n0\n1\n0\n0\n0\n1\n4\n0\n0\n");
  EXPECT_EQ(json::parse(run("solve D.mtx --method sparse-lu --json").out)["method"], "sparse-lu");
  write("S.mtx",
        "%%MatrixMarket matrix coordinate real general\n3 3 6\n1 1 1\n1 3 2\n2 2 5\n2 1 1\n3 1 2\n3 3 4\n");
  const tool_result r = run("solve S.mtx --json");
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_EQ(json::parse(r.out)["status"], "breakdown");
  write("Z.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n1 2 1\n3 3 4\n3 1 1\n");
  EXPECT_NE(run("solve Z.mtx").out.find("row 2 holds nothing but zeros"), std::string::npos);
}

// A saddle-point matrix that a positive diagonal hides: the grid's stiffness, and constraints with a small
// positive block in place of the zero one. x is all ones.
TEST_F(tool_sparse_lu, takes_over_where_conjugate_gradients_find_an_indefinite_matrix) {
  constexpr int unknowns = 30, constraints = 6;
  std::string lower;
  int entries = 0;
  const auto add = [&](int row, int col, const char* value) {
    lower += std::to_string(row) + " " + std::to_string(col) + " " + value + "\n";
    ++entries;
  };
  for (int i = 1; i <= unknowns; ++i) {
    add(i, i, "2");
    if (i > 1) add(i, i - 1, "-1");
  }
  for (int k = 1; k <= constraints; ++k) {
    for (int i = 5 * k - 4; i <= 5 * k; ++i) add(unknowns + k, i, "1");
    add(unknowns + k, unknowns + k, "1e-3");
  }
  write("K.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n36 36 " + std::to_string(entries) + "\n" + lower);
  const tool_result r = run("solve K.mtx --rhs row-sums --json -o x.txt");
  ASSERT_EQ(r.code, 0) << r.err;
  const json result = json::parse(r.out);
  EXPECT_EQ(result["method"], "sparse-lu");
  EXPECT_EQ(result["status"], "converged");
  EXPECT_NE(r.err.find("went on with sparse-lu"), std::string::npos) << r.err;
  for (const double x : testing::numbers(content("x.txt"))) EXPECT_NEAR(x, 1, 1e-10);
  // What was asked for by name stays; so does what only iterations have.
  EXPECT_EQ(json::parse(run("solve K.mtx --rhs row-sums --method cg --json").out)["status"], "not_spd");
  EXPECT_EQ(json::parse(run("solve K.mtx --rhs row-sums --max-iterations 50 --json").out)["method"], "cg");
}

TEST_F(tool_sparse_lu, is_the_general_factorisation_for_dense_ones) {
  write("D.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n1\n");
  const tool_result r = run("solve D.mtx --rhs row-sums --json -o x.txt");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(testing::numbers(content("x.txt")), (std::vector<double>{1, 1}));
  const std::string method = json::parse(r.out)["method"];
  if (method == "lu") {
    EXPECT_NE(r.err.find("went on with lu"), std::string::npos) << r.err;
  }
}

TEST_F(tool_sparse_lu, leaves_dominant_matrices_to_sweeps) {
  write("W.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 4\n1 3 1\n2 2 4\n3 3 -4\n3 2 1\n");
  EXPECT_EQ(json::parse(run("solve W.mtx --json").out)["method"], "gauss-seidel");
}

TEST_F(tool_sparse_lu, refuses_what_it_has_no_use_for) {
  for (const char* option : {"--precond jacobi", "--precision mixed", "--device cuda --backend own",
                             "--fixed-iterations 3", "--omega 1.5", "--accel anderson:2"})
    EXPECT_EQ(run(std::string("solve A.mtx --method sparse-lu ") + option).code, 2) << option;
  write("R.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  EXPECT_EQ(run("solve R.mtx --method sparse-lu").code, 2);
}

}  // namespace
}  // namespace vouch
