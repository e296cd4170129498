// vouch/fingerprint/big_endian.hpp -- whole numbers of 32 bits as files have them, the highest byte first; private.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace vouch::fingerprint {

/// The first four bytes, which must be there.
inline std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

inline std::string big_endian_bytes(std::uint32_t x) {
  return {static_cast<char>(x >> 24), static_cast<char>(x >> 16), static_cast<char>(x >> 8),
          static_cast<char>(x)};
}

}  // namespace vouch::fingerprint
