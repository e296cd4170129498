// cli/classify_plot.hpp -- a print with what was found in it, as a picture.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include <vouch/fingerprint/classify.hpp>

namespace vouch::cli {

/// The page, the outline of the snip, a line along the ridges of each square that has an orientation, as long as it is
/// clear, and a circle about the core: PNG where the file's name ends in .png, else SVG, which has the class, too.
///
/// Shapes  field has the 1,680 averages before registration
std::string print_plot(std::string_view file, const fingerprint::grey_image& page,
                       const fingerprint::classification& found, std::span<const float> field);

}  // namespace vouch::cli
