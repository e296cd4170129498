// The subcommands info, gen and convert.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data.hpp"
#include "run_tool.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::tool_result;

class tool_info : public testing::tool_test {};
class tool_gen : public testing::tool_test {};
class tool_convert : public testing::tool_test {};

const std::string small_symmetric =
    "%%MatrixMarket matrix coordinate real symmetric\n"
    "3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n3 3 2\n";

TEST_F(tool_info, facts_as_text) {
  write("A.mtx", small_symmetric);
  const tool_result r = run("info A.mtx --ascii");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(r.out,
            "A.mtx: 3 by 3, 7 nonzeros\n"
            "  file            Matrix Market, real symmetric coordinate, 5 entries\n"
            "  symmetry        symmetric\n"
            "  diagonal        positive\n"
            "  dominance       weak; strict in 2 rows; least |a_ii| / sum |a_ij| = 1 in row 2\n"
            "  bandwidth       1 below, 1 above the diagonal\n"
            "  entries a row   2 to 3, mean 2.33\n"
            "  diagonals       3\n"
            "  components      1\n"
            "+---+\n"
            "|@@#|\n"
            "| ##|\n"
            "+---+\n");
}

TEST_F(tool_info, facts_as_json) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 -4\n1 2 1.5\n2 2 0\n");
  const tool_result r = run("info A.mtx --json");
  EXPECT_EQ(r.code, 0);
  const json object = json::parse(r.out);
  EXPECT_EQ(object["schema"], "vouch.info/1");
  EXPECT_EQ(object["matrix"],
            json::parse(R"({"file":"A.mtx","rows":2,"cols":2,"nonzeros":3,"symmetric":false})"));
  const json& s = object["structure"];
  EXPECT_EQ(s["symmetric"], false);
  EXPECT_EQ(s["diagonal_positive"], false);
  EXPECT_EQ(s["zero_diagonal"], true);
  EXPECT_EQ(s["dominance"], "none");
  EXPECT_EQ(s["bandwidth"], 1);
  EXPECT_EQ(s["entries_per_row"], json::parse(R"({"min":1,"max":2,"mean":1.5})"));
  EXPECT_EQ(s["first_unsymmetric"], json::parse(R"({"row":1,"col":2,"value":1.5,"mirrored":0.0})"));
  EXPECT_EQ(s["first_zero_diagonal"], 2);
  EXPECT_TRUE(object["time_s"].contains("read"));
}

TEST_F(tool_info, draws) {
  write("A.mtx", small_symmetric);
  EXPECT_EQ(run("info A.mtx --svg A.svg").code, 0);
  EXPECT_EQ(content("A.svg").rfind("<svg ", 0), 0u);
  const tool_result nowhere = run("info A.mtx --svg none/A.svg");
  EXPECT_EQ(nowhere.code, 3);
  EXPECT_EQ(nowhere.out, "");
}

TEST_F(tool_convert, a_matrix_without_entries_is_an_archive_too) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 0\n");
  EXPECT_EQ(run("convert A.mtx A.npz").code, 0);
  const testing::tool_result found = run("info A.npz --json");
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(nlohmann::json::parse(found.out)["matrix"]["nonzeros"], 0);
}

TEST_F(tool_info, empty_and_rectangular) {
  write("E.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
  EXPECT_EQ(run("info E.mtx").code, 0);
  write("R.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 5 1\n2 5\n");
  const json s = json::parse(run("info R.mtx --json").out)["structure"];
  EXPECT_EQ(s["square"], false);
  EXPECT_EQ(s["components"], nullptr);
  EXPECT_EQ(s["empty_rows"], 1);
}

TEST_F(tool_info, bad_files) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
  const tool_result broken = run("info A.mtx --json");
  EXPECT_EQ(broken.code, 2);
  EXPECT_EQ(broken.out, "");
  EXPECT_EQ(broken.err.rfind("vouch: error: A.mtx:3:1: ", 0), 0u) << broken.err;
  EXPECT_EQ(run("info missing.mtx").code, 3);
  EXPECT_EQ(run("info").code, 2);
}

