// cli/sign_of_life.hpp -- what takes long and says nothing itself.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "console.hpp"

namespace vouch::cli {

/// While it lives, stderr says by time what is under way, how far it is and how long that may take, where the library
/// says so: on a terminal in the progress line, else in a line of
/// the log after 4 seconds, then after twice as long each time. Nobody else writes to stderr meanwhile.
class sign_of_life {
 public:
  /// what: "proving". log must outlive the object.
  sign_of_life(const console& log, std::string what);
  ~sign_of_life();
  sign_of_life(const sign_of_life&) = delete;
  sign_of_life& operator=(const sign_of_life&) = delete;

 private:
  void run();

  const console& log_;
  std::string what_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

/// What work() returns, with a sign of life while it works.
template <class Work>
auto with_sign_of_life(const console& log, std::string what, const Work& work) {
  const sign_of_life sign(log, std::move(what));
  return work();
}

}  // namespace vouch::cli
