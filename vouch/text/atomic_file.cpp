#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <vouch/core/error.hpp>
#include <vouch/text/file.hpp>

namespace vouch {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

// Names of open temporary files. The one that takes a name out of its slot removes the file.
constexpr int slots = 64;
std::array<std::atomic<char*>, slots> unfinished{};
std::array<std::atomic<char*>, slots> removed{};  // names that a signal handler has taken: they live on here
static_assert(std::atomic<char*>::is_always_lock_free, "signal handlers use it");

int remember(char* name) {
  for (int k = 0; k < slots; ++k) {
    char* none = nullptr;
    if (unfinished[static_cast<std::size_t>(k)].compare_exchange_strong(none, name)) return k;
  }
  return -1;  // more files than slots: this one is not removed when a signal ends the program
}

// False when a signal handler has taken the name; the name must then live on.
bool forget(int slot) {
  return slot < 0 || unfinished[static_cast<std::size_t>(slot)].exchange(nullptr) != nullptr;
}

// The standard streams keep their offset and their own open file.
int standard_stream(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  return -1;
}

}  // namespace

std::string file_behind(const std::string& path) {
  constexpr int most_links = 40;  // the system's own limit
  std::filesystem::path file = path;
  std::error_code failed;
  for (int k = 0; k < most_links && std::filesystem::is_symlink(file, failed); ++k)
    file = file.parent_path() / std::filesystem::read_symlink(file, failed);
  const std::filesystem::path parent = file.parent_path();
  const std::filesystem::path folder = std::filesystem::canonical(parent.empty() ? "." : parent, failed);
  return failed ? path : (folder / file.filename()).string();
}

atomic_file::atomic_file(const std::string& path) : path_(path), target_(file_behind(path)) {
  buffer_.reserve(buffer_bytes);
  struct stat facts {};
  const bool exists = stat(path.c_str(), &facts) == 0;
  if (!exists && errno == ELOOP) fail();
  if (path.empty() || (exists && S_ISDIR(facts.st_mode))) {
    errno = path.empty() ? ENOENT : EISDIR;
    fail();
  }
  if (const int stream = standard_stream(path); stream >= 0) {
    descriptor_ = fcntl(stream, F_DUPFD_CLOEXEC, 0);
    if (descriptor_ < 0) fail();
  } else if (path.starts_with("/dev/") || path.starts_with("/proc/") || (exists && !S_ISREG(facts.st_mode))) {
    descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail();
  } else {
    if (exists && access(path.c_str(), W_OK) != 0) fail();
    open_temporary();
    adds_a_name_ = !exists;
    if (exists) fchmod(descriptor_, facts.st_mode & 07777);
  }
}

atomic_file::~atomic_file() { discard(); }

// The name is known to signal handlers before the file is there.
void atomic_file::open_temporary() {
  static std::atomic<unsigned> counter = 0;
  for (;;) {
    std::string name = target_;
    name.append(".").append(std::to_string(getpid())).append("-").append(std::to_string(counter++));
    name.append(".vouch-tmp");
    temporary_ = strdup(name.c_str());
    if (temporary_ == nullptr) throw out_of_memory("the host", static_cast<std::int64_t>(name.size()), 0);
    slot_ = remember(temporary_);
    descriptor_ = open(temporary_, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) return;
    const int code = errno;
    if (forget(slot_)) std::free(temporary_);
    temporary_ = nullptr;
    errno = code;
    if (code != EEXIST) fail();  // else left by a process of that number
  }
}

void atomic_file::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  if (bytes.size() >= buffer_bytes)
    write_through(bytes.data(), bytes.size());
  else
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void atomic_file::skip(std::int64_t bytes) {
  flush();
  if (lseek(descriptor_, bytes, SEEK_CUR) < 0) fail();
}

void atomic_file::finish() {
  flush();
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (close(descriptor) != 0) fail();
}

void atomic_file::commit() {
  if (descriptor_ >= 0) finish();
  if (temporary_ == nullptr) return;
  if (rename(temporary_, target_.c_str()) != 0) fail();
  if (forget(slot_)) std::free(temporary_);
  temporary_ = nullptr;
}

// Devices and pipes have no disk: they refuse with EINVAL, and that is no failure.
void atomic_file::commit_to_disk() {
  flush();
  if (fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail();
  const bool renames = temporary_ != nullptr;
  commit();
  if (renames) sync_folder();
}

void atomic_file::sync_folder() const {
  const std::string parent = std::filesystem::path(target_).parent_path().string();
  const int folder = open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail();
  const bool synced = fsync(folder) == 0 || errno == EINVAL;
  const int code = errno;
  close(folder);
  errno = code;
  if (!synced) fail();
}

void atomic_file::flush() {
  write_through(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void atomic_file::write_through(const char* from, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void atomic_file::fail() const { throw file_error("cannot write '" + path_ + "': " + std::strerror(errno)); }

void atomic_file::discard() noexcept {
  if (descriptor_ >= 0) close(descriptor_);
  if (temporary_ == nullptr) return;
  if (forget(slot_)) {
    unlink(temporary_);
    std::free(temporary_);
  }
}

// Takes back a name that commit() has given.
void atomic_file::withdraw() noexcept {
  if (adds_a_name_) unlink(target_.c_str());
}

void atomic_files::commit() {
  for (atomic_file& file : files_)
    if (file.descriptor_ >= 0) file.finish();
  std::size_t named = 0;
  try {
    for (; named < files_.size(); ++named) files_[named].commit();
  } catch (...) {
    for (std::size_t k = 0; k < named; ++k) files_[k].withdraw();
    throw;
  }
}

void remove_unfinished_files() noexcept {
  const int code = errno;
  for (std::size_t k = 0; k < unfinished.size(); ++k)
    if (char* name = unfinished[k].exchange(nullptr)) {
      removed[k] = name;
      unlink(name);
    }
  errno = code;
}

}  // namespace vouch
