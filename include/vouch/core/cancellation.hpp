// vouch/core/cancellation.hpp -- long work that can be asked to end.
#pragma once
#include <atomic>

#include <vouch/core/error.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// The caller asked for the end before the work was done.
class cancelled : public error {
  using error::error;
};

/// A request to end, made from anywhere: another thread, or a signal handler.
class cancellation {
 public:
  /// Async-signal-safe, and so is requested().
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  /// For work to come.
  void clear() noexcept { requested_.store(false, std::memory_order_relaxed); }
  bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers write it");
  std::atomic<bool> requested_{false};
};

/// While it lives, work that this thread gives to the library listens to a request.
///
///   vouch::cancellation stop;                  // somebody else calls stop.request()
///   const vouch::cancellation_scope listens(stop);
///   vouch::prove_nonsingular(...);             // throws vouch::cancelled soon after
///
/// Result  After a request iterations end with the status interrupted and the iterate so far; what else
///         takes long throws cancelled: no file is left behind, and arrays that it was to fill are of no use.
///         Calls of LAPACK and kernels of a GPU are waited for.
/// Memory  The request must outlive the scope. Scopes nest; the innermost counts.
/// Cost    A look at the flag every few milliseconds of work.
class cancellation_scope {
 public:
  explicit cancellation_scope(const cancellation& request) noexcept;
  /// For a thread that works on a part of another one's task: what the other one listened to; may be none.
  explicit cancellation_scope(const class cancellation_probe& heard) noexcept;
  ~cancellation_scope();
  cancellation_scope(const cancellation_scope&) = delete;
  cancellation_scope& operator=(const cancellation_scope&) = delete;

 private:
  const cancellation* before_;
};

/// What a long loop asks: made before the loop, and before a parallel region, whose threads have no scope of
/// their own. No exception leaves such a region: look at requested() in it, leave its loops, check() behind it.
class cancellation_probe {
 public:
  /// What the scope of the calling thread listens to.
  cancellation_probe() noexcept;
  bool requested() const noexcept { return request_ != nullptr && request_->requested(); }
  /// Throws  cancelled  the end was requested
  void check() const {
    if (requested()) stop();
  }

 private:
  friend class cancellation_scope;
  [[noreturn]] static void stop();
  const cancellation* request_;
};

/// check() of the calling thread's request, for what is long but no loop.
inline void check_cancellation() { cancellation_probe().check(); }

}  // namespace vouch
