#include <vouch/fingerprint/gpu_stages.hpp>

#include <algorithm>
#include <vector>

#include <vouch/core/array.hpp>

namespace vouch::fingerprint::gpu {
namespace {

std::int64_t prints_of(std::size_t elements, std::size_t each) {
  return static_cast<std::int64_t>(elements / each);
}

template <class T>
void copy_back(const device& dev, const array<T>& from, std::span<T> to) {
  copy_bytes(to.data(), device::cpu(1), from.data(), dev, to.size_bytes());
}

template <class T>
array<T> room_for(const device& dev, std::span<T> result) {
  return array<T>(dev, static_cast<std::int64_t>(result.size()));
}

}  // namespace

void segment(const device& dev, std::span<const grey_image> pages, std::span<std::uint8_t> snips,
             std::span<std::uint8_t> foreground, std::span<placement> placements) {
  const auto n = static_cast<std::int64_t>(pages.size());
  std::vector<array<std::uint8_t>> pixels;
  std::vector<page_on_gpu> there;
  int most_width = 0, most_height = 0;
  for (const grey_image& page : pages) {
    const segmentation state = judge_size(page.width, page.height);
    pixels.push_back(array<std::uint8_t>::from(dev, std::span<const std::uint8_t>(page.pixels)));
    there.push_back({pixels.back().data(), page.width, page.height, state});
    if (state != segmentation::found) continue;
    most_width = std::max(most_width, page.width);
    most_height = std::max(most_height, page.height);
  }
  const auto descriptions = array<page_on_gpu>::from(dev, std::span<const page_on_gpu>(there));
  auto cut = room_for(dev, snips);
  auto masks = room_for(dev, foreground);
  array<placement_on_gpu> places(dev, n);
  segment(dev, n, most_width, most_height, descriptions.data(), cut.data(), masks.data(), places.data());
  copy_back(dev, cut, snips);
  copy_back(dev, masks, foreground);
  const std::vector<placement_on_gpu> found = places.to_vector();
  for (std::size_t i = 0; i < found.size(); ++i) placements[i] = placement_of(found[i]);
}

void enhance(const device& dev, std::span<const std::uint8_t> snips, std::span<std::uint8_t> enhanced) {
  const auto from = array<std::uint8_t>::from(dev, snips);
  auto to = array<std::uint8_t>::zeros(dev, static_cast<std::int64_t>(enhanced.size()));
  enhance(dev, prints_of(snips.size(), snip_pixels), from.data(), to.data());
  copy_back(dev, to, enhanced);
}

void find_orientations(const device& dev, std::span<const std::uint8_t> enhanced,
                       std::span<std::uint8_t> indices) {
  const auto from = array<std::uint8_t>::from(dev, enhanced);
  auto to = room_for(dev, indices);
  find_orientations(dev, prints_of(enhanced.size(), snip_pixels), from.data(), to.data());
  copy_back(dev, to, indices);
}

void average_orientations(const device& dev, std::span<const std::uint8_t> indices,
                          std::span<const pixel> cores, std::span<float> averages) {
  const auto from = array<std::uint8_t>::from(dev, indices);
  const auto places = array<pixel>::from(dev, cores);
  auto to = room_for(dev, averages);
  average_orientations(dev, prints_of(indices.size(), snip_pixels), from.data(),
                       cores.empty() ? nullptr : places.data(), to.data());
  copy_back(dev, to, averages);
}

void average_finely(const device& dev, std::span<const std::uint8_t> indices, std::span<float> averages) {
  const auto from = array<std::uint8_t>::from(dev, indices);
  auto to = room_for(dev, averages);
  average_finely(dev, prints_of(indices.size(), snip_pixels), from.data(), to.data());
  copy_back(dev, to, averages);
}

void find_cores(const device& dev, std::span<const float> averages, std::span<pixel> cores) {
  const auto from = array<float>::from(dev, averages);
  auto to = room_for(dev, cores);
  find_cores(dev, static_cast<std::int64_t>(cores.size()), from.data(), to.data());
  copy_back(dev, to, cores);
}

void trace_ridges(const device& dev, std::span<const float> averages, std::span<const std::uint8_t> foreground,
                  std::span<std::uint8_t> whorls) {
  const auto from = array<float>::from(dev, averages);
  const auto shown = array<std::uint8_t>::from(dev, foreground);
  auto to = room_for(dev, whorls);
  trace_ridges(dev, static_cast<std::int64_t>(whorls.size()), from.data(), shown.data(), to.data());
  copy_back(dev, to, whorls);
}

}  // namespace vouch::fingerprint::gpu
