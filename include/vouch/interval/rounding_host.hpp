// vouch/interval/rounding_host.hpp -- directed rounding on the host without a rounding mode; see rounding.hpp.
#pragma once
#include <cfloat>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#if defined(__x86_64__) && defined(__FMA__) && !defined(__CUDACC__)
#include <immintrin.h>
#elif defined(__x86_64__) && !defined(__CUDACC__)
#include <emmintrin.h>
#endif

#include <vouch/core/fused.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

#if __FINITE_MATH_ONLY__
#error "interval arithmetic cannot live with -ffinite-math-only, which -ffast-math and -Ofast imply"
#endif
static_assert(FLT_EVAL_METHOD == 0, "directed rounding needs operations that round to their own type");

VOUCH_AS_WRITTEN_BEGIN
namespace VOUCH_PUBLIC vouch {

namespace rounding {

template <real T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();
template <real T>
inline constexpr T largest = std::numeric_limits<T>::max();
template <real T>
inline constexpr T least_positive = std::numeric_limits<T>::denorm_min();
template <real T>
inline constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

/// The value itself, hidden from the optimiser where it could fuse a product with a later sum: the rounding of
/// a product that was fused away is not the one that the error terms below belong to. In a program also from
/// clang, which with -funsafe-math-optimizations takes (a b) 2^600 for a (b 2^600) where one of them is constant.
template <real T>
VOUCH_HOST_DEVICE inline T rounded(T x) {
#if !defined(__CUDA_ARCH__) && defined(__x86_64__) && (defined(__FMA__) || !defined(VOUCH_LIBRARY))
  __asm__("" : "+x"(x));
#elif !defined(__CUDA_ARCH__) && defined(__aarch64__)
  __asm__("" : "+w"(x));
#endif
  return x;
}

/// Hidden each time anew: several quotients by one number are then not products with its reciprocal.
template <real T>
VOUCH_SIDE inline T divisor(T x) {
#if defined(__x86_64__) && !defined(VOUCH_LIBRARY)
  __asm__ __volatile__("" : "+x"(x));
#endif
  return x;
}

template <real T>
VOUCH_HOST_DEVICE constexpr T magnitude(T x) {
  return x < 0 ? -x : x;
}

// By their bits in a program: where it is compiled as if there were no NaN, comparisons of constants believe
// it.
template <real T>
VOUCH_HOST_DEVICE constexpr auto bits_of_magnitude(T x) {
  using bits_type = std::conditional_t<sizeof(T) == sizeof(double), std::uint64_t, std::uint32_t>;
  return __builtin_bit_cast(bits_type, x) << 1 >> 1;
}

template <real T>
VOUCH_HOST_DEVICE constexpr bool is_nan(T x) {
#if defined(__clang__) && !defined(VOUCH_LIBRARY)
  return bits_of_magnitude(x) > bits_of_magnitude(infinity<T>);
#else
  return x != x;
#endif
}

// Nor does that by bits trap where a program unmasked the exception of comparing NaN.
template <real T>
VOUCH_HOST_DEVICE constexpr bool finite(T x) {
#if !defined(VOUCH_LIBRARY) && !defined(__CUDACC__)
  return bits_of_magnitude(x) < bits_of_magnitude(infinity<T>);
#else
  return magnitude(x) <= largest<T>;
#endif
}

// Outside of a class, where clang heeds VOUCH_AS_WRITTEN_BEGIN.
template <real T>
VOUCH_HOST_DEVICE constexpr bool equal(T a, T b) {
  return a == b;
}

template <real T>
VOUCH_HOST_DEVICE inline T next_up(T x) {
  using bits_type = std::conditional_t<sizeof(T) == sizeof(double), std::int64_t, std::int32_t>;
  if (x == 0) return least_positive<T>;
  if (!(x < infinity<T>)) return x;
  bits_type bits;
  std::memcpy(&bits, &x, sizeof x);
  bits += bits < 0 ? -1 : 1;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

template <real T>
VOUCH_HOST_DEVICE inline T next_down(T x) {
  return -next_up(-x);
}

/// Whether the magnitudes of all x lie in [2^-255, 2^257), of floats in [2^-31, 2^33). One sum, product, quotient or
/// root of such numbers and its error term are then normal numbers far from overflow, and what is made of the two below
/// is the same in every rounding mode, whether subnormal numbers are kept or not: docs/rigor.md.
template <std::same_as<double>... T>
VOUCH_SIDE constexpr bool is_usual(T... x) {
  constexpr std::uint64_t least = std::uint64_t{768} << 52, beyond = std::uint64_t{0x600} << 52;
  return (((__builtin_bit_cast(std::uint64_t, x) - least) | ...) & beyond) == 0;
}
template <std::same_as<float>... T>
VOUCH_SIDE constexpr bool is_usual(T... x) {
  constexpr std::uint32_t least = std::uint32_t{96} << 23, beyond = std::uint32_t{0xc0} << 23;
  return (((__builtin_bit_cast(std::uint32_t, x) - least) | ...) & beyond) == 0;
}

#if defined(__x86_64__) && !defined(VOUCH_LIBRARY) && !defined(__CUDACC__)
#define VOUCH_OUTWARD_IN_PAIRS
/// The same of two pairs at once.
[[gnu::always_inline]] VOUCH_SIDE inline bool is_usual(__m128d x, __m128d y) {
  const __m128i least = _mm_set1_epi64x(std::int64_t{768} << 52),
                beyond = _mm_set1_epi64x(std::int64_t{0x600} << 52);
  const __m128i outside = _mm_and_si128(
      _mm_or_si128(_mm_sub_epi64(_mm_castpd_si128(x), least), _mm_sub_epi64(_mm_castpd_si128(y), least)),
      beyond);
  return _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(outside, _mm_setzero_si128()))) == 15;
}

/// {-x_1, x_2}: of the bounds of an interval both are then rounded upwards.
[[gnu::always_inline]] VOUCH_SIDE inline __m128d first_negated(__m128d x) {
  return _mm_xor_pd(x, _mm_set_pd(0.0, -0.0));
}
[[gnu::always_inline]] VOUCH_SIDE inline __m128d negated(__m128d x) { return _mm_xor_pd(x, _mm_set1_pd(-0.0)); }

/// The next numbers above s, which are usual, where the mask has its bits: the bits of a positive number grow by one,
/// those of a negative one shrink.
[[gnu::always_inline]] VOUCH_SIDE inline __m128d next_up_where(__m128d above, __m128d s) {
  const __m128i negative = _mm_shuffle_epi32(_mm_srai_epi32(_mm_castpd_si128(s), 31), 0xf5);
  const __m128i step = _mm_or_si128(_mm_and_si128(negative, _mm_set1_epi64x(-2)), _mm_set1_epi64x(1));
  return _mm_castsi128_pd(_mm_add_epi64(_mm_castpd_si128(s), _mm_and_si128(step, _mm_castpd_si128(above))));
}

/// sum<up>() of usual numbers. No optimiser sees through the two steps.
[[gnu::always_inline]] VOUCH_SIDE inline __m128d sum_up(__m128d x, __m128d y) {
  const __m128d sign = _mm_set1_pd(-0.0);
  const __m128d swap = _mm_cmplt_pd(_mm_andnot_pd(sign, x), _mm_andnot_pd(sign, y)),
                exchange = _mm_and_pd(_mm_xor_pd(x, y), swap);
  const __m128d large = _mm_xor_pd(x, exchange), small = _mm_xor_pd(y, exchange);
  __m128d s = _mm_add_pd(large, small);
  __asm__("" : "+x"(s));
  __m128d taken = _mm_sub_pd(s, large);
  __asm__("" : "+x"(taken));
  return next_up_where(_mm_cmplt_pd(taken, small), s);
}

/// product<up>() of usual numbers. Without the instruction that rounds a b + c once, the error is counted in units of the
/// last bit of the exact product, of which the last 64 bits tell all.
[[gnu::always_inline]] VOUCH_SIDE inline __m128d product_up(__m128d x, __m128d y) {
  __m128d p = _mm_mul_pd(x, y);
  __asm__("" : "+x"(p));
#if defined(__FMA__)
  return next_up_where(_mm_cmpgt_pd(_mm_fmsub_pd(x, y, p), _mm_setzero_pd()), p);
#else
  const auto next_up_where_below = [](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    constexpr std::uint64_t one = std::uint64_t{1} << 52;
    const auto integer = [](std::uint64_t bits) { return (bits & (one - 1)) | one; };
    const std::uint64_t exponents = ((c << 1) >> 53) - ((a << 1) >> 53) - ((b << 1) >> 53) + 1023 + 52;
    const auto error = static_cast<std::int64_t>(integer(a) * integer(b) - (integer(c) << exponents));
    const std::int64_t up = error > 0, down = error >> 63, negative = static_cast<std::int64_t>(c) >> 63;
    return c + static_cast<std::uint64_t>((down & negative) | (up & ~negative));
  };
  const auto second = [](__m128d v) { return _mm_unpackhi_pd(v, v); };
  const auto bits = [](__m128d v) {
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_castpd_si128(v)));
  };
  const std::uint64_t low = next_up_where_below(bits(x), bits(y), bits(p)),
                      high = next_up_where_below(bits(second(x)), bits(second(y)), bits(second(p)));
  return _mm_castsi128_pd(_mm_set_epi64x(static_cast<std::int64_t>(high), static_cast<std::int64_t>(low)));
