// Any bytes are an image or a parse_error, in every format.
#include <cstdint>
#include <cstdlib>

#include <vouch/core/error.hpp>
#include <vouch/fingerprint/grey_image.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto image =
        vouch::fingerprint::parse_grey_image("fuzz", {reinterpret_cast<const char*>(data), size}, {16, 4});
    const auto pixels = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
    if (image.width < 1 || image.height < 1 || image.pixels.size() != pixels) std::abort();
  } catch (const vouch::parse_error&) {
  }
  return 0;
}
