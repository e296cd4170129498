#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <vouch/fingerprint/stages.hpp>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/print_stages.hpp>

namespace vouch::fingerprint {
namespace {

constexpr int cell = 8;  // pixels on a side
constexpr int most_cells_a_side = most_page_pixels / cell;

// The cells of a page, 1 where it is darker than a threshold.
struct cell_map {
  int width = 0;
  int height = 0;
  std::array<std::uint8_t, most_cells_a_side * most_cells_a_side> is_set;

  std::uint8_t& at(int x, int y) { return is_set[static_cast<std::size_t>(y * width + x)]; }
  std::uint8_t at(int x, int y) const { return is_set[static_cast<std::size_t>(y * width + x)]; }
  bool contains(int x, int y) const { return x >= 0 && x < width && y >= 0 && y < height; }
  int size() const { return width * height; }
};

struct darkness {
  int least = 255;
  int most = 0;
};

VOUCH_SIMD_CLONES void darkest_of_cells(const std::uint8_t* pixels, int row_length, int columns,
                                        std::uint8_t* darkest, darkness& range) {
  std::array<std::uint8_t, most_page_pixels> low, high;
  const int used = columns * cell;
  std::memcpy(low.data(), pixels, static_cast<std::size_t>(used));
  std::memcpy(high.data(), pixels, static_cast<std::size_t>(used));
  for (int y = 1; y < cell; ++y) {
    const std::uint8_t* row = pixels + static_cast<std::ptrdiff_t>(y) * row_length;
    for (int x = 0; x < used; ++x) {
      low[static_cast<std::size_t>(x)] = std::min(low[static_cast<std::size_t>(x)], row[x]);
      high[static_cast<std::size_t>(x)] = std::max(high[static_cast<std::size_t>(x)], row[x]);
    }
  }
  std::uint8_t least = 255, most = 0;
  for (int x = 0; x < used; ++x) {
    least = std::min(least, low[static_cast<std::size_t>(x)]);
    most = std::max(most, high[static_cast<std::size_t>(x)]);
  }
  range = {std::min<int>(range.least, least), std::max<int>(range.most, most)};
  for (int c = 0; c < columns; ++c) {
    const std::uint8_t* from = low.data() + c * cell;
    darkest[c] = *std::min_element(from, from + cell);
  }
}

int transitions(const cell_map& map) {
  int count = 0;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x + 1 < map.width; ++x) count += map.at(x, y) != map.at(x + 1, y);
  for (int y = 0; y + 1 < map.height; ++y)
    for (int x = 0; x < map.width; ++x) count += map.at(x, y) != map.at(x, y + 1);
  return count;
}

// Binarises the page by that one of five thresholds whose map has the fewest transitions between foreground and
// background.
const char* threshold(const grey_image& page, cell_map& best) {
  constexpr int thresholds = 5, least_cells = 2000, most_cells = 8000;
  constexpr float first_share = 0.75F, step = 0.05F;
  best.width = page.width / cell;
  best.height = page.height / cell;
  cell_map darkest, candidate;
  darkest.width = candidate.width = best.width;
  darkest.height = candidate.height = best.height;
  darkness range;
  for (int y = 0; y < best.height; ++y)
    darkest_of_cells(page.pixels.data() + static_cast<std::ptrdiff_t>(y) * cell * page.width, page.width,
                     best.width, &darkest.at(0, y), range);
  if (range.least == range.most) return "all pixels have the same grey level";
  int fewest = -1, cells_of_last = 0;
  float share = first_share;
  for (int k = 0; k < thresholds; ++k, share += step) {
    const int limit =
        static_cast<int>(static_cast<double>(static_cast<float>(range.least) +
                                             share * static_cast<float>(range.most - range.least)) +
                         0.5);
    int set = 0;
    for (int i = 0; i < best.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      candidate.is_set[at] = darkest.is_set[at] <= limit;
      set += candidate.is_set[at];
    }
    cells_of_last = set;
    if (set < least_cells || set > most_cells) continue;
    const int count = transitions(candidate);
    if (fewest >= 0 && count >= fewest) continue;
    fewest = count;
    std::copy_n(candidate.is_set.begin(), best.size(), best.is_set.begin());
  }
  if (fewest >= 0) return nullptr;
  return cells_of_last < least_cells ? "too little of the page is dark to be a print"
                                     : "too much of the page is dark to be a print";
}

void erode(cell_map& map) {
  const cell_map before = map;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x)
      if ((y > 0 && !before.at(x, y - 1)) || (y + 1 < map.height && !before.at(x, y + 1)) ||
          (x > 0 && !before.at(x - 1, y)) || (x + 1 < map.width && !before.at(x + 1, y)))
        map.at(x, y) = 0;
}

