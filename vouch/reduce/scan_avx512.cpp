// Matrix sets by vector instructions, 64 bytes at a time: integers, and decimals.
#include <vouch/reduce/set_scan.hpp>

#if !defined(__x86_64__)

namespace vouch {

bool has_avx512() { return false; }
void scan_avx512(set_parser&, const char*, value_buffer&) {}
void scan_decimals_avx512(set_parser&, const char*, value_buffer&) {}

}  // namespace vouch

#else

#include <immintrin.h>

#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 sees uninitialised values in its own intrinsics, whose results do not depend on them.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

// clang-format off
#define VOUCH_SCAN_TARGET \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,bmi,bmi2,lzcnt,popcnt")))
// clang-format on

namespace vouch {
namespace {

using mask = std::uint64_t;

constexpr std::uint64_t most_numbers = 32;  // in 64 bytes

// Which of the next numbers are the last of a group of `size`, and the place in the group behind them.
class group_counter {
 public:
  group_counter(std::int64_t size, std::int64_t place) : size_(size), place_(place) {
    if (size > static_cast<std::int64_t>(most_numbers)) return;
    for (std::int64_t k = size - 1; k < 64; k += size) lasts_ |= mask{1} << k;
    for (std::int64_t k = 0; k < size + 32; ++k) rest_[k] = static_cast<std::uint8_t>(k % size);
    small_ = true;
  }
  mask lasts() const {
    if (small_) return lasts_ >> place_;
    const std::int64_t gap = size_ - 1 - place_;
    return gap < 64 ? mask{1} << gap : 0;
  }
  void advance(std::int64_t numbers) {
    place_ += numbers;
    if (small_)
      place_ = rest_[place_];
    else if (place_ >= size_)
      place_ -= size_;
  }
  std::int64_t place() const { return place_; }

 private:
  std::int64_t size_;
  std::int64_t place_;
  bool small_ = false;
  mask lasts_ = 0;
  std::uint8_t rest_[2 * most_numbers + 1] = {};
};

// The kinds of 64 bytes, a bit each.
struct byte_kinds {
  mask digit, point, sign, minus, star, blank, feed, carriage;
};

// The first byte outside `among` at or behind each start: carries run through the bytes of `among`.
inline mask first_outside(mask starts, mask among) { return (starts + among) & ~among; }

struct number_places {
  mask ends = 0;    // last digits, or points
  mask starts = 0;  // first ones
  mask digits = 0;
  mask points = 0;
  int count = 0;
  mask negative = 0;  // bit k: of number k
  mask pointed = 0;   // bit k: number k has a point
};

// 64 bytes of a set.
struct text_block {
  __m512i bytes;

  VOUCH_SCAN_TARGET explicit text_block(const char* p) : bytes(_mm512_loadu_si512(p)) {}

  VOUCH_SCAN_TARGET mask places_of(char c) const { return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(c)); }
  template <bool Points>
  VOUCH_SCAN_TARGET byte_kinds classify() const {
    byte_kinds k;
    k.digit = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8('0')), _mm512_set1_epi8(10));
    k.point = Points ? places_of('.') : 0;
    k.minus = places_of('-');
    k.sign = k.minus | places_of('+');
    k.star = places_of('*');
    k.blank = places_of(' ') | places_of('\t');
    k.feed = places_of('\n');
    k.carriage = places_of('\r');
    return k;
  }
};

