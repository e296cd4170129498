// bench/html_report.hpp -- a suite's results as one HTML file that needs nothing else.
#pragma once
#include <string>

#include "results.hpp"

namespace vouch::bench {

/// A complete page: styles and drawings inside, no script, nothing fetched; follows the reader's light or dark
/// theme.
std::string to_html(const suite_results& results);

}  // namespace vouch::bench
