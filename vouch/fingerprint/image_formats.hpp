// vouch/fingerprint/image_formats.hpp -- the decoders behind parse_grey_image; private.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/fingerprint/grey_image.hpp>

namespace vouch::fingerprint {

/// Whether bytes that start so are a file of that format.
bool is_png(std::string_view start);
bool is_wsq(std::string_view start);

/// Throws  shape_error  pixels are not width * height
void require_pixels(const char* function, const grey_image& image);

/// Grey levels of 1, 2, 4 or 8 bits, not interlaced, without transparency.
///
/// Throws  parse_error  anything else; a checksum that does not fit
/// Source  ISO/IEC 15948
grey_image parse_png(const std::string& name, std::string_view bytes);

/// What decoding of WSQ works in, kept from image to image.
struct wsq_scratch {
  std::vector<std::int32_t> coefficients;
  std::vector<float> image, synthesized, row;
};

/// Wavelet scalar quantisation with symmetric filters of odd length, as all encoders in use have them.
///
/// Result  Within one level of other decoders: sums are formed in single precision.
/// Cost    About 3 ms for a page of 832 x 768 on one core.
/// Throws  parse_error  data that end early, go on too long, or break the format; even filters; more than 2^25 pixels
/// Source  Federal Bureau of Investigation, WSQ gray-scale fingerprint image compression specification,
///         IAFIS-IC-0110, version 3
void parse_wsq(const std::string& name, std::string_view bytes, wsq_scratch& scratch, grey_image& image);

}  // namespace vouch::fingerprint
