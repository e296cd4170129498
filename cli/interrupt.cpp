#include "interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <string_view>
#include <vouch/text/file.hpp>

namespace vouch::cli {
namespace {

constexpr itimerspec patience{{0, 0}, {0, 333'000'000}};

cancellation request;
std::atomic<int> received{0};
std::atomic<bool> in_peace{false};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");
timer_t deadline{};

// Calls nothing that is not async-signal-safe.
[[noreturn]] void end_now() {
  remove_unfinished_files();
  constexpr std::string_view text = "vouch: interrupted\n";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  _exit(128 + interrupt_signal());
}

void take_signal(int number) {
  if (int none = 0; !received.compare_exchange_strong(none, number)) end_now();
  request.request();
  timer_settime(deadline, 0, &patience, nullptr);
}

void lose_patience(int) {
  if (!in_peace) end_now();
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

bool is_ignored(int number) {
  struct sigaction before {};
  return sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

}  // namespace

const cancellation& catch_interrupts() {
  sigevent alarm{};
  alarm.sigev_notify = SIGEV_SIGNAL;
  alarm.sigev_signo = SIGALRM;
  timer_create(CLOCK_MONOTONIC, &alarm, &deadline);
  handle(SIGALRM, lose_patience);
  sigset_t alone;
  sigemptyset(&alone);
  sigaddset(&alone, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alone, nullptr);  // the parent process may have blocked it
  handle(SIGINT, take_signal);
  handle(SIGTERM, take_signal);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, take_signal);  // nohup
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  return request;
}

int interrupt_signal() { return received.load(std::memory_order_relaxed); }

void finish_in_peace() {
  if (interrupt_signal() == 0) return;
  in_peace = true;
  request.clear();
}

bool goes_on() {
  if (interrupt_signal() == 0) return true;
  finish_in_peace();
  return false;
}

}  // namespace vouch::cli
