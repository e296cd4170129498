#include <vouch/reduce/avx2_block.hpp>
#include <vouch/reduce/set_scan.hpp>
#include <vouch/text/digits.hpp>

namespace vouch {

#if !defined(__x86_64__)
bool has_avx2() { return false; }
void scan_avx2(set_parser&, const char*, value_buffer&) {}
#else

// Whether the processor has what the functions below are compiled for.
bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  return has;
}

namespace {

// Four numbers of at most eight digits: their text, right-aligned behind zero bytes.
VOUCH_SCAN_TARGET inline __m128i convert_four(__m256i text, mask negative) {
  const __m256i digits = _mm256_and_si256(text, _mm256_set1_epi8(15));
  const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
  const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00010064));
  const __m256i high = _mm256_mul_epu32(fours, _mm256_set1_epi64x(10000));
  const __m256i sums = _mm256_add_epi64(high, _mm256_srli_epi64(fours, 32));
  const __m256i even = _mm256_set_epi32(0, 0, 0, 0, 6, 4, 2, 0);
  const __m128i magnitudes = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(sums, even));
  const __m128i minus = narrow_lanes(negative);
  return _mm_sub_epi32(_mm_xor_si128(magnitudes, minus), minus);
}

// Numbers of at most eight digits; more are the strict parser's.
struct narrow_integers {
  using text = text_block;
  static constexpr bool points = false;

  VOUCH_SCAN_TARGET static bool block(const text_block& from, const number_places& n, value_buffer& values) {
    const mask twos = n.digits & (n.digits >> 1);
    const mask fours = twos & (twos >> 2);
    if ((fours & (fours >> 4) & (n.digits >> 8)) != 0) return false;
    alignas(32) std::uint64_t words[most_numbers];
    // In steps of four, up to three numbers of no meaning: their text is behind the block.
    mask starts = n.starts, ends = n.ends;
    for (int k = 0; k < n.count; k += 4)
      for (int j = 0; j < 4; ++j) {
        const std::int64_t first = take_lowest(starts), last = take_lowest(ends);
        words[k + j] = digits::load_eight(from.at + first) << (56 - 8 * (last - first));
      }
    std::int32_t* const to = values.narrow_end();
    for (int k = 0; k < n.count; k += 4) {
      const __m256i four = _mm256_load_si256(reinterpret_cast<const __m256i*>(words + k));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + k), convert_four(four, n.negative >> k));
    }
    values.took_narrow(n.count);
    return true;
  }
};

}  // namespace

VOUCH_SCAN_TARGET void scan_avx2(set_parser& state, const char* limit, value_buffer& values) {
  scan_blocks<narrow_integers>(state, limit, values);
}

#endif

}  // namespace vouch
