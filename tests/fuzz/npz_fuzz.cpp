// .npz archives: read or refused by a parse_error, and every array has as many elements as its shape says.
#include <fuzz/memory_file.hpp>
#include <vouch/core/error.hpp>
#include <vouch/io/npz.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const vouch::fuzz::memory_file file(data, size);
  try {
    for (const vouch::npz_array& member : vouch::read_npz(file.path())) {
      std::size_t elements = 1;
      for (const std::int64_t length : member.array.shape) elements *= static_cast<std::size_t>(length);
      vouch::fuzz::memory_file::require(elements == member.array.values.size());
    }
  } catch (const vouch::parse_error&) {
  }
  return 0;
}
