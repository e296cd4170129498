// Two windows a warp: each of 16 threads transforms a pair of rows, then a column there and back, then its pair of
// rows back. Bound by the FP32 units; nothing is contracted, for the bits of the CPU.
#include <vouch/core/launch.cuh>
#include <vouch/fingerprint/gpu_stages.hpp>
#include <vouch/fingerprint/window_spectrum.hpp>

namespace vouch::fingerprint::gpu {
namespace {

constexpr int threads = 128, threads_a_window = 16, windows = threads / threads_a_window;
// Floats of a row's spectrum, and of a window: half a warp reads or writes two of each of its rows at once.
constexpr int row_stride = window + 2, window_stride = window * row_stride;
static_assert(grid_size % windows == 0);

using complex = complex_of<float>;

// Four grey levels over 1024, exactly: 2^13 with them in its last places, less 2^13.
__device__ void unpack(unsigned four, float* levels) {
  static_assert(window * window == 1024);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    levels[k] = __uint_as_float(__byte_perm(four, 0x46000000U, 0x7650U + k)) - 8192.0F;
}

__device__ void load_row(const std::uint8_t* row, float (&levels)[window]) {
  const auto* eights = reinterpret_cast<const uint2*>(row);
#pragma unroll
  for (int i = 0; i < window / 8; ++i) {
    const uint2 eight = eights[i];
    unpack(eight.x, levels + 8 * i);
    unpack(eight.y, levels + 8 * i + 4);
  }
}

// Without a branch, which would keep what follows from being begun.
__device__ complex filtered(const complex& f, int y, int x) {
  const float amplification = to_the_three_tenths(square_of(f));
  const float factor = in_band(y * y + x * x) ? amplification : 0.0F;
  return {f.re * factor, f.im * factor};
}

// From there on of column kx and 16 - kx at most one is in the band: the threads of both take one of its two factors each.
constexpr int first_shared = 7;
static_assert(!in_band((nyquist - first_shared) * (nyquist - first_shared) + nyquist / 2 * (nyquist / 2)));

// Amplifies vertical frequencies k and 32 - k of column kx, of which the thread that takes 16 - kx has one factor; where
// two_real, first is frequency k of column 0, and second, of column 16, is not in the band.
__device__ void filter_with_other(complex& first, complex& second, int k, int kx) {
  const int y = nyquist - k, x = nyquist - kx, other = kx == 0 ? 0 : x;
  const bool passes = in_band(y * y + x * x);
  const float square_of_other = __shfl_sync(0xffffffffU, square_of(second), other, threads_a_window);
  const float factor = to_the_three_tenths(passes ? square_of(first) : square_of_other);
  const float of_other = __shfl_sync(0xffffffffU, factor, other, threads_a_window);
  const float of_first = passes ? factor : 0.0F, of_second = passes && kx > 0 ? of_other : 0.0F;
  first = {first.re * of_first, first.im * of_first};
  second = {second.re * of_second, second.im * of_second};
}

// Column kx of the spectrum; where kx is 0, frequencies 0 and 16 of the rows in the place of real and imaginary part.
// Those of vertical frequency 16 pass as they are, but for these two.
__device__ void filter_column(complex (&v)[window], int kx) {
  const bool two_real = kx == 0;
  const int x = nyquist - kx;
  const complex lowest = filtered(two_real ? complex{v[0].im, 0} : v[0], nyquist, two_real ? 0 : x);
  const complex highest = two_real ? filtered({v[nyquist].re, 0}, 0, nyquist) : v[nyquist];
  v[0] = two_real ? complex{0, lowest.re} : lowest;
  v[nyquist] = two_real ? complex{highest.re, 0} : highest;
#pragma unroll
  for (int k = 1; k < nyquist; ++k) {
    const complex a = v[k], b = v[window - k];
    complex first = two_real ? complex{0.5F * (a.re + b.re), 0.5F * (a.im - b.im)} : a;
    complex second = two_real ? complex{0.5F * (a.im + b.im), 0.5F * (b.re - a.re)} : b;
    if (k >= first_shared) {
      filter_with_other(first, second, k, kx);
    } else {
      first = filtered(first, nyquist - k, x);
      second = filtered(second, nyquist - k, two_real ? 0 : x);
    }
    v[k] = two_real ? complex{first.re - second.im, first.im + second.re} : first;
    v[window - k] = two_real ? complex{first.re + second.im, second.re - first.im} : second;
  }
}

// The whole part of a number from 0 to 255 in the last byte.
__device__ unsigned whole_part(float v) { return __float_as_uint(__fadd_rd(v, 8388608.0F)); }

__global__ void __launch_bounds__(threads, 4)
    enhance_windows(const std::uint8_t* snips, std::uint8_t* enhanced) {
  __shared__ alignas(8) float spectra[windows * window_stride];
  const int own = static_cast<int>(threadIdx.x) % threads_a_window;
  const int of_block = static_cast<int>(threadIdx.x) / threads_a_window;
  const std::int64_t all = std::int64_t{blockIdx.x} * windows + of_block;
  const std::int64_t print = all / grid_size;
  const int square = static_cast<int>(all % grid_size);
  const int left = margin + square % grid_columns * window_step,
            top = margin + square / grid_columns * window_step;
  const std::uint8_t* first_row = snips + print * snip_pixels + (top + own) * snip_width + left;
  float* const at = spectra + of_block * window_stride;
  float* const upper = at + own * row_stride;
  float* const lower = upper + window / 2 * row_stride;
  complex v[window];
  {
    float one[window], other[window];
    load_row(first_row, one);
    load_row(first_row + window / 2 * snip_width, other);
#pragma unroll
    for (int i = 0; i < window; ++i) v[i] = {one[i], other[i]};
  }
  transform_of_32(v);
  store_spectra(v, upper, lower);
  __syncwarp();
#pragma unroll
  for (int y = 0; y < window; ++y) v[y] = {at[y * row_stride + 2 * own], at[y * row_stride + 2 * own + 1]};
  transform_of_32(v);
  filter_column(v, own);
  inverse_transform_of_32(v);
#pragma unroll
  for (int y = 0; y < window; ++y) {
    at[y * row_stride + 2 * own] = v[y].re;
    at[y * row_stride + 2 * own + 1] = v[y].im;
  }
  __syncwarp();
  load_spectra(upper, lower, v);
  inverse_transform_of_32(v);
  float most = 0;
#pragma unroll
  for (int i = 0; i < window; ++i) most = fmaxf(most, fmaxf(fabsf(v[i].re), fabsf(v[i].im)));
#pragma unroll
  for (int apart = threads_a_window / 2; apart > 0; apart /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, apart));
  const float scale = most == 0 ? 0.0F : static_cast<float>(127.0 / static_cast<double>(most));
  // Of the two rows one is kept: 8 to 15 are first, 16 to 23 second ones.
  const bool is_second = own < margin;
  unsigned level[window_step];
#pragma unroll
  for (int i = 0; i < window_step; ++i) {
    const float value = is_second ? v[margin + i].im : v[margin + i].re;
    level[i] = whole_part(scale * value + 128.5F);
  }
  const auto four = [&](int i) {
    return __byte_perm(__byte_perm(level[i], level[i + 1], 0x0040),
                       __byte_perm(level[i + 2], level[i + 3], 0x0040), 0x5410);
  };
  const int y = top + own + (is_second ? window / 2 : 0);
  *reinterpret_cast<uint4*>(enhanced + print * snip_pixels + y * snip_width + left + margin) =
      uint4{four(0), four(4), four(8), four(12)};
}

}  // namespace

void enhance(const device& dev, std::int64_t n, const std::uint8_t* snips, std::uint8_t* enhanced) {
  launch(dev, "enhance_windows", {n * (grid_size / windows), threads}, enhance_windows, snips, enhanced);
}

}  // namespace vouch::fingerprint::gpu
