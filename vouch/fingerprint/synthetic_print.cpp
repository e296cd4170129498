#include <vouch/fingerprint/synthetic_print.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/random.hpp>
#include <vouch/fingerprint/stages.hpp>

namespace vouch::fingerprint {
namespace {

constexpr int field_width = snip_width, field_height = snip_height, field_size = snip_pixels;
constexpr int page_width = 832, page_height = 768;
constexpr double pi = std::numbers::pi;

// Numbers that are drawn one after the other, and fields of independent ones.
class draws {
 public:
  draws(std::uint64_t seed, char pattern) : seed_(random_bits(seed, static_cast<std::uint64_t>(pattern))) {}

  double uniform(double low, double high) { return low + (high - low) * random_unit(seed_, counter_++); }
  double normal(double mean, double deviation) {
    const double radius = uniform(0, 1), angle = uniform(0, 1);
    return mean + deviation * standard_normal(radius, angle);
  }
  /// Element i of a field of standard normal numbers; each field has its own number.
  double normal_at(std::uint64_t field, std::int64_t i) const {
    const std::uint64_t own = random_bits(seed_, ~field);
    return standard_normal(random_unit(own, 2 * static_cast<std::uint64_t>(i)),
                           random_unit(own, 2 * static_cast<std::uint64_t>(i) + 1));
  }
  double uniform_at(std::uint64_t field, std::int64_t i) const {
    return random_unit(random_bits(seed_, ~field), static_cast<std::uint64_t>(i));
  }

 private:
  static double standard_normal(double radius, double angle) {
    return std::sqrt(-2 * std::log1p(-radius)) * std::cos(2 * pi * angle);
  }

  std::uint64_t seed_;
  std::uint64_t counter_ = 0;
};

enum field : std::uint64_t { start_noise, start_points, ink_noise, page_noise };

struct point {
  double x, y;
};

// Angles of ridges, up to half turns: of a field with singular points, or of the waves of an arch.
struct orientation_field {
  std::vector<point> cores, deltas;
  point centre{};
  double height = 0;  // of an arch's wave

