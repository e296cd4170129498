#include <vouch/reduce/avx512_block.hpp>
#include <vouch/reduce/set_scan.hpp>

namespace vouch {

#if !defined(__x86_64__)
void scan_decimals_avx512(set_parser&, const char*, value_buffer&) {}
#else

namespace {

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
    double* const to = values.wide_end();
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
    values.took_wide(n.count, n.points != 0);
    return true;
  }
};

}  // namespace

VOUCH_SCAN_TARGET void scan_decimals_avx512(set_parser& state, const char* limit, value_buffer& values) {
  scan_blocks<decimals>(state, limit, values);
}

#endif

}  // namespace vouch
