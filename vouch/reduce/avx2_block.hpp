// vouch/reduce/avx2_block.hpp -- 64 bytes of a matrix set in two registers of AVX2; private.
#pragma once
#if defined(__x86_64__)
#define VOUCH_SCAN_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))

#include <vouch/reduce/block_scan.hpp>

namespace vouch {
namespace {

struct text_block {
  const char* at;
  __m256i low, high;

  VOUCH_SCAN_TARGET explicit text_block(const char* p)
      : at(p),
        low(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))),
        high(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))) {}

  // A bit for each byte of two vectors of 0 and -1.
  VOUCH_SCAN_TARGET static mask bits(__m256i of_low, __m256i of_high) {
    const auto below = static_cast<std::uint32_t>(_mm256_movemask_epi8(of_low));
    return below | mask{static_cast<std::uint32_t>(_mm256_movemask_epi8(of_high))} << 32;
  }
  VOUCH_SCAN_TARGET mask places_of(char c) const {
    const __m256i all = _mm256_set1_epi8(c);
    return bits(_mm256_cmpeq_epi8(low, all), _mm256_cmpeq_epi8(high, all));
  }
  VOUCH_SCAN_TARGET static __m256i is_digit(__m256i bytes) {
    const __m256i value = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(value, _mm256_set1_epi8(9)), value);
  }
  template <bool Points>
  VOUCH_SCAN_TARGET byte_kinds classify() const {
    byte_kinds k;
    k.digit = bits(is_digit(low), is_digit(high));
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

// Takes the lowest bit off: its place, or 64 where there is none.
VOUCH_SCAN_TARGET inline std::int64_t take_lowest(mask& of) {
  const auto place = static_cast<std::int64_t>(_tzcnt_u64(of));
  of = _blsr_u64(of);
  return place;
}

// Four numbers of at most eight digits, from their text right-aligned behind zero bytes.
VOUCH_SCAN_TARGET inline __m128i eight_digits(__m256i text) {
  const __m256i digits = _mm256_and_si256(text, _mm256_set1_epi8(15));
  const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
  const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00010064));
  const __m256i high = _mm256_mul_epu32(fours, _mm256_set1_epi64x(10000));
  const __m256i sums = _mm256_add_epi64(high, _mm256_srli_epi64(fours, 32));
  const __m256i even = _mm256_set_epi32(0, 0, 0, 0, 6, 4, 2, 0);
  return _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(sums, even));
}

// All ones in lane k where bit k is set.
VOUCH_SCAN_TARGET inline __m128i narrow_lanes(mask bits) {
  const __m128i each = _mm_set_epi32(8, 4, 2, 1);
  return _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32(static_cast<int>(bits & 15)), each), each);
}
VOUCH_SCAN_TARGET inline __m256i wide_lanes(mask bits) { return _mm256_cvtepi32_epi64(narrow_lanes(bits)); }

}  // namespace
}  // namespace vouch

#endif
