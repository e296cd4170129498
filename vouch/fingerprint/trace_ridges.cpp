#include <array>

#include <vouch/fingerprint/stages.hpp>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/gpu_stages.hpp>
#include <vouch/fingerprint/print_stages.hpp>
#include <vouch/fingerprint/ridge_tracer.hpp>

namespace vouch::fingerprint {
namespace {

using namespace ridge_tracer;

using plane = std::array<float, fine_size>;
using place_grid = std::array<place, fine_size>;

void smooth(plane& p) {
  for (int k = 0; k < smoothings; ++k) {
    const plane from = p;
    for (int row = 0; row < fine_rows; ++row)
      for (int column = 0; column < fine_columns; ++column)
        p[static_cast<std::size_t>(row * fine_columns + column)] = smoothed(from.data(), row, column);
  }
}

place_grid places_of(const float* averages, const std::uint8_t* foreground) {
  std::array<bool, fine_size> kept;
  plane x, y;
  for (int i = 0; i < fine_size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    kept[at] = is_foreground(foreground, i / fine_columns, i % fine_columns);
    x[at] = kept[at] ? averages[i] : 0.0F;
    y[at] = kept[at] ? averages[fine_size + i] : 0.0F;
  }
  smooth(x);
  smooth(y);
  place_grid places;
  for (std::size_t i = 0; i < fine_size; ++i) places[i] = place_of(x[i], y[i], kept[i]);
  return places;
}

}  // namespace

bool is_whorl(const float* averages, const std::uint8_t* foreground) {
  const place_grid grid = places_of(averages, foreground);
  const auto places = [&](int at) { return grid[static_cast<std::size_t>(at)]; };
  for (int i = 0; i < starts; ++i)
    if (has_lobe(places, start_of(i))) return true;
  return false;
}

void trace_ridges(const device& dev, std::span<const float> averages, std::span<const std::uint8_t> foreground,
                  std::span<std::uint8_t> whorls) {
  const ieee_environment here;
  const std::size_t n = whorls.size();
  require_elements("trace_ridges", "averages", averages.size(), n, std::size_t{2} * fine_size);
  require_elements("trace_ridges", "foreground", foreground.size(), n, cells);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return gpu::trace_ridges(dev, averages, foreground, whorls);
  for_each_print(dev, n, [&](std::size_t i) {
    whorls[i] = is_whorl(&averages[i * 2 * fine_size], &foreground[i * cells]);
  });
}

}  // namespace vouch::fingerprint