// Takes 64 bytes at a time from the start of a number or separator: the numbers in it that are followed by
// another number or a separator in it. The rest comes with the next 64 bytes. Convert::text holds and
// classifies them; Convert::block(text, places, values) passes the numbers on, or refuses them.
//
// All rules are checked by masks. Behind each number comes a line's end where, and only where, a row is full,
// and a separator where, and only where, the matrix is: the number's followers, compressed to a bit for each
// number, must equal the pattern of the shape. Bound by the shuffles of the conversion, not by memory.
template <class Convert>
VOUCH_SCAN_TARGET void scan_blocks(set_parser& state, const char* limit, value_buffer& values) {
  const char* p = state.at;
  const bool fresh = state.tokens == state.elements();  // the next separator begins a matrix
  if (p > limit || (fresh ? *p != '*' : *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == '*'))
    return;
  group_counter in_row(state.shape.cols, state.tokens % state.shape.cols);
  group_counter in_matrix(state.elements(), fresh ? 0 : state.tokens);
  std::int64_t taken = 0;
  while (p <= limit) {
    const typename Convert::text text(p);
    const byte_kinds kind = text.template classify<Convert::points>();
    const mask word = kind.digit | kind.point;
    const mask white = kind.blank | kind.feed | kind.carriage;
    const mask in_line = kind.blank | kind.carriage;
    const mask all_ends = word & ~(word >> 1) & ~(mask{1} << 63);
    const mask item_after = first_outside(all_ends << 1, white);
    if (item_after == 0) break;
    const int size = 63 - static_cast<int>(_lzcnt_u64(item_after));
    const mask keep = (mask{1} << size) - 1;

    number_places n;
    n.digits = kind.digit & keep;
    n.points = kind.point & keep;
    n.ends = all_ends & keep;
    n.starts = word & keep & ~(word << 1);
    n.count = static_cast<int>(_mm_popcnt_u64(n.ends));
    const mask after = first_outside(n.ends << 1, in_line);

    // No bytes but those known, white behind each number, a digit or point behind each sign, LF behind each CR.
    mask wrong = keep & ~(word | kind.sign | kind.star | white);
    wrong |= (n.ends << 1) & ~white;
    wrong |= ((kind.sign & keep) << 1) & ~word;
    wrong |= ((kind.carriage & keep) << 1) & ~kind.feed;
    // Three asterisks each, alone on their line, behind a full matrix or at the start.
    const mask stars = kind.star & keep;
    const mask star_starts = stars & ~(stars << 1);
    wrong |= stars ^ (star_starts | (star_starts << 1) | (star_starts << 2));
    wrong |= star_starts & ~(item_after | 1);
    wrong |= first_outside(star_starts << 3, in_line) & ~kind.feed;
    if (Convert::points) {
      // One point a number, and not alone.
      const mask behind = first_outside(n.points << 1, kind.digit);
      wrong |= behind & kind.point;
      wrong |= n.points & n.starts & n.ends;
      n.pointed = _pext_u64(behind, n.ends << 1);
    }
    const mask numbers = (mask{1} << n.count) - 1;
    wrong |= _pext_u64(kind.feed, after) ^ (in_row.lasts() & numbers);
    wrong |= _pext_u64(kind.star, item_after) ^ (in_matrix.lasts() & numbers);
    n.negative = _pext_u64(kind.minus << 1, n.starts);
    if (wrong != 0 || !Convert::block(text, n, values)) break;
    taken += n.count;
    in_row.advance(n.count);
    in_matrix.advance(n.count);
    p += size;
  }
  if (taken == 0) return;
  const std::int64_t before = fresh ? 0 : state.tokens;
  state.at = p;
  state.matrices += (before + taken) / state.elements();
  state.tokens = in_matrix.place() == 0 ? state.elements() : in_matrix.place();
}

VOUCH_SCAN_TARGET inline __m256i compressed_places(mask of) {
  const __m512i places =
      _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                       0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
  return _mm512_castsi512_si256(_mm512_maskz_compress_epi8(of, places));
}

