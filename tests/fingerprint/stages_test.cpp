// Each stage against a plain form of its definition, on drawn prints and on grey levels at random.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/fingerprint/classify.hpp>
#include <vouch/fingerprint/synthetic_print.hpp>

namespace vouch::fingerprint {
namespace {

std::vector<std::uint8_t> random_snip(std::uint64_t seed) {
  std::vector<std::uint8_t> levels(snip_pixels);
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = static_cast<std::uint8_t>(random_bits(seed, i));
  return levels;
}

const grey_image& drawn(char pattern) {
  static std::map<char, grey_image> all;
  const auto [at, is_new] = all.try_emplace(pattern);
  if (is_new) at->second = synthetic_print(device::cpu(2), {pattern, 7, pattern == 'R', pattern == 'L'});
  return at->second;
}

// The definition in double precision: a spectrum by sums, a filter, sums back.
std::array<double, 256> enhanced_window(const std::vector<std::uint8_t>& snip, int left, int top) {
  using complex = std::complex<double>;
  constexpr int n = 32;
  std::array<complex, n> turn;
  for (int k = 0; k < n; ++k)
    turn[static_cast<std::size_t>(k)] = std::polar(1.0, -2 * std::numbers::pi * k / n);
  const auto w = [&](int k) { return turn[static_cast<std::size_t>(k % n)]; };
  std::array<std::array<complex, n>, n> rows{}, spectrum{}, columns{};
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t k = 0; k < n; ++k)
      for (int x = 0; x < n; ++x)
        rows[y][k] +=
            w(static_cast<int>(k) * x) *
            (snip[static_cast<std::size_t>((top + static_cast<int>(y)) * snip_width + left + x)] / 1024.0);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t m = 0; m < n; ++m) {
      for (std::size_t y = 0; y < n; ++y) spectrum[m][k] += w(static_cast<int>(m * y)) * rows[y][k];
      const int ky = std::min<int>(static_cast<int>(m), n - static_cast<int>(m));
      const int kx = std::min<int>(static_cast<int>(k), n - static_cast<int>(k));
      const int distance = (16 - ky) * (16 - ky) + (16 - kx) * (16 - kx);
      if (ky == 16 && kx > 0 && kx < 16) continue;
      spectrum[m][k] *= distance < 150 || distance > 449 ? 0 : std::pow(std::norm(spectrum[m][k]), 0.3);
    }
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t m = 0; m < n; ++m)
        columns[y][k] += std::conj(w(static_cast<int>(m * y))) * spectrum[m][k];
  std::array<std::array<double, n>, n> result{};
  double most = 0;
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x) {
      complex sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += std::conj(w(static_cast<int>(k * x))) * columns[y][k];
      result[y][x] = sum.real();
      most = std::max(most, std::abs(sum.real()));
    }
  std::array<double, 256> inner{};
  for (std::size_t y = 0; y < 16; ++y)
    for (std::size_t x = 0; x < 16; ++x) inner[16 * y + x] = 127 * result[y + 8][x + 8] / most + 128.5;
  return inner;
}

TEST(enhance, is_the_filtered_spectrum) {
  const std::vector<std::uint8_t> snip = random_snip(3);
  std::vector<std::uint8_t> enhanced(snip_pixels);
  enhance(device::cpu(1), snip, enhanced);
  int by_one = 0, compared = 0;
  for (const int row : {0, 11, 27})
    for (const int column : {0, 1, 13, 14, 15, 16, 29}) {
      const auto expected = enhanced_window(snip, 8 + 16 * column, 8 + 16 * row);
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) {
          const double exact = expected[static_cast<std::size_t>(16 * y + x)];
          const int level =
              enhanced[static_cast<std::size_t>((16 + 16 * row + y) * snip_width + 16 + 16 * column + x)];
          ASSERT_NEAR(level, std::floor(exact), 1) << row << " " << column;
          by_one += level != static_cast<int>(exact);
          ++compared;
        }
    }
  EXPECT_LE(by_one, compared / 1000);
}

