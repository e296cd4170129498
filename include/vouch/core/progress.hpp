// vouch/core/progress.hpp -- how far the work of this process has come, for a thread that shows it.
#pragma once
#include <atomic>
#include <cstdint>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Of the task that began last: a file that is read, pieces that are written. Any thread adds, any looks.
class progress {
 public:
  static void begin(std::int64_t total) noexcept {
    done_.store(0, std::memory_order_relaxed);
    total_.store(total, std::memory_order_relaxed);
  }
  static void add(std::int64_t done) noexcept { done_.fetch_add(done, std::memory_order_relaxed); }
  /// From 0 to 1; 0 where nothing is known.
  static double fraction() noexcept {
    const std::int64_t total = total_.load(std::memory_order_relaxed);
    const double part =
        total > 0 ? static_cast<double>(done_.load(std::memory_order_relaxed)) / static_cast<double>(total) : 0;
    return part < 1 ? part : 1;
  }

 private:
  static inline std::atomic<std::int64_t> done_{0}, total_{0};
};

}  // namespace vouch
