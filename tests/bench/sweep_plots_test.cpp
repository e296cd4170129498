#include <gtest/gtest.h>

#include <bench/suites.hpp>
#include <bench/sweep_plots.hpp>
#include <string>

namespace vouch::bench {
namespace {

bench_row row_of(const char* name, const char* device, const char* metric, double value) {
  return {name, device, "double", metric, value, "s", value / 2, {}, {}, {}, {}};
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(sweep_figures, draw_lines_of_two_points_and_floors) {
  const std::vector<bench_row> rows{
      row_of("family a, n 100", "cpu", "jacobi_sweep", 1e-6),
      row_of("family a, n 1000", "cpu", "jacobi_sweep", 1e-5),
      row_of("family a, n 100", "cpu", "gauss_seidel_sweep", 3e-6),
      row_of("family a, n 1000", "cpu", "gauss_seidel_sweep", 4e-5),
      row_of("family b, n 1000", "cpu", "jacobi_sweep", 1e-5),  // alone
      row_of("family a, n 100", "gpu", "jacobi_sweep", 1e-6),   // alone
      row_of("10 by 20", "cpu", "transpose", 1e9),              // no sweep
  };
  const std::vector<figure> figures = sweep_figures("Sweeps", rows);
  ASSERT_EQ(figures.size(), 1U);
  const std::string& svg = figures.front().svg;
  EXPECT_EQ(count(svg, ">family a, jacobi, double<"), 1);
  EXPECT_EQ(count(svg, ">floor of family a, jacobi, double<"), 1);
  EXPECT_EQ(count(svg, ">family a, gauss seidel, double<"), 1);
  EXPECT_EQ(count(svg, "family b"), 0);
  EXPECT_TRUE(sweep_figures("Sweeps", {}).empty());
}

TEST(time_figures, draw_the_whole_times_alone) {
  const std::vector<bench_row> rows{
      row_of("banded-dominant, n 1000", "gpu", "jacobi_by_rows_time", 1e-4),
      row_of("banded-dominant, n 10240", "gpu", "jacobi_by_rows_time", 1e-2),
      row_of("banded-dominant, n 1000", "gpu", "jacobi_sweep", 1e-6),
      row_of("banded-dominant, n 10240", "gpu", "jacobi_sweep", 1e-5),
  };
  const std::vector<figure> figures = time_figures("Whole times", rows);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(count(figures.front().svg, ">banded-dominant, jacobi by rows, double<"), 1);
  EXPECT_EQ(count(figures.front().svg, ">banded-dominant, jacobi, double<"), 0);
}

TEST(suite_sweeps, measures_every_way_and_draws) {
  suite_options options;
  options.quick = true;
  options.devices = {"cpu"};
  options.threads = 1;
  const suite_results results = run_sweeps_suite(options);
  int sweeps = 0, solves = 0;
  for (const bench_row& row : results.rows) {
    EXPECT_TRUE(row.value.has_value()) << row.case_name << ' ' << row.metric;
    const bool sweep = row.metric.ends_with("_sweep");
    EXPECT_EQ(row.floor.has_value(), sweep);
    ++(sweep ? sweeps : solves);
  }
  EXPECT_EQ(sweeps, 3 * 2 * 3);  // problems, precisions, ways
  EXPECT_EQ(solves, 6);
  std::size_t figures = 0;
  for (const report_section& section : results.sections) figures += section.figures.size();
  EXPECT_EQ(figures, 2U);
}

}  // namespace
}  // namespace vouch::bench