// The prediction against the iterations that a solve takes.
TEST_F(tool_info, multigrid_hierarchy) {
  ASSERT_EQ(run("gen poisson-2d -n 60 -o A.mtx -q").code, 0);
  const json amg = json::parse(run("info A.mtx --amg --json").out)["amg"];
  const json& levels = amg["levels"];
  ASSERT_GE(levels.size(), 2u);
  EXPECT_EQ(levels[0]["rows"], 3600);
  EXPECT_EQ(levels[0]["nonzeros"], 5 * 3600 - 4 * 60);
  double rows = 0, nonzeros = 0;
  for (const json& level : levels) {
    rows += level["rows"].get<double>();
    nonzeros += level["nonzeros"].get<double>();
  }
  EXPECT_DOUBLE_EQ(amg["grid_complexity"], rows / 3600);
  EXPECT_DOUBLE_EQ(amg["operator_complexity"], nonzeros / (5 * 3600 - 4 * 60));
  EXPECT_EQ(levels.back()["prolongator_smoothed"], nullptr);
  EXPECT_EQ(amg["coarsest_solved"], true);
  EXPECT_GT(amg["memory_bytes"], 0);
  const json solved = json::parse(run("solve A.mtx --method cg --precond amg --json -o x.txt").out);
  EXPECT_NEAR(amg["predicted_iterations"].get<double>(), solved["iterations"].get<double>(), 3);
  const tool_result solving = run("solve A.mtx --method cg --precond amg -o x.txt");
  EXPECT_NE(solving.err.find("preconditioner amg (structured, " + std::to_string(levels.size()) + " levels"),
            std::string::npos)
      << solving.err;
  const tool_result text = run("info A.mtx --amg");
  EXPECT_NE(text.out.find("  multigrid       structured, " + std::to_string(levels.size()) + " levels"),
            std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("    level 1       3600 rows (60 x 60), 17760 nonzeros\n"), std::string::npos)
      << text.out;
  EXPECT_EQ(levels[1]["grid"], json({30, 30, 1}));
  EXPECT_EQ(amg["type"], "structured");
  EXPECT_EQ(amg["why_not_structured"], nullptr);
  ASSERT_EQ(run("gen poisson-2d -n 60 --order random -o B.mtx -q").code, 0);
  const json general = json::parse(run("info B.mtx --amg --json").out)["amg"];
  EXPECT_EQ(general["type"], "sa");
  EXPECT_EQ(general["levels"][0]["grid"], nullptr);
  const std::string why = general["why_not_structured"];
  EXPECT_NE(run("info B.mtx --amg").out.find("    structured    no: " + why + "\n"), std::string::npos);
}

