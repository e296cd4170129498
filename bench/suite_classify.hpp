// bench/suite_classify.hpp -- fingerprints: every stage, and prints a second from memory and from files.
#pragma once
#include "suite.hpp"

namespace vouch::bench {

/// Classifies drawn prints, and the files that are given in place of matrices, with the perceptron published in
/// fingerprints/model of the data folder, or with one of that size made of random numbers.
///
/// Result  Rows a stage and device; bars: 250 prints a second on one core without decoding, 120 from WSQ files, 1,700
///         from files where 16 threads work. Interrupted, what was measured so far.
suite_results run_classify_suite(const suite_options& options);

}  // namespace vouch::bench
