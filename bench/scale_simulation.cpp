#include "scale_simulation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <cli/report/plot.hpp>

#include "scale_model.hpp"

namespace vouch::bench {
namespace {

constexpr std::int64_t numbers_of_workers[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 2000, 5000, 10000};

std::string_view name(division how) { return how == division::slabs ? "slabs" : "cubes"; }

double unknowns(std::int64_t N) {
  return static_cast<double>(N) * static_cast<double>(N) * static_cast<double>(N);
}

// Row numbers are 32 bits wide.
bool has_narrow_indices(std::int64_t N) { return unknowns(N) <= std::numeric_limits<std::int32_t>::max(); }

std::string grid_text(std::int64_t N) { return fmt::format("{}^3", N); }

// A grid that grows with the number of workers, or does not.
struct series_of_grids {
  const worker_kind& kind;
  std::int64_t first;
  bool grows;

  std::int64_t on(std::int64_t workers) const {
    if (!grows) return first;
    return std::llround(static_cast<double>(first) * std::cbrt(static_cast<double>(workers)));
  }
  std::string title() const {
    return fmt::format("{} scaling, {}{}, {}", grows ? "weak" : "strong", grid_text(first),
                       grows ? " a worker" : "", kind.name);
  }
  double efficiency(std::int64_t workers, double seconds) const {
    const double one = predict(kind, first, 1, division::slabs).all();
    return grows ? one / seconds : one / (static_cast<double>(workers) * seconds);
  }
};

text_table check_table() {
  text_table table{"An iteration, predicted and timed",
                   {{"worker", true}, {"grid"}, {"workers"}, {"timed"}, {"predicted"}, {"off by"}}};
  for (const timed_iteration& t : timed_iterations()) {
    const double predicted = predict(t.kind, t.N, t.workers, division::slabs).all();
    table.add({std::string(t.kind.name), grid_text(t.N), std::to_string(t.workers), seconds_text(t.seconds),
               seconds_text(predicted), t.fitted ? "fitted" : change_text(predicted / t.seconds - 1)});
  }
  table.note("fitted: the model's numbers come from this figure.");
  return table;
}

text_table scaling_table(const series_of_grids& grids) {
  text_table table{grids.title(),
                   {{"workers"},
                    {"grid"},
                    {"memory"},
                    {"reductions"},
                    {"halo, slabs"},
                    {"iteration"},
                    {"efficiency"},
                    {"halo, cubes"},
                    {"iteration"},
                    {"efficiency"},
                    {"bytes a worker"}}};
  bool beyond = false;
  for (const std::int64_t workers : numbers_of_workers) {
    const std::int64_t N = grids.on(workers);
    const iteration_cost slabs = predict(grids.kind, N, workers, division::slabs),
                         cubes = predict(grids.kind, N, workers, division::cubes);
    beyond = beyond || !has_narrow_indices(N);
    table.add({count_text(workers), grid_text(N) + (has_narrow_indices(N) ? "" : "*"),
               seconds_text(slabs.memory), seconds_text(slabs.reductions), seconds_text(slabs.halo),
               seconds_text(slabs.all()), percent_text(grids.efficiency(workers, slabs.all())),
               seconds_text(cubes.halo), seconds_text(cubes.all()),
               percent_text(grids.efficiency(workers, cubes.all())),
               bytes_text(memory_of_worker(grids.kind, N, workers))});
  }
  if (beyond) table.note("*: more rows than 2^31 - 1, which indices of 32 bits do not hold.");
  return table;
}

figure efficiency_drawing(const std::vector<series_of_grids>& all, const std::string& title) {
  plot::line_plot drawing;
  drawing.title = title;
  drawing.subtitle = "predicted; slabs: rows in natural order, cubes: rows in another order";
  drawing.x = {"workers", plot::scale::logarithmic, {}, {}};
  drawing.y = {"efficiency", plot::scale::linear, 0.0, 1.05};
  for (const series_of_grids& grids : all)
    for (const division how : {division::slabs, division::cubes}) {
      plot::series line{
          fmt::format("{}{}, {}", grid_text(grids.first), grids.grows ? " a worker" : "", name(how)),
          {},
          {},
          true,
          false,
          how == division::cubes};
      for (const std::int64_t workers : numbers_of_workers) {
        line.x.push_back(static_cast<double>(workers));
        line.y.push_back(grids.efficiency(workers, predict(grids.kind, grids.on(workers), workers, how).all()));
      }
      drawing.lines.push_back(std::move(line));
    }
  return {title, plot::to_svg(drawing)};
}

void add_rows(const series_of_grids& grids, std::vector<bench_row>& rows) {
  for (const division how : {division::slabs, division::cubes})
    for (const std::int64_t workers : numbers_of_workers) {
      const iteration_cost cost = predict(grids.kind, grids.on(workers), workers, how);
      rows.push_back({fmt::format("{}, {}, {} workers, {}", grids.title(), grid_text(grids.on(workers)),
                                  workers, name(how)),
                      "model",
                      "double",
                      "time_per_iteration",
                      cost.all(),
                      "s",
                      cost.memory,
                      {},
                      cost.memory / cost.all(),
                      {},
                      {}});
    }
}

void add_scaling(const std::vector<series_of_grids>& all, const std::string& title, suite_results& results) {
  report_section section{title, {}, {}, {efficiency_drawing(all, title)}};
  for (const series_of_grids& grids : all) {
    section.tables.push_back(scaling_table(grids));
    add_rows(grids, results.rows);
  }
  results.sections.push_back(std::move(section));
}

}  // namespace

void add_simulation(const suite_options& options, suite_results& results) {
  options.say("predicting");
  results.sections.push_back({"The model beside what was timed",
                              {"An iteration takes a fixed time, the larger of its bytes in memory and of its "
                               "halo on the way, and the "
                               "reductions in which all workers learn of all sums."},
                              {check_table()},
                              {}});
  add_scaling({{h200(), 512, false}, {h200(), 1024, false}}, "Strong scaling of GPUs", results);
  add_scaling({{h200(), 256, true}, {h200(), 512, true}}, "Weak scaling of GPUs", results);
  add_scaling({{xeon_rank(), 160, false}, {xeon_rank(), 512, false}}, "Strong scaling of ranks", results);
  add_scaling({{xeon_rank(), 100, true}}, "Weak scaling of ranks", results);
}

}  // namespace vouch::bench
