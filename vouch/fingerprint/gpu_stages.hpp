// vouch/fingerprint/gpu_stages.hpp -- the stages of prints in the memory of a GPU; private. stages.hpp has the
// contracts. All pointers are to the GPU's memory; work is enqueued there.
#pragma once
#include <cstdint>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/fingerprint/print_outline.hpp>
#include <vouch/fingerprint/stages.hpp>

namespace vouch::fingerprint::gpu {

/// A page, and whether there is something to be looked for.
struct page_on_gpu {
  const std::uint8_t* pixels;
  std::int32_t width, height;
  segmentation state;
};

struct placement_on_gpu {
  std::int32_t centre_x, centre_y;
  float radians;
  segmentation state;
};

inline placement placement_of(const placement_on_gpu& p) {
  return {p.centre_x, p.centre_y, p.radians, failure_of(p.state)};
}

/// No page of those that are looked at is wider or higher than that.
///
/// Memory  An eighth of a byte a pixel of the largest page for each of them, while work goes on.
void segment(const device& dev, std::int64_t n, int most_width, int most_height, const page_on_gpu* pages,
             std::uint8_t* snips, std::uint8_t* foreground, placement_on_gpu* places);
/// The frame of 16 pixels is left as it is: zeros that the caller has put there.
void enhance(const device& dev, std::int64_t n, const std::uint8_t* snips, std::uint8_t* enhanced);
void find_orientations(const device& dev, std::int64_t n, const std::uint8_t* enhanced, std::uint8_t* indices);
/// cores may be nullptr.
void average_orientations(const device& dev, std::int64_t n, const std::uint8_t* indices, const pixel* cores,
                          float* averages);
void average_finely(const device& dev, std::int64_t n, const std::uint8_t* indices, float* averages);
void find_cores(const device& dev, std::int64_t n, const float* averages, pixel* cores);
void trace_ridges(const device& dev, std::int64_t n, const float* averages, const std::uint8_t* foreground,
                  std::uint8_t* whorls);

/// The same on spans in the host's memory, whose sizes fit.
void segment(const device& dev, std::span<const grey_image> pages, std::span<std::uint8_t> snips,
             std::span<std::uint8_t> foreground, std::span<placement> placements);
void enhance(const device& dev, std::span<const std::uint8_t> snips, std::span<std::uint8_t> enhanced);
void find_orientations(const device& dev, std::span<const std::uint8_t> enhanced,
                       std::span<std::uint8_t> indices);
void average_orientations(const device& dev, std::span<const std::uint8_t> indices,
                          std::span<const pixel> cores, std::span<float> averages);
void average_finely(const device& dev, std::span<const std::uint8_t> indices, std::span<float> averages);
void find_cores(const device& dev, std::span<const float> averages, std::span<pixel> cores);
void trace_ridges(const device& dev, std::span<const float> averages, std::span<const std::uint8_t> foreground,
                  std::span<std::uint8_t> whorls);

}  // namespace vouch::fingerprint::gpu
