// vouch/core/loop_threads.hpp -- how many threads a loop is worth; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>

namespace vouch {

/// Threads for a loop over so many items that take some nanoseconds each: one where a team costs more. Waking
/// one takes microseconds, on a busy machine milliseconds.
inline int loop_threads(int threads, std::int64_t items) { return items < 16384 ? 1 : threads; }
inline int loop_threads(const device& dev, std::int64_t items) { return loop_threads(dev.threads(), items); }

}  // namespace vouch
