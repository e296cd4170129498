// PNG and WSQ: files made here and by another encoder, and what is said of broken ones.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/fingerprint/grey_image.hpp>

#include "temporary.hpp"

namespace vouch::fingerprint {
namespace {

std::string big_endian(std::uint32_t x) {
  return {static_cast<char>(x >> 24), static_cast<char>(x >> 16), static_cast<char>(x >> 8),
          static_cast<char>(x)};
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string checked = type + data;
  return big_endian(static_cast<std::uint32_t>(data.size())) + checked +
         big_endian(static_cast<std::uint32_t>(
             crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()))));
}

std::string packed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string result(size, '\0');
  compress(reinterpret_cast<Bytef*>(result.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
           bytes.size());
  result.resize(size);
  return result;
}

const std::string signature = "\x89PNG\r\n\x1a\n";

std::string header(int width, int height, int depth, int colour = 0, int interlaced = 0) {
  return chunk("IHDR", big_endian(static_cast<std::uint32_t>(width)) +
                           big_endian(static_cast<std::uint32_t>(height)) +
                           std::string{static_cast<char>(depth), static_cast<char>(colour), 0, 0,
                                       static_cast<char>(interlaced)});
}

std::string png(const std::string& head, const std::string& filtered) {
  return signature + head + chunk("IDAT", packed(filtered)) + chunk("IEND", "");
}

// Row y by filter y % 5.
std::string filtered_rows(const grey_image& image) {
  std::string bytes;
  const auto at = [&](int x, int y) {
    return x < 0 || y < 0 ? 0 : static_cast<int>(image.pixels[static_cast<std::size_t>(y * image.width + x)]);
  };
  for (int y = 0; y < image.height; ++y) {
    bytes += static_cast<char>(y % 5);
    for (int x = 0; x < image.width; ++x) {
      const int left = at(x - 1, y), above = at(x, y - 1), corner = at(x - 1, y - 1),
                guess = left + above - corner;
      const int a = std::abs(guess - left), b = std::abs(guess - above), c = std::abs(guess - corner);
      const int paeth = a <= b && a <= c ? left : b <= c ? above : corner;
      const int guesses[] = {0, left, above, (left + above) / 2, paeth};
      bytes += static_cast<char>(at(x, y) - guesses[y % 5]);
    }
  }
  return bytes;
}

grey_image random_image(int width, int height) {
  grey_image image{width, height, {}};
  for (int i = 0; i < width * height; ++i)
    image.pixels.push_back(static_cast<std::uint8_t>(random_bits(1, static_cast<std::uint64_t>(i))));
  return image;
}

std::string complaint(const std::string& bytes) {
  try {
    parse_grey_image("x", bytes);
    return "";
  } catch (const parse_error& e) {
    return e.what();
  }
}

TEST(png, all_filters_and_depths) {
  const grey_image image = random_image(37, 23);
  EXPECT_EQ(parse_grey_image("a", png(header(37, 23, 8), filtered_rows(image))).pixels, image.pixels);
  EXPECT_EQ(parse_grey_image("b", png(header(10, 1, 1), std::string("\0\xaa\x80", 3))).pixels,
            (std::vector<std::uint8_t>{255, 0, 255, 0, 255, 0, 255, 0, 255, 0}));
  EXPECT_EQ(parse_grey_image("c", png(header(4, 1, 2), std::string("\0\x1b", 2))).pixels,
            (std::vector<std::uint8_t>{0, 85, 170, 255}));
  EXPECT_EQ(parse_grey_image("d", png(header(2, 1, 4), std::string("\0\x1f", 2))).pixels,
            (std::vector<std::uint8_t>{17, 255}));
}

