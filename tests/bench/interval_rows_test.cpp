#include <gtest/gtest.h>

#include <bench/interval_results.hpp>

namespace vouch::bench {
namespace {

interval_cell product(const char* routine, const char* operands, std::int64_t n, const char* device,
                      double seconds) {
  const auto order = static_cast<double>(n);
  return {routine, operands, n, device, "double", seconds, 0, 2 * order * order * order, {}, {}, {}, {}};
}

const bench_row& find(const std::vector<bench_row>& rows, const std::string& name, const std::string& metric) {
  for (const bench_row& row : rows)
    if (row.case_name == name && row.metric == metric) return row;
  throw std::out_of_range(name + ": " + metric);
}

TEST(interval_rows, bars_compare_with_plain_products_and_with_boost) {
  interval_results results;
  interval_cell points = product("gemm tight", "point x point", 8192, "gpu", 0.04);
  points.plain = 0.02;
  interval_cell fast = product("gemm fast", "interval x interval", 8192, "gpu", 0.04);
  fast.plain = 0.02;
  interval_cell small = product("gemm tight", "interval x interval", 128, "cpu1", 1e-3);
  small.boost_fastest = 0.03;
  small.boost_standard = 0.05;
  results.cells = {points, fast, small};
  const auto rows = interval_rows(results);

  const bench_row& reached = find(rows, "gemm tight, point x point, n = 8192", "time_over_plain");
  EXPECT_DOUBLE_EQ(*reached.value, 2);
  EXPECT_TRUE(*reached.pass);
  EXPECT_FALSE(*find(rows, "gemm fast, interval x interval, n = 8192", "time_over_plain").pass);
  EXPECT_FALSE(find(rows, "gemm tight, point x interval, n = 8192", "time_over_plain").pass);  // not measured
  EXPECT_TRUE(*find(rows, "gemm tight, interval x interval, n = 128", "times_boost_fastest").pass);
  EXPECT_FALSE(*find(rows, "gemm tight, interval x interval, n = 128", "times_boost_standard").pass);
}

TEST(interval_rows, memory_bars_take_the_largest_size) {
  interval_results results;
  results.machine.cpu.one = {1, 10e9, 8e9};
  interval_cell small{"axpy", "interval", 10, "cpu1", "double", 1, 1, 20, {}, {}, {}, {}}, large = small;
  large.n = 1000;
  large.bytes = 9e9;
  results.cells = {large, small};
  const std::vector<bench_row> rows = interval_rows(results);
  const bench_row& row = find(rows, "axpy, interval, n = 1000", "share_of_bandwidth");
  EXPECT_DOUBLE_EQ(*row.value, 0.9);
  EXPECT_TRUE(*row.pass);
}

TEST(interval_rows, widths_and_repetitions) {
  interval_results results;
  results.tightness = {{"fast", "wide intervals", "cpu", 1.7, 2.5}, {"exact", "wide intervals", "cpu", 1, 1}};
  results.repetitions = {{"dot", "cpu", false}};
  const auto rows = interval_rows(results);
  EXPECT_FALSE(*find(rows, "gemm fast, wide intervals", "median_width_over_tight").pass);
  EXPECT_FALSE(find(rows, "gemm exact, wide intervals", "median_width_over_tight").bar);
  EXPECT_FALSE(*find(rows, "dot twice", "same_bits").pass);
  EXPECT_EQ(interval_sections(results).size(), 4U);
}

TEST(interval_rows, the_price_of_the_question_has_a_bar) {
  interval_results results;
  results.questions = {{"x + y", 6e-9, 5e-9, 1.2}, {"closed_form", 1e-7, 1e-7, 1.004}};
  const auto rows = interval_rows(results);
  EXPECT_EQ(find(rows, "environment, x + y", "time_of_one").value, 6e-9);
  EXPECT_FALSE(*find(rows, "environment, x + y", "time_over_unasked").pass);
  EXPECT_TRUE(*find(rows, "environment, closed_form", "time_over_unasked").pass);
}

}  // namespace
}  // namespace vouch::bench
