// vouch/text/mapped_file.hpp -- the bytes of a regular file in the address space; private.
#pragma once
#include <string>

#include <vouch/text/file.hpp>

namespace vouch {

/// The bytes of a file with random access, read as they are touched: faster than copying them with read().
///
/// Memory  Pages of the file cache. The file must not shrink meanwhile.
/// Throws  file_error  the file cannot be mapped
class mapped_file {
 public:
  explicit mapped_file(const input_file& file);
  ~mapped_file();
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  const std::string& path() const { return path_; }
  const char* begin() const { return bytes_; }
  const char* end() const { return bytes_ + size_; }

 private:
  std::string path_;
  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace vouch
