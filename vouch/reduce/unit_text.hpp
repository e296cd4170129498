// vouch/reduce/unit_text.hpp -- a big file cut into units of whole matrices; private.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <vouch/text/mapped_file.hpp>

namespace vouch {

/// Where the line begins that holds the first asterisk on a line that starts behind p; end if there is none.
const char* next_separator(const char* p, const char* begin, const char* end);

/// Where the last separator's line begins, behind the first such line: what follows may be incomplete. begin
/// if there is none.
const char* last_separator(const char* begin, const char* end);

/// The matrices of a file, from body on, in units: unit k holds those whose separators' lines start in bytes
/// k * unit_bytes to (k + 1) * unit_bytes of the body; the first also what is before.
struct file_units {
  const input_file& file;
  const mapped_file& map;
  const char* body = nullptr;  // in the map
  std::int64_t unit_bytes = 0;

  /// In which the separator behind a unit is looked for.
  static constexpr std::int64_t overlap_bytes = 4095;

  std::int64_t count() const;
  std::int64_t room_bytes() const { return unit_bytes + overlap_bytes + 1; }
  /// Where unit k begins in the map.
  const char* border(std::int64_t k) const;
};

/// The text of a unit, valid until the next.
struct unit_text {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool end_of_file = false;
};

/// Copies a unit to room, which has file_units::room_bytes; nothing where its last matrix ends too far behind
/// it.
std::optional<unit_text> copy_unit(const file_units& units, std::int64_t k, char* room);
/// The unit in the map.
unit_text mapped_unit(const file_units& units, std::int64_t k);

/// Fetches units for one thread: mapped or copied, whichever is faster where it runs. Which of the two that is
/// depends on the processor and on how the kernel holds the file: up to twice.
///
/// Memory  A buffer of a unit and a bit.
class unit_fetcher {
 public:
  /// scan(text) is timed for the first units of each kind.
  template <class Scan>
  void with_unit(const file_units& units, std::int64_t k, Scan scan) {
    const bool copied = trials_ < most_trials ? trials_ % 2 == 0 : copy_s_ <= map_s_;
    const double start = trials_ < most_trials ? now_s() : 0;
    scan(copied ? copy(units, k) : mapped_unit(units, k));
    if (trials_ < most_trials) note(copied, now_s() - start);
  }

 private:
  static constexpr int most_trials = 8;
  static double now_s();
  void note(bool copied, double seconds);
  unit_text copy(const file_units& units, std::int64_t k);

  std::vector<char> text_;
  int trials_ = 0;
  double copy_s_ = 1e9, map_s_ = 1e9;  // of the fastest
};

}  // namespace vouch
