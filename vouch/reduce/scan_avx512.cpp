#include <vouch/reduce/avx512_block.hpp>
#include <vouch/reduce/set_scan.hpp>

namespace vouch {

#if !defined(__x86_64__)
bool has_avx512() { return false; }
void scan_avx512(set_parser&, const char*, value_buffer&) {}
#else

// Whether the processor has what the functions below are compiled for.
bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
                          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                          __builtin_cpu_supports("popcnt");
  return has;
}

namespace {

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
    convert(_mm512_sub_epi8(from.bytes, _mm512_set1_epi8('0')), n, values.narrow_end());
    values.took_narrow(n.count);
    return true;
  }
};

}  // namespace

VOUCH_SCAN_TARGET void scan_avx512(set_parser& state, const char* limit, value_buffer& values) {
  scan_blocks<narrow_integers>(state, limit, values);
}

#endif

}  // namespace vouch
