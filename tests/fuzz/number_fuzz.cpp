// Numbers against the C library, which rounds correctly, and against plain 128-bit arithmetic.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>

#include <fuzz/memory_file.hpp>
#include <vouch/text/number.hpp>

namespace {

using namespace vouch;
using fuzz::memory_file;

bool digit(char c) { return c >= '0' && c <= '9'; }

// Length of [+-] (digits [. digits] | . digits) [e [+-] digits], 0 where there is none.
std::size_t grammar(const std::string& text) {
  std::size_t k = !text.empty() && (text[0] == '+' || text[0] == '-');
  std::size_t digits = 0;
  for (; k < text.size() && digit(text[k]); ++k) ++digits;
  if (k < text.size() && text[k] == '.')
    for (++k; k < text.size() && digit(text[k]); ++k) ++digits;
  if (digits == 0) return 0;
  if (k == text.size() || (text[k] != 'e' && text[k] != 'E')) return k;
  std::size_t e = k + 1;
  if (e < text.size() && (text[e] == '+' || text[e] == '-')) ++e;
  if (e == text.size() || !digit(text[e])) return k;
  while (e < text.size() && digit(text[e])) ++e;
  return e;
}

void check_real(const std::string& text) {
  const auto found = parse_real(text.data(), text.data() + text.size());
  const std::size_t length = grammar(text);
  memory_file::require(found.end == text.data() + length);
  memory_file::require((found.error == number_error::malformed) == (length == 0));
  if (length == 0) return;
  const double expected = std::strtod(text.substr(0, length).c_str(), nullptr);
  memory_file::require(std::isinf(expected) == (found.error == number_error::overflow));
  if (!std::isinf(expected))
    memory_file::require(std::bit_cast<std::uint64_t>(expected) == std::bit_cast<std::uint64_t>(found.value));
}

void check_integer(const std::string& text) {
  const auto found = parse_integer(text.data(), text.data() + text.size());
  const std::size_t sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  std::size_t k = sign;
  long double value = 0;  // exact up to 2^64, and past that far enough
  for (; k < text.size() && digit(text[k]); ++k) value = value * 10 + (text[k] - '0');
  if (text[0] == '-') value = -value;
  if (k == sign) {
    memory_file::require(found.error == number_error::malformed && found.end == text.data());
    return;
  }
  memory_file::require(found.end == text.data() + k);
  const bool fits = value >= -0x1p63L && value < 0x1p63L;
  memory_file::require(fits == (found.error == number_error::none));
  if (fits) memory_file::require(static_cast<long double>(found.value) == value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_real(text);
  check_integer(text);
  return 0;
}
