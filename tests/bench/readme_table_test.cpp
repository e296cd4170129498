#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <bench/readme_table.hpp>
#include <vouch/core/error.hpp>

namespace vouch::bench {
namespace {

std::string written(const std::string& name, const std::string& text) {
  const std::string path = (std::filesystem::path(::testing::TempDir()) / name).string();
  std::ofstream(path) << text;
  return path;
}

TEST(readme_table, golden) {
  const std::string file = written("bench_readme.json", R"({"schema": "vouch.bench/1", "suite": "cg",
    "device": {"cpu": {"name": "C", "cores": 2}, "gpu": {"name": "G"}},
    "rows": [
      {"case": "a", "device": "gpu", "precision": "double", "metric": "time_per_iteration", "value": 2.4e-6,
       "unit": "s", "floor": null, "peer": 2.9e-5, "ratio": 12.1, "bar": 2.5e-6, "pass": true},
      {"case": "a", "device": "gpu", "precision": "double", "metric": "speedup", "value": 4.5,
       "unit": "1", "floor": null, "peer": null, "ratio": null, "bar": 5, "pass": false},
      {"case": "b", "device": "gpu", "precision": "double", "metric": "speedup", "value": null,
       "unit": "1", "floor": null, "peer": null, "ratio": null, "bar": 5, "pass": null},
      {"case": "c", "device": "gpu", "precision": "double", "metric": "no bar", "value": 1,
       "unit": "1", "floor": null, "peer": null, "ratio": null, "bar": null, "pass": true}]})");
  EXPECT_EQ(readme_table({file}),
            "Suite cg, on C (2 cores), G:\n"
            "\n"
            "| case | device | precision | metric | measured | peer | ratio | bar | verdict |\n"
            "|---|---|---|---|---|---|---|---|---|\n"
            "| a | gpu | double | time_per_iteration | 2.40 us | 29.0 us | 12.1 | 2.50 us | reached |\n"
            "| a | gpu | double | speedup | 4.5 |  |  | 5 | missed |\n");
}

TEST(readme_table, refuses_what_is_no_result) {
  EXPECT_THROW(readme_table({"/nowhere/results.json"}), file_error);
  EXPECT_THROW(readme_table({written("bench_not_json", "hello")}), value_error);
  EXPECT_THROW(readme_table({written("bench_other", R"({"schema": "vouch.solve/1"})")}), value_error);
  EXPECT_THROW(readme_table({written("bench_short", R"({"schema": "vouch.bench/1", "rows": []})")}),
               value_error);
}

}  // namespace
}  // namespace vouch::bench
