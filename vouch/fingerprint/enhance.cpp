// The spectra of 16 windows at once, one in each lane.
#include <algorithm>
#include <cstring>

#include <vouch/fingerprint/stages.hpp>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/print_stages.hpp>

namespace vouch::fingerprint {
namespace {

using real16 = lanes<float>;
typedef int whole16 __attribute__((vector_size(64)));

constexpr int window = 32;  // pixels on a side
constexpr int step = 16;    // from window to window
constexpr int margin = 8;   // of a window, around what is kept of it, and of all windows
constexpr int nyquist = window / 2;

struct complex16 {
  real16 re, im;
};

VOUCH_SIMD_INLINE complex16 operator+(const complex16& a, const complex16& b) {
  return {a.re + b.re, a.im + b.im};
}
VOUCH_SIMD_INLINE complex16 operator-(const complex16& a, const complex16& b) {
  return {a.re - b.re, a.im - b.im};
}
VOUCH_SIMD_INLINE complex16 times_minus_i(const complex16& a) { return {a.im, -a.re}; }

// cos and sin of 2 pi k / 32.
constexpr float cosine[window / 2] = {1.0F,
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
constexpr float sine(int k) { return k < 8 ? cosine[8 - k] : cosine[k - 8]; }

// a exp(-2 pi i k / 32) for k < 24.
VOUCH_SIMD_INLINE complex16 rotated(const complex16& a, int k) {
  const float c = k < 16 ? cosine[k] : -cosine[k - 16], s = sine(k);
  return {a.re * c + a.im * s, a.im * c - a.re * s};
}

VOUCH_SIMD_INLINE void transform_of_4(complex16& a, complex16& b, complex16& c, complex16& d) {
  const complex16 even = a + c, odd = b + d, even_difference = a - c, odd_difference = times_minus_i(b - d);
  a = even + odd;
  b = even_difference + odd_difference;
  c = even - odd;
  d = even_difference - odd_difference;
}

// v[k] := sum of v[n] exp(-2 pi i n k / 32); constant input has exact zeros but for k = 0. The inverse, times 32, is
// the same with real and imaginary parts exchanged, before and after.
VOUCH_SIMD_INLINE void transform_of_32(complex16* v) {
  complex16 parts[4][8];
#pragma GCC unroll 8
  for (int n = 0; n < 8; ++n) {
    complex16 a = v[n], b = v[n + 8], c = v[n + 16], d = v[n + 24];
    transform_of_4(a, b, c, d);
    parts[0][n] = a;
    parts[1][n] = n == 0 ? b : rotated(b, n);
    parts[2][n] = n == 0 ? c : rotated(c, 2 * n);
    parts[3][n] = n == 0 ? d : rotated(d, 3 * n);
  }
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    complex16* p = parts[k];
    complex16 e0 = p[0], e1 = p[2], e2 = p[4], e3 = p[6], o0 = p[1], o1 = p[3], o2 = p[5], o3 = p[7];
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

VOUCH_SIMD_INLINE void inverse_transform_of_32(complex16* v) {
  for (int k = 0; k < window; ++k) v[k] = {v[k].im, v[k].re};
  transform_of_32(v);
  for (int k = 0; k < window; ++k) v[k] = {v[k].im, v[k].re};
}

// x^0.3 for x >= 0, to some units of the last place; 0 below the smallest normal number.
VOUCH_SIMD_INLINE real16 to_the_three_tenths(const real16& x) {
  constexpr int bits_of_root_half = 0x3f3504f3, mantissa = 0x7fffff;
  constexpr float log2_e_twice = 2.88539008177792681472F;
  whole16 bits;
  std::memcpy(&bits, &x, sizeof bits);
  const whole16 above = bits - bits_of_root_half;
  const whole16 exponent = above >> 23;
  bits = (above & mantissa) + bits_of_root_half;
  real16 m;
  std::memcpy(&m, &bits, sizeof m);
  const real16 t = (m - 1.0F) / (m + 1.0F), tt = t * t;
  const real16 series = (((1.0F / 9 * tt + 1.0F / 7) * tt + 1.0F / 5) * tt + 1.0F / 3) * tt + 1.0F;
  const real16 y = (__builtin_convertvector(exponent, real16) + log2_e_twice * t * series) * 0.3F;
  const whole16 n = __builtin_convertvector(y + 64.5F, whole16) - 64;
  const real16 f = y - __builtin_convertvector(n, real16);
  const real16 power =
      (((((1.54035304e-4F * f + 1.33335581e-3F) * f + 9.61812911e-3F) * f + 5.55041087e-2F) * f +
        2.40226507e-1F) *
           f +
       6.93147181e-1F) *
          f +
      1.0F;
  whole16 result;
  std::memcpy(&result, &power, sizeof result);
  result = (result + (n << 23)) & (x >= 1.17549435e-38F);
  real16 answer;
  std::memcpy(&answer, &result, sizeof answer);
  return answer;
}

// What a frequency is multiplied by. The original's transform never stores the row of the highest vertical frequency
// where the horizontal one is neither lowest nor highest, and its inverse takes it from before the filter.
enum class pass { none, as_it_is, amplified };

constexpr pass passing(int ky, int kx) {
  constexpr int least = 150, most = 449;  // squared distances from the highest frequency
  const int y = ky <= nyquist ? nyquist - ky : ky - nyquist, x = nyquist - kx;
  if (ky == nyquist && kx > 0 && kx < nyquist) return pass::as_it_is;
  const int distance = y * y + x * x;
  return distance >= least && distance <= most ? pass::amplified : pass::none;
}

VOUCH_SIMD_INLINE complex16 filtered(const complex16& f, pass how) {
  if (how == pass::as_it_is) return f;
  if (how == pass::none) return {real16{}, real16{}};
  const real16 factor = to_the_three_tenths(f.re * f.re + f.im * f.im);
  return {f.re * factor, f.im * factor};
}

// 16 windows, pixel by pixel. After the first pass a row holds its spectrum: the real value of frequency 0, the real
// one of 16, then real and imaginary part of 1, 2, ... 15.
struct tiles {
  real16 at[window][window];
};

// The spectra of two rows by one complex transform.
VOUCH_SIMD_INLINE void store_spectra(const complex16* v, real16* first, real16* second) {
  first[0] = v[0].re;
  second[0] = v[0].im;
  first[1] = v[nyquist].re;
  second[1] = v[nyquist].im;
  for (int k = 1; k < nyquist; ++k) {
    const complex16 a = v[k], b = v[window - k];
    first[2 * k] = 0.5F * (a.re + b.re);
    first[2 * k + 1] = 0.5F * (a.im - b.im);
    second[2 * k] = 0.5F * (a.im + b.im);
    second[2 * k + 1] = 0.5F * (b.re - a.re);
  }
}

VOUCH_SIMD_INLINE void load_spectra(const real16* first, const real16* second, complex16* v) {
  v[0] = {first[0], second[0]};
  v[nyquist] = {first[1], second[1]};
  for (int k = 1; k < nyquist; ++k) {
    const complex16 a{first[2 * k], first[2 * k + 1]}, b{second[2 * k], second[2 * k + 1]};
    v[k] = {a.re - b.im, a.im + b.re};
    v[window - k] = {a.re + b.im, b.re - a.im};
  }
}

// Frequencies 0 and 16 of all rows are real: one transform for both columns.
VOUCH_SIMD_INLINE void filter_real_columns(tiles& t) {
  complex16 v[window];
  for (int y = 0; y < window; ++y) v[y] = {t.at[y][0], t.at[y][1]};
  transform_of_32(v);
  v[0] = {filtered({v[0].re, real16{}}, passing(0, 0)).re,
          filtered({v[0].im, real16{}}, passing(0, nyquist)).re};
  v[nyquist] = {filtered({v[nyquist].re, real16{}}, passing(nyquist, 0)).re,
                filtered({v[nyquist].im, real16{}}, passing(nyquist, nyquist)).re};
  for (int k = 1; k < nyquist; ++k) {
    const complex16 a = v[k], b = v[window - k];
    const complex16 first = filtered({0.5F * (a.re + b.re), 0.5F * (a.im - b.im)}, passing(k, 0));
    const complex16 second = filtered({0.5F * (a.im + b.im), 0.5F * (b.re - a.re)}, passing(k, nyquist));
    v[k] = {first.re - second.im, first.im + second.re};
    v[window - k] = {first.re + second.im, second.re - first.im};
  }
  inverse_transform_of_32(v);
  for (int y = 0; y < window; ++y) {
    t.at[y][0] = v[y].re;
    t.at[y][1] = v[y].im;
  }
}

VOUCH_SIMD_INLINE void filter_column(tiles& t, int kx) {
  complex16 v[window];
  for (int y = 0; y < window; ++y) v[y] = {t.at[y][2 * kx], t.at[y][2 * kx + 1]};
  transform_of_32(v);
  for (int ky = 0; ky < window; ++ky) v[ky] = filtered(v[ky], passing(ky, kx));
  inverse_transform_of_32(v);
  for (int y = 0; y < window; ++y) {
    t.at[y][2 * kx] = v[y].re;
    t.at[y][2 * kx + 1] = v[y].im;
  }
}

constexpr int squares_in_row = snip_width / step;

// Pixels of a row that are 16 apart stand side by side: to[x % 16][x / 16] := from[x].
void transpose_row(const std::uint8_t* from, std::uint8_t* to) {
  for (int square = 0; square < squares_in_row; ++square)
    for (int x = 0; x < step; ++x) to[x * squares_in_row + square] = from[step * square + x];
}

void transpose_row_back(const std::uint8_t* from, std::uint8_t* to) {
  for (int square = 0; square < squares_in_row; ++square)
    for (int x = 0; x < step; ++x) to[step * square + x] = from[x * squares_in_row + square];
}

typedef std::uint8_t byte16 __attribute__((vector_size(16)));

// The pixels of 16 windows side by side that have this place in them, over 1024.
VOUCH_SIMD_INLINE real16 pixels_at(const std::uint8_t* transposed_row, int x, int first_window) {
  byte16 bytes;
  std::memcpy(&bytes,
              transposed_row + (x + margin) % step * squares_in_row + (x + margin) / step + first_window,
              sizeof bytes);
  return __builtin_convertvector(bytes, real16) * (1.0F / (window * window));
}

VOUCH_SIMD_INLINE real16 largest(const real16& a, const real16& b) { return a > b ? a : b; }

// Windows first..first + 15 of a row of windows; source and target are rows of transposed pixels, see transpose_row.
VOUCH_SIMD_CLONES void enhance_windows(const std::uint8_t* source, int first, std::uint8_t* target) {
  tiles t;
  for (int y = 0; y < window; y += 2) {
    complex16 v[window];
    for (int x = 0; x < window; ++x)
      v[x] = {pixels_at(source + y * snip_width, x, first), pixels_at(source + (y + 1) * snip_width, x, first)};
    transform_of_32(v);
    store_spectra(v, t.at[y], t.at[y + 1]);
  }
  filter_real_columns(t);
  for (int kx = 1; kx < nyquist; ++kx) filter_column(t, kx);
  real16 most{};
  for (int y = 0; y < window; y += 2) {
    complex16 v[window];
    load_spectra(t.at[y], t.at[y + 1], v);
    inverse_transform_of_32(v);
    for (int x = 0; x < window; ++x) {
      t.at[y][x] = v[x].re;
      t.at[y + 1][x] = v[x].im;
      most = largest(most, largest(v[x].re, -v[x].re));
      most = largest(most, largest(v[x].im, -v[x].im));
    }
  }
  real16 scale;
  for (int l = 0; l < simd<float>::width; ++l)
    scale[l] = most[l] == 0 ? 0 : static_cast<float>(127.0 / static_cast<double>(most[l]));
  for (int y = margin; y < margin + step; ++y)
    for (int x = margin; x < margin + step; ++x) {
      const whole16 level = __builtin_convertvector(scale * t.at[y][x] + 128.5F, whole16);
      const byte16 bytes = __builtin_convertvector(level, byte16);
      std::memcpy(target + (y - margin) * snip_width + (x - margin) * squares_in_row + 1 + first, &bytes,
                  sizeof bytes);
    }
}

}  // namespace

void enhance_print(const std::uint8_t* snip, std::uint8_t* enhanced) {
  constexpr int lane_count = simd<float>::width, last = grid_columns - lane_count;
  std::uint8_t source[window * snip_width], target[step * snip_width];
  std::memset(enhanced, 0, snip_pixels);
  std::memset(target, 0, sizeof target);
  for (int y = 0; y < step; ++y)
    transpose_row(snip + (margin + y) * snip_width, source + (step + y) * snip_width);
  for (int row = 0; row < grid_rows; ++row) {
    std::memmove(source, source + step * snip_width, step * snip_width);
    const int top = margin + row * step;
    for (int y = step; y < window; ++y) transpose_row(snip + (top + y) * snip_width, source + y * snip_width);
    for (const int first : {0, last}) enhance_windows(source, first, target);
    for (int y = 0; y < step; ++y)
      transpose_row_back(target + y * snip_width, enhanced + (top + margin + y) * snip_width);
  }
}

void enhance(const device& dev, std::span<const std::uint8_t> snips, std::span<std::uint8_t> enhanced) {
  const ieee_environment here;
  const std::size_t n = prints_in("enhance", "snips", snips.size(), snip_pixels);
  require_elements("enhance", "enhanced snips", enhanced.size(), n, snip_pixels);
  for_each_print(dev, n,
                 [&](std::size_t i) { enhance_print(&snips[i * snip_pixels], &enhanced[i * snip_pixels]); });
}

}  // namespace vouch::fingerprint
