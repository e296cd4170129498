// vouch/fingerprint/whole_file.hpp -- the bytes of a small file; private.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/text/file.hpp>

namespace vouch::fingerprint {

/// Throws  file_error   missing, unreadable or a directory
///         parse_error  more bytes than that
inline std::string whole_file(const std::string& path, std::size_t most_bytes) {
  input_file file(path);
  constexpr std::int64_t first_try = 1 << 20;
  std::string bytes(static_cast<std::size_t>(std::min(file.most_bytes(), first_try)) + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    const std::size_t got = file.read(bytes.data() + size, bytes.size() - size);
    size += got;
    if (size < bytes.size()) break;
    if (size > most_bytes) throw parse_error(path, 0, 0, "the file is too large to be one of its kind");
    bytes.resize(2 * bytes.size());
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace vouch::fingerprint