#endif
}

/// quotient<up>() of usual numbers, those of y positive.
[[gnu::always_inline]] VOUCH_SIDE inline __m128d quotient_up(__m128d x, __m128d y) {
  __asm__ __volatile__("" : "+x"(y));  // as divisor()
  __m128d q = _mm_div_pd(x, y);
  __asm__("" : "+x"(q));
#if defined(__FMA__)
  return next_up_where(_mm_cmpgt_pd(_mm_fnmadd_pd(q, y, x), _mm_setzero_pd()), q);
#else
  const auto second = [](__m128d v) { return _mm_cvtsd_f64(_mm_unpackhi_pd(v, v)); };
  const double low = fused(-_mm_cvtsd_f64(q), _mm_cvtsd_f64(y), _mm_cvtsd_f64(x)),
               high = fused(-second(q), second(y), second(x));
  return next_up_where(_mm_cmpgt_pd(_mm_set_pd(high, low), _mm_setzero_pd()), q);
#endif
}
#endif

enum class direction { down, up };

/// The result in the given direction, from the result to nearest and a number with the sign of its error
/// (exact minus rounded). A NaN is no error: the operation was exact in the extended reals.
template <direction To, real T>
VOUCH_SIDE T corrected(T nearest, T error) {
  if constexpr (To == direction::down)
    return error < 0 ? next_down(nearest) : nearest;
  else
    return error > 0 ? next_up(nearest) : nearest;
}

