// .npy files: the magic is given, so that every input gets as far as the header.
#include <string>

#include <fuzz/vectors_check.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string file = "\x93NUMPY";
  file.append(reinterpret_cast<const char*>(data), size);
  vouch::fuzz::check_vectors(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  return 0;
}
