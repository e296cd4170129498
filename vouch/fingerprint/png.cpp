#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/big_endian.hpp>
#include <vouch/fingerprint/image_formats.hpp>

namespace vouch::fingerprint {
namespace {

constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";

class png_file {
 public:
  png_file(const std::string& name, std::string_view bytes)
      : name_(name), rest_(bytes.substr(signature.size())) {}

  struct chunk {
    std::string_view type, data;
  };
  chunk next() {
    if (rest_.size() < 12) fail("the file ends early");
    const std::size_t length = big_endian(rest_);
    if (length > rest_.size() - 12) fail("the file ends within a chunk");
    const chunk c{rest_.substr(4, 4), rest_.substr(8, length)};
    const auto checked = crc32(0, reinterpret_cast<const Bytef*>(c.type.data()), static_cast<uInt>(length + 4));
    if (checked != big_endian(rest_.substr(8 + length))) fail("the checksum of a chunk does not fit");
    rest_.remove_prefix(length + 12);
    return c;
  }
  bool at_end() const { return rest_.empty(); }
  [[noreturn]] void fail(const char* message) const { throw parse_error(name_, 0, 0, message); }

 private:
  std::string name_;
  std::string_view rest_;
};

struct header {
  int width = 0, height = 0, depth = 0;
  std::size_t row_bytes() const {
    return (static_cast<std::size_t>(width) * static_cast<std::size_t>(depth) + 7) / 8;
  }
};

header parse_header(const png_file& file, std::string_view data) {
  if (data.size() != 13) file.fail("the header has not 13 bytes");
  const std::uint32_t width = big_endian(data), height = big_endian(data.substr(4));
  const int depth = data[8], colour = data[9];
  if (width == 0 || height == 0) file.fail("an image without pixels");
  if (width > most_pixels_a_side || height > most_pixels_a_side) file.fail("more than 16384 pixels a side");
  constexpr int grey_with_alpha = 4;
  if (colour == grey_with_alpha) file.fail("a grey image with transparency (alpha), which prints do not have");
  if (colour != 0) file.fail("a colour image; prints are grey");
  if (depth != 1 && depth != 2 && depth != 4 && depth != 8)
    file.fail("images of up to 8 bits a pixel are read");
  if (data[10] != 0 || data[11] != 0) file.fail("an unknown compression or filter");
  if (data[12] != 0) file.fail("an interlaced image");
  return {static_cast<int>(width), static_cast<int>(height), depth};
}

std::string inflated(const png_file& file, const std::string& packed, std::size_t size) {
  std::string bytes(size + 1, '\0');
  uLongf got = size + 1;
  const int code = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &got,
                              reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (code == Z_BUF_ERROR && got > size) file.fail("more pixels than the header says");
  if (code != Z_OK) file.fail("the compressed pixels are broken");
  if (got != size) file.fail("fewer pixels than the header says");
  bytes.resize(size);
  return bytes;
}

int paeth(int left, int above, int corner) {
  const int guess = left + above - corner;
  const int to_left = std::abs(guess - left), to_above = std::abs(guess - above),
            to_corner = std::abs(guess - corner);
  return to_left <= to_above && to_left <= to_corner ? left : to_above <= to_corner ? above : corner;
}

// A row of bytes out of its differences to the pixels at the left and above; pixels are one byte or less.
void undo_filter(const png_file& file, int filter, std::uint8_t* row, const std::uint8_t* above,
                 std::size_t bytes) {
  if (filter < 0 || filter > 4) file.fail("an unknown filter of a row");
  int left = 0, corner = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    const int guesses[] = {0, left, above[i], (left + above[i]) / 2,
                           filter == 4 ? paeth(left, above[i], corner) : 0};
    row[i] = static_cast<std::uint8_t>(row[i] + guesses[filter]);
    left = row[i];
    corner = above[i];
  }
}

void unpack_row(const header& h, const std::uint8_t* row, std::uint8_t* pixels) {
  const int white = (1 << h.depth) - 1, in_byte = 8 / h.depth;
  for (int x = 0; x < h.width; ++x) {
    const int shift = 8 - h.depth * (x % in_byte + 1);
    pixels[x] = static_cast<std::uint8_t>((row[x / in_byte] >> shift & white) * 255 / white);
  }
}

// Grey levels, or three colours a pixel.
std::string encoded(int width, int height, int channels, const std::vector<std::uint8_t>& values) {
  const auto chunk = [&](std::string data) {
    const auto checked = crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    return big_endian_bytes(static_cast<std::uint32_t>(data.size() - 4))
        .append(data)
        .append(big_endian_bytes(static_cast<std::uint32_t>(checked)));
  };
  std::string rows;
  const auto row_bytes = static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y)
    rows.append(1, '\0').append(reinterpret_cast<const char*>(values.data()) + y * row_bytes, row_bytes);
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
               rows.size()) != Z_OK)
    throw std::bad_alloc();
  packed.resize(size);
  return std::string(signature)
      .append(chunk(std::string("IHDR")
                        .append(big_endian_bytes(static_cast<std::uint32_t>(width)))
                        .append(big_endian_bytes(static_cast<std::uint32_t>(height)))
                        .append(channels == 1 ? "\x08\0\0\0\0" : "\x08\x02\0\0\0", 5)))
      .append(chunk(std::string("IDAT").append(packed)))
      .append(chunk("IEND"));
}

}  // namespace

