// vouch/text/masked_line.hpp -- the numbers of one line, found by a look at 64 bytes at once; private to the parsers.
#pragma once
#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <vouch/text/digits.hpp>

namespace vouch {

/// A line from its begin on, number by number.
///
/// Where one number ends bounds how fast scan() comes to the next: here all ends are known before the first number is
/// read. What it does not take, longer lines among them, is for scan() and what knows every form: nothing that it takes
/// is worth something else there.
///
/// Shapes  64 bytes may be read behind the line feed, which there is.
class masked_line {
 public:
  /// Elsewhere the bytes are looked at one by one, and scan() is faster.
  static constexpr bool pays =
#if defined(__SSE2__)
      true;
#else
      false;
#endif

  [[gnu::always_inline]] explicit masked_line(const char* line) : line_(line), stops_(non_digits(line)) {
    start_after(-1);
  }

  /// Digits alone, up to 16, behind any blanks; false where there are others.
  [[gnu::always_inline]] bool whole(std::uint64_t& number) {
    const int first = start_;
    const auto count = static_cast<unsigned>(to_next_stop() - first);
    if (count - 1 >= 16) return false;
    number = spelled(line_ + first, static_cast<int>(count));
    return true;
  }
  /// The same with a minus or without.
  [[gnu::always_inline]] bool integer(double& number) {
    const bool negative = take_minus();
    std::uint64_t magnitude;
    if (!whole(magnitude)) return false;
    const auto value = static_cast<std::int64_t>(magnitude);
    number = static_cast<double>(negative ? -value : value);
    return true;
  }
  /// A decimal number of up to 19 digits, at least one in front of a point and behind one; false where it is another
  /// one, or its rounding a rare one.
  [[gnu::always_inline]] bool real(double& number) {
    digits::decimal_text d;
    d.negative = take_minus();
    const int first = start_;
    const auto before = static_cast<unsigned>(to_next_stop() - first);
    if (before - 1 >= 19) return false;
    d.digits = spelled(line_ + first, static_cast<int>(before));
    if (line_[at_] == '.') {
      const int fraction = at_ + 1;
      const auto behind = static_cast<unsigned>(to_next_stop() - fraction);
      if (behind - 1 >= 19 - before) return false;
      d.digits = d.digits * digits::power_of_ten[behind] + spelled(line_ + fraction, static_cast<int>(behind));
      d.exponent = -static_cast<std::int64_t>(behind);
    }
    if ((line_[at_] | 0x20) == 'e') {
      const bool down = line_[at_ + 1] == '-', sign = down | (line_[at_ + 1] == '+');
      const int power = at_ + 1 + sign;
      stops_ &= stops_ - sign;
      const auto count = static_cast<unsigned>(to_next_stop() - power);
      if (count - 1 >= 4) return false;
      const auto size =
          static_cast<std::int64_t>(digits::spelled_front(line_ + power, static_cast<int>(count)));
      d.exponent += (size ^ -std::int64_t{down}) + down;
    }
    return digits::nearest_double(d, number);
  }

  /// Goes over the blanks behind a number; false where there are none.
  [[gnu::always_inline]] bool blanks() {
    if (line_[at_] != ' ') return false;
    start_after(at_);
    return true;
  }
  /// The next line, where behind a number nothing comes but the end of this one; else nullptr.
  [[gnu::always_inline]] const char* next() {
    const char* const end = line_ + at_ + (line_[at_] == '\r');
    return *end == '\n' ? end + 1 : nullptr;
  }

 private:
  static constexpr int bytes = 64;

  // Bit k: byte p[k] is no decimal digit.
  [[gnu::always_inline]] static std::uint64_t non_digits(const char* p) {
    std::uint64_t stops = 0;
#if defined(__SSE2__)
    const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
    for (int k = 0; k < bytes; k += 16) {
      const __m128i x = _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + k)), zero);
      const __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(x, nine), x);
      stops |= static_cast<std::uint64_t>(static_cast<std::uint16_t>(~_mm_movemask_epi8(digit))) << k;
    }
#else
    for (int k = 0; k < bytes; ++k) stops |= static_cast<std::uint64_t>(p[k] < '0' || p[k] > '9') << k;
#endif
    return stops;
  }
  [[gnu::always_inline]] static std::uint64_t spelled(const char* p, int count) {
    if (count <= 8) return digits::spelled_front(p, count);
    const std::uint64_t front = digits::spelled_front(p, 8);
    if (count <= 16) return front * digits::power_of_ten[count - 8] + digits::spelled_front(p + 8, count - 8);
    return (front * digits::power_of_ten[8] + digits::spelled_front(p + 8, 8)) *
               digits::power_of_ten[count - 16] +
           digits::spelled_front(p + 16, count - 16);
  }
  // Behind the last one it stays at 64, and no number goes on from there.
  [[gnu::always_inline]] int to_next_stop() {
    at_ = std::countr_zero(stops_);
    stops_ &= stops_ - 1;
    return at_;
  }
  [[gnu::always_inline]] void start_after(int at) {
    start_ = at + 1;
    while (start_ < bytes && line_[start_] == ' ') start_ = to_next_stop() + 1;
  }
  [[gnu::always_inline]] bool take_minus() {
    const bool negative = line_[start_] == '-';
    start_ += negative;
    stops_ &= stops_ - negative;
    return negative;
  }

  const char* line_;
  std::uint64_t stops_;  // of what is to come
  int at_ = 0;           // the stop that ended the last number
  int start_ = 0;        // where the next one begins
};

}  // namespace vouch
