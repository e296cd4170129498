// bench/scale_simulation.hpp -- what scale_model.hpp predicts, as tables, drawings and rows.
#pragma once
#include "results.hpp"
#include "suite.hpp"

namespace vouch::bench {

/// Predictions beside what was timed, then strong and weak scaling to 10,000 workers of each kind, and their memory.
/// Nothing is measured here.
void add_simulation(const suite_options& options, suite_results& results);

}  // namespace vouch::bench