// Keeps the largest connected component, by four neighbours; false where there is none.
bool keep_largest_component(cell_map& map) {
  std::array<std::uint16_t, most_cells_a_side * most_cells_a_side> label{}, stack;
  int components = 0, largest = 0, largest_size = 0;
  for (int start = 0; start < map.size(); ++start) {
    if (!map.is_set[static_cast<std::size_t>(start)] || label[static_cast<std::size_t>(start)] != 0) continue;
    ++components;
    int size = 0, waiting = 0;
    const auto visit = [&](int x, int y) {
      if (!map.contains(x, y) || !map.at(x, y)) return;
      std::uint16_t& own = label[static_cast<std::size_t>(y * map.width + x)];
      if (own != 0) return;
      own = static_cast<std::uint16_t>(components);
      stack[static_cast<std::size_t>(waiting++)] = static_cast<std::uint16_t>(y * map.width + x);
      ++size;
    };
    visit(start % map.width, start / map.width);
    while (waiting > 0) {
      const int at = stack[static_cast<std::size_t>(--waiting)], x = at % map.width, y = at / map.width;
      visit(x - 1, y);
      visit(x + 1, y);
      visit(x, y - 1);
      visit(x, y + 1);
    }
    if (size > largest_size) {
      largest_size = size;
      largest = components;
    }
  }
  for (int i = 0; i < map.size(); ++i)
    map.is_set[static_cast<std::size_t>(i)] = largest != 0 && label[static_cast<std::size_t>(i)] == largest;
  return largest != 0;
}

// Sets all cells between set ones, in rows, then in columns.
void fill_holes(cell_map& map) {
  const auto fill = [](std::uint8_t* first, int count, int stride) {
    int low = 0, high = count - 1;
    while (low < count && !first[low * stride]) ++low;
    while (high > low && !first[high * stride]) --high;
    for (int i = low; i <= high; ++i) first[i * stride] = 1;
  };
  for (int y = 0; y < map.height; ++y) fill(&map.at(0, y), map.width, 1);
  for (int x = 0; x < map.width; ++x) fill(&map.at(x, 0), map.height, map.width);
}

pixel centroid(const cell_map& map) {
  int count = 0, sum_x = 0, sum_y = 0;
  for (int y = 0; y < map.height; ++y)
    for (int x = 0; x < map.width; ++x)
      if (map.at(x, y)) {
        ++count;
        sum_x += x;
        sum_y += y;
      }
  const auto mean = [&](int sum) {
    return static_cast<int>(static_cast<double>(static_cast<float>(sum) / static_cast<float>(count)) + 0.5);
  };
  return {mean(sum_x), mean(sum_y)};
}

// The slope of an edge of the foreground that is given as value(position), by linear regression, followed from the middle in both directions as long as it
// has no gap or jump; none where it is short. The sum of products is symmetric: order does not matter.
template <class Outline>
std::optional<float> slope(int positions, const Outline& outline) {
  constexpr int least_length = 25;
  const int middle = positions / 2;
  const std::optional<int> there = outline(middle);
  if (!there) return std::nullopt;
  std::int64_t n = 0, sum_p = 0, sum_v = 0, sum_pv = 0, sum_pp = 0;
  const auto add = [&](int p, int v) {
    ++n;
    sum_p += p;
    sum_v += v;
    sum_pv += static_cast<std::int64_t>(p) * v;
    sum_pp += static_cast<std::int64_t>(p) * p;
  };
  add(middle, *there);
  for (const int step : {-1, 1}) {
    int previous = *there;
    for (int p = middle + step; p >= 0 && p < positions; p += step) {
      const std::optional<int> v = outline(p);
      if (!v || std::abs(*v - previous) > 1) break;
      add(p, *v);
      previous = *v;
    }
  }
  if (n < least_length) return std::nullopt;
  return static_cast<float>(n * sum_pv - sum_p * sum_v) / static_cast<float>(n * sum_pp - sum_p * sum_p);
}

// The rotation of the print: the mean slope of its left, upper and right edges, if they agree.
float angle(const cell_map& map) {
  constexpr float most_difference = 0.90F;
  const auto left = slope(map.height, [&](int y) -> std::optional<int> {
    for (int x = 0; x < map.width; ++x)
      if (map.at(x, y)) return x;
    return std::nullopt;
  });
  const auto top = slope(map.width, [&](int x) -> std::optional<int> {
    for (int y = 0; y < map.height; ++y)
      if (map.at(x, y)) return y;
    return std::nullopt;
  });
  const auto right = slope(map.height, [&](int y) -> std::optional<int> {
    for (int x = map.width - 1; x >= 0; --x)
      if (map.at(x, y)) return x;
    return std::nullopt;
  });
  if (!left || !top || !right) return 0;
  const float mean = (*left + -*top + *right) / 3;
  for (const float one : {*left, -*top, *right})
    if (std::fabs(one - mean) > most_difference) return 0;
  return static_cast<float>(std::atan(static_cast<double>(mean)));
}

