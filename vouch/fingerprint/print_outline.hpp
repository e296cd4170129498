// vouch/fingerprint/print_outline.hpp -- where a print lies, from the edges of its foreground; private, host and device.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <vouch/core/types.hpp>
#include <vouch/fingerprint/stages.hpp>

namespace vouch::fingerprint {

inline constexpr int cell = 8;  // pixels on a side
inline constexpr int most_cells_a_side = most_page_pixels / cell;

/// What becomes of a page.
enum class segmentation : int { found, too_small, too_large, uniform, too_light, too_dark, too_thin };

/// Why there is no print, or nullptr.
inline const char* failure_of(segmentation s) {
  switch (s) {
    case segmentation::found:
      return nullptr;
    case segmentation::too_small:
      return "the page is smaller than 512 x 480 pixels";
    case segmentation::too_large:
      return "the page is larger than 2000 x 2000 pixels";
    case segmentation::uniform:
      return "all pixels have the same grey level";
    case segmentation::too_light:
      return "too little of the page is dark to be a print";
    case segmentation::too_dark:
      return "too much of the page is dark to be a print";
    case segmentation::too_thin:
      return "no dark area is more than some millimetres wide";
  }
  return nullptr;
}

inline segmentation judge_size(int width, int height) {
  if (width < snip_width || height < snip_height) return segmentation::too_small;
  return width > most_page_pixels || height > most_page_pixels ? segmentation::too_large : segmentation::found;
}

/// The thresholds that are tried, as shares of the range of grey levels, and how many cells a print has.
inline constexpr int thresholds = 5, least_cells = 2000, most_cells = 8000;
inline constexpr int erosions = 3;
inline constexpr float first_share = 0.75F, share_step = 0.05F;

VOUCH_HOST_DEVICE inline int threshold_at(float share, int least, int most) {
  return static_cast<int>(
      static_cast<double>(static_cast<float>(least) + share * static_cast<float>(most - least)) + 0.5);
}

VOUCH_HOST_DEVICE inline int mean_cell(int sum, int count) {
  return static_cast<int>(static_cast<double>(static_cast<float>(sum) / static_cast<float>(count)) + 0.5);
}

inline constexpr int no_edge = -1;

struct regression {
  bool found = false;
  float slope = 0;
};

/// The slope of an edge of the foreground that is given as value(position), by linear regression, followed from the
/// middle in both directions as long as it has no gap or jump; none where it is short. The sum of products is
/// symmetric: order does not matter.
template <class Edge>
VOUCH_HOST_DEVICE regression regress(int positions, const Edge& edge) {
  constexpr int least_length = 25;
  const int middle = positions / 2, there = edge(middle);
  if (there == no_edge) return {};
  std::int64_t n = 0, sum_p = 0, sum_v = 0, sum_pv = 0, sum_pp = 0;
  const auto add = [&](int p, int v) {
    ++n;
    sum_p += p;
    sum_v += v;
    sum_pv += static_cast<std::int64_t>(p) * v;
    sum_pp += static_cast<std::int64_t>(p) * p;
  };
  add(middle, there);
  for (int step = -1; step <= 1; step += 2) {
    int previous = there;
    for (int p = middle + step; p >= 0 && p < positions; p += step) {
      const int v = edge(p);
      if (v == no_edge || std::abs(v - previous) > 1) break;
      add(p, v);
      previous = v;
    }
  }
  if (n < least_length) return {};
  return {true,
          static_cast<float>(n * sum_pv - sum_p * sum_v) / static_cast<float>(n * sum_pp - sum_p * sum_p)};
}

/// The rotation of the print in radians: the mean slope of its edges, if they agree.
VOUCH_HOST_DEVICE inline float rotation_of(regression left, regression top, regression right) {
  constexpr float most_difference = 0.90F;
  if (!left.found || !top.found || !right.found) return 0;
  const float mean = (left.slope + -top.slope + right.slope) / 3;
  if (std::fabs(left.slope - mean) > most_difference || std::fabs(-top.slope - mean) > most_difference ||
      std::fabs(right.slope - mean) > most_difference)
    return 0;
  return static_cast<float>(std::atan(static_cast<double>(mean)));
}

/// Rows of cells at the print's angle, from above its middle on.
struct tilted_rows {
  pixel middle;
  float c, s;

  VOUCH_HOST_DEVICE tilted_rows(pixel centroid, float radians)
      : middle(centroid),
        c(static_cast<float>(std::cos(static_cast<double>(radians)))),
        s(static_cast<float>(std::sin(static_cast<double>(radians)))) {}

  /// Whether the k-th row lies on the page and has enough foreground.
  VOUCH_HOST_DEVICE bool begins_print(const std::uint8_t* map, int width, int height, int k) const {
    constexpr int least_set = 20;
    const auto row = static_cast<float>(k - middle.y);
    int set = 0;
    for (int column = -cell_columns / 2; column < cell_columns / 2; ++column) {
      const auto along = static_cast<float>(column);
      const int x = rounded(c * along + s * row + static_cast<float>(middle.x));
      const int y = rounded(-s * along + c * row + static_cast<float>(middle.y));
      if (x < 0 || x >= width || y < 0 || y >= height) return false;
      set += map[y * width + x];
    }
    return set >= least_set;
  }
  /// The middle of a snip below the k-th row, in pixels.
  VOUCH_HOST_DEVICE pixel centre_below(int k) const {
    const auto half_below = static_cast<float>(k - middle.y + cell_rows / 2);
    return {rounded(cell * (s * half_below + static_cast<float>(middle.x))),
            rounded(cell * (c * half_below + static_cast<float>(middle.y)))};
  }
  VOUCH_HOST_DEVICE pixel centre_at_middle() const { return {cell * middle.x, cell * middle.y}; }

 private:
  VOUCH_HOST_DEVICE static int rounded(float v) { return static_cast<int>(static_cast<double>(v) + 0.5); }
};

/// Positions in the source of a rotated cut, which are added up along a row and from row to row, as the original does.
struct cut_steps {
  double c, s, x, y;

  VOUCH_HOST_DEVICE cut_steps(int centre_x, int centre_y, float radians, int width, int height)
      : c(std::cos(static_cast<double>(radians))), s(std::sin(static_cast<double>(radians))) {
    const int half_width = width / 2, half_height = height / 2;
    x = -half_width * c - half_height * s + centre_x + 0.5;
    y = half_width * s - half_height * c + centre_y + 0.5;
  }
  VOUCH_HOST_DEVICE void next_row() {
    x += s;
    y += c;
  }
  VOUCH_HOST_DEVICE void next_column() {
    x += c;
    y -= s;
  }
};

}  // namespace vouch::fingerprint
