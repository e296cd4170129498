#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <vouch/fingerprint/stages.hpp>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/gpu_stages.hpp>
#include <vouch/fingerprint/print_outline.hpp>
#include <vouch/fingerprint/print_stages.hpp>

namespace vouch::fingerprint {
namespace {

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
segmentation threshold(const grey_image& page, cell_map& best) {
  best.width = page.width / cell;
  best.height = page.height / cell;
  cell_map darkest, candidate;
  darkest.width = candidate.width = best.width;
  darkest.height = candidate.height = best.height;
  darkness range;
  for (int y = 0; y < best.height; ++y)
    darkest_of_cells(page.pixels.data() + static_cast<std::ptrdiff_t>(y) * cell * page.width, page.width,
                     best.width, &darkest.at(0, y), range);
  if (range.least == range.most) return segmentation::uniform;
  int fewest = -1, cells_of_last = 0;
  float share = first_share;
  for (int k = 0; k < thresholds; ++k, share += share_step) {
    const int limit = threshold_at(share, range.least, range.most);
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
  if (fewest >= 0) return segmentation::found;
  return cells_of_last < least_cells ? segmentation::too_light : segmentation::too_dark;
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
  return {mean_cell(sum_x, count), mean_cell(sum_y, count)};
}

float rotation(const cell_map& map) {
  const auto left = regress(map.height, [&](int y) {
    for (int x = 0; x < map.width; ++x)
      if (map.at(x, y)) return x;
    return no_edge;
  });
  const auto top = regress(map.width, [&](int x) {
    for (int y = 0; y < map.height; ++y)
      if (map.at(x, y)) return y;
    return no_edge;
  });
  const auto right = regress(map.height, [&](int y) {
    for (int x = map.width - 1; x >= 0; --x)
      if (map.at(x, y)) return x;
    return no_edge;
  });
  return rotation_of(left, top, right);
}

// Below the first tilted row that lies on the page and has enough foreground; else about the centroid.
pixel centre(const cell_map& map, float radians) {
  const tilted_rows rows(centroid(map), radians);
  for (int k = 0; k < map.height; ++k)
    if (rows.begins_print(map.is_set.data(), map.width, map.height, k)) return rows.centre_below(k);
  return rows.centre_at_middle();
}

// target(x, y) := source(that pixel rotated about the centre), `outside` where there is none. Positions are added up
// along a row, as the original does; eight rows at once.
VOUCH_SIMD_CLONES void snip(const std::uint8_t* source, int source_width, int source_height, int centre_x,
                            int centre_y, float radians, std::uint8_t outside, int width, int height,
                            std::uint8_t* target) {
  constexpr int rows = simd<double>::width;
  cut_steps at(centre_x, centre_y, radians, width, height);
  for (int first = 0; first < height; first += rows) {
    const int used = std::min(rows, height - first);
    lanes<double> px{}, py{};
    for (int r = 0; r < used; ++r, at.next_row()) {
      px[r] = at.x;
      py[r] = at.y;
    }
    for (int x = 0; x < width; ++x, px += at.c, py -= at.s) {
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

}  // namespace

void require_pages(const char* function, std::span<const grey_image> pages) {
  for (const grey_image& page : pages)
    require_elements(function, "a page", page.pixels.size(), 1,
                     static_cast<std::size_t>(page.width) * static_cast<std::size_t>(page.height));
}

placement segment_print(const grey_image& page, std::uint8_t* snipped, std::uint8_t* foreground) {
  cell_map map;
  placement place;
  segmentation state = judge_size(page.width, page.height);
  if (state == segmentation::found) state = threshold(page, map);
  if (state == segmentation::found) {
    for (int i = 0; i < erosions; ++i) erode(map);
    if (!keep_largest_component(map)) state = segmentation::too_thin;
  }
  if (state != segmentation::found) {
    place.failure = failure_of(state);
    std::memset(snipped, 0, snip_pixels);
    std::memset(foreground, 0, cells);
    return place;
  }
  fill_holes(map);
  place.radians = rotation(map);
  const pixel at = centre(map, place.radians);
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
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return gpu::segment(dev, pages, snips, foreground, placements);
  for_each_print(dev, n, [&](std::size_t i) {
    placements[i] = segment_print(pages[i], &snips[i * snip_pixels], &foreground[i * cells]);
  });
}

}  // namespace vouch::fingerprint
