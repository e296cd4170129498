#include "classify_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <vector>

namespace vouch::cli {
namespace {

namespace fp = vouch::fingerprint;

struct point {
  double x, y;
};
using colour = std::array<std::uint8_t, 3>;
constexpr colour blue{0, 80, 192}, red{208, 0, 0}, green{0, 128, 0};

struct stroke {
  point from, to;
  double width;
  colour ink;
};

// Where a place of the snip is on the page.
point on_page(const fp::placement& place, double x, double y) {
  const double c = std::cos(static_cast<double>(place.radians)),
               s = std::sin(static_cast<double>(place.radians));
  const double across = x - fp::snip_width / 2, down = y - fp::snip_height / 2;
  return {across * c + down * s + place.centre_x, down * c - across * s + place.centre_y};
}

void draw_outline(const fp::placement& place, std::vector<stroke>& all) {
  constexpr point corners[] = {
      {0, 0}, {fp::snip_width, 0}, {fp::snip_width, fp::snip_height}, {0, fp::snip_height}};
  for (std::size_t k = 0; k < 4; ++k) {
    const point a = corners[k], b = corners[(k + 1) % 4];
    all.push_back({on_page(place, a.x, a.y), on_page(place, b.x, b.y), 1, blue});
  }
}

void draw_ridges(const fp::placement& place, std::span<const float> field, std::vector<stroke>& all) {
  constexpr double least_square = 0.01, half_length = 8;
  for (int row = 0; row < fp::grid_rows; ++row)
    for (int column = 0; column < fp::grid_columns; ++column) {
      const auto at = static_cast<std::size_t>(row * fp::grid_columns + column);
      const auto x = static_cast<double>(field[at]), y = static_cast<double>(field[fp::grid_size + at]);
      if (x * x + y * y < least_square) continue;
      const double angle = std::atan2(y, x) / 2, length = half_length * std::sqrt(x * x + y * y);
      const double right = length * std::cos(angle), up = length * std::sin(angle);
      const double middle_x = 24 + 16 * column, middle_y = 24 + 16 * row;
      all.push_back({on_page(place, middle_x - right, middle_y + up),
                     on_page(place, middle_x + right, middle_y - up), 2, red});
    }
}

void draw_core(const fp::classification& found, std::vector<stroke>& all) {
  constexpr int chords = 32;
  constexpr double radius = 10;
  const point core = on_page(found.place, found.core.x, found.core.y);
  const auto at = [&](int k) {
    const double angle = 2 * std::numbers::pi * k / chords;
    return point{core.x + radius * std::cos(angle), core.y + radius * std::sin(angle)};
  };
  for (int k = 0; k < chords; ++k) all.push_back({at(k), at(k + 1), 3, green});
}

std::string base64(const std::string& bytes) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : letters[group >> (18 - 6 * k) & 63];
  }
  return text;
}

std::string as_svg(const fp::grey_image& page, const std::vector<stroke>& strokes, const std::string& title) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<image width=\"{0}\" height=\"{1}\" href=\"data:image/png;base64,{2}\"/>\n"
      "<g stroke-linecap=\"round\">\n",
      page.width, page.height, base64(fp::png_bytes(page)));
  for (const stroke& s : strokes)
    fmt::format_to(
        std::back_inserter(svg),
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#{:02x}{:02x}{:02x}\" "
        "stroke-width=\"{:g}\"/>\n",
        s.from.x, s.from.y, s.to.x, s.to.y, s.ink[0], s.ink[1], s.ink[2], s.width);
  return svg + "</g>\n<text x=\"10\" y=\"30\" font-family=\"sans-serif\" font-size=\"24\">" + title +
         "</text>\n</svg>\n";
}

double distance(point p, const stroke& s) {
  const double dx = s.to.x - s.from.x, dy = s.to.y - s.from.y, square = dx * dx + dy * dy;
  const double along = square > 0 ? ((p.x - s.from.x) * dx + (p.y - s.from.y) * dy) / square : 0;
  const double t = std::clamp(along, 0.0, 1.0);
  return std::hypot(p.x - s.from.x - t * dx, p.y - s.from.y - t * dy);
}

// A pixel takes as much of the ink as the stroke covers of it, about.
void paint(const stroke& s, fp::colour_image& image) {
  const double reach = s.width / 2 + 1;
  const auto first = [](double v) { return std::max(0, static_cast<int>(std::floor(v))); };
  const auto last = [](double v, int size) { return std::min(size - 1, static_cast<int>(std::ceil(v))); };
  const int right = last(std::max(s.from.x, s.to.x) + reach, image.width),
            bottom = last(std::max(s.from.y, s.to.y) + reach, image.height);
  for (int y = first(std::min(s.from.y, s.to.y) - reach); y <= bottom; ++y)
    for (int x = first(std::min(s.from.x, s.to.x) - reach); x <= right; ++x) {
      const double covered = std::clamp(s.width / 2 + 0.5 - distance({x + 0.5, y + 0.5}, s), 0.0, 1.0);
      std::uint8_t* const pixel =
          &image.values[3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                             static_cast<std::size_t>(x))];
      for (std::size_t k = 0; k < 3; ++k)
        pixel[k] = static_cast<std::uint8_t>(std::lround(pixel[k] + covered * (s.ink[k] - pixel[k])));
    }
}

std::string as_png(const fp::grey_image& page, const std::vector<stroke>& strokes) {
  fp::colour_image image{page.width, page.height, {}};
  image.values.reserve(3 * page.pixels.size());
  for (const std::uint8_t level : page.pixels) image.values.insert(image.values.end(), 3, level);
  for (const stroke& s : strokes) paint(s, image);
  return fp::png_bytes(image);
}

}  // namespace

std::string print_plot(std::string_view file, const fp::grey_image& page, const fp::classification& found,
                       std::span<const float> field) {
  std::vector<stroke> strokes;
  draw_outline(found.place, strokes);
  draw_ridges(found.place, field, strokes);
  draw_core(found, strokes);
  if (file.ends_with(".png")) return as_png(page, strokes);
  return as_svg(page, strokes,
                fmt::format("{}, confidence {:.2f}", fp::letter(found.pattern), found.confidence));
}

}  // namespace vouch::cli
