// vouch/core/error.hpp -- every exception the library throws.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// Base of all errors. what() is one line without a final full stop; hint() says what to do, or is empty.
class error : public std::runtime_error {
 public:
  explicit error(const std::string& what, std::string hint = {})
      : std::runtime_error(what), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

/// Sizes of operands that do not fit together.
class shape_error : public error {
  using error::error;
};

/// An argument or an input whose value is not acceptable (a NaN, an unsymmetric matrix, a negative count).
class value_error : public error {
  using error::error;
};

/// A file that breaks its format. what() reads "FILE:LINE:COLUMN: message"; line and column count from 1,
/// 0 where there is none.
class parse_error : public error {
 public:
  parse_error(const std::string& file, std::int64_t line, std::int64_t column, const std::string& message,
              std::string hint = {});
  std::int64_t line() const { return line_; }
  std::int64_t column() const { return column_; }

 private:
  std::int64_t line_;
  std::int64_t column_;
};

/// The file system refused: missing, unreadable, a directory, no space.
class file_error : public error {
  using error::error;
};

/// A CUDA call or kernel failed. code() is the cudaError_t.
class device_error : public error {
 public:
  device_error(const std::string& what, int code) : error(what), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

/// An allocation that the device or the host cannot serve.
class out_of_memory : public error {
 public:
  out_of_memory(const std::string& where, std::int64_t bytes_asked, std::int64_t bytes_free);
  std::int64_t bytes_asked() const { return bytes_asked_; }
  std::int64_t bytes_free() const { return bytes_free_; }

 private:
  std::int64_t bytes_asked_;
  std::int64_t bytes_free_;
};

/// A CUDA device was asked for and there is none, or this build has no CUDA.
class no_cuda_error : public error {
  using error::error;
};

}  // namespace vouch
