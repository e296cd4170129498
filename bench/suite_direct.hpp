// bench/suite_direct.hpp -- sparse factorisations by Vouch beside the libraries behind them.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Solves the sparse square systems of the suite auto by every back end for the factors that suit the matrix: by
/// Vouch, from the matrix in memory to the checked answer, and by the library alone, through its module: analysis,
/// factorisation, one solve. Matrices that a library predicts to take more than 2 10^10 operations are left out.
///
/// Result  A row a system and back end: Vouch's time over the library's (bar 1.5), and their geometric mean (bar
///         1.1); a row for the time itself, with the library's as its peer. A table with entries of the factors,
///         residuals, and whether the bits of three solves were the same.
suite_results run_direct_suite(const suite_options& options);

}  // namespace vouch::bench
