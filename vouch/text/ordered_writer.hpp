// vouch/text/ordered_writer.hpp -- text that several threads print and a file takes in order; private.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/progress.hpp>
#include <vouch/text/file.hpp>

namespace vouch {

/// Lets threads act one after the other, in the order of the numbers 0, 1, ... of their pieces of work.
class ordered_turns {
 public:
  /// Waits, asleep, until every number before this one has had its turn, then calls act(); false where the work has
  /// ended. What act() throws ends it.
  template <class Act>
  bool take(std::int64_t number, Act act) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next_ == number || ended_; });
    if (ended_) return false;
    try {
      act();
    } catch (...) {
      failure_ = std::current_exception();
      ended_ = true;
    }
    ++next_;
    changed_.notify_all();
    return !ended_;
  }
  /// Ends the work: no turn comes any more. Of several failures the first counts.
  void end(std::exception_ptr failure = nullptr) {
    const std::lock_guard lock(mutex_);
    if (!ended_) failure_ = std::move(failure);
    ended_ = true;
    changed_.notify_all();
  }
  bool ended() const { return ended_; }
  /// What ended it, if that was a failure; when no thread is at work any more.
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t next_ = 0;
  std::atomic<bool> ended_ = false;
  std::exception_ptr failure_;
};

/// Each of at most `threads` threads makes a printer, whose print(number) returns the text of that piece, valid until
/// the next; writes the texts of the numbers 0 to pieces - 1 in their order.
///
/// Throws  what print and the file throw, the first in that order; cancelled
template <class MakePrinter>
void write_in_order(atomic_file& file, std::int64_t pieces, int threads, MakePrinter make_printer) {
  ordered_turns turns;
  std::atomic<std::int64_t> next = 0;
  progress::begin(pieces);
  const cancellation_probe stop;
  const int team = static_cast<int>(std::clamp<std::int64_t>(pieces, 1, threads));
#pragma omp parallel firstprivate(ieee) num_threads(team)
  {
    auto print = make_printer();
    for (std::int64_t number = next++; number < pieces && !turns.ended(); number = next++) {
      std::string_view text;
      std::exception_ptr failed;
      try {
        stop.check();
        text = print(number);
      } catch (...) {
        failed = std::current_exception();
      }
      turns.take(number, [&] {
        if (failed) std::rethrow_exception(failed);
        file.write(text);
        progress::add(1);
      });
    }
  }
  turns.rethrow_failure();
}

}  // namespace vouch
