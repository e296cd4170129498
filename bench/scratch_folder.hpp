// bench/scratch_folder.hpp -- a folder for files that are measured.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>

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

}  // namespace vouch::bench
