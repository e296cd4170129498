#include <gtest/gtest.h>

#include <bench/verify_plots.hpp>

namespace vouch::bench {
namespace {

bench_row row(const char* name, const char* device, const char* metric, double value) {
  return {name, device, "double", metric, value, "1", {}, {}, {}, {}, {}};
}

TEST(verify_plots, draw_what_there_is) {
  const std::vector<bench_row> rows{
      row("grid", "cpu", "solve_time", 2),        row("grid", "cpu", "certificate_time", 1),
      row("grid", "cpu", "bound_time", 0.5),      row("grid", "cpu", "median_bound_over_error", 7),
      row("grid", "gpu", "solve_time", 0.1),      row("grid", "gpu", "bound_time", 0.2),
      row("published", "cpu", "solve_time", 0.3),  // nothing was proved
  };
  const std::vector<figure> drawings = proof_drawings(rows);
  ASSERT_EQ(drawings.size(), 2u);
  EXPECT_NE(drawings[0].svg.find("seconds to prove"), std::string::npos);
  EXPECT_NE(drawings[0].svg.find("gpu"), std::string::npos);
  EXPECT_NE(drawings[1].caption.find("1: grid."), std::string::npos) << drawings[1].caption;
  EXPECT_EQ(drawings[1].svg.find("gpu"), std::string::npos);
}

TEST(verify_plots, draw_nothing_of_nothing) {
  EXPECT_TRUE(proof_drawings({}).empty());
  EXPECT_TRUE(proof_drawings({row("grid", "cpu", "solve_time", 2)}).empty());
}

}  // namespace
}  // namespace vouch::bench