  double operator()(double x, double y) const {
    if (cores.empty()) {
      const double across = x - centre.x, down = (y - centre.y - 70) / 130;
      if (std::abs(across) >= 0.4 * field_width) return 0;
      return -std::atan(height * std::exp(-down * down) * std::sin(2 * pi * across / (0.8 * field_width)));
    }
    double sum = 0;
    for (const point& p : cores) sum += std::atan2(x - p.x, y - p.y);
    for (const point& p : deltas) sum -= std::atan2(x - p.x, y - p.y);
    return sum / 2;
  }
};

orientation_field draw_field(draws& draw, char pattern) {
  orientation_field f;
  f.centre = {field_width / 2 - 10 + draw.normal(0, 6), 190 + draw.normal(0, 8)};
  const auto [x, y] = f.centre;
  switch (pattern) {
    case 'A':
      f.height = draw.uniform(0.7, 1.1);
      break;
    case 'L':
    case 'R': {
      const double right = 110 + draw.normal(0, 10), down = 150 + draw.normal(0, 10);
      f.cores = {{x, y}};
      f.deltas = {{pattern == 'L' ? x + right : x - right, y + down}};
      break;
    }
    case 'T': {
      const double right = draw.normal(0, 3), down = 110 + draw.normal(0, 10);
      f.cores = {{x, y + 25}};
      f.deltas = {{x + right, y + down}};
      break;
    }
    case 'W': {
      const double apart = draw.uniform(40, 60);
      const double off = draw.normal(0, 5), left = 125 + draw.normal(0, 10), right = 125 + draw.normal(0, 10);
      f.cores = {{x + off, y - apart / 2}, {x, y + apart / 2}};
      f.deltas = {{x - left, y + 165}, {x + right, y + 165}};
      break;
    }
    default:
      throw value_error("synthetic_print: patterns are A, L, R, T and W");
  }
  return f;
}

constexpr int kernels = 24, reach = 11, kernel_side = 2 * reach + 1;
using kernel = std::array<float, kernel_side * kernel_side>;

// Waves across a direction under a Gaussian, without a mean.
kernel gabor_kernel(double direction, double period) {
  constexpr double deviation = 3.6;
  std::array<double, kernel_side * kernel_side> values{};
  double sum = 0, magnitude = 0;
  std::size_t at = 0;
  for (int y = -reach; y <= reach; ++y)
    for (int x = -reach; x <= reach; ++x) {
      const double across = x * std::sin(direction) + y * std::cos(direction);
      values[at] =
          std::cos(2 * pi * across / period) * std::exp(-(x * x + y * y) / (2 * deviation * deviation));
      sum += values[at++];
    }
  for (double& v : values) {
    v -= sum / static_cast<double>(values.size());
    magnitude += std::abs(v);
  }
  kernel k;
  std::ranges::transform(values, k.begin(), [&](double v) { return static_cast<float>(v / magnitude); });
  return k;
}

using plane = std::vector<float>;

// A field with a frame of zeros as wide as a kernel reaches.
constexpr int framed_width = field_width + 2 * reach, framed_height = field_height + 2 * reach;

plane ridges(const device& dev, const draws& draw, const std::vector<std::uint8_t>& kernel_at,
             const std::vector<kernel>& all) {
  constexpr int growths = 9;
  constexpr float gain = 6;
  const auto framed = [](int x, int y) {
    return static_cast<std::size_t>((y + reach) * framed_width + x + reach);
  };
  plane now(static_cast<std::size_t>(framed_width) * framed_height), next(now.size());
  for (int y = 0; y < field_height; ++y)
    for (int x = 0; x < field_width; ++x) {
      const std::int64_t i = y * field_width + x;
      constexpr double share_of_points = 0.002;
      now[framed(x, y)] = draw.uniform_at(start_points, i) < share_of_points
                              ? 1.0F
                              : static_cast<float>(0.1 * draw.normal_at(start_noise, i));
    }
  const cancellation_probe stop;
  for (int growth = 0; growth < growths; ++growth) {
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads())
    for (int y = 0; y < field_height; ++y) {
      if (stop.requested()) continue;
      for (int x = 0; x < field_width; ++x) {
        const kernel& k = all[kernel_at[static_cast<std::size_t>(y * field_width + x)]];
        float columns[kernel_side] = {};
        for (int v = 0; v < kernel_side; ++v)
          for (int u = 0; u < kernel_side; ++u)
            columns[u] +=
                k[static_cast<std::size_t>(v * kernel_side + u)] * now[framed(x - reach + u, y - reach + v)];
        float sum = 0;
        for (const float c : columns) sum += c;
        next[framed(x, y)] = std::clamp(gain * sum, -1.0F, 1.0F);
      }
    }
    stop.check();
    now.swap(next);
  }
  plane result(field_size);
  for (int y = 0; y < field_height; ++y)
    std::copy_n(now.begin() + static_cast<std::ptrdiff_t>(framed(0, y)), field_width,
                result.begin() + static_cast<std::ptrdiff_t>(y) * field_width);
  return result;
}

// A Gaussian of 0.8 pixels, in x and y.
void smooth(plane& p) {
  constexpr int half = 3;
  std::array<float, half + 1> weight{};
  double total = 0;
  for (int i = -half; i <= half; ++i) total += std::exp(-i * i / (2 * 0.8 * 0.8));
  for (int i = 0; i <= half; ++i)
    weight[static_cast<std::size_t>(i)] = static_cast<float>(std::exp(-i * i / (2 * 0.8 * 0.8)) / total);
  plane across(p.size());
  for (const int step : {1, field_width}) {
    for (int y = 0; y < field_height; ++y)
      for (int x = 0; x < field_width; ++x) {
        const int place = step == 1 ? x : y, places = step == 1 ? field_width : field_height;
        float sum = 0;
        for (int i = -half; i <= half; ++i) {
          const int there = std::clamp(place + i, 0, places - 1);
          sum += weight[static_cast<std::size_t>(std::abs(i))] *
                 p[static_cast<std::size_t>(y * field_width + x + (there - place) * step)];
        }
        across[static_cast<std::size_t>(y * field_width + x)] = sum;
      }
    p.swap(across);
  }
}

// How much of a place is inked, from 0 to 1.
double inked(double x, double y, bool straight_sides) {
  if (straight_sides) {
    const double a = (x - field_width / 2.0) / 190, b = (y - field_height / 2.0 - 5) / 222;
    return 1 / (1 + std::exp(20 * (a * a * a * a + b * b * b * b - 0.95)));
  }
  const double a = (x - field_width / 2.0) / 215, b = (y - field_height / 2.0 - 10) / 225;
  return 1 / (1 + std::exp(40 * (a * a + b * b - 0.95)));
}

// A page as real numbers, and how much of each pixel is inked.
struct sheet {
  plane grey, ink;
};

constexpr float paper = 248;

sheet lay_on_page(const plane& ridge, bool straight_sides) {
  constexpr int left = 160, top = 150;
  constexpr std::size_t size = static_cast<std::size_t>(page_width) * page_height;
  sheet s{plane(size, paper), plane(size, 0.0F)};
  for (int y = 0; y < field_height; ++y)
    for (int x = 0; x < field_width; ++x) {
      const auto m = static_cast<float>(inked(x, y, straight_sides));
      const auto at = static_cast<std::size_t>((y + top) * page_width + x + left);
      s.ink[at] = m;
      s.grey[at] = m * (150 - 70 * ridge[static_cast<std::size_t>(y * field_width + x)]) + (1 - m) * paper;
    }
  return s;
}

plane rotated(const plane& p, double radians, int right, int down, float outside) {
  constexpr double middle_x = 416, middle_y = 390;
  const double c = std::cos(radians), s = std::sin(radians);
  const auto at = [&](int x, int y) {
    const bool inside = x >= 0 && y >= 0 && x < page_width && y < page_height;
    return inside ? p[static_cast<std::size_t>(y * page_width + x)] : outside;
  };
  plane result(p.size());
  for (int y = 0; y < page_height; ++y)
    for (int x = 0; x < page_width; ++x) {
      const double dx = x - right - middle_x, dy = y - down - middle_y;
      const double from_x = middle_x + c * dx + s * dy, from_y = middle_y - s * dx + c * dy;
      const int ix = static_cast<int>(std::floor(from_x)), iy = static_cast<int>(std::floor(from_y));
      const auto fx = static_cast<float>(from_x - ix), fy = static_cast<float>(from_y - iy);
      const float above = at(ix, iy) + fx * (at(ix + 1, iy) - at(ix, iy));
      const float below = at(ix, iy + 1) + fx * (at(ix + 1, iy + 1) - at(ix, iy + 1));
      result[static_cast<std::size_t>(y * page_width + x)] = above + fy * (below - above);
    }
  return result;
}

grey_image with_noise(const sheet& s, const draws& draw, bool blank_paper) {
  constexpr double ink_deviation = 70 * 0.15, page_deviation = 2;
  constexpr float least_ink = 0.02F;
  grey_image page{page_width, page_height, std::vector<std::uint8_t>(s.grey.size())};
  for (std::size_t i = 0; i < s.grey.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const double level = static_cast<double>(s.grey[i]) -
                         static_cast<double>(s.ink[i]) * ink_deviation * draw.normal_at(ink_noise, at) +
                         page_deviation * draw.normal_at(page_noise, at);
    page.pixels[i] = static_cast<std::uint8_t>(
        blank_paper && s.ink[i] < least_ink ? static_cast<double>(paper) : std::clamp(level, 0.0, 255.0));
  }
  return page;
}

}  // namespace

