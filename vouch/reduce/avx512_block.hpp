// vouch/reduce/avx512_block.hpp -- 64 bytes of a matrix set in one register of AVX-512; private.
#pragma once
#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 sees uninitialised values in its own intrinsics, whose results do not depend on them.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

// clang-format off
#define VOUCH_SCAN_TARGET \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,bmi,bmi2,lzcnt,popcnt")))
// clang-format on

#include <vouch/reduce/block_scan.hpp>

namespace vouch {
namespace {

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

VOUCH_SCAN_TARGET inline __m256i compressed_places(mask of) {
  const __m512i places =
      _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                       0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
  return _mm512_castsi512_si256(_mm512_maskz_compress_epi8(of, places));
}

}  // namespace
}  // namespace vouch

#endif
