// bench/file_timing.hpp -- the fastest of several runs, and a folder for files that are measured.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <string>

#include "suite.hpp"

namespace vouch::bench {

/// A folder that goes when the suite ends.
class scratch_folder {
 public:
  explicit scratch_folder(const std::string& suite)
      : path_(std::filesystem::temp_directory_path() / ("vouch-" + suite + "-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Seconds of one call.
template <class Body>
double seconds_of(Body body) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  body();
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// Seconds of the fastest of several calls, after one that warms the caches up: options.repeat of them, else
/// three and more until they have taken a second, nine at most.
template <class Body>
double fastest(const suite_options& options, Body body) {
  double best = std::numeric_limits<double>::infinity(), spent = 0;
  const std::int64_t least = options.repeat > 0 ? options.repeat : 3, most = options.repeat > 0 ? least : 9;
  body();
  for (std::int64_t k = 0; k < most && (k < least || spent < 1) && !options.stop(); ++k) {
    const double seconds = seconds_of(body);
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

}  // namespace vouch::bench
