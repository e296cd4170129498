#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <vouch/core/error.hpp>
#include <vouch/text/file.hpp>

namespace vouch {

file_part::file_part(const std::string& path)
    : path_(path), descriptor_(open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail();
}

file_part::~file_part() {
  if (descriptor_ >= 0) close(descriptor_);
}

void file_part::write_at(std::int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    offset += written;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Some file systems say only now that there was no room.
void file_part::finish() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (close(descriptor) != 0) fail();
}

void file_part::to_disk() {
  if (fsync(descriptor_) != 0) fail();
}

void file_part::fail() const { throw file_error("cannot write '" + path_ + "': " + std::strerror(errno)); }

}  // namespace vouch