bool is_png(std::string_view start) { return start.starts_with(signature); }

grey_image parse_png(const std::string& name, std::string_view bytes) {
  const ieee_environment here;
  png_file file(name, bytes);
  const png_file::chunk first = file.next();
  if (first.type != "IHDR") file.fail("the first chunk is no header");
  const header h = parse_header(file, first.data);
  std::string packed;
  for (bool done = false; !done;) {
    const png_file::chunk c = file.next();
    if (c.type == "IDAT")
      packed += c.data;
    else if (c.type == "IEND")
      done = true;
    else if (c.type == "tRNS")
      file.fail("an image with transparency");
    else if ((c.type[0] & 32) == 0)
      file.fail("an unknown chunk that must not be ignored");
  }
  if (!file.at_end()) file.fail("something follows the end of the image");
  // Deflate makes at most 1032 bytes of one.
  const std::size_t size = (h.row_bytes() + 1) * static_cast<std::size_t>(h.height);
  if (size / 1032 > packed.size()) file.fail("fewer pixels than the header says");
  std::string filtered = inflated(file, packed, size);
  grey_image image{h.width, h.height, {}};
  image.pixels.resize(static_cast<std::size_t>(h.width) * static_cast<std::size_t>(h.height));
  const std::vector<std::uint8_t> nothing(h.row_bytes());
  const std::uint8_t* above = nothing.data();
  for (int y = 0; y < h.height; ++y) {
    auto* row =
        reinterpret_cast<std::uint8_t*>(filtered.data()) + static_cast<std::size_t>(y) * (h.row_bytes() + 1);
    undo_filter(file, row[0], row + 1, above, h.row_bytes());
    unpack_row(h, row + 1,
               image.pixels.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(h.width));
    above = row + 1;
  }
  return image;
}

std::string png_bytes(const grey_image& image) {
  const ieee_environment here;
  require_pixels("png_bytes", image);
  return encoded(image.width, image.height, 1, image.pixels);
}

std::string png_bytes(const colour_image& image) {
  const ieee_environment here;
  const std::size_t pixels = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  if (image.width < 1 || image.height < 1 || image.values.size() != 3 * pixels)
    throw shape_error("png_bytes: " + std::to_string(image.values.size()) + " values for " +
                      std::to_string(image.width) + " x " + std::to_string(image.height) + " pixels of three");
  return encoded(image.width, image.height, 3, image.values);
}

}  // namespace vouch::fingerprint
