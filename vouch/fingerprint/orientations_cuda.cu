// Orientations of pixels and their averages: whole numbers of 16 bits, two to a word, and counts of four and eight bits.
// Bound by the integer units.
#include <array>
#include <cmath>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/fingerprint/gpu_stages.hpp>
#include <vouch/fingerprint/slit_vectors.hpp>

namespace vouch::fingerprint::gpu {
namespace {

constexpr int threads = 256;
constexpr int reach = 4, reach_words = reach / 2;
constexpr int tile_words = 64, tile_height = 32, tiles_across = snip_width / 2 / tile_words,
              tiles_down = snip_height / tile_height, tiles = tiles_across * tiles_down;
constexpr int row_words = tile_words + 2 * reach_words, rows = tile_height + 2 * reach;

// The five words around one: grey levels of pixels -4 to 5, times 8.
struct five_words {
  unsigned at[5];
  five_words() = default;
  __device__ explicit five_words(const unsigned* middle) {
#pragma unroll
    for (int i = 0; i < 5; ++i) at[i] = middle[i - 2];
  }
  /// The pair of pixels that begins so many pixels to the right.
  __device__ unsigned pair(int right) const {
    return right % 2 == 0 ? at[right / 2 + 2]
                          : __byte_perm(at[(right + 5) / 2 - 1], at[(right + 5) / 2], 0x5432);
  }
};

// Sums of both pixels, times 8, with their slit's number below them: the first of equal ones is found. All eight sums
// together need 16 bits.
struct extremes {
  unsigned least = ~0U, most = 0, sum = 0;
  __device__ void add(unsigned slit, unsigned sums) {
    sum += sums;
    least = __viaddmin_u16x2(sums, slit * 0x10001U, least);
    most = __viaddmax_u16x2(sums, (7 - slit) * 0x10001U, most);
  }
};

__device__ unsigned index_of(unsigned least_and_slit, unsigned most_and_slit, unsigned sum, unsigned level) {
  constexpr unsigned least_range = 8 * 10, of_slit = 7;
  const unsigned least = least_and_slit & ~of_slit, most = most_and_slit & ~of_slit;
  if (most - least < least_range) return no_orientation;
  const bool valley = 8 * (least + most + 4 * level) > 3 * sum;
  return valley ? 7 - (most_and_slit & of_slit) : least_and_slit & of_slit;
}

__device__ void load_tile(const std::uint8_t* print, int left, int top, unsigned* shared) {
  for (int i = static_cast<int>(threadIdx.x); i < rows * row_words / 2; i += threads) {
    const int y = top - reach + i / (row_words / 2), x = left - reach + i % (row_words / 2) * 4;
    const bool inside = x >= 0 && x < snip_width && y >= 0 && y < snip_height;
    const unsigned four = inside ? *reinterpret_cast<const unsigned*>(print + y * snip_width + x) : 0;
    shared[2 * i] = __byte_perm(four, 0, 0x4140) << 3;
    shared[2 * i + 1] = __byte_perm(four, 0, 0x4342) << 3;
  }
}

// A thread takes two neighbouring pixels of so many rows, one below the other, and keeps the rows around the one that it
// is at.
constexpr int own_rows = tile_height / (threads / tile_words), around = 2 * reach + 1;

__global__ void __launch_bounds__(threads) index_pixels(const std::uint8_t* enhanced, std::uint8_t* indices) {
  __shared__ unsigned shared[rows * row_words];
  const std::int64_t print = blockIdx.x / tiles;
  const int tile = static_cast<int>(blockIdx.x % tiles);
  const int left = tile % tiles_across * tile_words * 2, top = tile / tiles_across * tile_height;
  load_tile(enhanced + print * snip_pixels, left, top, shared);
  __syncthreads();
  const int word = static_cast<int>(threadIdx.x) % tile_words, x = left + 2 * word;
  const int first = static_cast<int>(threadIdx.x) / tile_words * own_rows;
  const unsigned* const above = shared + first * row_words + reach_words + word;
  five_words kept[around];
#pragma unroll
  for (int k = 0; k < around - 1; ++k) kept[k] = five_words(above + k * row_words);
#pragma unroll
  for (int k = 0; k < own_rows; ++k) {
    kept[(k + around - 1) % around] = five_words(above + (k + around - 1) * row_words);
    const auto row = [&](int below) -> const five_words& { return kept[(k + reach + below) % around]; };
    const five_words &up4 = row(-4), &up2 = row(-2), &up1 = row(-1), &here = row(0), &down1 = row(1),
                     &down2 = row(2), &down4 = row(4);
    extremes e;
    e.add(0, up2.pair(0) + down2.pair(0) + up4.pair(0) + down4.pair(0));
    e.add(1, up2.pair(1) + down2.pair(-1) + up4.pair(2) + down4.pair(-2));
    e.add(2, up2.pair(2) + down2.pair(-2) + up4.pair(4) + down4.pair(-4));
    e.add(3, up1.pair(2) + down1.pair(-2) + up2.pair(4) + down2.pair(-4));
    e.add(4, here.pair(2) + here.pair(-2) + here.pair(4) + here.pair(-4));
    e.add(5, down1.pair(2) + up1.pair(-2) + down2.pair(4) + up2.pair(-4));
    e.add(6, down2.pair(2) + up2.pair(-2) + down4.pair(4) + up4.pair(-4));
    e.add(7, down2.pair(1) + up2.pair(-1) + down4.pair(2) + up4.pair(-2));
    const unsigned level = here.pair(0);
    unsigned low = index_of(e.least & 0xffff, e.most & 0xffff, e.sum & 0xffff, level & 0xffff);
    unsigned high = index_of(e.least >> 16, e.most >> 16, e.sum >> 16, level >> 16);
    const int y = top + first + k;
    if (x < reach || x >= snip_width - reach || y < reach || y >= snip_height - reach)
      low = high = no_orientation;
    *reinterpret_cast<std::uint16_t*>(indices + print * snip_pixels + y * snip_width + x) =
        static_cast<std::uint16_t>(low | high << 8);
  }
}

struct vector {
  float x, y;
};

// How many pixels have each orientation, up to 255 of each: even ones and odd ones in the bytes of a word.
struct counts {
  unsigned even = 0, odd = 0;

