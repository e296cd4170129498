// vouch solve where what --method auto begins with does not do.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <vouch/core/random.hpp>
#include <vouch/core/string_printf.hpp>
#include <vouch/dense/factor/lapack.hpp>

#include "data.hpp"
#include "small_system.hpp"
#include "solve_fixture.hpp"

namespace vouch {
namespace {

using nlohmann::json;
using testing::numbers;
using testing::tool_result;

class tool_fall_back : public testing::solve_test {
 protected:
  // A beam held at one end: displacement and angle at each of its joints, stiffness from 1 to `range`.
  void write_beam(const std::string& name, int elements, double range) const {
    const int n = 2 * elements;
    std::vector<std::vector<double>> band(static_cast<std::size_t>(n), std::vector<double>(4));
    const double length = 1.0 / elements;
    const double shape[4][4] = {{12, 6, -12, 6}, {6, 4, -6, 2}, {-12, -6, 12, -6}, {6, 2, -6, 4}};
    for (int e = 0; e < elements; ++e) {
      const double stiffness = std::pow(range, 37 * (e + 1) % elements / static_cast<double>(elements));
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j <= i; ++j) {
          const int row = 2 * e - 2 + i, angles = i % 2 + j % 2;
          if (row - (i - j) >= 0)
            band[static_cast<std::size_t>(row)][static_cast<std::size_t>(i - j)] +=
                stiffness * shape[i][j] * std::pow(length, angles - 3);
        }
    }
    std::string text;
    int entries = 0;
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < 4; ++k)
        if (band[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] != 0) {
          text += std::to_string(i + 1) + " " + std::to_string(i - k + 1) + " " +
                  string_printf("%.17g\n", band[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)]);
          ++entries;
        }
    const std::string size = std::to_string(n) + " " + std::to_string(n) + " " + std::to_string(entries);
    write(name, "%%MatrixMarket matrix coordinate real symmetric\n" + size + "\n" + text);
  }

  // An m-by-m grid whose couplings go from 1 to 10^decades, held at its first point.
  void write_grid(const std::string& name, int m, double decades) const {
    std::vector<double> diagonal(static_cast<std::size_t>(m * m));
    diagonal[0] = 1;
    std::string links;
    const auto link = [&](int i, int j) {
      const double coupling = std::pow(10, decades * random_unit(7, static_cast<std::uint64_t>(m * i + j)));
      links += std::to_string(j + 1) + " " + std::to_string(i + 1) + " " + string_printf("%.17g\n", -coupling);
      diagonal[static_cast<std::size_t>(i)] += coupling;
      diagonal[static_cast<std::size_t>(j)] += coupling;
    };
    for (int i = 0; i < m * m; ++i) {
      if (i % m + 1 < m) link(i, i + 1);
      if (i + m < m * m) link(i, i + m);
    }
    std::string text;
    for (int i = 0; i < m * m; ++i)
      text += std::to_string(i + 1) + " " + std::to_string(i + 1) + " " +
              string_printf("%.17g\n", diagonal[static_cast<std::size_t>(i)]);
    const int entries = m * m + 2 * m * (m - 1);
    write(name, "%%MatrixMarket matrix coordinate real symmetric\n" + std::to_string(m * m) + " " +
                    std::to_string(m * m) + " " + std::to_string(entries) + "\n" + text + links);
  }
};

// Its residual grows more than 10^4 times on the way.
TEST_F(tool_fall_back, a_stiff_beam_is_factorised_and_proved) {
  write_beam("A.mtx", 60, 1e5);
  const tool_result r = run("solve A.mtx --verify 6 -o x.txt --json");
  const json o = json::parse(r.out);
  EXPECT_EQ(o["method"], "sparse-lu");
  EXPECT_TRUE(o["error_bound"]["verified"].get<bool>()) << o["error_bound"];
  EXPECT_LT(o["error_bound"]["max_relative"].get<double>(), 1e-6);
  EXPECT_NE(r.err.find("went on with sparse-lu"), std::string::npos) << r.err;
  EXPECT_EQ(numbers(content("x.txt")).size(), 120U);
  EXPECT_NE(json::parse(run("solve A.mtx --method cg --max-iterations 9000 --json").out)["status"], "diverged");
}

// Parts of a suspension bridge with conditions beyond 1e11, on which conjugate gradients get nowhere in a while.
class published_frames : public tool_fall_back, public ::testing::WithParamInterface<const char*> {};

