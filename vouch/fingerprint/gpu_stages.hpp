// vouch/fingerprint/gpu_stages.hpp -- the stages of prints in the memory of a GPU; private. stages.hpp has the
// contracts. All pointers are to the GPU's memory; work is enqueued there.
#pragma once
#include <cstdint>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/fingerprint/stages.hpp>

namespace vouch::fingerprint::gpu {

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
