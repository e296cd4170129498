// bench/suite_crank_nicolson.hpp -- the Black-Scholes equation on the grids of the published work, and the
// bars.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Prices one European call on 8192 x 16384 and 16384 x 32768 nodes, with the published parameters and with
/// usual ones, by every scheme; then the published scheme itself, in single and in double precision, with its
/// phases; the error against the closed form stands beside every time. Then orders of convergence.
///
/// Result  Interrupted, what was measured so far.
/// Throws  value_error  of the options
/// Source  The published figures: Crank-Nicolson by odd-even reduction on a GTX 260, diploma thesis, 2011.
suite_results run_crank_nicolson_suite(const suite_options& options);

/// Options a second of every method against their accuracy, and a book from file to file.
suite_results run_options_suite(const suite_options& options);

}  // namespace vouch::bench
