// vouch/text/file.hpp -- the one door to files: reading, also compressed, and writing whole or not at all.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

/// The bytes of a file: a regular file, a pipe, or either of them compressed by gzip (recognised by its first
/// two bytes, not by its name).
///
/// Memory  A bounded buffer; the file is never held whole.
/// Throws  file_error   missing, unreadable, a directory, a failing read
///         parse_error  compressed data that are broken or end early
class input_file {
 public:
  explicit input_file(const std::string& path);
  ~input_file();
  input_file(input_file&&) noexcept;
  input_file& operator=(input_file&&) noexcept;

  const std::string& path() const { return path_; }

  /// The first bytes, up to this many, without taking them; call it before any read.
  std::string_view peek(std::size_t bytes);
  /// The next bytes in order; fewer than asked only at the end of the file. One thread at a time.
  std::size_t read(char* to, std::size_t bytes);

  /// From here on the file is its next bytes, and name what errors call it: a member of an archive.
  void narrow(std::string name, std::int64_t bytes);

  /// Whether read_at works: a regular file that is not compressed, all of it.
  bool random_access() const { return random_access_ && !left_; }
  /// Bytes from an offset on; fewer than asked only at the end of the file. Any number of threads.
  std::size_t read_at(std::int64_t offset, char* to, std::size_t bytes) const;

  /// The open file, for mapped_file.
  int descriptor() const { return descriptor_; }

  /// No fewer bytes than the file can hold: its size; a bound by the best compression there is; the largest
  /// int64 for pipes.
  std::int64_t most_bytes() const { return most_bytes_; }

 private:
  class inflater;
  std::size_t read_raw(char* to, std::size_t bytes);
  std::size_t read_past_head(char* to, std::size_t bytes);

  std::string path_;
  int descriptor_ = -1;
  bool random_access_ = false;
  std::int64_t most_bytes_ = 0;
  std::int64_t offset_ = 0;           // of read() in a file with random access
  std::optional<std::int64_t> left_;  // of a narrowed file, behind head_
  std::vector<char> raw_head_;        // bytes taken to look for the gzip magic
  std::vector<char> head_;            // peeked bytes, not yet read
  std::unique_ptr<inflater> inflater_;
};

/// The file that a path leads to, by its one name without links: that of a link to nothing is the file which
/// would appear. The path itself where its folder is missing.
std::string file_behind(const std::string& path);

/// A file that appears under its name only when it is complete: written beside it under a temporary name, then
/// renamed; where the path is a link, the file behind it. Pipes, terminals, /dev/stdout and other devices are
/// written directly.
///
/// Memory  A buffer of 64 KiB.
/// Throws  file_error  the folder is missing or not writable, the path is a directory, the disk is full; the
///                     temporary file is then removed and an older file keeps its content
class atomic_file {
 public:
  explicit atomic_file(const std::string& path);
  /// Removes the temporary file unless commit() came first.
  ~atomic_file();
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;

  const std::string& path() const { return path_; }

  void write(std::string_view bytes);
  /// Leaves so many bytes to others, who write them by file_part.
  void skip(std::int64_t bytes);
  /// The name under which it is being written; "" where that is directly.
  std::string unfinished_name() const { return temporary_ == nullptr ? "" : temporary_; }
  /// Ends writing: all bytes are in the file, which still has its temporary name.
  void finish();
  /// finish() where that is still to do; the file now has its name.
  void commit();
  /// commit(), behind which bytes and name outlast a loss of power.
  void commit_to_disk();

 private:
  friend class atomic_files;
  void open_temporary();
  void flush();
  void write_through(const char* from, std::size_t bytes);
  [[noreturn]] void fail() const;
  void discard() noexcept;
  void withdraw() noexcept;
  void sync_folder() const;

  std::string path_;           // as the user named it
  std::string target_;         // links resolved
  char* temporary_ = nullptr;  // nullptr when written directly; also known to remove_unfinished_files
  bool adds_a_name_ = false;   // under the target's name there was nothing
  int slot_ = -1;
  int descriptor_ = -1;
  std::vector<char> buffer_;
};

/// Bytes of a file that another process makes.
///
/// Throws  file_error  there is no such file, the disk is full
class file_part {
 public:
  explicit file_part(const std::string& path);
  ~file_part();
  file_part(const file_part&) = delete;
  file_part& operator=(const file_part&) = delete;

  void write_at(std::int64_t offset, std::string_view bytes);
  /// Ends writing.
  void finish();
  /// What this process has written outlasts a loss of power.
  void to_disk();

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  int descriptor_;
};

/// Files that appear together: each is complete before the first has its name.
///
/// Throws  file_error  as atomic_file; none of the files appears, but for one: where a name can no longer be given
///                     when all are complete, older files that were already replaced are not brought back
class atomic_files {
 public:
  /// One more file; it lives as long as this.
  atomic_file& open(const std::string& path) { return files_.emplace_back(path); }
  /// All files now have their names.
  void commit();

 private:
  std::deque<atomic_file> files_;
};

/// Removes the temporary files of all unfinished atomic_files. For signal handlers: async-signal-safe.
void remove_unfinished_files() noexcept;

}  // namespace vouch
