// bench/verify_plots.hpp -- the drawings of the suite verify.
#pragma once
#include <vector>

#include "results.hpp"

namespace vouch::bench {

/// What a proof costs over the time of the plain solve, and how far bounds are above true errors: from the rows
/// solve_time, certificate_time, bound_time and median_bound_over_error of all cases.
std::vector<figure> proof_drawings(const std::vector<bench_row>& rows);

}  // namespace vouch::bench
