// cli/sign_of_life.hpp -- what takes long and says nothing itself.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "console.hpp"

namespace vouch::cli {

/// While it lives, stderr says by time what is under way: on a terminal in the progress line, else in a line of
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

}  // namespace vouch::cli
