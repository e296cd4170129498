#include <gtest/gtest.h>

#include <cli/usage.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include <bench/command.hpp>
#include <bench/html_report.hpp>
#include <bench/suites.hpp>
#include <vouch/core/error.hpp>
#include <vouch/generate/poisson.hpp>
#include <vouch/io/matrix_market.hpp>

namespace vouch::bench {
namespace {

std::string tiny_matrix() {
  const std::string path = (std::filesystem::path(::testing::TempDir()) / "bench_tiny.mtx").string();
  const csr<double> A = poisson_2d(device::cpu(1), 12, 9);
  write_matrix_market(path, A, symmetry::symmetric);
  return path;
}

suite_options tiny_options() {
  suite_options options;
  options.matrices = {tiny_matrix()};
  options.devices = {"cpu1", "cpu"};
  options.threads = 3;
  options.repeat = 2;
  options.quick = true;
  return options;
}

std::optional<double> value(const suite_results& results, const std::string& device,
                            const std::string& precision, const std::string& metric) {
  for (const bench_row& row : results.rows)
    if (row.device == device && row.precision == precision && row.metric == metric) return row.value;
  return std::nullopt;
}

TEST(suite_cg, measures_a_tiny_matrix) {
  const suite_results results = run_cg_suite(tiny_options());
  EXPECT_FALSE(results.interrupted);
  for (const char* device : {"cpu1", "cpu"}) {
    EXPECT_EQ(value(results, device, "double", "goal_reached_published"), 1.0);
    EXPECT_EQ(value(results, device, "double", "goal_reached_true"), 1.0);
    EXPECT_LE(value(results, device, "double", "relative_true_residual_true").value(), 1e-8);
    EXPECT_LE(value(results, device, "single", "relative_true_residual_true").value(), 1e-5);
    EXPECT_GT(value(results, device, "double", "time_per_iteration").value(), 0);
    EXPECT_TRUE(value(results, device, "double", "time_deviation_true").has_value())
        << "two runs were asked for";
    EXPECT_EQ(value(results, device, "double", "same_bits"), 1.0);
    // 108 unknowns: nine vectors and the matrix, which in no layout takes more than 10 values a row.
    const double values = value(results, device, "double", "bytes_per_iteration").value() / (8 * 108);
    EXPECT_GT(values, 11);
    EXPECT_LT(values, 19);
  }
  EXPECT_EQ(value(results, "cpu1 and cpu", "both", "same_bits"), 1.0);
  const std::string page = to_html(results);
  EXPECT_NE(page.find("<svg"), std::string::npos);
  for (const char* outside : {"<script", "<link", "src=", "href=\"http", "@import", "url(http"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_LE(value(results, "cpu1", "double", "iterations_true").value(), 108);
  EXPECT_EQ(value(results, "cpu1", "double", "iterations_true"),
            value(results, "cpu", "double", "iterations_true"));
}

TEST(suite_cg, an_interrupt_ends_it) {
  suite_options options = tiny_options();
  options.interrupted = [] { return true; };
  const suite_results results = run_cg_suite(options);
  EXPECT_TRUE(results.interrupted);
  EXPECT_FALSE(value(results, "cpu1", "double", "time_per_iteration").has_value());
}

TEST(suite_cg, refuses_unknown_devices) {
  suite_options options = tiny_options();
  options.devices = {"tpu"};
  EXPECT_THROW(run_cg_suite(options), value_error);
  options.devices = {"cpu", "cpu"};
  EXPECT_THROW(run_cg_suite(options), value_error);
}

TEST(bench_command, json_is_one_object) {
  const std::string file = tiny_matrix();
  const char* arguments[] = {"cg",        file.c_str(), "--quick", "--repeat", "1",
                             "--devices", "cpu1",       "--json",  "-q"};
  ::testing::internal::CaptureStdout();
  const int code = run_command(arguments);
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0);
  const auto object = nlohmann::json::parse(out, nullptr, false);
  ASSERT_TRUE(object.is_object());
  EXPECT_EQ(object.at("schema"), "vouch.bench/1");
  EXPECT_GT(object.at("rows").size(), 10U);
}

TEST(bench_command, unknown_suites_and_missing_results_are_usage_errors) {
  const char* unknown[] = {"cgg"};
  EXPECT_THROW(run_command(unknown), cli::usage_error);
  const char* nothing[] = {"table"};
  EXPECT_THROW(run_command(nothing), cli::usage_error);
}

}  // namespace
}  // namespace vouch::bench
