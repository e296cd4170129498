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

VOUCH_SCAN_TARGET inline __m128i convert_four(__m256i text, mask negative) {
  const __m128i minus = narrow_lanes(negative);
  return _mm_sub_epi32(_mm_xor_si128(eight_digits(text), minus), minus);
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