// Below the first tilted row that lies on the page and has enough foreground; else about the centroid.
pixel centre(const cell_map& map, pixel middle, float radians) {
  constexpr int least_set = 20;
  const auto c = static_cast<float>(std::cos(static_cast<double>(radians)));
  const auto s = static_cast<float>(std::sin(static_cast<double>(radians)));
  const auto rounded = [](float v) { return static_cast<int>(static_cast<double>(v) + 0.5); };
  for (int top = -middle.y; top < -middle.y + map.height; ++top) {
    const auto row = static_cast<float>(top);
    int set = 0;
    for (int column = -cell_columns / 2; column < cell_columns / 2; ++column) {
      const auto along = static_cast<float>(column);
      const int x = rounded(c * along + s * row + static_cast<float>(middle.x));
      const int y = rounded(-s * along + c * row + static_cast<float>(middle.y));
      if (!map.contains(x, y)) {
        set = 0;
        break;
      }
      set += map.at(x, y);
    }
    if (set < least_set) continue;
    const auto half_below = static_cast<float>(top + cell_rows / 2);
    return {rounded(cell * (s * half_below + static_cast<float>(middle.x))),
            rounded(cell * (c * half_below + static_cast<float>(middle.y)))};
  }
  return {cell * middle.x, cell * middle.y};
}

// target(x, y) := source(that pixel rotated about the centre), `outside` where there is none. Positions are added up
// along a row, as the original does; eight rows at once.
VOUCH_SIMD_CLONES void snip(const std::uint8_t* source, int source_width, int source_height, int centre_x,
                            int centre_y, float radians, std::uint8_t outside, int width, int height,
                            std::uint8_t* target) {
  constexpr int rows = simd<double>::width;
  const double c = std::cos(static_cast<double>(radians)), s = std::sin(static_cast<double>(radians));
  const int half_width = width / 2, half_height = height / 2;
  double x0 = -half_width * c - half_height * s + centre_x + 0.5;
  double y0 = half_width * s - half_height * c + centre_y + 0.5;
  for (int first = 0; first < height; first += rows) {
    const int used = std::min(rows, height - first);
    lanes<double> px{}, py{};
    for (int r = 0; r < used; ++r, x0 += s, y0 += c) {
      px[r] = x0;
      py[r] = y0;
    }
    for (int x = 0; x < width; ++x, px += c, py -= s) {
      typedef int whole __attribute__((vector_size(32)));
      const whole ix = __builtin_convertvector(px, whole), iy = __builtin_convertvector(py, whole);
      for (int r = 0; r < used; ++r) {
        const bool inside = ix[r] >= 0 && ix[r] < source_width && iy[r] >= 0 && iy[r] < source_height;
        target[(first + r) * width + x] =
            inside ? source[static_cast<std::ptrdiff_t>(iy[r]) * source_width + ix[r]] : outside;
      }
    }
  }
}

const char* size_failure(const grey_image& page) {
  if (page.width < snip_width || page.height < snip_height) return "the page is smaller than 512 x 480 pixels";
  if (page.width > most_page_pixels || page.height > most_page_pixels)
    return "the page is larger than 2000 x 2000 pixels";
  return nullptr;
}

}  // namespace

void require_pages(const char* function, std::span<const grey_image> pages) {
  for (const grey_image& page : pages)
    require_elements(function, "a page", page.pixels.size(), 1,
                     static_cast<std::size_t>(page.width) * static_cast<std::size_t>(page.height));
}

placement segment_print(const grey_image& page, std::uint8_t* snipped, std::uint8_t* foreground) {
  cell_map map;
  placement place;
  place.failure = size_failure(page);
  if (place.failure == nullptr) place.failure = threshold(page, map);
  if (place.failure == nullptr) {
    constexpr int erosions = 3;
    for (int i = 0; i < erosions; ++i) erode(map);
    if (!keep_largest_component(map)) place.failure = "no dark area is more than some millimetres wide";
  }
  if (place.failure != nullptr) {
    std::memset(snipped, 0, snip_pixels);
    std::memset(foreground, 0, cells);
    return place;
  }
  fill_holes(map);
  place.radians = angle(map);
  const pixel at = centre(map, centroid(map), place.radians);
  place.centre_x = at.x;
  place.centre_y = at.y;
  snip(page.pixels.data(), page.width, page.height, at.x, at.y, place.radians, 255, snip_width, snip_height,
       snipped);
  snip(map.is_set.data(), map.width, map.height, at.x / cell, at.y / cell, place.radians, 0, cell_columns,
       cell_rows, foreground);
  return place;
}

void segment(const device& dev, std::span<const grey_image> pages, std::span<std::uint8_t> snips,
             std::span<std::uint8_t> foreground, std::span<placement> placements) {
  const ieee_environment here;
  const std::size_t n = pages.size();
  require_elements("segment", "snips", snips.size(), n, snip_pixels);
  require_elements("segment", "foreground", foreground.size(), n, cells);
  require_elements("segment", "placements", placements.size(), n, 1);
  require_pages("segment", pages);
  for_each_print(dev, n, [&](std::size_t i) {
    placements[i] = segment_print(pages[i], &snips[i * snip_pixels], &foreground[i * cells]);
  });
}

}  // namespace vouch::fingerprint
