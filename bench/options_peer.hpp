// bench/options_peer.hpp -- American options against QuantLib's finite differences at equal error.
#pragma once
#include <vector>

#include "suite.hpp"

namespace vouch::bench {

/// Prices the same options by QuantLib on one core and by finite_difference_batch on every device, there on the
/// smallest grid whose root mean square error is no larger; bars are on the ratio of times an option.
///
/// Result  A table that says why where QuantLib is not there.
text_table compare_with_quantlib(const std::vector<bench_device>& devices, const suite_options& options,
                                 suite_results& results);

}  // namespace vouch::bench
