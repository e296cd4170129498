// vouch/reduce/set_scan.hpp -- the fast parsers of matrix sets; private.
//
// Each takes up where the state of a set_parser stands, passes on whole values and stops before what it does
// not understand, whether that is wrong or merely unusual: the strict parser goes on from there.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/reduce/set_text.hpp>

namespace vouch {

/// Sets whose matrices all have the same bytes but for one-digit numbers: reduced by bytes, checked afterwards.
class digit_template {
 public:
  explicit digit_template(set_shape shape) : shape_(shape) {}
  /// state.at stands at a separator, all matrices before it complete.
  void scan(set_parser& state, const char* end, accumulator& to);

 private:
  bool prepare(const char* begin, const char* end);
  std::int64_t take_chunk(const char* p, std::int64_t repeats, bool with_sums);
  void settle(accumulator& to);

  set_shape shape_;
  std::int64_t period_ = 0;  // bytes of the fewest matrices that fill whole vectors
  std::vector<char> text_;   // the matrix that period_ and the limits are made from
  std::vector<std::uint8_t> low_limit_, high_limit_;
  std::vector<std::int64_t> element_;  // of each byte of the period, -1: not a digit
  std::vector<std::uint8_t> chunk_low_, chunk_high_, low_, high_, byte_sums_;
  std::vector<std::uint32_t> chunk_sums_;
  std::vector<std::int64_t> sums_;
};

/// What a vector parser may read behind its limit.
inline constexpr std::ptrdiff_t vector_reach = 80;

/// Whether the processor can run the parsers below.
bool has_avx512();
/// Integers of up to eight digits in any layout. They read up to vector_reach bytes from limit on.
void scan_avx512(set_parser& state, const char* limit, value_buffer& values);
/// Decimals without exponents and integers, of up to 15 digits: for units whose values go by as doubles.
void scan_decimals_avx512(set_parser& state, const char* limit, value_buffer& values);

/// The best instructions that this processor has, up to `most`.
parser_instructions best_instructions(parser_instructions most = parser_instructions::avx512);

/// All the ways of parsing a unit of text, for one thread.
class unit_scanner {
 public:
  unit_scanner(set_shape shape, accumulator& to, parser_instructions most);
  /// Parses a unit, which begins with a separator.
  ///
  /// Result  The number of matrices, or -1 where the text breaks the rules.
  std::int64_t scan(const char* begin, const char* end, std::int64_t unit, bool end_of_file);
  bool any_real() const { return values_.any_real(); }

 private:
  set_shape shape_;
  parser_instructions instructions_;
  bool by_template_;
  value_buffer values_;
  digit_template digits_;
};

}  // namespace vouch
