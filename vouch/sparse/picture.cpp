#include <vouch/sparse/picture.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/valid_csr.hpp>
#include <vouch/text/tokens.hpp>

namespace vouch {
namespace {

// height*width counts, row by row.
struct raster {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::int64_t> counts;
  double full = 0;  // the largest count

  std::int64_t count(std::int64_t y, std::int64_t x) const {
    return y < height && x < width ? counts[static_cast<std::size_t>(y * width + x)] : 0;
  }
  // 0 for an empty cell, otherwise 1 to levels, by the square root of the density.
  int level(std::int64_t y, std::int64_t x, int levels) const {
    const auto here = static_cast<double>(count(y, x));
    return here == 0 ? 0 : std::clamp(static_cast<int>(std::ceil(levels * std::sqrt(here / full))), 1, levels);
  }
};

// A raster of at most width cells, and cells as high as wide times 1 / squeeze.
template <real T>
raster rasterise(const device& dev, csr_view<const T> A, std::int64_t width, double squeeze) {
  raster r;
  if (A.rows == 0 || A.cols == 0) return r;
  r.width = std::min(width, A.cols);
  const double tall = static_cast<double>(A.rows) / static_cast<double>(A.cols) * static_cast<double>(r.width);
  r.height = std::clamp<std::int64_t>(std::llround(tall * squeeze), 1, std::min(3 * r.width + 1, A.rows));
  const auto cells = static_cast<std::size_t>(r.height * r.width);
  r.counts.assign(cells, 0);
  const double scale = static_cast<double>(r.width) / static_cast<double>(A.cols);
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros))
  {
    std::vector<std::int64_t> mine(cells);
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < A.rows; ++i) {
      std::int64_t* row = mine.data() + i * r.height / A.rows * r.width;
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        ++row[std::min(static_cast<std::int64_t>(A.col[k] * scale), r.width - 1)];
    }
#pragma omp critical(vouch_raster)
    for (std::size_t k = 0; k < cells; ++k) r.counts[k] += mine[k];
  }
  r.full = static_cast<double>(*std::max_element(r.counts.begin(), r.counts.end()));
  return r;
}

// The UTF-8 form of a code point from U+0800 to U+FFFF.
std::string utf8(unsigned code) {
  return {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3f)),
          static_cast<char>(0x80 | (code & 0x3f))};
}

struct frame {
  std::string top_left, top_right, bottom_left, bottom_right, across, down;
};

const frame& frame_of(picture_style style) {
  static const frame lines{utf8(0x250c), utf8(0x2510), utf8(0x2514), utf8(0x2518), utf8(0x2500), utf8(0x2502)};
  static const frame plain{"+", "+", "+", "+", "-", "|"};
  return style == picture_style::ascii ? plain : lines;
}

std::string repeated(const std::string& piece, std::int64_t times) {
  std::string text;
  for (std::int64_t k = 0; k < times; ++k) text += piece;
  return text;
}

// Dots 1-2-3-7 run down the left, 4-5-6-8 down the right; dot d is bit d - 1.
std::string braille(const raster& r, std::int64_t y, std::int64_t x) {
  constexpr std::array<std::array<unsigned, 2>, 4> bit{
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  unsigned dots = 0;
  for (unsigned dy = 0; dy < 4; ++dy)
    for (unsigned dx = 0; dx < 2; ++dx)
      if (r.count(4 * y + dy, 2 * x + dx) > 0) dots |= bit[dy][dx];
  return utf8(0x2800 + dots);
}

std::string character(const raster& r, picture_style style, std::int64_t y, std::int64_t x) {
  static const std::array<std::string, 5> shades{" ", utf8(0x2591), utf8(0x2592), utf8(0x2593), utf8(0x2588)};
  static const std::array<std::string, 6> letters{" ", ".", ":", "+", "#", "@"};
  switch (style) {
    case picture_style::braille:
      return braille(r, y, x);
    case picture_style::shades:
      return shades[static_cast<std::size_t>(r.level(y, x, 4))];
    case picture_style::ascii:
      break;
  }
  return letters[static_cast<std::size_t>(r.level(y, x, 5))];
}

// One subpath for each run of cells of a level.
std::string path_of_level(const raster& r, int level, int levels) {
  std::string path;
  for (std::int64_t y = 0; y < r.height; ++y)
    for (std::int64_t x = 0; x < r.width; ++x) {
      if (r.level(y, x, levels) != level) continue;
      const std::int64_t first = x;
      while (x + 1 < r.width && r.level(y, x + 1, levels) == level) ++x;
      const std::string run = std::to_string(x + 1 - first);
      for (const std::string& piece : {std::string("M"), std::to_string(first), std::string(" "),
                                       std::to_string(y), std::string("h"), run, std::string("v1h-"), run})
        path += piece;
      path += "z";
    }
  return path;
}

}  // namespace

