// bench/sweep_plots.hpp -- the drawings of the suites of stationary iterations.
#pragma once
#include <string>
#include <vector>

#include <vouch/solve/loop/report.hpp>

#include "results.hpp"
#include "suite.hpp"

namespace vouch::bench {

/// Times of a sweep over the size, from rows whose case ends with ", n SIZE" and whose metric ends with _sweep:
/// a line for each case's beginning, metric, device and precision, floors dashed. A figure a device; none where
/// no line has two points.
std::vector<figure> sweep_figures(const std::string& title, const std::vector<bench_row>& rows);

/// Likewise whole times, from rows whose metric ends with _time.
std::vector<figure> time_figures(const std::string& title, const std::vector<bench_row>& rows);

struct named_history {
  std::string name;
  solve_report report;
};

/// Residuals relative to the right-hand side over iterations.
figure convergence_figure(const std::string& title, const std::vector<named_history>& solves);

/// The suite of dense stationary iterations with its drawings.
suite_results run_stationary_suite_with_plots(const suite_options& options);

}  // namespace vouch::bench