TEST(enhance, blank_windows_are_grey_and_the_frame_is_black) {
  std::vector<std::uint8_t> snip(snip_pixels, 248), enhanced(snip_pixels, 1);
  enhance(device::cpu(1), snip, enhanced);
  for (int y = 0; y < snip_height; ++y)
    for (int x = 0; x < snip_width; ++x) {
      const bool frame = x < 16 || y < 16 || x >= snip_width - 16 || y >= snip_height - 16;
      ASSERT_EQ(enhanced[static_cast<std::size_t>(y * snip_width + x)], frame ? 0 : 128);
    }
}

int index_by_definition(const std::vector<std::uint8_t>& levels, int x, int y) {
  constexpr int steps[8][2] = {{0, 4}, {2, 4}, {4, 4}, {4, 2}, {4, 0}, {4, -2}, {4, -4}, {2, -4}};
  const auto at = [&](int right, int up) {
    return static_cast<int>(levels[static_cast<std::size_t>((y - up) * snip_width + x + right)]);
  };
  std::array<int, 8> sums{};
  int total = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    const int right = steps[k][0], up = steps[k][1];
    sums[k] = at(right, up) + at(-right, -up) + at(right / 2, up / 2) + at(-right / 2, -up / 2);
    total += sums[k];
  }
  const auto least = std::min_element(sums.begin(), sums.end()),
             most = std::max_element(sums.begin(), sums.end());
  if (*most - *least < 10) return no_orientation;
  return static_cast<int>((8 * (*least + *most + 4 * at(0, 0)) > 3 * total ? most : least) - sums.begin());
}

TEST(find_orientations, is_its_definition) {
  std::vector<std::uint8_t> levels = random_snip(5);
  for (std::size_t i = 0; i < levels.size() / 2; ++i)
    levels[i] = static_cast<std::uint8_t>(100 + levels[i] % 8);  // ties
  std::vector<std::uint8_t> indices(snip_pixels);
  find_orientations(device::cpu(1), levels, indices);
  for (int y = 0; y < snip_height; ++y)
    for (int x = 0; x < snip_width; ++x) {
      const bool frame = x < 4 || y < 4 || x >= snip_width - 4 || y >= snip_height - 4;
      ASSERT_EQ(indices[static_cast<std::size_t>(y * snip_width + x)],
                frame ? no_orientation : index_by_definition(levels, x, y))
          << x << " " << y;
    }
}

std::array<double, 2> mean_direction(const std::vector<std::uint8_t>& indices, int left, int top, int side) {
  constexpr int steps[8][2] = {{0, 4}, {2, 4}, {4, 4}, {4, 2}, {4, 0}, {4, -2}, {4, -4}, {2, -4}};
  double x = 0, y = 0;
  for (int v = top; v < top + side; ++v)
    for (int u = left; u < left + side; ++u) {
      const std::size_t k = indices[static_cast<std::size_t>(v * snip_width + u)];
      if (k == no_orientation) continue;
      const double angle = 2 * std::atan2(steps[k][1], steps[k][0]);
      x += std::cos(angle) / 256;
      y += std::sin(angle) / 256;
    }
  return {x, y};
}