// Below this, error terms of doubles could underflow; operands are scaled by a power of two first.
inline constexpr double small_result = 0x1p-900;
inline constexpr double scale = 0x1p600;
inline constexpr double root_of_scale = 0x1p300;

// Where the sum overflows, the error comes out as an infinity of the right sign, and as NaN where an operand
// is infinite. The difference s - a never overflows by itself because |a| >= |b|.
template <direction To, real T>
VOUCH_SIDE T sum(T a, T b) {
  a = rounded(a);
  b = rounded(b);
  const bool swap = magnitude(a) < magnitude(b);
  const T large = swap ? b : a;
  const T small = swap ? a : b;
  const T s = large + small;
  return corrected<To>(s, small - (s - large));
}

// The product of two floats is exact as a double.
template <direction To>
VOUCH_SIDE float narrowed(double exact) {
  const auto nearest = static_cast<float>(exact);
  const auto back = static_cast<double>(nearest);
  return corrected<To>(nearest, exact > back ? 1.0F : exact < back ? -1.0F : 0.0F);
}

template <direction To>
VOUCH_SIDE float product(float a, float b) {
  return narrowed<To>(static_cast<double>(a) * static_cast<double>(b));
}

template <direction To>
VOUCH_SIDE double product(double a, double b) {
  const double p = rounded(a * b);
  if (magnitude(p) < small_result && a != 0 && b != 0) [[unlikely]] {
    if (p == 0) return corrected<To>(p, (a < 0) == (b < 0) ? 1.0 : -1.0);
    // The smaller factor is below 2^-449, and |a b| >= 2^-1075: nothing overflows and the error is exact.
    const bool first = magnitude(a) < magnitude(b);
    return corrected<To>(p, fused((first ? a : b) * scale, first ? b : a, -(p * scale)));
  }
  return corrected<To>(p, fused(a, b, -p));
}

