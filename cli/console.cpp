#include "console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace vouch::cli {

void to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    const auto next = static_cast<unsigned char>(k + 1 < text.size() ? text[k + 1] : 0);
    if (byte == '\n')
      shown += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      shown += fmt::format("\\x{:02x}", byte);
    else if (byte == 0xc2 && next >= 0x80 && next < 0xa0)  // U+0080 to U+009F
      shown += fmt::format("\\x{:02x}", (++k, next));
    else
      shown += text[k];
  }
  return shown;
}

void console::line(std::string_view text) const {
  if (level_ < verbosity::normal) return;
  const std::size_t blank = std::min(text.find_first_not_of('\n'), text.size());
  to_stderr(fmt::format("{}{}\n", text.substr(0, blank), printable(text.substr(blank))));
}

void console::warning(std::string_view text) const {
  if (level_ >= verbosity::warnings) to_stderr(fmt::format("vouch: warning: {}\n", printable(text)));
}

bool wants_colour(int file_descriptor) {
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && isatty(file_descriptor) == 1;
}

std::string good(std::string_view text) { return fmt::format("\033[1;32m{}\033[0m", text); }
std::string bad(std::string_view text) { return fmt::format("\033[1;31m{}\033[0m", text); }

progress_line::progress_line(const console& log)
    : enabled_(log.level() > verbosity::silent && isatty(STDERR_FILENO) == 1) {}

bool progress_line::due() const { return enabled_ && clock_.seconds() >= next_; }

void progress_line::show(std::string_view text) {
  if (!enabled_) return;
  to_stderr(fmt::format("\r\033[K{}", text));
  shown_ = true;
  next_ = clock_.seconds() + 0.1;
}

void progress_line::erase() {
  if (!shown_) return;
  to_stderr("\r\033[K");
  shown_ = false;
}

}  // namespace vouch::cli