grey_image synthetic_print(const device& dev, const synthetic_options& options) {
  const ieee_environment here;
  draws draw(options.seed, options.pattern);
  const orientation_field angle = draw_field(draw, options.pattern);
  const double period = draw.uniform(8.2, 9.6);
  std::vector<kernel> all;
  for (int k = 0; k < kernels; ++k) all.push_back(gabor_kernel(pi * k / kernels, period));
  std::vector<std::uint8_t> kernel_at(field_size);
  for (int y = 0; y < field_height; ++y)
    for (int x = 0; x < field_width; ++x) {
      const double turns = angle(x, y) / pi;
      const double place = (turns - std::floor(turns)) * kernels;
      kernel_at[static_cast<std::size_t>(y * field_width + x)] =
          static_cast<std::uint8_t>(static_cast<int>(place + 0.5) % kernels);
    }
  plane ridge = ridges(dev, draw, kernel_at, all);
  smooth(ridge);
  sheet s = lay_on_page(ridge, options.rotated);
  if (options.rotated) {
    const double degrees = draw.uniform(4, 10) * (draw.uniform(-1, 1) < 0 ? -1 : 1);
    const int right = static_cast<int>(std::floor(draw.uniform(-25, 26)));
    const int down = static_cast<int>(std::floor(draw.uniform(-25, 26)));
    s.grey = rotated(s.grey, degrees * pi / 180, right, down, paper);
    s.ink = rotated(s.ink, degrees * pi / 180, right, down, 0);
  }
  return with_noise(s, draw, options.blank_paper);
}

}  // namespace vouch::fingerprint
