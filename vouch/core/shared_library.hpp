// vouch/core/shared_library.hpp -- a library of somebody else, looked for when it is first needed; private.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

namespace vouch {

/// The first of some files that loads, for as long as the process lives.
class shared_library {
 public:
  explicit shared_library(const std::vector<std::string>& files);
  explicit shared_library(std::initializer_list<const char*> files)
      : shared_library(std::vector<std::string>(files.begin(), files.end())) {}

  bool present() const { return handle_ != nullptr; }
  /// The file's name without its folder; "" where there is none.
  const std::string& name() const { return name_; }
  /// The file as it was asked for; "" where there is none.
  const std::string& file() const { return file_; }
  /// What the loader says of the first file that is there and does not load; "" where none is there.
  const std::string& problem() const { return problem_; }
  /// nullptr where the library or the function is missing.
  template <class Function>
  Function* find(const char* function) const {
    return reinterpret_cast<Function*>(symbol(function));
  }

 private:
  void* symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string name_, file_, problem_;
};

}  // namespace vouch
