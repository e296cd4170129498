// tests/fuzz/memory_file.hpp -- bytes under a path, without a disk.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace vouch::fuzz {

/// A regular file in memory that holds these bytes and goes with the object.
class memory_file {
 public:
  memory_file(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    require(descriptor_ >= 0 && write(descriptor_, data, size) == static_cast<ssize_t>(size));
  }
  ~memory_file() { close(descriptor_); }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  /// Ends the run where a property does not hold: the fuzzer then keeps the input.
  static void require(bool holds) {
    if (!holds) std::abort();
  }

 private:
  int descriptor_;
};

/// A pipe that holds these bytes and then ends; at most 64 KiB.
class memory_pipe {
 public:
  static constexpr std::size_t most_bytes = 64 * 1024;

  memory_pipe(const std::uint8_t* data, std::size_t size) {
    memory_file::require(size <= most_bytes && pipe(ends_) == 0 &&
                         write(ends_[1], data, size) == static_cast<ssize_t>(size));
  }
  ~memory_pipe() {
    close_writer();
    close(ends_[0]);
  }
  memory_pipe(const memory_pipe&) = delete;
  memory_pipe& operator=(const memory_pipe&) = delete;

  std::string path() {
    close_writer();
    return "/proc/self/fd/" + std::to_string(ends_[0]);
  }

 private:
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  int ends_[2] = {-1, -1};
};

}  // namespace vouch::fuzz