// What zlib finds in what was written, by hand.
TEST(png, of_colours_has_three_values_a_pixel) {
  colour_image image{3, 2, {}};
  for (int k = 0; k < 18; ++k) image.values.push_back(static_cast<std::uint8_t>(13 * k));
  const std::string file = png_bytes(image);
  EXPECT_EQ(file.substr(12, 17), std::string("IHDR\0\0\0\3\0\0\0\2\x08\2\0\0\0", 17));
  const std::size_t data = file.find("IDAT") + 4, end = file.find("IEND") - 8;
  std::vector<std::uint8_t> rows(20);
  uLongf size = rows.size();
  ASSERT_EQ(uncompress(rows.data(), &size, reinterpret_cast<const Bytef*>(file.data()) + data, end - data),
            Z_OK);
  ASSERT_EQ(size, 20U);
  for (std::size_t y = 0; y < 2; ++y) {
    EXPECT_EQ(rows[10 * y], 0);
    EXPECT_TRUE(std::equal(&rows[10 * y + 1], &rows[10 * y] + 10, &image.values[9 * y]));
  }
  EXPECT_THROW(parse_grey_image("colours", file), parse_error);
  image.values.pop_back();
  EXPECT_THROW(png_bytes(image), shape_error);
}

TEST(png, what_is_broken_or_not_grey_is_refused) {
  const grey_image image = random_image(5, 4);
  const std::string rows = filtered_rows(image), good = png(header(5, 4, 8), rows);
  for (std::size_t length = 0; length < good.size(); ++length) EXPECT_NE(complaint(good.substr(0, length)), "");
  for (std::size_t at = 8; at < good.size(); ++at) {
    std::string wrong = good;
    wrong[at] = static_cast<char>(wrong[at] ^ 4);
    EXPECT_NE(complaint(wrong), "") << at;
  }
  EXPECT_NE(complaint(good + "x"), "");
  EXPECT_NE(complaint(png(header(5, 4, 8, 2), rows)).find("colour"), std::string::npos);
  EXPECT_NE(complaint(png(header(5, 4, 8, 4), rows)).find("grey image with transparency"), std::string::npos);
  EXPECT_NE(complaint(png(header(5, 4, 16), rows)).find("8 bits"), std::string::npos);
  EXPECT_NE(complaint(png(header(5, 4, 8, 0, 1), rows)).find("interlaced"), std::string::npos);
  EXPECT_NE(complaint(png(header(5, 5, 8), rows)).find("fewer pixels"), std::string::npos);
  EXPECT_NE(complaint(png(header(5, 3, 8), rows)).find("more pixels"), std::string::npos);
  EXPECT_NE(complaint(png(header(16000, 16000, 8), rows)), "");
  EXPECT_NE(complaint(png(header(5, 4, 8), "\5" + rows.substr(1))).find("filter"), std::string::npos);
}

// A part of a drawn print, encoded and decoded by NIST's reference programs.
std::string beside_this(const std::string& name) { return std::string(VOUCH_TEST_FOLDER "/") + name; }

TEST(wsq, as_the_reference_decoder) {
  const grey_image expected = read_grey_image(beside_this("wsq_print.png"));
  const grey_image found = read_grey_image(beside_this("wsq_print.wsq"));
  ASSERT_EQ(found.width, expected.width);
  ASSERT_EQ(found.height, expected.height);
  int differ = 0, most = 0;
  for (std::size_t i = 0; i < found.pixels.size(); ++i) {
    const int by = std::abs(found.pixels[i] - expected.pixels[i]);
    differ += by != 0;
    most = std::max(most, by);
  }
  EXPECT_LE(most, 1);
  EXPECT_LE(differ, static_cast<int>(found.pixels.size() / 1000));
}

TEST(wsq, every_cut_is_refused_and_no_change_of_a_byte_crashes) {
  const std::string good = testing::content_of(beside_this("wsq_print.wsq"));
  for (std::size_t length = 0; length < good.size(); length += 1 + length / 40)
    EXPECT_NE(complaint(good.substr(0, length)), "") << length;
  EXPECT_NE(complaint(good.substr(0, good.size() - 1)), "");
  EXPECT_NE(complaint(good + "x"), "");
  int refused = 0;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    std::string wrong = good;
    const std::size_t within = trial < 150 ? std::min<std::size_t>(700, good.size()) : good.size();
    const std::size_t at = random_bits(5, trial) % within;
    wrong[at] = static_cast<char>(random_bits(6, trial));
    try {
      const grey_image image = parse_grey_image("x", wrong);
      EXPECT_EQ(image.pixels.size(),
                static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
    } catch (const parse_error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace vouch::fingerprint
