#include <vouch/text/file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <vouch/core/error.hpp>
#include <vouch/core/progress.hpp>
#include <vouch/text/mapped_file.hpp>

namespace vouch {
namespace {

constexpr std::size_t compressed_block = 64 * 1024;
// Deflate spends at least one bit on 258 bytes in 2 distance and length codes: 1032 to 1.
constexpr std::int64_t best_compression = 1032;

[[noreturn]] void refuse(const std::string& path, int code) {
  throw file_error("cannot read '" + path + "': " + std::strerror(code));
}

}  // namespace

// A chain of gzip members as one stream of bytes.
class input_file::inflater {
 public:
  explicit inflater(input_file& file) : file_(file), input_(compressed_block) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw out_of_memory("the host", compressed_block, 0);
  }
  ~inflater() { inflateEnd(&stream_); }
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;

  void belongs_to(input_file& file) { file_ = std::ref(file); }

  std::size_t read(char* to, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes && !finished_) {
      refill();
      const auto piece = std::min<std::size_t>(bytes - done, 1u << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(to + done);
      stream_.avail_out = static_cast<uInt>(piece);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      done += piece - stream_.avail_out;
      if (code == Z_STREAM_END)
        start_next_member();
      else if (code != Z_OK && code != Z_BUF_ERROR)
        broken("broken gzip data");
    }
    return done;
  }

 private:
  void refill() {
    if (stream_.avail_in > 0) return;
    const std::size_t got = file_.get().read_raw(input_.data(), input_.size());
    if (got == 0) broken("the compressed data end early");
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
  }

  // Zeros may follow the last member, as tapes and block devices have it.
  void start_next_member() {
    bool padded = false;
    while (!finished_) {
      if (stream_.avail_in == 0) {
        stream_.avail_in = static_cast<uInt>(file_.get().read_raw(input_.data(), input_.size()));
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        finished_ = stream_.avail_in == 0;
      } else if (*stream_.next_in == 0) {
        padded = true;
        ++stream_.next_in;
        --stream_.avail_in;
      } else if (padded) {
        broken("bytes follow the zeros behind the compressed data");
      } else {
        inflateReset(&stream_);
        return;
      }
    }
  }

  [[noreturn]] void broken(const char* what) const {
    throw parse_error(file_.get().path(), 0, 0, what, "test the file with gzip -t");
  }

  std::reference_wrapper<input_file> file_;
  std::vector<char> input_;
  z_stream stream_{};
  bool finished_ = false;
};

input_file::input_file(const std::string& path) : path_(path) {
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) refuse(path, errno);
  try {
    struct stat facts {};
    if (fstat(descriptor_, &facts) != 0) refuse(path, errno);
    if (S_ISDIR(facts.st_mode)) refuse(path, EISDIR);
    // Files of /proc and the like say that they are regular and empty.
    random_access_ = S_ISREG(facts.st_mode) && facts.st_size > 0;
    most_bytes_ = random_access_ ? facts.st_size : std::numeric_limits<std::int64_t>::max();
    progress::begin(random_access_ ? facts.st_size : 0);

    char magic[2];
    const std::size_t got = random_access_ ? read_at(0, magic, 2) : read_raw(magic, 2);
    if (!random_access_) raw_head_.assign(magic, magic + got);
    if (got == 2 && magic[0] == '\x1f' && magic[1] == '\x8b') {
      if (random_access_ && most_bytes_ < std::numeric_limits<std::int64_t>::max() / best_compression)
        most_bytes_ *= best_compression;
      random_access_ = false;
      inflater_ = std::make_unique<inflater>(*this);
    }
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

input_file::~input_file() {
  if (descriptor_ >= 0) close(descriptor_);
}

input_file::input_file(input_file&& other) noexcept { *this = std::move(other); }

input_file& input_file::operator=(input_file&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  path_ = std::move(other.path_);
  random_access_ = other.random_access_;
  most_bytes_ = other.most_bytes_;
  offset_ = other.offset_;
  left_ = other.left_;
  raw_head_ = std::move(other.raw_head_);
  head_ = std::move(other.head_);
  inflater_ = std::move(other.inflater_);
  if (inflater_) inflater_->belongs_to(*this);
  return *this;
}

std::string_view input_file::peek(std::size_t bytes) {
  const std::size_t there = head_.size();
  if (there < bytes) {
    head_.resize(bytes);
    head_.resize(there + read_past_head(head_.data() + there, bytes - there));
  }
  return {head_.data(), std::min(bytes, head_.size())};
}

std::size_t input_file::read(char* to, std::size_t bytes) {
  const std::size_t from_head = std::min(bytes, head_.size());
  std::copy_n(head_.begin(), from_head, to);
  head_.erase(head_.begin(), head_.begin() + static_cast<std::ptrdiff_t>(from_head));
  return from_head + read_past_head(to + from_head, bytes - from_head);
}

std::size_t input_file::read_past_head(char* to, std::size_t bytes) {
  if (left_) bytes = static_cast<std::size_t>(std::min(*left_, static_cast<std::int64_t>(bytes)));
  const std::size_t got = inflater_ ? inflater_->read(to, bytes) : read_raw(to, bytes);
  if (left_) *left_ -= static_cast<std::int64_t>(got);
  return got;
}

void input_file::narrow(std::string name, std::int64_t bytes) {
  path_ = std::move(name);
  most_bytes_ = bytes;
  const auto kept = std::min(static_cast<std::int64_t>(head_.size()), bytes);
  head_.resize(static_cast<std::size_t>(kept));
  left_ = bytes - kept;
}

std::size_t input_file::read_raw(char* to, std::size_t bytes) {
  if (random_access_) {
    const std::size_t got = read_at(offset_, to, bytes);
    offset_ += static_cast<std::int64_t>(got);
    return got;
  }
  std::size_t done = std::min(bytes, raw_head_.size());
  std::copy_n(raw_head_.begin(), done, to);
  raw_head_.erase(raw_head_.begin(), raw_head_.begin() + static_cast<std::ptrdiff_t>(done));
  while (done < bytes) {
    const ssize_t got = ::read(descriptor_, to + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  progress::add(static_cast<std::int64_t>(done));
  return done;
}

std::size_t input_file::read_at(std::int64_t offset, char* to, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(descriptor_, to + done, bytes - done, offset + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  progress::add(static_cast<std::int64_t>(done));
  return done;
}

mapped_file::mapped_file(const input_file& file)
    : path_(file.path()), size_(static_cast<std::size_t>(file.most_bytes())) {
  void* const at = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (at == MAP_FAILED) throw file_error("cannot map '" + path_ + "': " + std::strerror(errno));
  bytes_ = static_cast<const char*>(at);
}

mapped_file::~mapped_file() { munmap(const_cast<char*>(bytes_), size_); }

}  // namespace vouch
