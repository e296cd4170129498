// vouch/fingerprint/stages.hpp -- from prints to what networks see: each stage a function on a batch.
//
// The method is that of NIST's PCASYS (Candela, Grother, Watson, Wilkinson, Wilson: PCASYS -- a pattern-level
// classification automation system for fingerprints, NISTIR 5647, 1995), and so are all sizes: trained weights
// fix them. Every result has the same bits for any number of threads. Operands live in the host's memory, for a GPU,
// too, which does the same operations in the same order but for its own arctangents, sines and cosines in double.
#pragma once
#include <cstdint>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/fingerprint/grey_image.hpp>

namespace VOUCH_PUBLIC vouch {
namespace fingerprint {

/// The part of a page that is classified, in pixels at 500 dpi.
inline constexpr int snip_width = 512, snip_height = 480, snip_pixels = snip_width * snip_height;
/// Squares of 16 x 16 pixels that have an average orientation: all but a frame of one square.
inline constexpr int grid_columns = 30, grid_rows = 28, grid_size = grid_columns * grid_rows;
/// The orientations of a print: x of all squares row by row, then y of all; (x, y) is the mean of the unit vectors
/// of twice the pixels' angles, pixels without an orientation counting as zero.
inline constexpr int orientation_size = 2 * grid_size;
/// Overlapping squares of 16 x 16 pixels, 8 apart, x and y in the same way.
inline constexpr int fine_columns = 62, fine_rows = 58, fine_size = fine_columns * fine_rows;
/// Cells of 8 x 8 pixels that are foreground (1) or background (0).
inline constexpr int cell_columns = snip_width / 8, cell_rows = snip_height / 8,
                     cells = cell_columns * cell_rows;
/// No page with more pixels on a side is looked at, and none smaller than a snip.
inline constexpr int most_page_pixels = 2000;

/// Where a snip lies on its page: its pixel (x, y) is the page's pixel trunc(X cos r + Y sin r + centre_x + 0.5),
/// trunc(-X sin r + Y cos r + centre_y + 0.5) with X = x - 256, Y = y - 240; 255 where that is none.
struct placement {
  int centre_x = 0;
  int centre_y = 0;
  float radians = 0;
  const char* failure = nullptr;  // why there is no print to be seen, or nullptr
};

struct pixel {
  int x = 0;
  int y = 0;
};

/// Where a core goes when a print is registered.
inline constexpr pixel standard_core{245, 189};

/// The orientation index of pixels without one, and of the frame of 4 pixels.
inline constexpr std::uint8_t no_orientation = 8;

/// Finds the print on each page, upright, and cuts it out.
///
/// Shapes  n pages; n snips; n * 60 * 64 cells; n placements
/// Result  Where a page shows no print, or is too small or large, its snip and cells are 0, and failure says why.
/// Throws  shape_error  also where a page has not width * height pixels
void segment(const device& dev, std::span<const grey_image> pages, std::span<std::uint8_t> snips,
             std::span<std::uint8_t> foreground, std::span<placement> placements);

/// Amplifies ridges: the spectrum of each of 840 windows of 32 x 32 pixels is cut to a band, multiplied by its own
/// magnitude to the 0.6, transformed back, scaled to 1..255; the inner 16 x 16 pixels are kept.
///
/// Shapes  n snips in and out; a frame of 16 pixels is 0
/// Result  As the original's but for rounding. Its row of the highest vertical frequency passes unchanged, as there.
/// Throws  shape_error
void enhance(const device& dev, std::span<const std::uint8_t> snips, std::span<std::uint8_t> enhanced);

/// The orientation of the ridge or valley at each pixel: the index of the slit with the lowest or highest sum.
///
/// Shapes  n snips in; n * 480 * 512 indices out
/// Result  0..7: a slit, 0 upright, then 26.6, 45, 63.4 ... degrees from it, to the right at the top; or
///         no_orientation. Equal to the original's.
/// Throws  shape_error
void find_orientations(const device& dev, std::span<const std::uint8_t> enhanced,
                       std::span<std::uint8_t> indices);

/// Averages over squares of 16 x 16 pixels, moved so that each core falls on standard_core, or not moved where
/// cores is empty. A square that reaches outside is 0.
///
/// Shapes  n * 480 * 512 indices; n cores or none; n * 1680 averages
/// Result  Equal to the original's.
/// Throws  shape_error
void average_orientations(const device& dev, std::span<const std::uint8_t> indices,
                          std::span<const pixel> cores, std::span<float> averages);

/// Averages over the finer grid.
///
/// Shapes  n * 480 * 512 indices; n * 2 * 58 * 62 averages
/// Throws  shape_error
void average_finely(const device& dev, std::span<const std::uint8_t> indices, std::span<float> averages);

/// The core, or what is most like one, of each print.
///
/// Shapes  n * 1680 averages, not registered; n cores
/// Source  J. H. Wegstein, An automated fingerprint identification system, NBS Special Publication 500-89, 1982
/// Throws  shape_error
void find_cores(const device& dev, std::span<const float> averages, std::span<pixel> cores);

/// Whether a path along the ridges of a print turns like the lower part of a whorl: by 70 degrees on either side
/// of a lowest point that is within 45 degrees of level.
///
/// Shapes  n * 2 * 58 * 62 averages; n * 60 * 64 cells; n flags, 0 or 1
/// Throws  shape_error
void trace_ridges(const device& dev, std::span<const float> averages, std::span<const std::uint8_t> foreground,
                  std::span<std::uint8_t> whorls);

}  // namespace fingerprint
}  // namespace vouch
