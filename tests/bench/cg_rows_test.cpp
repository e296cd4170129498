#include <gtest/gtest.h>

#include <stdexcept>

#include <bench/cg_results.hpp>

namespace vouch::bench {
namespace {

iteration_cell iterations(const std::string& name, const char* device, std::int64_t rows, double seconds) {
  iteration_cell cell;
  cell.case_name = name;
  cell.device = device;
  cell.precision = "double";
  cell.layout = "automatic";
  cell.rows = rows;
  cell.seconds = seconds;
  return cell;
}

solve_cell solved(const char* name, const char* device, double seconds, std::int64_t count) {
  solve_cell cell;
  cell.case_name = name;
  cell.device = device;
  cell.precision = "double";
  cell.rule = true_rule;
  cell.preconditioner = "none";
  cell.report.status = solve_status::converged;
  cell.report.iterations = count;
  cell.seconds.mean = seconds;
  return cell;
}

bench_row bar_of(const std::vector<bench_row>& rows, const std::string& name, const std::string& device,
                 const std::string& metric) {
  for (const bench_row& row : rows)
    if (row.case_name == name && row.device == device && row.metric == metric && row.bar) return row;
  throw std::runtime_error("no bar " + name + " " + device + " " + metric);
}

TEST(cg_rows, break_even_is_interpolated_between_sizes) {
  std::vector<iteration_cell> cells;
  // Half as quick as the CPU at 1000 unknowns, twice as quick at 4000: even at 2000.
  cells.push_back(iterations("poisson 2d 32", "cpu", 1000, 1e-6));
  cells.push_back(iterations("poisson 2d 32", "gpu", 1000, 2e-6));
  cells.push_back(iterations("poisson 2d 64", "cpu1", 4000, 4e-6));
  cells.push_back(iterations("poisson 2d 64", "gpu", 4000, 2e-6));
  ASSERT_TRUE(break_even(cells, 2).has_value());
  EXPECT_NEAR(*break_even(cells, 2), 2000, 1e-6);
  EXPECT_FALSE(break_even(cells, 3).has_value());
}

TEST(cg_rows, no_break_even_where_the_gpu_always_wins) {
  const std::vector<iteration_cell> cells{iterations("poisson 2d 32", "cpu", 1000, 3e-6),
                                          iterations("poisson 2d 32", "gpu", 1000, 2e-6)};
  EXPECT_FALSE(break_even(cells, 2).has_value());
}

TEST(cg_rows, bars_judge_in_the_right_direction) {
  cg_results results;
  results.cases.push_back({"bcsstk11", 1473, 34241, published("bcsstk11"), ""});
  results.solves = {solved("bcsstk11", "cpu1", 0.2, 8590), solved("bcsstk11", "gpu", 0.1, 8590)};
  results.iterations.push_back(iterations("bcsstk11", "gpu", 1473, 2.6e-6));
  results.iterations.back().peer_seconds = 26e-6;
  results.scaling.push_back(iterations(poisson_size{3, 256}.name(), "gpu", 1 << 24, 0.60e-3));
  const std::vector<bench_row> bars = cg_bars(results);
  EXPECT_EQ(bar_of(bars, "bcsstk11", "gpu", "time_per_iteration").pass, false);
  EXPECT_EQ(bar_of(bars, "bcsstk11", "gpu", "speedup_over_cusparse_cublas").pass, true);
  EXPECT_DOUBLE_EQ(*bar_of(bars, "bcsstk11", "gpu", "speedup_over_cusparse_cublas").value, 10);
  EXPECT_EQ(bar_of(bars, "bcsstk11", "gpu", "speedup_over_one_core").pass, true);
  EXPECT_EQ(bar_of(bars, "bcsstk11", "cpu", "solved_true").pass, true);
  EXPECT_EQ(bar_of(bars, "poisson 3d 256", "gpu", "time_per_iteration_automatic").pass, true);
  EXPECT_EQ(bar_of(bars, "poisson 3d 256", "gpu", "time_per_iteration_csr").pass, std::nullopt);
  EXPECT_EQ(bar_of(bars, "bcsstk13", "gpu", "solved_true").pass, std::nullopt);
}

TEST(cg_rows, a_solve_that_missed_fails_its_bar) {
  cg_results results;
  results.cases.push_back({"bcsstk14", 1806, 63454, {}, ""});
  results.solves = {solved("bcsstk14", "gpu", 0.1, 100)};
  results.solves[0].report.status = solve_status::stagnated;
  EXPECT_EQ(bar_of(cg_bars(results), "bcsstk14", "gpu", "solved_true").pass, false);
}

TEST(cg_rows, differing_bits_fail_their_bar) {
  cg_results results;
  results.published_set = false;
  results.solves = {solved("a", "cpu1", 1, 10), solved("a", "cpu", 1, 10)};
  results.solves[1].bits = 1;
  const std::vector<bench_row> bars = cg_bars(results);
  EXPECT_EQ(bar_of(bars, "all", "cpu1", "same_bits").pass, true);
  EXPECT_EQ(bar_of(bars, "all", "cpu1 and cpu", "same_bits").pass, false);
}

TEST(cg_rows, published_figures_by_name) {
  EXPECT_EQ(published("bcsstk13")->cuda_iterations, 599151);
  EXPECT_EQ(published("nos2_reconstructed")->cpu_iterations, 98434);
  EXPECT_FALSE(published("nos2")->cuda_seconds.has_value());
  EXPECT_FALSE(published("bcsstk16").has_value());
  EXPECT_FALSE(published("mine").has_value());
}

}  // namespace
}  // namespace vouch::bench
