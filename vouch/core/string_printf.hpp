// vouch/core/string_printf.hpp -- numbers within a text, for messages.
#pragma once
#include <string>

namespace vouch {

/// The text that printf would write, of any length; the compiler checks that the values fit the format.
[[gnu::format(printf, 1, 2)]] std::string string_printf(const char* format, ...);

}  // namespace vouch
