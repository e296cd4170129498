// vouch/dense/blas/avx512.hpp -- registers of 64 bytes whose operations carry their rounding; private.
//
// The rounding is part of each instruction: no mode is switched, and a compiler has nothing to move. Functions
// here and those that call them have the attribute target; nothing else of the library needs the instructions.
#pragma once
#if defined(__x86_64__)
#define VOUCH_HAS_AVX512 1
// g++ 12 takes the undefined lanes of its own intrinsics for uninitialised variables.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <cstdint>

#include <vouch/core/types.hpp>

#define VOUCH_AVX512 __attribute__((target("avx512f")))
#define VOUCH_AVX512_INLINE __attribute__((target("avx512f"), always_inline)) inline

namespace vouch::avx512 {

/// Tests set it to run the portable loops on any processor.
inline bool switched_off = false;

inline bool available() {
  static const bool yes = __builtin_cpu_supports("avx512f") != 0;
  return yes && !switched_off;
}

enum class rounds { nearest, down, up };

template <rounds R>
inline constexpr int mode = (R == rounds::nearest ? _MM_FROUND_TO_NEAREST_INT
                             : R == rounds::down  ? _MM_FROUND_TO_NEG_INF
                                                  : _MM_FROUND_TO_POS_INF) |
                            _MM_FROUND_NO_EXC;

template <real T>
struct vec;

template <>
struct vec<double> {
  using reg = __m512d;
  using mask = __mmask8;
  static constexpr int width = 8;
  static constexpr mask odd = 0xaa;

  /// The first count lanes, 0 <= count <= width.
  static constexpr mask first(std::int64_t count) { return static_cast<mask>((1U << count) - 1); }

  VOUCH_AVX512_INLINE static reg zero() { return _mm512_setzero_pd(); }
  VOUCH_AVX512_INLINE static reg all(double x) { return _mm512_set1_pd(x); }
  VOUCH_AVX512_INLINE static reg load(const double* p) { return _mm512_loadu_pd(p); }
  VOUCH_AVX512_INLINE static reg load(mask m, const double* p) { return _mm512_maskz_loadu_pd(m, p); }
  VOUCH_AVX512_INLINE static void store(double* p, reg x) { _mm512_storeu_pd(p, x); }
  VOUCH_AVX512_INLINE static void store(mask m, double* p, reg x) { _mm512_mask_storeu_pd(p, m, x); }

  template <rounds R>
  VOUCH_AVX512_INLINE static reg fma(reg a, reg b, reg c) {
    return _mm512_fmadd_round_pd(a, b, c, mode<R>);
  }
  template <rounds R>
  VOUCH_AVX512_INLINE static reg add(reg a, reg b) {
    return _mm512_add_round_pd(a, b, mode<R>);
  }
  VOUCH_AVX512_INLINE static reg min(reg a, reg b) { return _mm512_min_pd(a, b); }
  VOUCH_AVX512_INLINE static reg max(reg a, reg b) { return _mm512_max_pd(a, b); }
  VOUCH_AVX512_INLINE static reg abs(reg a) { return _mm512_abs_pd(a); }
  VOUCH_AVX512_INLINE static reg negative(reg a) { return _mm512_sub_pd(all(-0.0), a); }
  /// where ? b : a, lane by lane.
  VOUCH_AVX512_INLINE static reg blend(mask where, reg a, reg b) { return _mm512_mask_blend_pd(where, a, b); }
  VOUCH_AVX512_INLINE static mask below_zero(reg a) { return _mm512_cmp_pd_mask(a, zero(), _CMP_LT_OQ); }
  VOUCH_AVX512_INLINE static bool finite(reg a) {
    return _mm512_cmp_pd_mask(abs(a), all(__builtin_inf()), _CMP_NLT_UQ) == 0;
  }

  // Pairs of lanes: an interval's bounds.
  VOUCH_AVX512_INLINE static reg swapped(reg a) { return _mm512_permute_pd(a, 0x55); }
  VOUCH_AVX512_INLINE static reg swapped(mask where, reg a) {
    return _mm512_mask_permute_pd(a, where, a, 0x55);
  }
  /// Pairs in their order or swapped, as the control says.
  using control = __m512i;
  VOUCH_AVX512_INLINE static control order(bool swap) {
    return swap ? _mm512_set_epi64(0, 2, 0, 2, 0, 2, 0, 2) : _mm512_set_epi64(2, 0, 2, 0, 2, 0, 2, 0);
  }
  VOUCH_AVX512_INLINE static reg ordered(reg a, control by) { return _mm512_permutevar_pd(a, by); }
  /// Even lanes with their sign changed.
  VOUCH_AVX512_INLINE static reg flipped(reg a) {
    const __m512i signs = _mm512_set_epi64(0, INT64_MIN, 0, INT64_MIN, 0, INT64_MIN, 0, INT64_MIN);
    return _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(a), signs));
  }
  /// Lanes where a or b is NaN.
  VOUCH_AVX512_INLINE static mask unordered(reg a, reg b) { return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q); }
  VOUCH_AVX512_INLINE static reg both_even(reg a) { return _mm512_movedup_pd(a); }
  VOUCH_AVX512_INLINE static reg both_odd(reg a) { return _mm512_permute_pd(a, 0xff); }
  /// Each of the lower half's lanes twice.
  VOUCH_AVX512_INLINE static reg doubled(reg a) {
    return _mm512_permutexvar_pd(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), a);
  }
  /// The even lanes of a, then those of b; the odd ones likewise.
  VOUCH_AVX512_INLINE static reg evens(reg a, reg b) {
    return _mm512_permutex2var_pd(a, _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), b);
  }
  VOUCH_AVX512_INLINE static reg odds(reg a, reg b) {
    return _mm512_permutex2var_pd(a, _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1), b);
  }
  /// The lower halves of a and b as pairs, and the upper halves.
  VOUCH_AVX512_INLINE static reg lower_pairs(reg a, reg b) {
    return _mm512_permutex2var_pd(a, _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), b);
  }
  VOUCH_AVX512_INLINE static reg upper_pairs(reg a, reg b) {
    return _mm512_permutex2var_pd(a, _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4), b);
  }
};