TEST(average_orientations, are_means_of_doubled_angles) {
  std::vector<std::uint8_t> indices(snip_pixels);
  find_orientations(device::cpu(1), random_snip(9), indices);
  const std::vector<pixel> cores{{200, 230}};
  std::vector<float> plain(orientation_size), moved(orientation_size), fine(2 * fine_size);
  average_orientations(device::cpu(1), indices, {}, plain);
  average_orientations(device::cpu(1), indices, cores, moved);
  average_finely(device::cpu(1), indices, fine);
  for (int row = 0; row < grid_rows; ++row)
    for (int column = 0; column < grid_columns; ++column) {
      const auto at = static_cast<std::size_t>(row * grid_columns + column);
      const auto expected = mean_direction(indices, 16 + 16 * column, 16 + 16 * row, 16);
      ASSERT_NEAR(plain[at], expected[0], 1e-5);
      ASSERT_NEAR(plain[grid_size + at], expected[1], 1e-5);
      const int left = 16 + 200 - 245 + 16 * column, top = 16 + 230 - 189 + 16 * row;
      const bool inside = left >= 4 && top >= 4 && left + 16 <= snip_width - 4 && top + 16 <= snip_height - 4;
      const auto there = inside ? mean_direction(indices, left, top, 16) : std::array{0.0, 0.0};
      ASSERT_NEAR(moved[at], there[0], 1e-5);
      ASSERT_NEAR(moved[grid_size + at], there[1], 1e-5);
    }
  for (int row = 0; row < fine_rows; ++row)
    for (int column = 0; column < fine_columns; ++column) {
      const auto at = static_cast<std::size_t>(row * fine_columns + column);
      const auto expected = mean_direction(indices, 4 + 8 * column, 4 + 8 * row, 16);
      ASSERT_NEAR(fine[at], expected[0], 1e-5);
      ASSERT_NEAR(fine[fine_size + at], expected[1], 1e-5);
    }
}

// Averages whose ridges run at this angle, in radians from level.
template <class Angle>
std::vector<float> field(const Angle& angle) {
  std::vector<float> averages(orientation_size);
  for (int row = 0; row < grid_rows; ++row)
    for (int column = 0; column < grid_columns; ++column) {
      const double twice = 2 * angle(24 + 16 * column, 24 + 16 * row);
      const auto at = static_cast<std::size_t>(row * grid_columns + column);
      averages[at] = static_cast<float>(std::cos(twice));
      averages[grid_size + at] = static_cast<float>(std::sin(twice));
    }
  return averages;
}

TEST(find_cores, of_loops_and_where_there_is_none) {
  for (const pixel core : {pixel{250, 200}, pixel{200, 170}, pixel{300, 260}}) {
    const std::vector<float> loop = field([&](double x, double y) {
      return (std::atan2(x - core.x, y - core.y) - std::atan2(x - core.x - 110, y - core.y - 150)) / 2;
    });
    std::vector<pixel> found(1);
    find_cores(device::cpu(1), loop, found);
    EXPECT_NEAR(found[0].x, core.x, 24);
    EXPECT_NEAR(found[0].y, core.y, 32);
  }
  std::vector<pixel> found(2);
  std::vector<float> two = field([](double, double) { return 0.3; });
  two.resize(2 * orientation_size);  // the second is blank
  find_cores(device::cpu(1), two, found);
  for (const pixel core : found) {
    EXPECT_EQ(core.x, 256);
    EXPECT_EQ(core.y, 256);
  }
}

TEST(trace_ridges, circles_are_whorls_and_lines_are_not) {
  const auto fine_field = [](const auto& angle) {
    std::vector<float> averages(2 * fine_size);
    for (int row = 0; row < fine_rows; ++row)
      for (int column = 0; column < fine_columns; ++column) {
        const double twice = 2 * angle(column - 31, row - 28);
        const auto at = static_cast<std::size_t>(row * fine_columns + column);
        averages[at] = static_cast<float>(std::cos(twice));
        averages[fine_size + at] = static_cast<float>(std::sin(twice));
      }
    return averages;
  };
  const std::vector<std::uint8_t> all(cells, 1), nothing(cells, 0);
  const auto traced = [](const std::vector<float>& averages, const std::vector<std::uint8_t>& foreground) {
    std::vector<std::uint8_t> whorl(1, 2);
    trace_ridges(device::cpu(1), averages, foreground, whorl);
    return whorl[0];
  };
  const auto circles = fine_field([](double x, double y) { return std::atan2(x, y); });
  EXPECT_EQ(traced(circles, all), 1);
  EXPECT_EQ(traced(circles, nothing), 0);
  EXPECT_EQ(traced(fine_field([](double, double) { return 0.4; }), all), 0);
  const auto loop = [](double x, double y) { return y < 0 ? std::atan2(x, y) : std::numbers::pi / 2; };
  EXPECT_EQ(traced(fine_field(loop), all), 0);
}

