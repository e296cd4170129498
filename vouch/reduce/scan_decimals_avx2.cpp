#include <vouch/reduce/avx2_block.hpp>
#include <vouch/reduce/set_scan.hpp>
#include <vouch/text/digits.hpp>

namespace vouch {

#if !defined(__x86_64__)
void scan_decimals_avx2(set_parser&, const char*, value_buffer&) {}
#else

namespace {

// The digits of a number of at most sixteen bytes as an integer: `integral` of `count` stand before its point.
VOUCH_SCAN_TARGET inline std::int64_t digits_past_point(const char* first, std::int64_t integral,
                                                        std::int64_t count) {
  const __m128i places = _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  // Right-aligned: what is before the first digit is taken from a negative place, which gives a zero.
  __m128i from = _mm_sub_epi8(places, _mm_set1_epi8(static_cast<char>(16 - count)));
  from = _mm_sub_epi8(from, _mm_cmpgt_epi8(from, _mm_set1_epi8(static_cast<char>(integral - 1))));
  const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first));
  const __m128i digits = _mm_shuffle_epi8(_mm_and_si128(text, _mm_set1_epi8(15)), from);
  const __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010a));
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00010064));
  const __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x00012710));
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  return static_cast<std::int64_t>((both & 0xffffffffu) * 100000000 + (both >> 32));
}

// The same for a number of at most eight bytes: its digits, right-aligned behind zero bytes.
VOUCH_SCAN_TARGET inline std::uint64_t short_digits(const char* first, std::int64_t integral,
                                                    std::int64_t count) {
  const std::uint64_t text = digits::load_eight(first);
  const std::uint64_t before = _bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(8 * integral));
  return ((text & before) | (text >> 8 & ~before)) << (64 - 8 * count);
}

// Where the next number of a block stands.
struct decimal_place {
  std::int64_t first;
  std::int64_t integral;  // digits before the point
  std::int64_t count;     // digits
  int fraction;           // digits behind the point
};

class decimal_places {
 public:
  VOUCH_SCAN_TARGET explicit decimal_places(const number_places& n)
      : starts_(n.starts), ends_(n.ends), points_(n.points), pointed_(n.pointed) {}

  VOUCH_SCAN_TARGET decimal_place next() {
    const std::int64_t first = take_lowest(starts_), last = take_lowest(ends_);
    const std::int64_t has_point = static_cast<std::int64_t>(pointed_ & 1);
    pointed_ >>= 1;
    const auto next_point = static_cast<std::int64_t>(_tzcnt_u64(points_));
    points_ &= points_ - static_cast<mask>(has_point);
    const std::int64_t point = has_point != 0 ? next_point : last + 1;
    return {first, point - first, last + 1 - first - has_point,
            static_cast<int>(last - point) & -static_cast<int>(has_point)};
  }

 private:
  mask starts_, ends_, points_, pointed_;
};

// Numbers of at most 15 digits: an integer and a power of ten that doubles hold exactly, so that one division
// rounds correctly.
struct decimals {
  using text = text_block;
  static constexpr bool points = true;

  VOUCH_SCAN_TARGET static bool block(const text_block& from, const number_places& n, value_buffer& values) {
    alignas(32) double integers[most_numbers + 4], powers[most_numbers + 4];
    const mask word = n.digits | n.points;
    const mask twos = word & (word >> 1), fours = twos & (twos >> 2);
    const bool all_short = (fours & (fours >> 4) & (word >> 8)) == 0;
    if (!(all_short ? short_numbers(from, n, integers, powers) : long_numbers(from, n, integers, powers)))
      return false;
    // The numbers go by fours: up to three zeros behind the last.
    for (int k = n.count; k % 4 != 0; ++k) integers[k] = 0, powers[k] = 1;
    double* const to = values.wide_end();
    for (int k = 0; k < n.count; k += 4) {
      const __m256d magnitude = _mm256_div_pd(_mm256_load_pd(integers + k), _mm256_load_pd(powers + k));
      // 0 - 0 is 0: no zero is negative.
      const __m256d minus = _mm256_sub_pd(_mm256_setzero_pd(), magnitude);
      const __m256d negative = _mm256_castsi256_pd(wide_lanes(n.negative >> k));
      _mm256_storeu_pd(to + k, _mm256_blendv_pd(magnitude, minus, negative));
    }
    values.took_wide(n.count, n.points != 0);
    return true;
  }

 private:
  VOUCH_SCAN_TARGET static bool short_numbers(const text_block& from, const number_places& n, double* integers,
                                              double* powers) {
    alignas(32) std::uint64_t words[most_numbers];
    decimal_places places(n);
    for (int k = 0; k < n.count; ++k) {
      const decimal_place p = places.next();
      words[k] = short_digits(from.at + p.first, p.integral, p.count);
      powers[k] = digits::power_of_ten_as_double(p.fraction);
    }
    for (int k = n.count; k % 4 != 0; ++k) words[k] = 0;
    for (int k = 0; k < n.count; k += 4) {
      const __m256i four = _mm256_load_si256(reinterpret_cast<const __m256i*>(words + k));
      _mm256_store_pd(integers + k, _mm256_cvtepi32_pd(eight_digits(four)));
    }
    return true;
  }
  VOUCH_SCAN_TARGET static bool long_numbers(const text_block& from, const number_places& n, double* integers,
                                             double* powers) {
    decimal_places places(n);
    for (int k = 0; k < n.count; ++k) {
      const decimal_place p = places.next();
      if (p.count > 15) return false;
      integers[k] = static_cast<double>(digits_past_point(from.at + p.first, p.integral, p.count));
      powers[k] = digits::power_of_ten_as_double(p.fraction);
    }
    return true;
  }
};

}  // namespace

VOUCH_SCAN_TARGET void scan_decimals_avx2(set_parser& state, const char* limit, value_buffer& values) {
  scan_blocks<decimals>(state, limit, values);
}

#endif

}  // namespace vouch