// The error of q has the sign of (a - q b) / b; q b is exact as a double.
template <direction To>
VOUCH_SIDE float quotient(float a, float b) {
  const float q = a / divisor(b);
  const double back = static_cast<double>(q) * static_cast<double>(b);
  const auto exact = static_cast<double>(a);
  const float remainder = back < exact ? 1.0F : back > exact ? -1.0F : 0.0F;
  if (!finite(a) || b == 0) return q;
  return corrected<To>(q, b < 0 ? -remainder : remainder);
}

template <direction To>
VOUCH_SIDE double quotient(double a, double b) {
  const double q = rounded(a / divisor(b));
  double remainder = 0;
  if ((magnitude(a) < small_result || magnitude(q) < small_result) && a != 0 && finite(b)) [[unlikely]] {
    if (q == 0) return corrected<To>(q, (a < 0) == (b < 0) ? 1.0 : -1.0);
    if (magnitude(q) < small_result)  // |a| < 2^125 and |b| > 2^-176
      remainder = fused(-(q * scale), b, a * scale);
    else  // |b| < 2
      remainder = fused(-q, b * scale, a * scale);
  } else {
    remainder = fused(-q, b, a);
  }
  return corrected<To>(q, b < 0 ? -remainder : remainder);
}

template <direction To>
VOUCH_SIDE float root(float a) {
  const float s = std::sqrt(a);
  const double back = static_cast<double>(s) * static_cast<double>(s);
  const auto exact = static_cast<double>(a);
  return corrected<To>(s, back < exact ? 1.0F : back > exact ? -1.0F : 0.0F);
}

template <direction To>
VOUCH_SIDE double root(double a) {
  const double s = rounded(std::sqrt(a));
  if (a < small_result) [[unlikely]] {
    const double scaled = s * root_of_scale;
    return corrected<To>(s, fused(-scaled, scaled, a * scale));
  }
  return corrected<To>(s, fused(-s, s, a));
}

// The sum of the exact product and c as sum + error, both exact; rounding the sum and looking at the error
// where that was exact gives what one rounding would.
template <direction To>
VOUCH_SIDE float product_plus(float a, float b, float c) {
  const double p = rounded(static_cast<double>(a) * static_cast<double>(b));
  const auto exact_c = static_cast<double>(c);
  const double s = p + exact_c;
  const double z = s - p;
  const double error = (p - (s - z)) + (exact_c - z);
  const auto nearest = static_cast<float>(s);
  const auto back = static_cast<double>(nearest);
  if (s > back) return corrected<To>(nearest, 1.0F);
  if (s < back) return corrected<To>(nearest, -1.0F);
  return corrected<To>(nearest, error > 0 ? 1.0F : error < 0 ? -1.0F : 0.0F);
}

struct exact_sum {
  double high;
  double low;
};

VOUCH_SIDE inline exact_sum two_sum(double a, double b) {
  const double s = a + b;
  const double z = s - a;
  return {s, (a - (s - z)) + (b - z)};
}