TEST(segment, drawn_prints_lie_where_they_were_drawn) {
  const std::vector<grey_image> pages{drawn('L'), drawn('R')};
  std::vector<std::uint8_t> snips(2 * snip_pixels), foreground(2 * cells);
  std::vector<placement> places(2);
  segment(device::cpu(2), pages, snips, foreground, places);
  for (const placement& p : places) {
    EXPECT_EQ(p.failure, nullptr);
    EXPECT_NEAR(p.centre_x, 416, 45);
    EXPECT_NEAR(p.centre_y, 440, 60);
  }
  EXPECT_NEAR(places[0].radians, 0, 0.06);
  EXPECT_GT(std::abs(places[1].radians), 0.03);
  EXPECT_LT(std::abs(places[1].radians), 0.2);
  // The formula of the placement gives the snip.
  for (std::size_t i = 0; i < 2; ++i) {
    const double c = std::cos(static_cast<double>(places[i].radians)),
                 s = std::sin(static_cast<double>(places[i].radians));
    for (int y = 0; y < snip_height; y += 7)
      for (int x = 0; x < snip_width; ++x) {
        const int px = static_cast<int>((x - 256) * c + (y - 240) * s + places[i].centre_x + 0.5);
        const int py = static_cast<int>(-(x - 256) * s + (y - 240) * c + places[i].centre_y + 0.5);
        const bool inside = px >= 0 && py >= 0 && px < 832 && py < 768;
        ASSERT_EQ(snips[i * snip_pixels + static_cast<std::size_t>(y * snip_width + x)],
                  inside ? pages[i].pixels[static_cast<std::size_t>(py * 832 + px)] : 255);
      }
  }
}

TEST(segment, pages_without_a_print_say_why) {
  std::vector<grey_image> pages{{832, 768, std::vector<std::uint8_t>(832 * 768, 200)},
                                {832, 768, std::vector<std::uint8_t>(832 * 768, 250)},
                                {832, 768, random_snip(1)},
                                {500, 480, std::vector<std::uint8_t>(500 * 480)},
                                {2001, 480, std::vector<std::uint8_t>(2001 * 480)},
                                {0, 0, {}}};
  pages[1].pixels[1000] = 0;
  pages[2].pixels.resize(832 * 768, 0);
  std::vector<std::uint8_t> snips(pages.size() * snip_pixels), foreground(pages.size() * cells);
  std::vector<placement> places(pages.size());
  segment(device::cpu(2), pages, snips, foreground, places);
  for (std::size_t i = 0; i < pages.size(); ++i) EXPECT_NE(places[i].failure, nullptr) << i;
  EXPECT_STREQ(places[0].failure, "all pixels have the same grey level");
  EXPECT_STREQ(places[1].failure, "too little of the page is dark to be a print");
  EXPECT_STREQ(places[2].failure, "too much of the page is dark to be a print");
}

TEST(stages, wrong_sizes_are_refused) {
  std::vector<std::uint8_t> snip(snip_pixels), short_one(snip_pixels - 1), two(2 * snip_pixels);
  EXPECT_THROW(enhance(device::cpu(1), short_one, snip), shape_error);
  EXPECT_THROW(enhance(device::cpu(1), snip, two), shape_error);
  std::vector<float> averages(orientation_size + 1);
  EXPECT_THROW(average_orientations(device::cpu(1), snip, {}, averages), shape_error);
  const std::vector<grey_image> pages{{832, 768, {}}};
  std::vector<std::uint8_t> foreground(cells);
  std::vector<placement> places(1);
  EXPECT_THROW(segment(device::cpu(1), pages, snip, foreground, places), shape_error);
}

}  // namespace
}  // namespace vouch::fingerprint