template <real T>
std::string pattern_text(const device& dev, csr_view<const T> A, picture_style style, int width) {
  if (width < 3) throw value_error("a picture " + std::to_string(width) + " characters wide");
  const valid_csr valid("pattern_text", dev, A);
  const bool dots = style == picture_style::braille;
  const int inner = width - 2;
  // A character is about twice as high as wide; a braille dot is square.
  const raster r = rasterise(dev, A, dots ? 2 * inner : inner, dots ? 1.0 : 0.5);
  const std::int64_t columns = dots ? ceil_div<std::int64_t>(r.width, 2) : r.width;
  const std::int64_t lines = dots ? ceil_div<std::int64_t>(r.height, 4) : r.height;
  const frame& f = frame_of(style);
  std::string text = f.top_left + repeated(f.across, columns) + f.top_right + "\n";
  for (std::int64_t y = 0; y < lines; ++y) {
    text += f.down;
    for (std::int64_t x = 0; x < columns; ++x) text += character(r, style, y, x);
    text += f.down + "\n";
  }
  return text + f.bottom_left + repeated(f.across, columns) + f.bottom_right + "\n";
}

template <real T>
std::string pattern_svg(const device& dev, csr_view<const T> A, const std::string& title) {
  const valid_csr valid("pattern_svg", dev, A);
  constexpr int levels = 8;
  constexpr std::int64_t most_cells = 256;
  constexpr double edge = 512;  // of the drawing's longer side, in CSS pixels
  // Tall matrices get fewer columns, so that neither side exceeds the limit by more than rounding.
  const double ratio = A.cols > 0 ? static_cast<double>(A.rows) / static_cast<double>(A.cols) : 1;
  const auto width =
      static_cast<std::int64_t>(static_cast<double>(most_cells) / std::max(1.0, std::min(ratio, 3.0)));
  const raster r = rasterise(dev, A, width, 1.0);
  const auto longer = static_cast<double>(std::max<std::int64_t>({r.width, r.height, 1}));
  const auto pixels = [&](std::int64_t cells) {
    return std::to_string(std::llround(edge * static_cast<double>(cells) / longer));
  };
  const std::string w = pixels(r.width), h = pixels(r.height);
  const std::string total_w = std::to_string(std::llround(edge) + 32),
                    total_h = std::to_string(std::stoll(h) + 56);

  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + total_w + "\" height=\"" + total_h +
                    "\" viewBox=\"0 0 " + total_w + " " + total_h + "\">\n<title>" + escaped_xml(title) +
                    "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  svg += "<svg x=\"16\" y=\"16\" width=\"" + w + "\" height=\"" + h + "\" viewBox=\"0 0 " +
         std::to_string(r.width) + " " + std::to_string(r.height) +
         "\" preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\" fill=\"#0b3d91\">\n";
  for (int level = 1; level <= levels; ++level) {
    const std::string path = path_of_level(r, level, levels);
    if (!path.empty())
      svg +=
          "<path fill-opacity=\"0." + std::to_string(200 + 799 * level / levels) + "\" d=\"" + path + "\"/>\n";
  }
  svg += "</svg>\n<rect x=\"16\" y=\"16\" width=\"" + w + "\" height=\"" + h +
         "\" fill=\"none\" stroke=\"#555\"/>\n<text x=\"16\" y=\"" + std::to_string(std::stoll(h) + 40) +
         "\" font-family=\"sans-serif\" font-size=\"14\" fill=\"#222\">" + escaped_xml(title) + ": " +
         std::to_string(A.rows) + " by " + std::to_string(A.cols) + ", " + std::to_string(A.nonzeros) +
         " entries</text>\n</svg>\n";
  return svg;
}

template VOUCH_PUBLIC std::string pattern_text(const device&, csr_view<const float>, picture_style, int);
template VOUCH_PUBLIC std::string pattern_text(const device&, csr_view<const double>, picture_style, int);
template VOUCH_PUBLIC std::string pattern_svg(const device&, csr_view<const float>, const std::string&);
template VOUCH_PUBLIC std::string pattern_svg(const device&, csr_view<const double>, const std::string&);

}  // namespace vouch