// Values of up to 16 numbers of at most four digits: lane k gathers the digits that end at its byte.
VOUCH_SCAN_TARGET inline __m512i gather_four(__m512i digits, __m128i last, __m128i first) {
  const __m512i spread = _mm512_set_epi32(0x0f0f0f0f, 0x0e0e0e0e, 0x0d0d0d0d, 0x0c0c0c0c, 0x0b0b0b0b,
                                          0x0a0a0a0a, 0x09090909, 0x08080808, 0x07070707, 0x06060606,
                                          0x05050505, 0x04040404, 0x03030303, 0x02020202, 0x01010101, 0);
  const __m512i back = _mm512_set1_epi32(0x00fffefd);
  const __m512i at = _mm512_add_epi8(_mm512_permutexvar_epi8(spread, _mm512_castsi128_si512(last)), back);
  const __m512i from = _mm512_permutexvar_epi8(spread, _mm512_castsi128_si512(first));
  const __m512i text = _mm512_maskz_permutexvar_epi8(_mm512_cmpge_epi8_mask(at, from), at, digits);
  const __m512i pairs = _mm512_maddubs_epi16(text, _mm512_set1_epi16(0x010a));
  return _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00010064));
}

// Values of up to 8 numbers of at most eight digits.
VOUCH_SCAN_TARGET inline __m256i gather_eight(__m512i digits, __m128i last, __m128i first) {
  const __m512i spread =
      _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
                       0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
  const __m512i back = _mm512_set1_epi64(0x00fffefdfcfbfaf9);
  const __m512i at = _mm512_add_epi8(_mm512_permutexvar_epi8(spread, _mm512_castsi128_si512(last)), back);
  const __m512i from = _mm512_permutexvar_epi8(spread, _mm512_castsi128_si512(first));
  const __m512i text = _mm512_maskz_permutexvar_epi8(_mm512_cmpge_epi8_mask(at, from), at, digits);
  const __m512i pairs = _mm512_maddubs_epi16(text, _mm512_set1_epi16(0x010a));
  const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00010064));
  const __m512i high = _mm512_mul_epu32(fours, _mm512_set1_epi64(10000));
  return _mm512_cvtepi64_epi32(_mm512_add_epi64(high, _mm512_srli_epi64(fours, 32)));
}

VOUCH_SCAN_TARGET inline void store_narrow(std::int32_t* to, __m512i values, mask negative) {
  const auto minus = static_cast<__mmask16>(negative);
  _mm512_storeu_si512(to, _mm512_mask_sub_epi32(values, minus, _mm512_setzero_si512(), values));
}

VOUCH_SCAN_TARGET inline void store_narrow(std::int32_t* to, __m256i values, mask negative) {
  const auto minus = static_cast<__mmask8>(negative);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_mask_sub_epi32(values, minus, _mm256_setzero_si256(), values));
}

// Writes the numbers, and up to 16 more values of no meaning.
VOUCH_SCAN_TARGET inline void convert(__m512i digits, const number_places& n, std::int32_t* to) {
  const mask twos = n.digits & (n.digits >> 1);
  const mask fours = twos & (twos >> 2);
  if (twos == 0) {
    const __m512i values = _mm512_maskz_compress_epi8(n.ends, digits);
    store_narrow(to, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(values)), n.negative);
    if (n.count > 16)
      store_narrow(to + 16, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(values, 1)), n.negative >> 16);
    return;
  }
  const __m256i last = compressed_places(n.ends);
  const __m256i first = compressed_places(n.starts);
  const __m128i last_low = _mm256_castsi256_si128(last);
  const __m128i first_low = _mm256_castsi256_si128(first);
  if ((fours & (n.digits >> 4)) == 0) {
    store_narrow(to, gather_four(digits, last_low, first_low), n.negative);
    if (n.count > 16)
      store_narrow(to + 16,
                   gather_four(digits, _mm256_extracti128_si256(last, 1), _mm256_extracti128_si256(first, 1)),
                   n.negative >> 16);
    return;
  }
  // With a number of five digits or more there are at most 30.
  store_narrow(to, gather_eight(digits, last_low, first_low), n.negative);
  store_narrow(to + 8, gather_eight(digits, _mm_srli_si128(last_low, 8), _mm_srli_si128(first_low, 8)),
               n.negative >> 8);
  if (n.count > 16) {
    const __m128i last_high = _mm256_extracti128_si256(last, 1);
    const __m128i first_high = _mm256_extracti128_si256(first, 1);
    store_narrow(to + 16, gather_eight(digits, last_high, first_high), n.negative >> 16);
    store_narrow(to + 24, gather_eight(digits, _mm_srli_si128(last_high, 8), _mm_srli_si128(first_high, 8)),
                 n.negative >> 24);
  }
}

