// vouch/core/spin.hpp -- waiting for another thread that is nearly done; private.
#pragma once
#include <thread>

namespace vouch::detail {

/// Whether ready() becomes true within so many looks of 10 to 50 ns.
template <class Ready>
bool spin(int looks, const Ready& ready) {
  for (int look = 0; look < looks; ++look) {
    if (ready()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return ready();
}

/// Returns once ready() is true. After some ten microseconds other threads get this one's core.
template <class Ready>
void spin_until(const Ready& ready) {
  if (spin(512, ready)) return;
  while (!ready()) std::this_thread::yield();
}

}  // namespace vouch::detail