  /// Adds eight pixels, which have four bits of a word each to be counted in; those without an orientation have none.
  __device__ void add(uint2 eight) {
    static_assert(no_orientation == slits && slits == 8);
    unsigned of_four_bits = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      of_four_bits += __funnelshift_lc(0, 1, (eight.x << 2) >> 8 * i & 255);
      of_four_bits += __funnelshift_lc(0, 1, (eight.y << 2) >> 8 * i & 255);
    }
    constexpr unsigned four_bits = 0x0f0f0f0f;
    even += of_four_bits & four_bits;
    odd += of_four_bits >> 4 & four_bits;
  }
  __device__ int of(int slit) const {
    return static_cast<int>((slit % 2 == 0 ? even : odd) >> 8 * (slit / 2) & 255);
  }
};

// The mean of the vectors of so many pixels of each orientation.
__device__ vector mean_of(const int (&of)[slits], const slit_vectors& all) {
  vector sum{0, 0};
#pragma unroll
  for (int k = 0; k < slits; ++k) {
    sum.x += all.x[k] * static_cast<float>(of[k]);
    sum.y += all.y[k] * static_cast<float>(of[k]);
  }
  return sum;
}

// A thread a square.
__global__ void __launch_bounds__(threads)
    average_squares(const std::uint8_t* indices, const pixel* cores, std::int64_t n,
                    const __grid_constant__ slit_vectors all, float* averages) {
  constexpr int side = 16;
  const std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= n * grid_size) return;
  const std::int64_t print = at / grid_size;
  const int square = static_cast<int>(at % grid_size);
  constexpr int core_x = standard_core.x, core_y = standard_core.y;
  const int right = cores == nullptr ? 0 : cores[print].x - core_x;
  const int down = cores == nullptr ? 0 : cores[print].y - core_y;
  const int x = side + right + square % grid_columns * side, y = side + down + square / grid_columns * side;
  const bool inside =
      x >= reach && y >= reach && x + side <= snip_width - reach && y + side <= snip_height - reach;
  vector mean{0, 0};
  if (inside) {
    // Words on their boundaries; x begins within the first. What follows the last is on the same row of the print.
    const auto* words =
        reinterpret_cast<const unsigned*>(indices + print * snip_pixels + y * snip_width + x / 4 * 4);
    const unsigned shift = x % 4 * 8;
    int of[slits] = {};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      counts here;  // at most 128
#pragma unroll 4
      for (int row = 0; row < side / 2; ++row, words += snip_width / 4) {
        unsigned w[5];
#pragma unroll
        for (int i = 0; i < 5; ++i) w[i] = words[i];
        here.add({__funnelshift_r(w[0], w[1], shift), __funnelshift_r(w[1], w[2], shift)});
        here.add({__funnelshift_r(w[2], w[3], shift), __funnelshift_r(w[3], w[4], shift)});
      }
#pragma unroll
      for (int k = 0; k < slits; ++k) of[k] += here.of(k);
    }
    mean = mean_of(of, all);
  }
  averages[print * orientation_size + square] = mean.x;
  averages[print * orientation_size + grid_size + square] = mean.y;
}

