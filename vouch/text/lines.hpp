// vouch/text/lines.hpp -- a big text file as blocks of whole lines, for several threads at once.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <vouch/text/file.hpp>

namespace vouch {

/// Whole lines. Each ends in a line feed: one is put behind the last line of the file where it has none.
struct line_block {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::int64_t number = 0;        // 0, 1, 2, ... in the order of the file
  std::int64_t first_line = 0;    // counted from 1
  std::int64_t lines = 0;         // in this block
  std::int64_t items_before = 0;  // lines in earlier blocks that are not blank, a header excepted
  std::int64_t items = 0;         // lines in this block that are not blank
  std::vector<char> buffer;       // reused from block to block
};

/// Reads lines one by one first (a header), then blocks of lines with any number of threads.
///
/// Memory  About block_bytes a line_block, or the longest line where that is longer.
/// Result  The borders and numbers of blocks depend only on the file, not on the threads.
/// Throws  what input_file throws
class line_reader {
 public:
  static constexpr std::size_t block_bytes = 256 * 1024;
  /// Bytes that may be read behind a block's end: so far do vector loads reach.
  static constexpr std::size_t padding = 64;

  explicit line_reader(input_file file) : file_(std::move(file)) {}

  const std::string& path() const { return file_.path(); }
  const input_file& file() const { return file_; }
  /// Where, in the file's bytes, the lines to come begin.
  std::int64_t offset() const { return consumed_; }

  /// The next line without its line feed and a carriage return before that; false at the end of the file. Not
  /// after next_block().
  ///
  /// Throws  parse_error  the line has block_bytes or more
  bool next_line(std::string& line);
  /// Blocks to come, at most; of a file with random access.
  std::int64_t blocks() const { return most_bytes() / static_cast<std::int64_t>(block_bytes) + 1; }
  /// From here on the file, which has random access, is its blocks from `first` to before `last`, counted from the next
  /// one on; the first begins with line `lines_before` + 1 and has so many items before. Call it before any block.
  void take_part(std::int64_t first, std::int64_t last, std::int64_t lines_before, std::int64_t items_before) {
    tickets_ = first;
    turn_ = first;
    last_block_ = last;
    lines_ = lines_before;
    items_ = items_before;
  }
  /// No fewer bytes than the lines to come can have.
  std::int64_t most_bytes() const { return file_.most_bytes() - consumed_; }

  /// The next block; false at the end of the file. Any number of threads, each with a block of its own. Where
  /// it throws, block.number is that of the block that could not be read.
  bool next_block(line_block& block);

  /// Lines and items (lines that are not blank, the header excepted) given out so far.
  std::int64_t lines() const { return lines_; }
  std::int64_t items() const { return items_; }

 private:
  bool next_at_offset(line_block& block);
  bool next_of_stream(line_block& block);
  bool fill_at_offset(line_block& block);
  bool fill_from_stream(line_block& block);
  void number_lines(line_block& block);
  bool read_ahead();

  input_file file_;
  std::string ahead_;  // read, but not yet given out
  std::size_t ahead_used_ = 0;
  std::int64_t consumed_ = 0;  // bytes given out by next_line
  std::int64_t lines_ = 0;
  std::int64_t items_ = 0;
  std::int64_t last_block_ = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> tickets_ = 0;
  std::atomic<std::int64_t> turn_ = 0;  // the block to be numbered next; negative after a failure
  std::mutex reading_;
};

/// Calls parse for each block that is left, on several threads at once.
///
/// Throws  what parse or the reader threw for the first block, in the order of the file, that failed; earlier
///         blocks have all been parsed
void for_each_block(line_reader& reader, int threads, const std::function<void(const line_block&)>& parse);

/// Whether a line holds nothing but blanks and tabs, and a carriage return at its end.
bool is_blank(std::string_view line);

}  // namespace vouch
