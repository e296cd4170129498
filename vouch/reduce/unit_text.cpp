#include <algorithm>
#include <chrono>
#include <cstring>

#include <vouch/core/types.hpp>
#include <vouch/reduce/unit_text.hpp>

namespace vouch {
const char* next_separator(const char* p, const char* begin, const char* end) {
  if (p >= end) return end;
  if (p > begin && p[-1] != '\n') {
    const void* feed = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
    if (feed == nullptr) return end;
    p = static_cast<const char*>(feed) + 1;
  }
  const void* star = std::memchr(p, '*', static_cast<std::size_t>(end - p));
  if (star == nullptr) return end;
  const char* q = static_cast<const char*>(star);
  while (q > p && q[-1] != '\n') --q;
  return q;
}

const char* last_separator(const char* begin, const char* end) {
  const void* star = memrchr(begin, '*', static_cast<std::size_t>(end - begin));
  if (star == nullptr) return begin;
  const char* q = static_cast<const char*>(star);
  while (q > begin && q[-1] != '\n') --q;
  return q > next_separator(begin, begin, end) ? q : begin;
}

std::int64_t file_units::count() const {
  return ceil_div<std::int64_t>(std::max<std::int64_t>(map.end() - body, 1), unit_bytes);
}

const char* file_units::border(std::int64_t k) const {
  if (k == 0) return body;
  return k == count() ? map.end() : next_separator(body + k * unit_bytes, map.begin(), map.end());
}

double unit_fetcher::now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void unit_fetcher::note(bool copied, double seconds) {
  double& best = copied ? copy_s_ : map_s_;
  best = std::min(best, seconds);
  ++trials_;
}

unit_text unit_fetcher::copy(const file_units& units, std::int64_t k) {
  text_.resize(static_cast<std::size_t>(units.room_bytes()));
  const std::optional<unit_text> copied = copy_unit(units, k, text_.data());
  return copied ? *copied : mapped_unit(units, k);
}

unit_text mapped_unit(const file_units& units, std::int64_t k) {
  const char* const end = units.border(k + 1);
  return {units.border(k), end, end == units.map.end()};
}

std::optional<unit_text> copy_unit(const file_units& units, std::int64_t k, char* room) {
  const std::int64_t size = units.map.end() - units.map.begin();
  const std::int64_t from = units.body - units.map.begin() + k * units.unit_bytes;
  const std::int64_t to = std::min(from + units.unit_bytes, size);
  const std::int64_t first = from - (k > 0);  // tells whether a line starts at from
  const std::int64_t bytes = std::min(to + file_units::overlap_bytes, size) - first;
  const auto got = units.file.read_at(first, room, static_cast<std::size_t>(bytes));
  const char* const begin = room;
  const char* const end = begin + got;
  const char* const limit = std::min(begin + (to - first), end);
  const bool whole = first + bytes == size;
  const char* const start = k == 0 ? begin : next_separator(begin + 1, begin, end);
  const char* const stop = to == size ? end : next_separator(limit, begin, end);
  if (whole || stop < end) return unit_text{start, stop, whole && stop == end};
  // No matrix begins in the unit, if the line that its last byte is on has been seen to its end.
  const bool line_seen = std::memchr(limit - 1, '\n', static_cast<std::size_t>(end - limit + 1)) != nullptr;
  if (start == end && line_seen) return unit_text{end, end, false};
  return std::nullopt;
}

}  // namespace vouch
