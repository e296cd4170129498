// The spectra of 16 windows at once, one in each lane.
#include <algorithm>
#include <cstring>

#include <vouch/fingerprint/stages.hpp>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/fingerprint/batch.hpp>
#include <vouch/fingerprint/gpu_stages.hpp>
#include <vouch/fingerprint/print_stages.hpp>
#include <vouch/fingerprint/window_spectrum.hpp>

namespace vouch::fingerprint {
namespace {

using real16 = lanes<float>;
using complex16 = complex_of<real16>;
typedef int whole16 __attribute__((vector_size(64)));

// What a frequency is multiplied by. The original's transform never stores the row of the highest vertical frequency
// where the horizontal one is neither lowest nor highest, and its inverse takes it from before the filter.
enum class pass { none, as_it_is, amplified };

constexpr pass passing(int ky, int kx) {
  const int y = ky <= nyquist ? nyquist - ky : ky - nyquist, x = nyquist - kx;
  if (ky == nyquist && kx > 0 && kx < nyquist) return pass::as_it_is;
  return in_band(y * y + x * x) ? pass::amplified : pass::none;
}

VOUCH_SIMD_INLINE complex16 filtered(const complex16& f, pass how) {
  if (how == pass::as_it_is) return f;
  if (how == pass::none) return {real16{}, real16{}};
  return amplified(f);
}

// 16 windows, pixel by pixel, then as store_spectra() has it.
struct tiles {
  real16 at[window][window];
};

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

constexpr int squares_in_row = snip_width / window_step;

// Pixels of a row that are 16 apart stand side by side: to[x % 16][x / 16] := from[x].
void transpose_row(const std::uint8_t* from, std::uint8_t* to) {
  for (int square = 0; square < squares_in_row; ++square)
    for (int x = 0; x < window_step; ++x) to[x * squares_in_row + square] = from[window_step * square + x];
}

void transpose_row_back(const std::uint8_t* from, std::uint8_t* to) {
  for (int square = 0; square < squares_in_row; ++square)
    for (int x = 0; x < window_step; ++x) to[window_step * square + x] = from[x * squares_in_row + square];
}

typedef std::uint8_t byte16 __attribute__((vector_size(16)));

// The pixels of 16 windows side by side that have this place in them, over 1024.
VOUCH_SIMD_INLINE real16 pixels_at(const std::uint8_t* transposed_row, int x, int first_window) {
  byte16 bytes;
  std::memcpy(
      &bytes,
      transposed_row + (x + margin) % window_step * squares_in_row + (x + margin) / window_step + first_window,
      sizeof bytes);
  return __builtin_convertvector(bytes, real16) * (1.0F / (window * window));
}

VOUCH_SIMD_INLINE real16 largest(const real16& a, const real16& b) { return a > b ? a : b; }

// Windows first..first + 15 of a row of windows; source and target are rows of transposed pixels, see transpose_row.
VOUCH_SIMD_CLONES void enhance_windows(const std::uint8_t* source, int first, std::uint8_t* target) {
  tiles t;
  // Rows in pairs that are half a window apart, as threads of a GPU have them.
  for (int y = 0; y < window / 2; ++y) {
    complex16 v[window];
    const std::uint8_t *upper = source + y * snip_width, *lower = upper + window / 2 * snip_width;
    for (int x = 0; x < window; ++x) v[x] = {pixels_at(upper, x, first), pixels_at(lower, x, first)};
    transform_of_32(v);
    store_spectra(v, t.at[y], t.at[y + window / 2]);
  }
  filter_real_columns(t);
  for (int kx = 1; kx < nyquist; ++kx) filter_column(t, kx);
  real16 most{};
  for (int y = 0; y < window / 2; ++y) {
    complex16 v[window];
    load_spectra(t.at[y], t.at[y + window / 2], v);
    inverse_transform_of_32(v);
    for (int x = 0; x < window; ++x) {
      t.at[y][x] = v[x].re;
      t.at[y + window / 2][x] = v[x].im;
      most = largest(most, largest(v[x].re, -v[x].re));
      most = largest(most, largest(v[x].im, -v[x].im));
    }
  }
  real16 scale;
  for (int l = 0; l < simd<float>::width; ++l)
    scale[l] = most[l] == 0 ? 0 : static_cast<float>(127.0 / static_cast<double>(most[l]));
  for (int y = margin; y < margin + window_step; ++y)
    for (int x = margin; x < margin + window_step; ++x) {
      const whole16 level = __builtin_convertvector(scale * t.at[y][x] + 128.5F, whole16);
      const byte16 bytes = __builtin_convertvector(level, byte16);
      std::memcpy(target + (y - margin) * snip_width + (x - margin) * squares_in_row + 1 + first, &bytes,
                  sizeof bytes);
    }
}

}  // namespace

void enhance_print(const std::uint8_t* snip, std::uint8_t* enhanced) {
  constexpr int lane_count = simd<float>::width, last = grid_columns - lane_count;
  std::uint8_t source[window * snip_width], target[window_step * snip_width];
  std::memset(enhanced, 0, snip_pixels);
  std::memset(target, 0, sizeof target);
  for (int y = 0; y < window_step; ++y)
    transpose_row(snip + (margin + y) * snip_width, source + (window_step + y) * snip_width);
  for (int row = 0; row < grid_rows; ++row) {
    std::memmove(source, source + window_step * snip_width, window_step * snip_width);
    const int top = margin + row * window_step;
    for (int y = window_step; y < window; ++y)
      transpose_row(snip + (top + y) * snip_width, source + y * snip_width);
    for (const int first : {0, last}) enhance_windows(source, first, target);
    for (int y = 0; y < window_step; ++y)
      transpose_row_back(target + y * snip_width, enhanced + (top + margin + y) * snip_width);
  }
}

void enhance(const device& dev, std::span<const std::uint8_t> snips, std::span<std::uint8_t> enhanced) {
  const ieee_environment here;
  const std::size_t n = prints_in("enhance", "snips", snips.size(), snip_pixels);
  require_elements("enhance", "enhanced snips", enhanced.size(), n, snip_pixels);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return gpu::enhance(dev, snips, enhanced);
  for_each_print(dev, n,
                 [&](std::size_t i) { enhance_print(&snips[i * snip_pixels], &enhanced[i * snip_pixels]); });
}

}  // namespace vouch::fingerprint
