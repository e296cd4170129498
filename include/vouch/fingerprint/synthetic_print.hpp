// vouch/fingerprint/synthetic_print.hpp -- pages with a print of nobody.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/fingerprint/grey_image.hpp>

namespace VOUCH_PUBLIC vouch {
namespace fingerprint {

struct synthetic_options {
  char pattern = 'W';        // A, L, R, T or W
  std::uint64_t seed = 1;    // of everything that is drawn
  bool rotated = false;      // by 4 to 10 degrees to either side, and with straight sides
  bool blank_paper = false;  // around the print paper without noise
};

/// Draws a page of 832 x 768 pixels at 500 dpi: ridges grown from noise along the orientation field of a pattern, in
/// an inked outline on paper.
///
/// Result  The same bits for any number of threads.
/// Cost    About a second on one core.
/// Throws  value_error  another pattern
/// Source  Sherlock and Monro, A model for interpreting fingerprint topology, Pattern Recognition 26 (1993), for the
///         fields; Cappelli, Erol, Maio and Maltoni, Synthetic fingerprint-image generation, ICPR 2000, for the ridges
grey_image synthetic_print(const device& dev, const synthetic_options& options);

}  // namespace fingerprint
}  // namespace vouch
