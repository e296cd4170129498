// cli/price_plot.hpp -- the value of an option over the spot as a drawing.
#pragma once
#include "price_request.hpp"

namespace vouch::cli {

/// Writes the value now, the payoff, and for an American option the boundary of exercise over time, as SVG to
/// request.plot.
void write_surface_plot(const price_request& request, const pricing& p);

}  // namespace vouch::cli
