#include <vouch/reduce/set_scan.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include <vouch/core/simd.hpp>

namespace vouch {
namespace {

constexpr std::int64_t vector_bytes = 64;
constexpr std::int64_t longest_matrix = 1024;
constexpr std::int64_t chunk_bytes = 48 * 1024;  // between checks: stays in the cache should it fail
constexpr int most_byte_sums = 28;               // nines that a byte can add

// Extremes by the byte of a period, over its repeats.
VOUCH_SIMD_CLONES void fold_bytes(const std::uint8_t* __restrict p, std::int64_t period, std::int64_t repeats,
                                  std::uint8_t* __restrict low, std::uint8_t* __restrict high) {
  std::int64_t r = 0;
  for (; r + 4 <= repeats; r += 4, p += 4 * period)
    for (std::int64_t k = 0; k < period; ++k) {
      const std::uint8_t a = p[k], b = p[k + period], c = p[k + 2 * period], d = p[k + 3 * period];
      const std::uint8_t low_ab = a < b ? a : b, low_cd = c < d ? c : d;
      const std::uint8_t high_ab = a > b ? a : b, high_cd = c > d ? c : d;
      const std::uint8_t least = low_ab < low_cd ? low_ab : low_cd;
      const std::uint8_t most = high_ab > high_cd ? high_ab : high_cd;
      low[k] = low[k] < least ? low[k] : least;
      high[k] = high[k] > most ? high[k] : most;
    }
  for (; r < repeats; ++r, p += period)
    for (std::int64_t k = 0; k < period; ++k) {
      low[k] = low[k] < p[k] ? low[k] : p[k];
      high[k] = high[k] > p[k] ? high[k] : p[k];
    }
}

VOUCH_SIMD_CLONES void sum_digits(const std::uint8_t* __restrict p, std::int64_t period, std::int64_t repeats,
                                  std::uint8_t* __restrict bytes, std::uint32_t* __restrict sums) {
  while (repeats > 0) {
    std::memset(bytes, 0, static_cast<std::size_t>(period));
    const std::int64_t now = repeats < most_byte_sums ? repeats : most_byte_sums;
    for (std::int64_t r = 0; r < now; ++r, p += period)
      for (std::int64_t k = 0; k < period; ++k) bytes[k] = static_cast<std::uint8_t>(bytes[k] + (p[k] & 15));
    for (std::int64_t k = 0; k < period; ++k) sums[k] += bytes[k];
    repeats -= now;
  }
}

VOUCH_SIMD_CLONES bool within(const std::uint8_t* __restrict low, const std::uint8_t* __restrict high,
                              const std::uint8_t* __restrict low_limit,
                              const std::uint8_t* __restrict high_limit, std::int64_t n) {
  std::uint8_t outside = 0;
  for (std::int64_t k = 0; k < n; ++k)
    outside = static_cast<std::uint8_t>(outside | (low[k] < low_limit[k]) | (high[k] > high_limit[k]));
  return outside == 0;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of the matrix at p, or 0: its text up to the next separator's line.
std::int64_t matrix_bytes(const char* p, const char* end) {
  const std::int64_t within_reach = std::min<std::int64_t>(end - p, longest_matrix + 1);
  if (within_reach < 4) return 0;
  const void* next = std::memchr(p + 3, '*', static_cast<std::size_t>(within_reach - 3));
  const std::int64_t bytes = next != nullptr ? static_cast<const char*>(next) - p : 0;
  return bytes > 0 && p[bytes - 1] == '\n' ? bytes : 0;
}

}  // namespace

// Accepts a matrix of one-digit numbers that the strict parser accepts. As all others have its bytes between
// the digits, they then keep the rules too.
bool digit_template::prepare(const char* begin, const char* end) {
  const std::int64_t bytes = matrix_bytes(begin, end);
  if (bytes == 0) return false;
  if (static_cast<std::int64_t>(text_.size()) == bytes &&
      std::equal(text_.begin(), text_.end(), begin,
                 [](char a, char b) { return a == b || (is_digit(a) && is_digit(b)); }))
    return true;
  text_.clear();
  // As many digits as numbers: one each.
  if (std::count_if(begin, begin + bytes, is_digit) != shape_.rows * shape_.cols) return false;
  if (std::any_of(begin, begin + bytes, [](char c) { return c == '-' || c == '+' || c == '.'; })) return false;
  accumulator nothing(shape_.rows * shape_.cols, reduce_needs({}));
  value_buffer values(nothing);
  set_parser strict(shape_, begin);
  strict.parse(begin + bytes, values, 1);
  if (strict.fault != set_fault::none || strict.matrices != 1) return false;

  text_.assign(begin, begin + bytes);
  period_ = std::lcm(bytes, vector_bytes);
  const auto n = static_cast<std::size_t>(period_);
  low_limit_.resize(n);
  high_limit_.resize(n);
  element_.resize(n);
  std::int64_t element = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const char c = text_[k % text_.size()];
    low_limit_[k] = static_cast<std::uint8_t>(is_digit(c) ? '0' : c);
    high_limit_[k] = static_cast<std::uint8_t>(is_digit(c) ? '9' : c);
    element_[k] = is_digit(c) ? element++ % (shape_.rows * shape_.cols) : -1;
  }
  chunk_low_.resize(n);
  chunk_high_.resize(n);
  low_.resize(n);
  high_.resize(n);
  byte_sums_.resize(n);
  chunk_sums_.resize(n);
  sums_.resize(n);
  return true;
}

// The bytes taken: all of the chunk, or none where one is not as it should be.
std::int64_t digit_template::take_chunk(const char* p, std::int64_t repeats, bool with_sums) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(p);
  std::fill(chunk_low_.begin(), chunk_low_.end(), std::uint8_t{255});
  std::fill(chunk_high_.begin(), chunk_high_.end(), std::uint8_t{0});
  fold_bytes(bytes, period_, repeats, chunk_low_.data(), chunk_high_.data());
  if (!within(chunk_low_.data(), chunk_high_.data(), low_limit_.data(), high_limit_.data(), period_)) return 0;
  fold_bytes(chunk_low_.data(), period_, 1, low_.data(), high_.data());
  fold_bytes(chunk_high_.data(), period_, 1, low_.data(), high_.data());
  if (with_sums) {
    std::fill(chunk_sums_.begin(), chunk_sums_.end(), 0u);
    sum_digits(bytes, period_, repeats, byte_sums_.data(), chunk_sums_.data());
    for (std::size_t k = 0; k < sums_.size(); ++k) sums_[k] += chunk_sums_[k];
  }
  return repeats * period_;
}

