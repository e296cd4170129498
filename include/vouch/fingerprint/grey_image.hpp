// vouch/fingerprint/grey_image.hpp -- images of 8 bits a pixel, and the files they come in.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {
namespace fingerprint {

/// Grey levels, 0 black, row by row from the top.
struct grey_image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;
};

/// Red, green and blue of each pixel, row by row from the top.
struct colour_image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> values;
};

/// No image has more columns or rows.
inline constexpr int most_pixels_a_side = 16384;

/// The width and height of pictures without a header.
struct raw_size {
  int width = 832;
  int height = 768;
};

/// Reads an image, recognised by its content: PGM (P5 and P2, up to 255 levels, which are spread over 0 to 255), PNG
/// (grey, up to 8 bits a pixel), WSQ; anything else that is exactly as long as a raw picture of that size, one byte a
/// pixel.
///
/// Throws  file_error   missing, unreadable or a directory
///         parse_error  the file breaks its format, holds something else, or is too large
grey_image read_grey_image(const std::string& path, raw_size raw = {});

/// The same of bytes in memory; name is what errors call them.
grey_image parse_grey_image(const std::string& name, std::string_view bytes, raw_size raw = {});

/// Reads images one after the other in memory that it keeps; one thread at a time.
class grey_image_reader {
 public:
  grey_image_reader();
  ~grey_image_reader();
  grey_image_reader(const grey_image_reader&) = delete;
  grey_image_reader& operator=(const grey_image_reader&) = delete;

  /// image becomes what read_grey_image() returns; where it throws, image holds nothing of use.
  void read(const std::string& path, raw_size raw, grey_image& image);
  /// The same, for one file of many: what was wrong with it, and an image without pixels, where read() throws but for
  /// cancelled; else "".
  std::string try_read(const std::string& path, raw_size raw, grey_image& image);

 private:
  struct buffers;
  std::unique_ptr<buffers> kept_;
};

/// The bytes of a PNG file.
///
/// Throws  shape_error  pixels are not width * height, or values not three times as many
std::string png_bytes(const grey_image& image);
std::string png_bytes(const colour_image& image);

/// Writes an image, by the end of the path: .png, otherwise binary PGM.
///
/// Throws  shape_error  pixels are not width * height
///         file_error   as atomic_file
void write_grey_image(const std::string& path, const grey_image& image);

}  // namespace fingerprint
}  // namespace vouch
