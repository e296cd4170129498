// cli/classify_plot.hpp -- a print with what was found in it.
#pragma once
#include <span>
#include <string>

#include <vouch/fingerprint/classify.hpp>

namespace vouch::cli {

/// An SVG of the page, the outline of the snip, a line along the ridges of each square that has an orientation, as
/// long as it is clear, and a circle about the core.
///
/// Shapes  field has the 1,680 averages before registration
std::string print_plot(const fingerprint::grey_image& page, const fingerprint::classification& found,
                       std::span<const float> field);

}  // namespace vouch::cli
