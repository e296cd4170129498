#include "interrupt.hpp"

#include <atomic>
#include <csignal>
#include <vouch/text/file.hpp>

namespace vouch::cli {
namespace {

std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

void take_signal(int number) {
  if (received.exchange(number, std::memory_order_relaxed) == 0) return;
  remove_unfinished_files();
  signal(number, SIG_DFL);
  raise(number);  // delivered when this handler returns
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = take_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupt_signal() { return received.load(std::memory_order_relaxed); }

}  // namespace vouch::cli
