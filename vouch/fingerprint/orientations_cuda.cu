// Orientations of pixels and their averages: whole numbers of 16 bits, two to a word, and counts of bytes. Bound by
// shared memory and by the integer units.
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

// The five words around one: grey levels of pixels -4 to 5.
struct five_words {
  unsigned at[5];
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

// Sums of both pixels with their slit's number below them: the first of equal ones is found.
struct extremes {
  unsigned least = ~0U, most = 0, sum = 0;
  __device__ void add(unsigned slit, unsigned sums) {
    sum += sums;
    least = __vminu2(least, sums << 3 | slit * 0x10001U);
    most = __vmaxu2(most, sums << 3 | (7 - slit) * 0x10001U);
  }
};

__device__ unsigned index_of(unsigned least_and_slit, unsigned most_and_slit, unsigned sum, unsigned level) {
  constexpr unsigned least_range = 10;
  const unsigned least = least_and_slit >> 3, most = most_and_slit >> 3;
  if (most - least < least_range) return no_orientation;
  const bool valley = 8 * (least + most + 4 * level) > 3 * sum;
  return valley ? 7 - (most_and_slit & 7) : least_and_slit & 7;
}

__device__ void load_tile(const std::uint8_t* print, int left, int top, unsigned* shared) {
  for (int i = static_cast<int>(threadIdx.x); i < rows * row_words / 2; i += threads) {
    const int y = top - reach + i / (row_words / 2), x = left - reach + i % (row_words / 2) * 4;
    const bool inside = x >= 0 && x < snip_width && y >= 0 && y < snip_height;
    const unsigned four = inside ? *reinterpret_cast<const unsigned*>(print + y * snip_width + x) : 0;
    shared[2 * i] = __byte_perm(four, 0, 0x4140);
    shared[2 * i + 1] = __byte_perm(four, 0, 0x4342);
  }
}

// One thread two neighbouring pixels of every fourth row of a tile.
__global__ void __launch_bounds__(threads) index_pixels(const std::uint8_t* enhanced, std::uint8_t* indices) {
  __shared__ unsigned shared[rows * row_words];
  const std::int64_t print = blockIdx.x / tiles;
  const int tile = static_cast<int>(blockIdx.x % tiles);
  const int left = tile % tiles_across * tile_words * 2, top = tile / tiles_across * tile_height;
  load_tile(enhanced + print * snip_pixels, left, top, shared);
  __syncthreads();
  const int word = static_cast<int>(threadIdx.x) % tile_words, x = left + 2 * word;
  for (int down = static_cast<int>(threadIdx.x) / tile_words; down < tile_height;
       down += threads / tile_words) {
    const int y = top + down;
    const unsigned* middle = shared + (reach + down) * row_words + reach_words + word;
    const auto row = [&](int below) { return five_words(middle + below * row_words); };
    const five_words up4 = row(-4), up2 = row(-2), up1 = row(-1), here = row(0), down1 = row(1), down2 = row(2),
                     down4 = row(4);
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
    if (x < reach || x >= snip_width - reach || y < reach || y >= snip_height - reach)
      low = high = no_orientation;
    *reinterpret_cast<std::uint16_t*>(indices + print * snip_pixels + y * snip_width + x) =
        static_cast<std::uint16_t>(low | high << 8);
  }
}

struct vector {
  float x, y;
};

// How many pixels have each orientation, as the mean of their vectors.
__device__ vector mean_of(const int (&counts)[slits], const slit_vectors& all) {
  vector sum{0, 0};
#pragma unroll
  for (int k = 0; k < slits; ++k) {
    sum.x += all.x[k] * static_cast<float>(counts[k]);
    sum.y += all.y[k] * static_cast<float>(counts[k]);
  }
  return sum;
}

// Counts of up to eight pixels, eight bits each.
__device__ std::uint64_t count(const std::uint8_t* pixels) {
  std::uint64_t counts = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const unsigned index = pixels[i];
    counts += index < no_orientation ? std::uint64_t{1} << 8 * index : 0;
  }
  return counts;
}

__device__ std::uint64_t add_across(std::uint64_t counts, int apart) {
  return counts + __shfl_xor_sync(0xffffffffU, counts, apart);
}

// A warp a square: two threads a row.
__global__ void __launch_bounds__(threads)
    average_squares(const std::uint8_t* indices, const pixel* cores, std::int64_t n,
                    const __grid_constant__ slit_vectors all, float* averages) {
  constexpr int side = 16, warps = threads / 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t at = std::int64_t{blockIdx.x} * warps + threadIdx.x / 32;
  if (at >= n * grid_size) return;  // a whole warp
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
    std::uint64_t counts =
        count(indices + print * snip_pixels + (y + lane / 2) * snip_width + x + lane % 2 * 8);
#pragma unroll
    for (int apart = 8; apart > 0; apart /= 2) counts = add_across(counts, apart);  // at most 128
    const std::uint64_t others = __shfl_xor_sync(0xffffffffU, counts, 16);
    int sums[slits];
#pragma unroll
    for (int k = 0; k < slits; ++k)
      sums[k] = static_cast<int>(counts >> 8 * k & 255) + static_cast<int>(others >> 8 * k & 255);
    mean = mean_of(sums, all);
  }
  if (lane != 0) return;
  averages[print * orientation_size + square] = mean.x;
  averages[print * orientation_size + grid_size + square] = mean.y;
}

// A block a print: squares of 8 x 8 pixels, eight threads each, then sums of four.
__global__ void __launch_bounds__(threads)
    average_fine_squares(const std::uint8_t* indices, const __grid_constant__ slit_vectors all,
                         float* averages) {
  constexpr int side = 8, columns = fine_columns + 1, parts = columns * (fine_rows + 1);
  __shared__ vector part[parts];
  const std::int64_t print = blockIdx.x;
  const std::uint8_t* first = indices + print * snip_pixels + reach * snip_width + reach;
  const int row = static_cast<int>(threadIdx.x) % side;
  // All threads of a warp take part to the end.
  for (int p = static_cast<int>(threadIdx.x) / side; p / 4 * 4 < parts; p += threads / side) {
    const bool there = p < parts;
    std::uint64_t counts =
        there ? count(first + (p / columns * side + row) * snip_width + p % columns * side) : 0;
#pragma unroll
    for (int apart = side / 2; apart > 0; apart /= 2) counts = add_across(counts, apart);
    if (row != 0 || !there) continue;
    int sums[slits];
#pragma unroll
    for (int k = 0; k < slits; ++k) sums[k] = static_cast<int>(counts >> 8 * k & 255);
    part[p] = mean_of(sums, all);
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
  launch(dev, "average_squares", {ceil_div<std::int64_t>(n * grid_size, threads / 32), threads},
         average_squares, indices, cores, n, vectors_of_slits(), averages);
}

void average_finely(const device& dev, std::int64_t n, const std::uint8_t* indices, float* averages) {
  launch(dev, "average_fine_squares", {n, threads}, average_fine_squares, indices, vectors_of_slits(),
         averages);
}

}  // namespace vouch::fingerprint::gpu