// For products in [2^-900, 2^1000] and |c| <= 2^1000: nothing under- or overflows on the way.
template <direction To>
VOUCH_SIDE double product_plus_in_range(double a, double b, double c) {
  const double nearest = fused(a, b, c);
  const double product = rounded(a * b);
  const exact_sum alpha = two_sum(c, fused(a, b, -product));
  const exact_sum beta = two_sum(product, alpha.high);
  return corrected<To>(nearest, ((beta.high - nearest) + beta.low) + alpha.low);
}

// Scaling down by 2^exponent rounds once more, to a subset of the numbers: two roundings in one direction
// give what one would.
template <direction To>
VOUCH_SIDE double scaled(double x, int exponent) {
  const double nearest = std::ldexp(x, exponent);
  const double back = std::ldexp(nearest, -exponent);
  return corrected<To>(nearest, x > back ? 1.0 : x < back ? -1.0 : 0.0);
}

// Any finite operands, a and b not zero: fractions in [1/2, 1) and their exponents apart.
template <direction To>
VOUCH_SIDE double product_plus_scaled(double a, double b, double c) {
  int exponent_a = 0;
  int exponent_b = 0;
  int exponent_c = 0;
  const double fraction_a = std::frexp(a, &exponent_a);
  const double fraction_b = std::frexp(b, &exponent_b);
  const double fraction_c = std::frexp(c, &exponent_c);
  const int exponent = exponent_a + exponent_b;
  const int above = exponent_c - exponent;
  // The product is far below the last bit of c, or c far below the last bit of the product: only signs count.
  if (c != 0 && above > 200) return corrected<To>(c, (a < 0) == (b < 0) ? 1.0 : -1.0);
  const double near_c = above < -300 ? std::copysign(0x1p-300, c) : std::ldexp(fraction_c, above);
  return scaled<To>(product_plus_in_range<To>(fraction_a, fraction_b, c == 0 ? c : near_c), exponent);
}

template <direction To>
VOUCH_SIDE double product_plus(double a, double b, double c) {
  const double size = magnitude(rounded(a * b));
  if (size >= small_result && size <= 0x1p1000 && magnitude(c) <= 0x1p1000) [[likely]]
    return product_plus_in_range<To>(a, b, c);
  if (a == 0 || b == 0 || !finite(a) || !finite(b) || !finite(c)) return fused(a, b, c);
  return product_plus_scaled<To>(a, b, c);
}

}  // namespace rounding

#if !defined(VOUCH_LIBRARY) && !defined(__CUDACC__)
namespace rounding {

[[noreturn]] void refuse_what_was_not_compiled_as_written();

namespace {

// Once in each source of a program, by the very functions that it has: sums that an optimiser reorders lose their error
// terms, quotients by one divisor become products with its reciprocal, and without infinities comparisons are not made.
inline bool compiled_as_written() {
  volatile double one = 1, tiny = 0x1p-70, three = 3, infinite = infinity<double>;
  bool good = sum<direction::up>(double{one}, double{tiny}) > one && is_nan(infinite - infinite) &&
              !equal(infinite - infinite, infinite - infinite);
  const double by = three;
  for (int k = 1; k < 12; ++k) {
    const double q = quotient<direction::down>(static_cast<double>(k), by);
    good = good && fused(q, by, -k) <= 0 && fused(next_up(q), by, -k) > 0;
  }
  return good;
}

[[maybe_unused]] const bool as_written =
    compiled_as_written() || (refuse_what_was_not_compiled_as_written(), false);

}  // namespace
}  // namespace rounding
#endif

/// The next number above x; infinity and NaN stay, -infinity gives the lowest number.
template <real T>
VOUCH_HOST_DEVICE inline T next_up(T x) {
  VOUCH_IN_IEEE(next_up(x));
  return rounding::next_up(x);
}

/// The next number below x; -infinity and NaN stay, infinity gives the largest number.
template <real T>
VOUCH_HOST_DEVICE inline T next_down(T x) {
  VOUCH_IN_IEEE(next_down(x));
  return rounding::next_down(x);
}

}  // namespace vouch
VOUCH_AS_WRITTEN_END
