#include "sign_of_life.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <utility>

#include <vouch/core/progress.hpp>

namespace vouch::cli {

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
