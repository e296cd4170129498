// bench/suite_cg.hpp -- conjugate gradients: the tables of the published work, scaling, peers, and the bars.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Solves the published matrices by the published stopping rule and by the true one on every device and in
/// both precisions; then times iterations over model problems of growing size, beside the peers that are
/// there. Matrices named in the options take the place of all these systems.
///
/// Result  Interrupted, what was measured so far. Everything but times is the same on every run.
/// Throws  value_error, parse_error, file_error  of the options and the matrices
/// Source  The published figures: conjugate gradients on a GTS 250, diploma thesis, 2010.
suite_results run_cg_suite(const suite_options& options);

}  // namespace vouch::bench