TEST_F(tool_info, multigrid_of_what_it_is_not_for) {
  write("R.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 5 1\n2 5\n");
  write("U.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 2 1.5\n2 2 1\n");
  write("Z.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 1.5\n");
  for (const std::string file : {"R.mtx", "U.mtx", "Z.mtx"}) {
    const tool_result r = run("info " + file + " --amg");
    EXPECT_EQ(r.code, 2) << file;
    EXPECT_EQ(r.out, "") << file;
    EXPECT_EQ(r.err.rfind("vouch: error: " + file + ": no multigrid hierarchy: ", 0), 0u) << r.err;
  }
  write("E.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
  const tool_result empty = run("info E.mtx --amg");
  EXPECT_EQ(empty.code, 0) << empty.err;
}

TEST_F(tool_info, real_matrix) {
  const std::string file = testing::data_file("matrices/bcsstk14.mtx");
  VOUCH_NEEDS_DATA(file);
  const json object = json::parse(run("info '" + file + "' --json").out);
  EXPECT_EQ(object["matrix"]["rows"], 1806);
  EXPECT_EQ(object["matrix"]["nonzeros"], 63454);
  EXPECT_EQ(object["structure"]["diagonal_positive"], true);
  EXPECT_EQ(object["structure"]["bandwidth"], 161);
}

TEST_F(tool_gen, writes_the_matrix_it_says) {
  const tool_result r = run("gen poisson-1d -n 3 -o A.mtx --rhs b.txt --exact x.txt --json");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(content("A.mtx"), small_symmetric);
  EXPECT_EQ(content("b.txt"), "1\n0\n1\n");
  EXPECT_EQ(content("x.txt"), "1\n1\n1\n");
  const json object = json::parse(r.out);
  EXPECT_EQ(object["schema"], "vouch.gen/1");
  EXPECT_EQ(object["matrix"]["nonzeros"], 7);
}

TEST_F(tool_gen, options_reach_the_problem) {
  EXPECT_EQ(run("gen elasticity-2d -n 3 --ny 2 --element triangle --poisson-ratio 0.4 -o A.mtx").code, 0);
  const json s = json::parse(run("info A.mtx --json").out);
  EXPECT_EQ(s["matrix"]["rows"], 3 * 3 * 2);
  EXPECT_EQ(s["structure"]["block_size"], 2);
  EXPECT_EQ(run("gen poisson-2d -n 9 --boundary neumann --order random --seed 4 -o N.mtx -q").code, 0);
  EXPECT_EQ(json::parse(run("info N.mtx --json").out)["structure"]["row_sums_zero"], true);
}

TEST_F(tool_gen, refuses_and_leaves_nothing) {
  const tool_result typo = run("gen poison-2d -o A.mtx");
  EXPECT_EQ(typo.code, 2);
  EXPECT_EQ(typo.err, "vouch: error: unknown problem 'poison-2d'\nhint: did you mean poisson-2d?\n");
  EXPECT_EQ(run("gen poisson-2d -n 3").code, 2);
  EXPECT_EQ(run("gen poisson-2d --epsilon 3 -o A.mtx").code, 2);
  EXPECT_EQ(run("gen elasticity-2d --poisson-ratio 0.5 -o A.mtx").code, 2);
  EXPECT_EQ(run("gen poisson-3d -n 100000 -o A.mtx").code, 2);
  EXPECT_EQ(run("gen poisson-2d -n 3 -o none/A.mtx").code, 3);
  EXPECT_FALSE(exists("A.mtx"));
}

TEST_F(tool_gen, a_matrix_comes_with_its_right_hand_side_or_not_at_all) {
  EXPECT_EQ(run("gen poisson-1d -n 40 -o A.mtx --exact x.txt --rhs /dev/full").code, 3);
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(tool_convert, between_coordinate_array_and_text) {
  write("A.mtx", small_symmetric);
  EXPECT_EQ(run("convert A.mtx A.txt -q").code, 0);
  EXPECT_EQ(content("A.txt"), "2 -1 0\n-1 2 -1\n0 -1 2\n");
  EXPECT_EQ(run("convert A.txt B.npy -q").code, 0);
  EXPECT_EQ(run("convert B.npy C.mtx --format coordinate --store symmetric -q").code, 0);
  EXPECT_EQ(content("C.mtx"), small_symmetric);
  EXPECT_EQ(run("convert A.mtx D.mtx --format array -q").code, 0);
  EXPECT_EQ(content("D.mtx").rfind("%%MatrixMarket matrix array real general\n", 0), 0u);
  EXPECT_EQ(run("convert D.mtx E.mtx --format coordinate -q").code, 0);
  EXPECT_EQ(content("E.mtx").rfind("%%MatrixMarket matrix coordinate real general\n3 3 7\n", 0), 0u);
}

TEST_F(tool_convert, to_an_archive_of_scipy_and_back) {
  write("A.mtx", small_symmetric);
  ASSERT_EQ(run("convert A.mtx A.npy --format array -q").code, 2);  // of .mtx alone
  ASSERT_EQ(run("convert A.mtx A.npy -q").code, 0);
  for (const char* from : {"A.mtx", "A.npy"}) {
    ASSERT_EQ(run(std::string("convert ") + from + " B.npz -q").code, 0);
    EXPECT_EQ(content("B.npz").substr(0, 4), "PK\3\4");
    ASSERT_EQ(run("convert B.npz C.mtx --store symmetric -q").code, 0);
    EXPECT_EQ(content("C.mtx"), small_symmetric);
  }
}

// The content says what a file is, not its name.
TEST_F(tool_convert, zeros_keep_their_signs) {
  const std::string text = "1 -0\n-0 2.5\n",
                    array = "%%MatrixMarket matrix array real general\n2 2\n1\n-0\n-0\n2.5\n";
  write("A.txt", text);
  for (const char* to : {"B.npy", "B.mtx", "B.txt"}) {
    ASSERT_EQ(run(std::string("convert A.txt ") + to + " -q").code, 0);
    for (const char* how : {"", " --transpose", " --order rcm", " --order random"}) {
      ASSERT_EQ(run(std::string("convert ") + to + " C.txt -q" + how).code, 0);
      const std::string c = content("C.txt");
      EXPECT_TRUE(c == text || c == "2.5 -0\n-0 1\n") << to << how << ": " << c;
      ASSERT_EQ(run(std::string("convert ") + to + " C.mtx --format array -q" + how).code, 0);
      if (std::string(how).find("order") == std::string::npos) {
        EXPECT_EQ(content("C.mtx"), array) << to << how;
      }
    }
    const json o = json::parse(run(std::string("convert ") + to + " C.npy --json").out);
    EXPECT_EQ(o["matrix"]["nonzeros"], 2);
  }
  // Coordinates have no entries for zeros of dense matrices, whatever their sign.
  ASSERT_EQ(run("convert A.txt C.mtx --format coordinate -q").code, 0);
  EXPECT_EQ(content("C.mtx"), "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2.5\n");
  write("Z.txt", "1 -0\n3 4\n5 6\n");  // not square
  ASSERT_EQ(run("convert Z.txt C.txt --transpose -q").code, 0);
  EXPECT_EQ(content("C.txt"), "1 3 5\n-0 4 6\n");
}

// The triangle that stands in a file of symmetric, skew-symmetric or hermitian arrays is both.
TEST_F(tool_convert, zeros_of_half_an_array_keep_their_signs) {
  const std::string head = "%%MatrixMarket matrix array ";
  write("A.mtx", head + "real symmetric\n2 2\n-0\n-0\n0\n");
  ASSERT_EQ(run("convert A.mtx A.txt -q").code, 0);
  EXPECT_EQ(content("A.txt"), "-0 -0\n-0 0\n");
  write("S.mtx", head + "real skew-symmetric\n3 3\n-0\n2\n0\n");
  ASSERT_EQ(run("convert S.mtx S.txt -q").code, 0);
  EXPECT_EQ(content("S.txt"), "0 0 -2\n-0 0 -0\n2 0 0\n");
  write("H.mtx", head + "complex hermitian\n2 2\n-0 0\n-0 -0\n1 0\n");
  ASSERT_EQ(run("convert H.mtx H.txt -q").code, 0);
  EXPECT_EQ(content("H.txt"), "-0 0 -0 0\n-0 -0 1 0\n");
}

TEST_F(tool_convert, a_name_may_promise_another_format) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n1 2 -3\n2 2 5\n");
  ASSERT_EQ(run("convert A.mtx A.npy -q").code, 0);
  ASSERT_EQ(shell("cp A.npy B.mtx && cp A.mtx C.npy && cp A.mtx D.txt && cat A.npy > E"), 0);
  for (const char* name : {"B.mtx", "C.npy", "D.txt", "E"}) {
    EXPECT_EQ(run(std::string("convert ") + name + " out.mtx --format coordinate -q").code, 0) << name;
    EXPECT_EQ(content("out.mtx"), content("A.mtx")) << name;
  }
  write("F.mtx", "1 2\n3 4\n");
  EXPECT_EQ(run("convert F.mtx out.npy").code, 2);
}

TEST_F(tool_convert, keeps_how_a_matrix_is_stored) {
  write("A.mtx", small_symmetric);
  EXPECT_EQ(run("convert A.mtx B.mtx -q").code, 0);
  EXPECT_EQ(content("B.mtx"), small_symmetric);
  EXPECT_EQ(run("convert A.mtx G.mtx --store general -q").code, 0);
  EXPECT_EQ(content("G.mtx").rfind("%%MatrixMarket matrix coordinate real general\n3 3 7\n", 0), 0u);
  write("U.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 5\n2 1 7\n");
  EXPECT_EQ(run("convert U.mtx V.mtx --store symmetric").code, 2);
  EXPECT_FALSE(exists("V.mtx"));
  EXPECT_EQ(run("convert U.mtx T.mtx --transpose -q").code, 0);
  EXPECT_EQ(content("T.mtx"), "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 2 7\n3 1 5\n");
}

TEST_F(tool_convert, reorders) {
  EXPECT_EQ(run("gen poisson-1d -n 40 --order random -o A.mtx -q").code, 0);
  EXPECT_EQ(run("convert A.mtx B.mtx --order rcm --permutation p.txt -q").code, 0);
  EXPECT_EQ(json::parse(run("info B.mtx --json").out)["structure"]["bandwidth"], 1);
  std::istringstream lines(content("p.txt"));
  std::vector<bool> seen(41);
  int count = 0;
  for (int number = 0; lines >> number; ++count) {
    ASSERT_TRUE(number >= 1 && number <= 40 && !seen[static_cast<std::size_t>(number)]);
    seen[static_cast<std::size_t>(number)] = true;
  }
  EXPECT_EQ(count, 40);
  write("U.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 5\n");
  const tool_result rectangular = run("convert U.mtx V.mtx --order rcm");
  EXPECT_EQ(rectangular.code, 2);
  EXPECT_FALSE(exists("V.mtx"));
  EXPECT_EQ(run("convert U.mtx V.mtx --permutation p.txt").code, 2);
}

TEST_F(tool_convert, a_permutation_comes_with_its_matrix_or_not_at_all) {
  ASSERT_EQ(run("gen poisson-1d -n 40 --order random -o A.mtx -q").code, 0);
  write("p.txt", "mine\n");
  EXPECT_EQ(run("convert A.mtx /dev/full --order rcm --permutation p.txt").code, 3);
  EXPECT_EQ(content("p.txt"), "mine\n");
  EXPECT_EQ(run("convert A.mtx B.mtx --order rcm --permutation /dev/full").code, 3);
  EXPECT_EQ(files(), (std::vector<std::string>{"A.mtx", "p.txt"}));
}

// Of a Harwell-Boeing file, and of an archive with the right-hand side beside it.
TEST_F(tool_convert, other_formats_serve_every_command) {
  write("A.rua",
        "2 x 2                                                                   KEY\n 4 1 1 1 1\nRUA 2 2 3 0\n"
        "(3I4) (3I4) (3F8.2) (2F8.2)\nF 1 0\n   1   2   4\n   1   1   2\n    4.00    1.00    2.00\n"
        "   10.00    4.00\n");
  const tool_result facts = run("info A.rua --ascii");
  EXPECT_NE(facts.out.find("Harwell-Boeing, real general coordinate, 3 entries, 1 right-hand side\n"),
            std::string::npos)
      << facts.out << facts.err;
  EXPECT_EQ(run("solve A.rua --rhs A.rua -o x.txt -q").code, 0);
  EXPECT_EQ(content("x.txt"), "2\n2\n");
  EXPECT_EQ(run("verify A.rua x.txt -b A.rua").code, 0);
  EXPECT_EQ(run("convert A.rua A.mtx").code, 0);
  EXPECT_EQ(content("A.mtx"), "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 2 1\n2 2 2\n");
  write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n10\n4\n");
  ASSERT_EQ(shell("mkdir S && cp A.mtx S/S.mtx && cp b.mtx S/S_b.mtx && tar czf S.tar.gz S && rm -r S"), 0);
  EXPECT_EQ(run("solve S.tar.gz --rhs S.tar.gz -o y.txt -q").code, 0);
  EXPECT_EQ(content("y.txt"), "2\n2\n");
  EXPECT_EQ(run("verify S.tar.gz y.txt -b S.tar.gz").code, 0);
  EXPECT_EQ(run("convert S.tar.gz B.mtx").code, 0);
  EXPECT_EQ(content("B.mtx"), content("A.mtx"));
  EXPECT_EQ(run("solve S.tar.gz --rhs S.tar.gz --decimal").code, 0);
}

TEST_F(tool_convert, an_older_file_survives_an_error) {
  write("out.mtx", "mine\n");
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n");
  EXPECT_EQ(run("convert A.mtx out.mtx").code, 2);
  EXPECT_EQ(content("out.mtx"), "mine\n");
}

}  // namespace
}  // namespace vouch
