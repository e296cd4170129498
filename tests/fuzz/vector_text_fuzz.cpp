// Vectors as plain text. Matrix Market and .npy have targets of their own.
#include <fuzz/vectors_check.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0 && (data[0] == '%' || data[0] == 0x1f)) return 0;
  vouch::fuzz::check_vectors(data, size);
  return 0;
}