void digit_template::settle(accumulator& to) {
  for (std::size_t k = 0; k < element_.size(); ++k)
    if (element_[k] >= 0) to.add_summary(element_[k], {low_[k] - '0', high_[k] - '0', sums_[k], sums_[k]});
}

void digit_template::scan(set_parser& state, const char* end, accumulator& to) {
  if (!prepare(state.at, end)) return;
  const bool with_sums = to.needs().sum || to.needs().magnitudes;
  std::fill(low_.begin(), low_.end(), std::uint8_t{255});
  std::fill(high_.begin(), high_.end(), std::uint8_t{0});
  std::fill(sums_.begin(), sums_.end(), 0);
  const std::int64_t most_repeats = std::max<std::int64_t>(1, chunk_bytes / period_);
  std::int64_t taken = 0;
  for (;;) {
    const std::int64_t repeats = std::min(most_repeats, (end - state.at - taken) / period_);
    const std::int64_t chunk = repeats > 0 ? take_chunk(state.at + taken, repeats, with_sums) : 0;
    if (chunk == 0) break;
    taken += chunk;
  }
  if (taken == 0) return;
  settle(to);
  const std::int64_t matrices = taken / static_cast<std::int64_t>(text_.size());
  to.skip_matrices(matrices);
  state.at += taken;
  state.matrices += matrices;
}

const char* name(parser_instructions instructions) {
  static constexpr const char* names[] = {"portable", "avx512"};
  return names[static_cast<int>(instructions)];
}

parser_instructions best_instructions(parser_instructions most) {
  using enum parser_instructions;
  return most == avx512 && has_avx512() ? avx512 : portable;
}

unit_scanner::unit_scanner(set_shape shape, accumulator& to, parser_instructions most)
    : shape_(shape),
      instructions_(best_instructions(most)),
      by_template_(most != parser_instructions::portable),
      values_(to),
      digits_(shape) {}

std::int64_t unit_scanner::scan(const char* begin, const char* end, std::int64_t unit, bool end_of_file) {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  constexpr std::ptrdiff_t worth_while = 1024;  // bytes
  const bool vectors = instructions_ != parser_instructions::portable && end - begin > vector_reach;
  values_.begin_unit(unit);
  set_parser state(shape_, begin);
  if (by_template_ && values_.target().needs().simple()) digits_.scan(state, end, values_.target());
  // Where the vector parser gets nowhere, it is asked again ever more rarely.
  std::int64_t patience = 1;
  while (state.at < end && state.fault == set_fault::none) {
    const char* const before = state.at;
    const char* const limit = vectors ? end - vector_reach : begin;
    if (vectors) (values_.holds_reals() ? scan_decimals_avx512 : scan_avx512)(state, limit, values_);
    patience = state.at - before > worth_while ? 1 : std::min(2 * patience, all / 4);
    state.parse(end, values_, vectors && state.at <= limit ? state.matrices + patience : all);
  }
  state.finish(end, end_of_file);
  values_.flush();
  return state.fault == set_fault::none ? state.matrices : -1;
}

}  // namespace vouch