// A block a print: a thread squares of 8 x 8 pixels, then sums of four.
__global__ void __launch_bounds__(threads)
    average_fine_squares(const std::uint8_t* indices, const __grid_constant__ slit_vectors all,
                         float* averages) {
  constexpr int side = 8, columns = fine_columns + 1, parts = columns * (fine_rows + 1);
  static_assert(reach % 4 == 0);
  __shared__ vector part[parts];
  const std::int64_t print = blockIdx.x;
  const std::uint8_t* first = indices + print * snip_pixels + reach * snip_width + reach;
  for (int p = static_cast<int>(threadIdx.x); p < parts; p += threads) {
    const auto* words =
        reinterpret_cast<const unsigned*>(first + p / columns * side * snip_width + p % columns * side);
    counts here;
#pragma unroll
    for (int row = 0; row < side; ++row, words += snip_width / 4) here.add({words[0], words[1]});
    int of[slits];
#pragma unroll
    for (int k = 0; k < slits; ++k) of[k] = here.of(k);
    part[p] = mean_of(of, all);
  }
  __syncthreads();
  float* const to = averages + print * 2 * fine_size;
  for (int i = static_cast<int>(threadIdx.x); i < fine_size; i += threads) {
    const vector* a = part + i / fine_columns * columns + i % fine_columns;
    to[i] = a[0].x + a[1].x + a[columns].x + a[columns + 1].x;
    to[fine_size + i] = a[0].y + a[1].y + a[columns].y + a[columns + 1].y;
  }
}

}  // namespace

void find_orientations(const device& dev, std::int64_t n, const std::uint8_t* enhanced, std::uint8_t* indices) {
  launch(dev, "index_pixels", {n * tiles, threads}, index_pixels, enhanced, indices);
}

void average_orientations(const device& dev, std::int64_t n, const std::uint8_t* indices, const pixel* cores,
                          float* averages) {
  launch(dev, "average_squares", {ceil_div<std::int64_t>(n * grid_size, threads), threads}, average_squares,
         indices, cores, n, vectors_of_slits(), averages);
}

void average_finely(const device& dev, std::int64_t n, const std::uint8_t* indices, float* averages) {
  launch(dev, "average_fine_squares", {n, threads}, average_fine_squares, indices, vectors_of_slits(),
         averages);
}

}  // namespace vouch::fingerprint::gpu
