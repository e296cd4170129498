// bench/scale_model.hpp: against what was timed, and against counts by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <bench/scale_model.hpp>
#include <bench/scale_simulation.hpp>

namespace vouch::bench {
namespace {

TEST(scale_model, comes_near_what_gpus_took) {
  for (const timed_iteration& t : timed_iterations()) {
    const double predicted = predict(t.kind, t.N, t.workers, division::slabs).all();
    if (!t.fitted && &t.kind != &h200()) continue;  // of ranks there are figures of one run each
    const bool small = t.N < 100;                   // the fixed time is most of it
    const double off = t.fitted ? 0.01 : small ? 0.25 : 0.1;
    EXPECT_NEAR(predicted, t.seconds, off * t.seconds) << t.kind.name << ' ' << t.N << ' ' << t.workers;
  }
}

TEST(scale_model, counts_what_workers_hand_over) {
  const iteration_cost alone = predict(h200(), 256, 1, division::slabs);
  EXPECT_EQ(alone.halo, 0);
  EXPECT_EQ(alone.reductions, 0);
  // Two planes of 512^2 doubles, and six faces of 64^2 where 512 cubes of 64^3 points make 512^3; between nodes.
  const iteration_cost slabs = predict(h200(), 512, 512, division::slabs),
                       cubes = predict(h200(), 512, 512, division::cubes);
  EXPECT_DOUBLE_EQ(slabs.halo, 2 * 512 * 512 * 8 / 50e9);
  EXPECT_NEAR(cubes.halo, 6 * 64 * 64 * 8 / 50e9, 1e-12);
  // 64 nodes: two reductions of one step within a node and six beyond.
  EXPECT_DOUBLE_EQ(cubes.reductions, 2 * (2.75e-6 + 6 * 5e-6));
  EXPECT_DOUBLE_EQ(slabs.memory, 512.0 * 512 * 512 / 512 * h200().row_traffic / h200().memory);
}

// 2^17 blocks of rows on 16 ranks: one whole node of the tree each, on one node of the machine.
TEST(scale_model, ranks_gather_their_trees) {
  const double reductions = predict(xeon_rank(), 512, 16, division::slabs).reductions;
  EXPECT_NEAR(reductions, 4e-6 + 16 * 5 * 8 / 5e9, 1e-6);
  EXPECT_GT(predict(xeon_rank(), 512, 10000, division::slabs).reductions, 10 * reductions);
}

TEST(scale_model, a_simulation_has_a_row_for_every_figure) {
  suite_results results;
  add_simulation({}, results);
  EXPECT_EQ(results.rows.size(), 7u * 2 * 14);
  for (const bench_row& row : results.rows) {
    EXPECT_GT(*row.value, 0) << row.case_name;
    EXPECT_LE(*row.floor, *row.value) << row.case_name;
  }
  for (const report_section& section : results.sections)
    for (const figure& f : section.figures) EXPECT_NE(f.svg.find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace vouch::bench