// Numbers of at most eight digits; more are the strict parser's.
struct narrow_integers {
  using text = text_block;
  static constexpr bool points = false;

  VOUCH_SCAN_TARGET static bool block(const text_block& from, const number_places& n, value_buffer& values) {
    const mask twos = n.digits & (n.digits >> 1);
    const mask fours = twos & (twos >> 2);
    if ((fours & (fours >> 4) & (n.digits >> 8)) != 0) return false;
    convert(_mm512_sub_epi8(from.bytes, _mm512_set1_epi8('0')), n, values.int_end());
    values.count_int(n.count);
    return true;
  }
};

// Where the numbers of a group of eight are, a byte each.
struct decimal_places {
  __m128i last, first, point;
};

// Byte by byte of `spread`: the digits of the number whose place it names, right-aligned and past the point.
VOUCH_SCAN_TARGET inline __m512i gather_past_point(__m512i digits, const decimal_places& n, __m512i spread,
                                                   __m512i back) {
  __m512i at = _mm512_add_epi8(_mm512_permutexvar_epi8(spread, _mm512_castsi128_si512(n.last)), back);
  const __mmask64 left =
      _mm512_cmple_epi8_mask(at, _mm512_permutexvar_epi8(spread, _mm512_castsi128_si512(n.point)));
  at = _mm512_mask_sub_epi8(at, left, at, _mm512_set1_epi8(1));
  const __m512i text = _mm512_maskz_permutexvar_epi8(
      _mm512_cmpge_epi8_mask(at, _mm512_permutexvar_epi8(spread, _mm512_castsi128_si512(n.first))), at, digits);
  const __m512i pairs = _mm512_maddubs_epi16(text, _mm512_set1_epi16(0x010a));
  return _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00010064));
}

// The digits of eight numbers as integers, at most eight each.
VOUCH_SCAN_TARGET inline __m512i eight_digits(__m512i digits, const decimal_places& n) {
  const __m512i spread =
      _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
                       0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
  const __m512i fours = gather_past_point(digits, n, spread, _mm512_set1_epi64(0x00fffefdfcfbfaf9));
  const __m512i high = _mm512_mul_epu32(fours, _mm512_set1_epi64(10000));
  return _mm512_add_epi64(high, _mm512_srli_epi64(fours, 32));
}

// Four of the eight numbers, the first or the last, at most sixteen digits each: in the even lanes.
VOUCH_SCAN_TARGET inline __m512i sixteen_digits(__m512i digits, const decimal_places& n, __m512i spread) {
  const __m512i back =
      _mm512_broadcast_i32x4(_mm_set_epi64x(0x00fffefdfcfbfaf9, static_cast<long long>(0xf8f7f6f5f4f3f2f1)));
  const __m512i fours = gather_past_point(digits, n, spread, back);
  const __m512i eights = _mm512_madd_epi16(_mm512_packus_epi32(fours, fours), _mm512_set1_epi32(0x00012710));
  const __m512i high = _mm512_mul_epu32(eights, _mm512_set1_epi64(100000000));
  return _mm512_add_epi64(high, _mm512_srli_epi64(eights, 32));
}

