#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include <vouch/fingerprint/stages.hpp>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/gpu_stages.hpp>
#include <vouch/fingerprint/print_stages.hpp>
#include <vouch/fingerprint/slit_vectors.hpp>

namespace vouch::fingerprint {
namespace {

typedef std::int16_t level16 __attribute__((vector_size(32)));
typedef std::uint8_t byte16 __attribute__((vector_size(16)));

constexpr int reach = 4;  // of a slit from its middle

struct offset {
  int x, y;
};

// The taps of a slit are these two steps and their opposites.
struct slit {
  offset near, far;
};

constexpr std::array<slit, slits> pattern{{{{0, -2}, {0, -4}},
                                           {{1, -2}, {2, -4}},
                                           {{2, -2}, {4, -4}},
                                           {{2, -1}, {4, -2}},
                                           {{2, 0}, {4, 0}},
                                           {{2, 1}, {4, 2}},
                                           {{2, 2}, {4, 4}},
                                           {{1, 2}, {2, 4}}}};

// The grey levels of rows y - 4 to y + 4 as 16-bit numbers; row r is at [r % 16].
using rows16 = std::int16_t[16][snip_width];

VOUCH_SIMD_INLINE void widen(const std::uint8_t* from, std::int16_t* to) {
  for (int x = 0; x < snip_width; ++x) to[x] = from[x];
}

VOUCH_SIMD_INLINE level16 levels_at(const rows16& rows, int x, int y) {
  level16 v;
  std::memcpy(&v, &rows[y & 15][x], sizeof v);
  return v;
}

// The indices of 16 pixels from (x, y) on.
VOUCH_SIMD_INLINE byte16 indices_of(const rows16& rows, int x, int y) {
  constexpr std::int16_t least_range = 10;
  level16 sum{}, least{}, most{}, least_at{}, most_at{};
#pragma GCC unroll 8
  for (int k = 0; k < slits; ++k) {
    const auto [near, far] = pattern[static_cast<std::size_t>(k)];
    const level16 s = levels_at(rows, x + near.x, y + near.y) + levels_at(rows, x - near.x, y - near.y) +
                      levels_at(rows, x + far.x, y + far.y) + levels_at(rows, x - far.x, y - far.y);
    sum += s;
    if (k == 0) {
      least = most = s;
      continue;
    }
    const level16 here = level16{} + static_cast<std::int16_t>(k);
    const auto less = s<least, more = s> most;
    least_at = less ? here : least_at;
    least = less ? s : least;
    most_at = more ? here : most_at;
    most = more ? s : most;
  }
  const auto valley = 8 * (least + most + 4 * levels_at(rows, x, y)) > 3 * sum;
  const level16 none = level16{} + static_cast<std::int16_t>(no_orientation);
  const level16 index = most - least >= least_range ? (valley ? most_at : least_at) : none;
  return __builtin_convertvector(index, byte16);
}

VOUCH_SIMD_CLONES void find_in_snip(const std::uint8_t* enhanced, std::uint8_t* indices) {
  rows16 rows;
  std::memset(indices, no_orientation, snip_pixels);
  for (int y = 0; y < 2 * reach; ++y) widen(enhanced + y * snip_width, rows[y]);
  for (int y = reach; y < snip_height - reach; ++y) {
    widen(enhanced + (y + reach) * snip_width, rows[(y + reach) & 15]);
    constexpr int width = sizeof(byte16), last = snip_width - reach - width;
    for (int x = reach;; x = x + width < last ? x + width : last) {
      const byte16 found = indices_of(rows, x, y);
      std::memcpy(indices + y * snip_width + x, &found, sizeof found);
      if (x == last) break;
    }
  }
}

struct vector {
  float x = 0, y = 0;
};

// How many of the side * side pixels have each orientation, as the mean of their vectors.
template <int side>
VOUCH_SIMD_INLINE vector average(const std::uint8_t* first, const slit_vectors& all) {
  typedef std::uint8_t bytes __attribute__((vector_size(side)));
  bytes counts[slits] = {};
  for (int y = 0; y < side; ++y) {
    bytes row;
    std::memcpy(&row, first + y * snip_width, sizeof row);
    for (int k = 0; k < slits; ++k) counts[k] -= reinterpret_cast<bytes>(row == static_cast<std::uint8_t>(k));
  }
  vector sum;
  for (std::size_t k = 0; k < slits; ++k) {
    int count = 0;
    std::uint8_t parts[side];
    std::memcpy(parts, &counts[k], sizeof parts);
    for (const std::uint8_t part : parts) count += part;
    sum.x += all.x[k] * static_cast<float>(count);
    sum.y += all.y[k] * static_cast<float>(count);
  }
  return sum;
}

VOUCH_SIMD_CLONES void average_snip(const std::uint8_t* indices, pixel first, const slit_vectors& all,
                                    float* averages) {
  constexpr int side = 16;
  for (int row = 0; row < grid_rows; ++row)
    for (int column = 0; column < grid_columns; ++column) {
      const int x = first.x + column * side, y = first.y + row * side, at = row * grid_columns + column;
      const bool inside =
          x >= reach && y >= reach && x + side <= snip_width - reach && y + side <= snip_height - reach;
      const vector v = inside ? average<side>(indices + y * snip_width + x, all) : vector{};
      averages[at] = v.x;
      averages[grid_size + at] = v.y;
    }
}

VOUCH_SIMD_CLONES void average_snip_finely(const std::uint8_t* indices, const slit_vectors& all,
                                           float* averages) {
  constexpr int side = 8, columns = fine_columns + 1, rows = fine_rows + 1;
  vector part[rows][columns];
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      part[row][column] =
          average<side>(indices + (reach + row * side) * snip_width + reach + column * side, all);
  for (int row = 0; row < fine_rows; ++row)
    for (int column = 0; column < fine_columns; ++column) {
      const vector &a = part[row][column], &b = part[row][column + 1], &c = part[row + 1][column],
                   &d = part[row + 1][column + 1];
      averages[row * fine_columns + column] = a.x + b.x + c.x + d.x;
      averages[fine_size + row * fine_columns + column] = a.y + b.y + c.y + d.y;
    }
}

slit_vectors computed_vectors() {
  constexpr double pi = 3.14159;
  const std::array<double, slits> angles{pi / 2, std::atan(2.0),  pi / 4,  std::atan(0.5),
                                         0,      -std::atan(0.5), -pi / 4, -std::atan(2.0)};
  slit_vectors all;
  for (std::size_t k = 0; k < slits; ++k) {
    const double twice = 2.0 * static_cast<double>(static_cast<float>(angles[k]));
    all.x[k] = static_cast<float>(std::cos(twice) / 256);
    all.y[k] = static_cast<float>(std::sin(twice) / 256);
  }
  return all;
}

}  // namespace

const slit_vectors& vectors_of_slits() {
  static const slit_vectors all = computed_vectors();
  return all;
}

void find_orientations_of_print(const std::uint8_t* enhanced, std::uint8_t* indices) {
  find_in_snip(enhanced, indices);
}

void average_print(const std::uint8_t* indices, pixel core, float* averages) {
  constexpr int frame = 16;
  average_snip(indices, {frame + core.x - standard_core.x, frame + core.y - standard_core.y},
               vectors_of_slits(), averages);
}

void average_print_finely(const std::uint8_t* indices, float* averages) {
  average_snip_finely(indices, vectors_of_slits(), averages);
}

void find_orientations(const device& dev, std::span<const std::uint8_t> enhanced,
                       std::span<std::uint8_t> indices) {
  const ieee_environment here;
  const std::size_t n = prints_in("find_orientations", "snips", enhanced.size(), snip_pixels);
  require_elements("find_orientations", "indices", indices.size(), n, snip_pixels);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return gpu::find_orientations(dev, enhanced, indices);
  for_each_print(dev, n, [&](std::size_t i) {
    find_orientations_of_print(&enhanced[i * snip_pixels], &indices[i * snip_pixels]);
  });
}

void average_orientations(const device& dev, std::span<const std::uint8_t> indices,
                          std::span<const pixel> cores, std::span<float> averages) {
  const ieee_environment here;
  const std::size_t n = prints_in("average_orientations", "indices", indices.size(), snip_pixels);
  if (!cores.empty()) require_elements("average_orientations", "cores", cores.size(), n, 1);
  require_elements("average_orientations", "averages", averages.size(), n, orientation_size);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return gpu::average_orientations(dev, indices, cores, averages);
  for_each_print(dev, n, [&](std::size_t i) {
    average_print(&indices[i * snip_pixels], cores.empty() ? standard_core : cores[i],
                  &averages[i * orientation_size]);
  });
}

void average_finely(const device& dev, std::span<const std::uint8_t> indices, std::span<float> averages) {
  const ieee_environment here;
  const std::size_t n = prints_in("average_finely", "indices", indices.size(), snip_pixels);
  require_elements("average_finely", "averages", averages.size(), n, std::size_t{2} * fine_size);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return gpu::average_finely(dev, indices, averages);
  for_each_print(dev, n, [&](std::size_t i) {
    average_print_finely(&indices[i * snip_pixels], &averages[i * 2 * fine_size]);
  });
}

}  // namespace vouch::fingerprint
