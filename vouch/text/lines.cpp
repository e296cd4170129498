#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <string>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/text/lines.hpp>

namespace vouch {
namespace {

typedef unsigned char bytes16 __attribute__((vector_size(16)));

bytes16 load16(const char* p) {
  bytes16 x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

struct line_count {
  std::int64_t lines = 0;
  bool blank_possible = false;  // some line starts with a byte up to the blank
};

// Bound by the cache: it runs right after the block was read.
line_count count_lines(const char* p, const char* end) {
  line_count count;
  if (p == end) return count;
  count.blank_possible = static_cast<unsigned char>(*p) <= ' ';
  bytes16 blank_starts{};
  // One byte of each vector counts to at most 255 before it is emptied.
  while (end - p > 16) {
    bytes16 feeds{};
    for (int k = 0; k < 255 && end - p > 16; ++k, p += 16) {
      const auto is_feed = (bytes16)(load16(p) == '\n');
      feeds -= is_feed;
      blank_starts |= is_feed & (bytes16)(load16(p + 1) <= ' ');
    }
    for (int k = 0; k < 16; ++k) count.lines += feeds[k];
  }
  for (int k = 0; k < 16; ++k) count.blank_possible |= blank_starts[k] != 0;
  for (; p < end; ++p)
    if (*p == '\n') {
      ++count.lines;
      count.blank_possible |= p + 1 < end && static_cast<unsigned char>(p[1]) <= ' ';
    }
  return count;
}

std::int64_t count_blank_lines(const char* p, const char* end) {
  std::int64_t count = 0;
  while (p < end) {
    const char* feed = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
    count += is_blank({p, static_cast<std::size_t>(feed - p)});
    p = feed + 1;
  }
  return count;
}

const char* find_feed(const char* from, const char* end) {
  return from < end ? static_cast<const char*>(std::memchr(from, '\n', static_cast<std::size_t>(end - from)))
                    : nullptr;
}

constexpr std::size_t usual_line = 4096;  // a block is read this far beyond its border at first

}  // namespace

bool is_blank(std::string_view line) {
  std::size_t k = 0;
  while (k < line.size() && (line[k] == ' ' || line[k] == '\t')) ++k;
  return k == line.size() || (k + 1 == line.size() && line[k] == '\r');
}

bool line_reader::read_ahead() {
  ahead_.erase(0, std::exchange(ahead_used_, 0));
  const std::size_t there = ahead_.size();
  const std::size_t piece = 64 * 1024;
  ahead_.resize(there + piece);
  const std::size_t got = file_.read(ahead_.data() + there, piece);
  ahead_.resize(there + got);
  return got > 0;
}

bool line_reader::next_line(std::string& line) {
  std::size_t feed = ahead_.find('\n', ahead_used_);
  while (feed == std::string::npos && ahead_.size() - ahead_used_ < block_bytes) {
    const std::size_t searched = ahead_.size() - ahead_used_;
    if (!read_ahead()) break;
    feed = ahead_.find('\n', searched);
  }
  if (ahead_used_ == ahead_.size()) return false;
  const std::size_t size = std::min(feed, ahead_.size()) - ahead_used_;
  if (size >= block_bytes)
    throw parse_error(path(), lines_ + 1, 0, "a line of " + std::to_string(block_bytes) + " bytes or more",
                      "is this a text file?");
  line.assign(ahead_, ahead_used_, size);
  if (line.ends_with('\r')) line.pop_back();
  const std::size_t taken = size + (feed != std::string::npos);
  ahead_used_ += taken;
  consumed_ += static_cast<std::int64_t>(taken);
  ++lines_;
  return true;
}

bool line_reader::next_block(line_block& block) {
  return file_.random_access() ? next_at_offset(block) : next_of_stream(block);
}

// Threads read at the same time and number their blocks one after the other.
bool line_reader::next_at_offset(line_block& block) {
  block.number = tickets_.fetch_add(1);
  if (turn_.load() < 0) return false;
  try {
    if (!fill_at_offset(block)) return false;
  } catch (...) {
    turn_.store(-1);
    turn_.notify_all();
    throw;
  }
  for (std::int64_t turn = turn_.load(); turn != block.number; turn = turn_.load()) {
    if (turn < 0) return false;
    turn_.wait(turn);
  }
  number_lines(block);
  std::int64_t mine = block.number;
  turn_.compare_exchange_strong(mine, block.number + 1);
  turn_.notify_all();
  return true;
}

bool line_reader::next_of_stream(line_block& block) {
  const std::lock_guard lock(reading_);
  block.number = tickets_.fetch_add(1);
  if (turn_.load() < 0) return false;
  try {
    if (!fill_from_stream(block)) return false;
  } catch (...) {
    turn_.store(-1);
    throw;
  }
  number_lines(block);
  return true;
}

// Block k holds the lines that start in bytes k*block_bytes to (k+1)*block_bytes - 1 behind the header.
bool line_reader::fill_at_offset(line_block& block) {
  const std::int64_t start = consumed_ + block.number * static_cast<std::int64_t>(block_bytes);
  if (start >= file_.most_bytes() || block.number >= last_block_) return false;
  const std::size_t before = block.number > 0 ? 1 : 0;  // a line starts behind a line feed
  const std::size_t last = before + block_bytes - 1;    // the feed here or the next one ends the block
  std::size_t room = last + usual_line;
  std::size_t size = 0;
  const char* end = nullptr;
  while (end == nullptr) {
    if (block.buffer.size() < room + padding) block.buffer.resize(room + padding);
    char* const text = block.buffer.data();
    const std::size_t asked = room - size;
    const std::size_t searched = std::max(size, last);
    const std::size_t got = file_.read_at(
        start - static_cast<std::int64_t>(before) + static_cast<std::int64_t>(size), text + size, asked);
    size += got;
    end = find_feed(text + searched, text + size);
    if (end != nullptr) {
      ++end;
    } else if (got < asked) {
      if (size > 0 && text[size - 1] != '\n') text[size++] = '\n';
      end = text + size;
    }
    room *= 2;
  }
  block.begin = block.buffer.data();
  if (before > 0) {
    const char* feed = find_feed(block.begin, std::min(block.begin + last, end));
    block.begin = feed == nullptr ? end : feed + 1;
  }
  block.end = end;
  return true;
}

bool line_reader::fill_from_stream(line_block& block) {
  std::size_t size = ahead_.size() - ahead_used_;
  if (block.buffer.size() < size + block_bytes + padding) block.buffer.resize(size + block_bytes + padding);
  std::copy(ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_used_), ahead_.end(), block.buffer.begin());
  ahead_.clear();
  ahead_used_ = 0;
  std::size_t searched = 0;
  for (;;) {
    const std::size_t got = file_.read(block.buffer.data() + size, block_bytes);
    size += got;
    if (got < block_bytes) {
      if (size > 0 && block.buffer[size - 1] != '\n') block.buffer[size++] = '\n';
      break;
    }
    const char* text = block.buffer.data();
    if (const void* feed = memrchr(text + searched, '\n', size - searched)) {
      const auto end = static_cast<std::size_t>(static_cast<const char*>(feed) - text) + 1;
      ahead_.assign(text + end, size - end);
      size = end;
      break;
    }
    searched = size;
    block.buffer.resize(2 * size + block_bytes + padding);
  }
  block.begin = block.buffer.data();
  block.end = block.begin + size;
  return size > 0;
}

void line_reader::number_lines(line_block& block) {
  const line_count count = count_lines(block.begin, block.end);
  block.lines = count.lines;
  block.items = count.lines - (count.blank_possible ? count_blank_lines(block.begin, block.end) : 0);
  block.first_line = lines_ + 1;
  block.items_before = items_;
  lines_ += block.lines;
  items_ += block.items;
}

void for_each_block(line_reader& reader, int threads, const std::function<void(const line_block&)>& parse) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> failed = none;  // the first block that failed so far
  std::exception_ptr failure;
  std::mutex failing;
  const cancellation_probe stop;
  const int team = static_cast<int>(std::min<std::int64_t>(threads, reader.blocks()));
#pragma omp parallel firstprivate(ieee) num_threads(team)
  {
    line_block block;
    try {
      while (reader.next_block(block) && block.number < failed.load() && !stop.requested()) parse(block);
    } catch (...) {
      const std::lock_guard lock(failing);
      if (block.number < failed.load()) {
        failed.store(block.number);
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  stop.check();
}

}  // namespace vouch