VOUCH_SCAN_TARGET inline __m512i sixteen_digits(__m512i digits, const decimal_places& n) {
  const __m512i low = _mm512_set_epi64(0x0303030303030303, 0x0303030303030303, 0x0202020202020202,
                                       0x0202020202020202, 0x0101010101010101, 0x0101010101010101, 0, 0);
  const __m512i high = _mm512_add_epi8(low, _mm512_set1_epi8(4));
  const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
  return _mm512_permutex2var_epi64(sixteen_digits(digits, n, low), even, sixteen_digits(digits, n, high));
}

// 10^k in lane k.
VOUCH_SCAN_TARGET inline __m512d powers_of_ten(__m512i k) {
  const __m512d low = _mm512_set_pd(1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1, 1);
  const __m512d high = _mm512_set_pd(1e15, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9, 1e8);
  return _mm512_permutex2var_pd(low, k, high);
}

// Bytes for all numbers of a block, to be taken by eights.
struct group_bytes {
  alignas(32) char of[32 + 8];

  VOUCH_SCAN_TARGET explicit group_bytes(__m256i bytes) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(of), bytes);
  }
  VOUCH_SCAN_TARGET __m128i from(int first) const {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(of + first));
  }
};

// Numbers of at most 15 digits: an integer and a power of ten that doubles hold exactly, so that one division
// rounds correctly.
struct decimals {
  using text = text_block;
  static constexpr bool points = true;

  VOUCH_SCAN_TARGET static bool block(const text_block& from, const number_places& n, value_buffer& values) {
    const auto numbers = static_cast<__mmask32>((mask{1} << n.count) - 1);
    const auto pointed = static_cast<__mmask32>(n.pointed);
    const __m256i last = compressed_places(n.ends), first = compressed_places(n.starts);
    // A number without a point has it to the left of all digits.
    const __m256i point = _mm256_mask_expand_epi8(_mm256_set1_epi8(-128), pointed, compressed_places(n.points));
    const __m256i less_one = _mm256_sub_epi8(last, first);
    const __m256i count = _mm256_mask_add_epi8(less_one, ~pointed, less_one, _mm256_set1_epi8(1));
    if ((_mm256_cmpgt_epu8_mask(count, _mm256_set1_epi8(15)) & numbers) != 0) return false;
    const __mmask32 longer = _mm256_cmpgt_epu8_mask(count, _mm256_set1_epi8(8)) & numbers;

    const __m512i digits = _mm512_sub_epi8(from.bytes, _mm512_set1_epi8('0'));
    const group_bytes lasts(last), firsts(first), all_points(point);
    const group_bytes fractions(_mm256_maskz_sub_epi8(pointed, last, point));
    double* const to = values.real_end();
    for (int k = 0; k < n.count; k += 8) {
      const decimal_places eight{lasts.from(k), firsts.from(k), all_points.from(k)};
      const bool wide = (longer >> k & 0xff) != 0;
      const __m512i integers = wide ? sixteen_digits(digits, eight) : eight_digits(digits, eight);
      const __m512d power = powers_of_ten(_mm512_cvtepu8_epi64(fractions.from(k)));
      const __m512d magnitude = _mm512_div_pd(_mm512_cvtepi64_pd(integers), power);
      // 0 - 0 is 0: no zero is negative.
      const auto minus = static_cast<__mmask8>(n.negative >> k);
      _mm512_storeu_pd(to + k, _mm512_mask_sub_pd(magnitude, minus, _mm512_setzero_pd(), magnitude));
    }
    values.count_real(n.count, n.points != 0);
    return true;
  }
};

}  // namespace

// Whether the processor has what the functions below are compiled for.
bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
                          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                          __builtin_cpu_supports("popcnt");
  return has;
}

VOUCH_SCAN_TARGET void scan_avx512(set_parser& state, const char* limit, value_buffer& values) {
  scan_blocks<narrow_integers>(state, limit, values);
}

VOUCH_SCAN_TARGET void scan_decimals_avx512(set_parser& state, const char* limit, value_buffer& values) {
  scan_blocks<decimals>(state, limit, values);
}

}  // namespace vouch

#endif
