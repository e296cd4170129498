#include "console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vouch/core/progress.hpp>

#include "usage.hpp"

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

namespace {

constexpr std::string_view colour_choices[] = {"auto", "always", "never"};
std::string_view colour = colour_choices[0];

bool wants_colour(int file_descriptor) {
  if (colour != "auto") return colour == "always";
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && isatty(file_descriptor) == 1;
}

}  // namespace

void set_colour(std::string_view when) {
  const auto* const found = std::find(std::begin(colour_choices), std::end(colour_choices), when);
  if (found == std::end(colour_choices))
    throw usage_error(fmt::format("option --color: unknown value '{}'", when),
                      "valid values: " + either(colour_choices));
  colour = *found;
}

std::string shaded(shade tone, std::string_view text, int file_descriptor) {
  if (!wants_colour(file_descriptor)) return std::string(text);
  return fmt::format("\033[1;{}m{}\033[0m", static_cast<int>(tone), text);
}

void console::line(std::string_view text) const {
  if (level_ < verbosity::normal) return;
  const std::size_t blank = std::min(text.find_first_not_of('\n'), text.size());
  to_stderr(fmt::format("{}{}\n", text.substr(0, blank), printable(text.substr(blank))));
}

void console::warning(std::string_view text) const {
  if (level_ >= verbosity::warnings)
    to_stderr(
        fmt::format("vouch: {} {}\n", shaded(shade::warning, "warning:", STDERR_FILENO), printable(text)));
}

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

sign_of_life::sign_of_life(const console& log, std::string what) : log_(log), what_(std::move(what)) {
  progress::begin(0);
  if (log.level() == verbosity::silent) return;
  // Signals are the business of the thread that works: it may hold names of files.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

sign_of_life::~sign_of_life() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void sign_of_life::run() {
  const stopwatch clock;
  progress_line progress(log_);
  double next_line = 4;
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::milliseconds(500), [this] { return end_; })) {
    const double seconds = clock.seconds(), part = progress::fraction();
    std::string text = fmt::format("{}, {:.0f} s", what_, seconds);
    if (part > 0.01 && part < 1)
      text += fmt::format(", {:.0f} %, about {:.0f} s left", 100 * part, seconds * (1 - part) / part);
    if (progress.due()) progress.show(text);
    if (clock.seconds() < next_line) continue;
    next_line *= 2;
    if (isatty(STDERR_FILENO) != 1) log_.line(fmt::format("           {}", text));
  }
}

}  // namespace vouch::cli
