// vouch/fingerprint/window_spectrum.hpp -- the transforms and the filter of a window of enhance(); private, host and
// device. Real is a vector with a window in each lane on the CPU, a number on a GPU: the same operations in the same
// order, and where none is contracted the same bits.
#pragma once
#include <cstring>

#include <vouch/core/simd.hpp>

#if defined(__CUDACC__)
#define VOUCH_WINDOW_INLINE __device__ __forceinline__
#else
#define VOUCH_WINDOW_INLINE VOUCH_SIMD_INLINE
#endif
// A GPU has its window in registers, which loops that are not unrolled cannot address.
#if defined(__CUDA_ARCH__)
#define VOUCH_WINDOW_UNROLL _Pragma("unroll")
#define VOUCH_GPU_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__)
#define VOUCH_WINDOW_UNROLL
#define VOUCH_GPU_UNROLL
#else
#define VOUCH_WINDOW_UNROLL _Pragma("GCC unroll 8")
#define VOUCH_GPU_UNROLL
#endif

namespace vouch::fingerprint {

inline constexpr int window = 32;       // pixels on a side
inline constexpr int window_step = 16;  // from window to window
inline constexpr int margin = 8;        // of a window, around what is kept of it, and of all windows
inline constexpr int nyquist = window / 2;

template <class Real>
struct complex_of {
  Real re, im;
};

template <class Real>
VOUCH_WINDOW_INLINE complex_of<Real> operator+(const complex_of<Real>& a, const complex_of<Real>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class Real>
VOUCH_WINDOW_INLINE complex_of<Real> operator-(const complex_of<Real>& a, const complex_of<Real>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class Real>
VOUCH_WINDOW_INLINE complex_of<Real> times_minus_i(const complex_of<Real>& a) {
  return {a.im, -a.re};
}

// cos and sin of 2 pi k / 32 for k < 24.
VOUCH_WINDOW_INLINE constexpr float cosine(int k) {
  constexpr float first_half[window / 2] = {1.0F,
                                            0.98078528040323044913F,
                                            0.92387953251128675613F,
                                            0.83146961230254523708F,
                                            0.70710678118654752440F,
                                            0.55557023301960222474F,
                                            0.38268343236508977173F,
                                            0.19509032201612826785F,
                                            0.0F,
                                            -0.19509032201612826785F,
                                            -0.38268343236508977173F,
                                            -0.55557023301960222474F,
                                            -0.70710678118654752440F,
                                            -0.83146961230254523708F,
                                            -0.92387953251128675613F,
                                            -0.98078528040323044913F};
  return k < 16 ? first_half[k] : -first_half[k - 16];
}
VOUCH_WINDOW_INLINE constexpr float sine(int k) { return k < 8 ? cosine(8 - k) : cosine(k - 8); }

// a exp(-2 pi i k / 32) for k < 24.
template <class Real>
VOUCH_WINDOW_INLINE complex_of<Real> rotated(const complex_of<Real>& a, int k) {
  const float c = cosine(k), s = sine(k);
  return {a.re * c + a.im * s, a.im * c - a.re * s};
}

template <class Real>
VOUCH_WINDOW_INLINE void transform_of_4(complex_of<Real>& a, complex_of<Real>& b, complex_of<Real>& c,
                                        complex_of<Real>& d) {
  const complex_of<Real> even = a + c, odd = b + d, even_difference = a - c,
                         odd_difference = times_minus_i(b - d);
  a = even + odd;
  b = even_difference + odd_difference;
  c = even - odd;
  d = even_difference - odd_difference;
}

// v[k] := sum of v[n] exp(-2 pi i n k / 32); constant input has exact zeros but for k = 0. The inverse, times 32, is
// the same with real and imaginary parts exchanged, before and after.
template <class Real>
VOUCH_WINDOW_INLINE void transform_of_32(complex_of<Real>* v) {
  complex_of<Real> parts[4][8];
  VOUCH_WINDOW_UNROLL
  for (int n = 0; n < 8; ++n) {
    complex_of<Real> a = v[n], b = v[n + 8], c = v[n + 16], d = v[n + 24];
    transform_of_4(a, b, c, d);
    parts[0][n] = a;
    parts[1][n] = n == 0 ? b : rotated(b, n);
    parts[2][n] = n == 0 ? c : rotated(c, 2 * n);
    parts[3][n] = n == 0 ? d : rotated(d, 3 * n);
  }
  VOUCH_WINDOW_UNROLL
  for (int k = 0; k < 4; ++k) {
    complex_of<Real>* p = parts[k];
    complex_of<Real> e0 = p[0], e1 = p[2], e2 = p[4], e3 = p[6], o0 = p[1], o1 = p[3], o2 = p[5], o3 = p[7];
    transform_of_4(e0, e1, e2, e3);
    transform_of_4(o0, o1, o2, o3);
    o1 = rotated(o1, 4);
    o2 = times_minus_i(o2);
    o3 = rotated(o3, 12);
    v[k] = e0 + o0;
    v[k + 4] = e1 + o1;
    v[k + 8] = e2 + o2;
    v[k + 12] = e3 + o3;
    v[k + 16] = e0 - o0;
    v[k + 20] = e1 - o1;
    v[k + 24] = e2 - o2;
    v[k + 28] = e3 - o3;
  }
}

template <class Real>
VOUCH_WINDOW_INLINE void inverse_transform_of_32(complex_of<Real>* v) {
  VOUCH_GPU_UNROLL
  for (int k = 0; k < window; ++k) v[k] = {v[k].im, v[k].re};
  transform_of_32(v);
  VOUCH_GPU_UNROLL
  for (int k = 0; k < window; ++k) v[k] = {v[k].im, v[k].re};
}

// What to_the_three_tenths() needs of a type of numbers: whole numbers in their place, and -1 where a comparison
// holds. On a GPU without the converters, which are a quarter as many as the adders, and without the branches of a
// division of any numbers.
template <class Real>
struct bits_of;

#if defined(__CUDACC__)
template <>
struct bits_of<float> {
  using whole = int;
  static __device__ int get(float x) { return __float_as_int(x); }
  static __device__ float put(int bits) { return __int_as_float(bits); }
  // Of a whole number below 2^22.
  static __device__ float real(int n) { return __int_as_float(0x4b400000 + n) - 12582912.0F; }
  // Of a number from 0 on below 2^22.
  static __device__ int truncated(float x) { return __float_as_int(__fadd_rd(x, 8388608.0F)) - 0x4b000000; }
  // (m - 1) / (m + 1) rounded to nearest, for m from 2^-1/2 to 2^1/2: tried with all of them and every inverse that is
  // as near as the instruction's is said to be, 2^-23 of itself. An inverse on the upper side is needed for m + 1 with
  // all bits set.
  static __device__ float quotient(float a, float b) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
    inverse = __fmaf_rn(__fmaf_rn(-b, inverse, 1.0F + 0x1p-23F), inverse, inverse);
    float near = a * inverse;
    near = __fmaf_rn(__fmaf_rn(-b, near, a), inverse, near);
    return __fmaf_rn(__fmaf_rn(-b, near, a), inverse, near);
  }
  static __device__ int at_least(float x, float limit) { return x >= limit ? -1 : 0; }
};
#else
template <>
struct bits_of<lanes<float> > {
  using Real = lanes<float>;
  typedef int whole __attribute__((vector_size(sizeof(Real))));
  VOUCH_SIMD_INLINE static whole get(const Real& x) {
    whole bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
  }
  VOUCH_SIMD_INLINE static Real put(const whole& bits) {
    Real x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  VOUCH_SIMD_INLINE static Real real(const whole& n) { return __builtin_convertvector(n, Real); }
  VOUCH_SIMD_INLINE static whole truncated(const Real& x) { return __builtin_convertvector(x, whole); }
  VOUCH_SIMD_INLINE static Real quotient(const Real& a, const Real& b) { return a / b; }
  VOUCH_SIMD_INLINE static whole at_least(const Real& x, float limit) { return x >= limit; }
};
#endif

// x^0.3 for x >= 0, to some units of the last place; 0 below the smallest normal number.
template <class Real>
VOUCH_WINDOW_INLINE Real to_the_three_tenths(const Real& x) {
  using number = bits_of<Real>;
  using whole = typename number::whole;
  constexpr int bits_of_root_half = 0x3f3504f3, mantissa = 0x7fffff;
  constexpr float log2_e_twice = 2.88539008177792681472F;
  const whole above = number::get(x) - bits_of_root_half;
  const whole exponent = above >> 23;
  const Real m = number::put((above & mantissa) + bits_of_root_half);
  const Real t = number::quotient(m - 1.0F, m + 1.0F), tt = t * t;
  const Real series = (((1.0F / 9 * tt + 1.0F / 7) * tt + 1.0F / 5) * tt + 1.0F / 3) * tt + 1.0F;
  const Real y = (number::real(exponent) + log2_e_twice * t * series) * 0.3F;
  const whole n = number::truncated(y + 64.5F) - 64;
  const Real f = y - number::real(n);
  const Real power = (((((1.54035304e-4F * f + 1.33335581e-3F) * f + 9.61812911e-3F) * f + 5.55041087e-2F) * f +
                       2.40226507e-1F) *
                          f +
                      6.93147181e-1F) *
                         f +
                     1.0F;
  return number::put((number::get(power) + (n << 23)) & number::at_least(x, 1.17549435e-38F));
}

/// Whether frequencies are amplified whose squared distance from the highest is this one.
VOUCH_WINDOW_INLINE constexpr bool in_band(int distance) {
  constexpr int least = 150, most = 449;
  return distance >= least && distance <= most;
}

template <class Real>
VOUCH_WINDOW_INLINE Real square_of(const complex_of<Real>& f) {
  return f.re * f.re + f.im * f.im;
}
template <class Real>
VOUCH_WINDOW_INLINE complex_of<Real> amplified(const complex_of<Real>& f) {
  const Real factor = to_the_three_tenths(square_of(f));
  return {f.re * factor, f.im * factor};
}

// The spectra of two rows by one complex transform. A row has the real value of frequency 0, the real one of 16, then
// real and imaginary part of 1, 2, ... 15.
template <class Real>
VOUCH_WINDOW_INLINE void store_spectra(const complex_of<Real>* v, Real* first, Real* second) {
  first[0] = v[0].re;
  second[0] = v[0].im;
  first[1] = v[nyquist].re;
  second[1] = v[nyquist].im;
  VOUCH_GPU_UNROLL
  for (int k = 1; k < nyquist; ++k) {
    const complex_of<Real> a = v[k], b = v[window - k];
    first[2 * k] = 0.5F * (a.re + b.re);
    first[2 * k + 1] = 0.5F * (a.im - b.im);
    second[2 * k] = 0.5F * (a.im + b.im);
    second[2 * k + 1] = 0.5F * (b.re - a.re);
  }
}

template <class Real>
VOUCH_WINDOW_INLINE void load_spectra(const Real* first, const Real* second, complex_of<Real>* v) {
  v[0] = {first[0], second[0]};
  v[nyquist] = {first[1], second[1]};
  VOUCH_GPU_UNROLL
  for (int k = 1; k < nyquist; ++k) {
    const complex_of<Real> a{first[2 * k], first[2 * k + 1]}, b{second[2 * k], second[2 * k + 1]};
    v[k] = {a.re - b.im, a.im + b.re};
    v[window - k] = {a.re + b.im, b.re - a.im};
  }
}

}  // namespace vouch::fingerprint
