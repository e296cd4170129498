#include "interrupt.hpp"

#include <atomic>
#include <csignal>

namespace vouch::cli {
namespace {

std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int number) { received.store(number, std::memory_order_relaxed); };
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupt_signal() { return received.load(std::memory_order_relaxed); }

}  // namespace vouch::cli
