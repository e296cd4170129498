// vouch/fingerprint/whole_file.hpp -- the bytes of a file that fits in memory; private.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/text/file.hpp>

namespace vouch::fingerprint {

/// The bytes of a file, in a buffer that grows as it must.
///
/// Throws  file_error   missing, unreadable or a directory
///         parse_error  more than most_bytes
inline std::string_view whole_file(const std::string& path, std::size_t most_bytes, std::vector<char>& buffer) {
  input_file file(path);
  constexpr std::size_t first_try = 1 << 20;
  if (buffer.empty()) buffer.resize(std::min(first_try, most_bytes + 1));
  for (std::size_t size = 0;;) {
    size += file.read(buffer.data() + size, buffer.size() - size);
    if (size > most_bytes) throw parse_error(path, 0, 0, "the file is too large to be one of its kind");
    if (size < buffer.size()) return {buffer.data(), size};
    buffer.resize(std::min(2 * buffer.size(), most_bytes + 1));
  }
}

/// The same as a string.
inline std::string whole_file(const std::string& path, std::size_t most_bytes) {
  std::vector<char> buffer;
  return std::string(whole_file(path, most_bytes, buffer));
}

}  // namespace vouch::fingerprint
