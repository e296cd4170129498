#include "classify_plot.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace vouch::cli {
namespace {

namespace fp = vouch::fingerprint;

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

struct point {
  double x, y;
};

// Where a place of the snip is on the page.
point on_page(const fp::placement& place, double x, double y) {
  const double c = std::cos(static_cast<double>(place.radians)),
               s = std::sin(static_cast<double>(place.radians));
  const double across = x - fp::snip_width / 2, down = y - fp::snip_height / 2;
  return {across * c + down * s + place.centre_x, down * c - across * s + place.centre_y};
}

std::string outline(const fp::placement& place) {
  std::string points;
  for (const auto& [x, y] : {point{0, 0}, point{fp::snip_width, 0}, point{fp::snip_width, fp::snip_height},
                             point{0, fp::snip_height}}) {
    const point p = on_page(place, x, y);
    fmt::format_to(std::back_inserter(points), "{:.1f},{:.1f} ", p.x, p.y);
  }
  return fmt::format("<polygon points=\"{}\" fill=\"none\" stroke=\"#0050c0\"/>\n", points);
}

std::string ridges(const fp::placement& place, std::span<const float> field) {
  constexpr double least_square = 0.01, half_length = 8;
  std::string lines = "<g stroke=\"#d00000\" stroke-width=\"2\">\n";
  for (int row = 0; row < fp::grid_rows; ++row)
    for (int column = 0; column < fp::grid_columns; ++column) {
      const auto at = static_cast<std::size_t>(row * fp::grid_columns + column);
      const auto x = static_cast<double>(field[at]), y = static_cast<double>(field[fp::grid_size + at]);
      if (x * x + y * y < least_square) continue;
      const double angle = std::atan2(y, x) / 2, length = half_length * std::sqrt(x * x + y * y);
      const double right = length * std::cos(angle), up = length * std::sin(angle);
      const double middle_x = 24 + 16 * column, middle_y = 24 + 16 * row;
      const point a = on_page(place, middle_x - right, middle_y + up),
                  b = on_page(place, middle_x + right, middle_y - up);
      fmt::format_to(std::back_inserter(lines),
                     "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", a.x, a.y, b.x, b.y);
    }
  return lines + "</g>\n";
}

}  // namespace

std::string print_plot(const fp::grey_image& page, const fp::classification& found,
                       std::span<const float> field) {
  const point core = on_page(found.place, found.core.x, found.core.y);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<image width=\"{0}\" height=\"{1}\" href=\"data:image/png;base64,{2}\"/>\n",
      page.width, page.height, base64(fp::png_bytes(page)));
  svg += outline(found.place) + ridges(found.place, field);
  svg += fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"10\" fill=\"none\" stroke=\"#008000\" stroke-width=\"3\"/>\n"
      "<text x=\"10\" y=\"30\" font-family=\"sans-serif\" font-size=\"24\">{}, confidence "
      "{:.2f}</text>\n</svg>\n",
      core.x, core.y, fp::letter(found.pattern), found.confidence);
  return svg;
}

}  // namespace vouch::cli
