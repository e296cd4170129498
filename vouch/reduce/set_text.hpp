// vouch/reduce/set_text.hpp -- the grammar of a matrix set: the strict parser and its complaints; private.
#pragma once
#include <cstdint>
#include <string>

#include <vouch/reduce/accumulator.hpp>
#include <vouch/reduce/matrix_set.hpp>

namespace vouch {

/// What breaks the rules of the text.
enum class set_fault {
  none,
  no_separator,   // a row where the first separator should be
  bad_separator,  // asterisks, but not three alone on their line
  empty_matrix,   // two separators with nothing between
  few_rows,
  many_rows,
  short_row,
  long_row,
  bad_number,
  integer_overflow,
  real_overflow,
  many_matrices
};

/// Values on their way to an accumulator, gathered so that it can fold them side by side.
class value_buffer {
 public:
  static constexpr std::int64_t capacity = 2048;
  static constexpr std::int64_t room = 64;  // that a vector parser may write past capacity

  explicit value_buffer(accumulator& to) : to_(to) {}

  void integer(std::int64_t value) {
    if (-exact_limit <= value && value <= exact_limit) [[likely]] {
      const bool small = -accumulator::narrow_limit < value && value < accumulator::narrow_limit;
      if (small && !with_reals_)
        narrow(static_cast<std::int32_t>(value));
      else
        wide(static_cast<double>(value));
    } else {
      flush();
      to_.add(value);
    }
  }
  void real(double value) {
    any_real_ = true;
    wide(value + 0.0);  // turns a negative zero into zero
  }

  // For a vector parser: where its narrow values go, and how many it put there.
  std::int32_t* int_end() { return narrow_ + narrow_count_; }
  void count_int(std::int64_t count) {
    narrow_count_ += count;
    if (narrow_count_ < capacity) return;
    to_.fold(narrow_, capacity);
    narrow_count_ -= capacity;
    for (std::int64_t k = 0; k < narrow_count_; ++k) narrow_[k] = narrow_[capacity + k];
  }

  // The same for doubles, in a unit that holds reals.
  double* real_end() { return wide_ + wide_count_; }
  void count_real(std::int64_t count, bool reals) {
    any_real_ |= reals;
    wide_count_ += count;
    if (wide_count_ < wide_capacity) return;
    to_.fold(wide_, wide_capacity);
    wide_count_ -= wide_capacity;
    for (std::int64_t k = 0; k < wide_count_; ++k) wide_[k] = wide_[wide_capacity + k];
  }

  /// Integers go as they are until the first real of a unit.
  void begin_unit(std::int64_t unit) {
    flush();
    with_reals_ = false;
    to_.begin_unit(unit);
  }
  void flush() {
    to_.fold(narrow_, narrow_count_);
    to_.fold(wide_, wide_count_);
    narrow_count_ = wide_count_ = 0;
  }
  /// Whether a real, or an integer that is not narrow, has come in this unit.
  bool holds_reals() const { return with_reals_; }
  bool any_real() const { return any_real_; }
  accumulator& target() { return to_; }

 private:
  static constexpr std::int64_t wide_capacity = capacity / 2;
  static constexpr std::int64_t exact_limit = std::int64_t{1} << 53;

  void narrow(std::int32_t value) {
    *int_end() = value;
    count_int(1);
  }
  void wide(double value) {
    if (!with_reals_) flush();
    with_reals_ = true;
    *real_end() = value;
    count_real(1, false);
  }

  accumulator& to_;
  std::int64_t narrow_count_ = 0;
  std::int64_t wide_count_ = 0;  // never both
  bool with_reals_ = false;
  bool any_real_ = false;
  std::int32_t narrow_[capacity + room];
  double wide_[wide_capacity + room];
};

/// Parses whole lines, resuming wherever another parser stopped.
struct set_parser {
  set_shape shape;

  // State.
  const char* at = nullptr;   // the next byte to parse
  std::int64_t tokens = 0;    // of the current matrix; all of them: it is complete, or there is none yet
  std::int64_t matrices = 0;  // complete ones since the state was set
  set_fault fault = set_fault::none;
  const char* fault_at = nullptr;

  set_parser(set_shape s, const char* from) : shape(s), at(from), tokens(s.rows * s.cols) {}
  std::int64_t elements() const { return shape.rows * shape.cols; }

  /// Parses up to end, or until this many matrices are complete and a separator follows. A fault ends it.
  void parse(const char* end, value_buffer& values, std::int64_t most_matrices);
  /// At the end of a unit of the text, or of the file: the last matrix must be complete.
  void finish(const char* end, bool end_of_file);

 private:
  bool row(const char* end, value_buffer& values);
  bool separator(const char* end);
  bool value(const char* end, value_buffer& values);
  bool rare_value(const char* end, value_buffer& values, bool is_real);
  bool refuse(set_fault what, const char* where);
};

/// The count on the first line that is not blank; body is what follows that line.
///
/// Throws  parse_error  no such line, no number, negative, zero, more on the line
struct set_header {
  std::int64_t count = 0;
  const char* body = nullptr;
};
set_header parse_set_header(const std::string& file, const char* begin, const char* end);

/// The shape of the first matrix behind begin: its rows that are not blank, and the numbers in the first.
set_shape first_shape(const char* begin, const char* end);

/// Where a text stands in a file, for messages.
struct text_place {
  const std::string& file;
  const char* begin = nullptr;  // of a line, where a matrix or the header begins
  const char* end = nullptr;
  std::int64_t first_line = 1;  // the number of that line
  std::int64_t matrices = 0;    // before begin
  std::int64_t announced = 0;
};

/// Throws the parse_error for the first fault of a text that another parser refused.
[[noreturn]] void throw_first_fault(const text_place& place, set_shape shape, bool end_of_file);
/// The file ends before all matrices have come.
[[noreturn]] void throw_too_few(const text_place& place);

}  // namespace vouch