TEST_P(published_frames, are_factorised_and_proved) {
  const std::string path = testing::data_file(std::string("matrices/") + GetParam() + ".mtx");
  if (path.empty()) GTEST_SKIP() << "no " << GetParam() << ".mtx in the data folder beside the project";
  const tool_result r = run("solve " + path + " --verify 6 -o x.txt --json");
  ASSERT_EQ(r.code, 0) << r.err;
  const json o = json::parse(r.out);
  EXPECT_EQ(o["method"], "sparse-lu");
  EXPECT_TRUE(o["error_bound"]["verified"].get<bool>()) << o["error_bound"];
  EXPECT_LT(o["error_bound"]["max_relative"].get<double>(), 1e-6);
  EXPECT_TRUE(exists("x.txt"));
}

INSTANTIATE_TEST_SUITE_P(tool_fall_back, published_frames, ::testing::Values("bcsstk19", "bcsstk20"));

// Small and hard: few iterations show that a factorisation will be done first.
TEST_F(tool_fall_back, small_hard_systems_are_soon_factorised) {
  write_beam("A.mtx", 240, 1e3);
  const tool_result r = run("solve A.mtx -o x.txt --json");
  const json o = json::parse(r.out);
  EXPECT_EQ(o["method"], "sparse-lu");
  EXPECT_NE(o["method_reason"].get<std::string>().find("predicted to be faster"), std::string::npos);
  const std::string words = "had not converged after ";
  const std::size_t at = r.err.find(words);
  ASSERT_NE(at, std::string::npos) << r.err;
  EXPECT_LT(std::stoi(r.err.substr(at + words.size())), 1000) << r.err;
  EXPECT_LT(o["residual"]["backward_error"].get<double>(), 1e-15);
  EXPECT_EQ(numbers(content("x.txt")).size(), 480U);
}

// A grid with couplings from 1 to 10^6: rows dominate nearly, as on a grid that conjugate gradients solve.
TEST_F(tool_fall_back, work_is_held_against_that_of_a_factorisation) {
  write_grid("A.mtx", 40, 6);
  const tool_result r = run("solve A.mtx --rhs row-sums -o x.txt --json");
  const json o = json::parse(r.out);
  EXPECT_EQ(o["method"], "sparse-lu");
  EXPECT_NE(o["method_reason"].get<std::string>().find("predicted to be faster"), std::string::npos);
  EXPECT_NE(r.err.find("a factorisation is predicted to be done before them"), std::string::npos) << r.err;
  EXPECT_LT(o["residual"]["backward_error"].get<double>(), 1e-15);
  EXPECT_EQ(numbers(content("x.txt")).size(), 1600U);
}

TEST_F(tool_fall_back, grids_stay_with_conjugate_gradients) {
  ASSERT_EQ(run("gen poisson-2d -n 60 -o A.mtx").code, 0);
  const json o = solve("A.mtx");
  EXPECT_EQ(o["method"], "cg");
  EXPECT_EQ(o["status"], "converged");
}

TEST_F(tool_fall_back, mixed_precision_gives_way_where_only_factorisations_do) {
  write("sparse.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 2\n2 1 3\n2 2 1\n");
  write("dense.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n1\n");
  for (const char* file : {"sparse.mtx", "dense.mtx"}) {
    if (!lapack::present() && file[0] == 'd') continue;
    const tool_result r =
        run(std::string("solve ") + file + " --history h.csv --rhs row-sums --precision mixed -o x.txt --json");
    ASSERT_EQ(r.code, 0) << r.err;
    const json o = json::parse(r.out);
    EXPECT_EQ(o["status"], "converged");
    EXPECT_EQ(o["precision"], "double");
    EXPECT_EQ(o["method"], file[0] == 'd' ? "lu" : "sparse-lu");
    EXPECT_NE(r.err.find("warning: mixed: "), std::string::npos) << r.err;
    for (const double x : numbers(content("x.txt"))) EXPECT_NEAR(x, 1, 1e-14) << file;
  }
  // Positive definite by its looks alone.
  write("looks.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 6\n1 1 1\n2 1 2\n3 1 3\n2 2 1\n3 2 5\n3 3 1\n");
  const tool_result r = run("solve looks.mtx --precision mixed --json");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(json::parse(r.out)["precision"], "double");
  EXPECT_NE(r.err.find("warning: mixed: "), std::string::npos) << r.err;
}

TEST_F(tool_fall_back, factorisations_have_no_recurrence) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 1\n2 2 3\n");
  for (const std::string method : {"lu", "cholesky", "sparse-lu"}) {
    if (!lapack::present() && method != "sparse-lu") continue;
    const json o = solve("A.mtx --method " + method);
    EXPECT_EQ(o["status"], "converged");
    EXPECT_TRUE(o["residual"]["relative_recurrence"].is_null()) << method;
  }
}

}  // namespace
}  // namespace vouch
