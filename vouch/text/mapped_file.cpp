#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include <vouch/core/error.hpp>
#include <vouch/text/mapped_file.hpp>

namespace vouch {

mapped_file::mapped_file(const input_file& file)
    : path_(file.path()), size_(static_cast<std::size_t>(file.most_bytes())) {
  void* const at = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (at == MAP_FAILED) throw file_error("cannot map '" + path_ + "': " + std::strerror(errno));
  bytes_ = static_cast<const char*>(at);
}

mapped_file::~mapped_file() { munmap(const_cast<char*>(bytes_), size_); }

}  // namespace vouch
