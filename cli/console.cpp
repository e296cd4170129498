#include "console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace vouch::cli {

void console::line(std::string_view text) const {
  if (level_ >= verbosity::normal) fmt::print(stderr, "{}\n", text);
}

void console::warning(std::string_view text) const {
  if (level_ >= verbosity::warnings) fmt::print(stderr, "vouch: warning: {}\n", text);
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
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
  shown_ = true;
  next_ = clock_.seconds() + 0.1;
}

void progress_line::erase() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace vouch::cli