template <>
struct vec<float> {
  using reg = __m512;
  using mask = __mmask16;
  static constexpr int width = 16;
  static constexpr mask odd = 0xaaaa;

  static constexpr mask first(std::int64_t count) { return static_cast<mask>((1U << count) - 1); }

  VOUCH_AVX512_INLINE static reg zero() { return _mm512_setzero_ps(); }
  VOUCH_AVX512_INLINE static reg all(float x) { return _mm512_set1_ps(x); }
  VOUCH_AVX512_INLINE static reg load(const float* p) { return _mm512_loadu_ps(p); }
  VOUCH_AVX512_INLINE static reg load(mask m, const float* p) { return _mm512_maskz_loadu_ps(m, p); }
  VOUCH_AVX512_INLINE static void store(float* p, reg x) { _mm512_storeu_ps(p, x); }
  VOUCH_AVX512_INLINE static void store(mask m, float* p, reg x) { _mm512_mask_storeu_ps(p, m, x); }

  template <rounds R>
  VOUCH_AVX512_INLINE static reg fma(reg a, reg b, reg c) {
    return _mm512_fmadd_round_ps(a, b, c, mode<R>);
  }
  template <rounds R>
  VOUCH_AVX512_INLINE static reg add(reg a, reg b) {
    return _mm512_add_round_ps(a, b, mode<R>);
  }
  VOUCH_AVX512_INLINE static reg min(reg a, reg b) { return _mm512_min_ps(a, b); }
  VOUCH_AVX512_INLINE static reg max(reg a, reg b) { return _mm512_max_ps(a, b); }
  VOUCH_AVX512_INLINE static reg abs(reg a) { return _mm512_abs_ps(a); }
  VOUCH_AVX512_INLINE static reg negative(reg a) { return _mm512_sub_ps(all(-0.0F), a); }
  VOUCH_AVX512_INLINE static reg blend(mask where, reg a, reg b) { return _mm512_mask_blend_ps(where, a, b); }
  VOUCH_AVX512_INLINE static mask below_zero(reg a) { return _mm512_cmp_ps_mask(a, zero(), _CMP_LT_OQ); }
  VOUCH_AVX512_INLINE static bool finite(reg a) {
    return _mm512_cmp_ps_mask(abs(a), all(__builtin_inff()), _CMP_NLT_UQ) == 0;
  }

  VOUCH_AVX512_INLINE static reg swapped(reg a) { return _mm512_permute_ps(a, 0xb1); }
  VOUCH_AVX512_INLINE static reg swapped(mask where, reg a) {
    return _mm512_mask_permute_ps(a, where, a, 0xb1);
  }
  using control = __m512i;
  VOUCH_AVX512_INLINE static control order(bool swap) {
    return swap ? _mm512_set_epi32(2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1)
                : _mm512_set_epi32(3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0);
  }
  VOUCH_AVX512_INLINE static reg ordered(reg a, control by) { return _mm512_permutevar_ps(a, by); }
  VOUCH_AVX512_INLINE static reg flipped(reg a) {
    const __m512i signs = _mm512_set1_epi64(0x80000000LL);
    return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), signs));
  }
  VOUCH_AVX512_INLINE static mask unordered(reg a, reg b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }
  VOUCH_AVX512_INLINE static reg both_even(reg a) { return _mm512_moveldup_ps(a); }
  VOUCH_AVX512_INLINE static reg both_odd(reg a) { return _mm512_movehdup_ps(a); }
  VOUCH_AVX512_INLINE static reg doubled(reg a) {
    return _mm512_permutexvar_ps(_mm512_set_epi32(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0), a);
  }
  VOUCH_AVX512_INLINE static reg evens(reg a, reg b) {
    return _mm512_permutex2var_ps(
        a, _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0), b);
  }
  VOUCH_AVX512_INLINE static reg odds(reg a, reg b) {
    return _mm512_permutex2var_ps(
        a, _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1), b);
  }
  VOUCH_AVX512_INLINE static reg lower_pairs(reg a, reg b) {
    return _mm512_permutex2var_ps(a, _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0),
                                  b);
  }
  VOUCH_AVX512_INLINE static reg upper_pairs(reg a, reg b) {
    return _mm512_permutex2var_ps(
        a, _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8), b);
  }
};

}  // namespace vouch::avx512
#else
#define VOUCH_HAS_AVX512 0
#endif
