// A block a page: its cells, their threshold, component and edges in shared memory and a few numbers; then a thread a
// row of the snip, whose positions are added up one after the other, and a warp 32 rows' pixels. Bound by barriers and
// latency: twice the time of reading the pages.
#include <vouch/core/launch.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/fingerprint/gpu_stages.hpp>
#include <vouch/fingerprint/print_outline.hpp>

namespace vouch::fingerprint::gpu {
namespace {

constexpr int threads = 256;

// What a block knows of its page.
struct page_state {
  int least, most;  // grey levels
  int limits[thresholds], set[thresholds], transitions[thresholds];
  int chosen;
  segmentation state;
  unsigned long long largest;  // component: its size, then its first cell, inverted
  int count, sum_x, sum_y;
  int first_row;
  regression edges[3];  // left, top, right
  placement_on_gpu place;
  short left[most_cells_a_side], top[most_cells_a_side], right[most_cells_a_side];
};

__device__ int thread() { return static_cast<int>(threadIdx.x); }

__device__ int warp_sum(int v) { return __reduce_add_sync(0xffffffffU, v); }

// The darkest and the lightest pixel of a cell: four bytes of each, side by side.
__device__ void read_cell(const std::uint8_t* first, int row_length, bool aligned, unsigned& least,
                          unsigned& most) {
  for (int y = 0; y < cell; ++y, first += row_length) {
    uint2 eight;
    if (aligned) {
      eight = *reinterpret_cast<const uint2*>(first);
    } else {
      eight = {0, 0};
      for (int x = 0; x < 4; ++x) {
        eight.x |= unsigned{first[x]} << 8 * x;
        eight.y |= unsigned{first[4 + x]} << 8 * x;
      }
    }
    least = __vminu4(least, __vminu4(eight.x, eight.y));
    most = __vmaxu4(most, __vmaxu4(eight.x, eight.y));
  }
}

__device__ int least_byte(unsigned v) {
  v = __vminu4(v, v >> 16 | 0xffff0000U);
  return static_cast<int>(min(v & 255U, v >> 8 & 255U));
}
__device__ int largest_byte(unsigned v) {
  v = __vmaxu4(v, v >> 16);
  return static_cast<int>(max(v & 255U, v >> 8 & 255U));
}

__device__ void find_darkest(const page_on_gpu& page, int width, int height, std::uint8_t* darkest,
                             page_state& s) {
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(page.pixels) | static_cast<unsigned>(page.width)) % 8 == 0;
  int least_of_all = 255, most_of_all = 0;
  for (int i = thread(); i < width * height; i += threads) {
    unsigned least = ~0U, most = 0;
    read_cell(page.pixels + std::int64_t{i / width} * cell * page.width + i % width * cell, page.width, aligned,
              least, most);
    const int dark = least_byte(least);
    darkest[i] = static_cast<std::uint8_t>(dark);
    least_of_all = min(least_of_all, dark);
    most_of_all = max(most_of_all, largest_byte(most));
  }
  atomicMin(&s.least, __reduce_min_sync(0xffffffffU, least_of_all));
  atomicMax(&s.most, __reduce_max_sync(0xffffffffU, most_of_all));
}

// map: a bit for each threshold that a cell is not above.
__device__ void apply_thresholds(const std::uint8_t* darkest, int size, std::uint8_t* map,
                                 const page_state& s) {
  for (int i = thread(); i < size; i += threads) {
    unsigned bits = 0;
    for (int k = 0; k < thresholds; ++k) bits |= (darkest[i] <= s.limits[k] ? 1U : 0U) << k;
    map[i] = static_cast<std::uint8_t>(bits);
  }
}

__device__ void count_transitions(const std::uint8_t* map, int width, int height, page_state& s) {
  int set[thresholds] = {}, changes[thresholds] = {};
  for (int i = thread(); i < width * height; i += threads) {
    const unsigned here = map[i];
    const unsigned beside = i % width + 1 < width ? here ^ map[i + 1] : 0;
    const unsigned below = i / width + 1 < height ? here ^ map[i + width] : 0;
#pragma unroll
    for (int k = 0; k < thresholds; ++k) {
      set[k] += static_cast<int>(here >> k & 1);
      changes[k] += static_cast<int>((beside >> k & 1) + (below >> k & 1));
    }
  }
#pragma unroll
  for (int k = 0; k < thresholds; ++k) {
    const int sets = warp_sum(set[k]), change = warp_sum(changes[k]);
    if (thread() % 32 == 0) {
      atomicAdd(&s.set[k], sets);
      atomicAdd(&s.transitions[k], change);
    }
  }
}

// By one thread.
__device__ void choose_threshold(page_state& s) {
  s.chosen = -1;
  for (int k = 0; k < thresholds; ++k)
    if (s.set[k] >= least_cells && s.set[k] <= most_cells &&
        (s.chosen < 0 || s.transitions[k] < s.transitions[s.chosen]))
      s.chosen = k;
  if (s.chosen < 0)
    s.state = s.set[thresholds - 1] < least_cells ? segmentation::too_light : segmentation::too_dark;
}

__device__ void erode(const std::uint8_t* from, int width, int height, std::uint8_t* to) {
  for (int i = thread(); i < width * height; i += threads) {
    const int x = i % width, y = i / width;
    const bool kept = from[i] != 0 && (y == 0 || from[i - width] != 0) &&
                      (y + 1 == height || from[i + width] != 0) && (x == 0 || from[i - 1] != 0) &&
                      (x + 1 == width || from[i + 1] != 0);
    to[i] = kept ? 1 : 0;
  }
}

// Labels lead to the first cell of their component.
__device__ int first_of(const int* labels, int i) {
  for (;;) {
    const int next = *static_cast<const volatile int*>(labels + i);
    if (next == i) return i;
    i = next;
  }
}

__device__ void unite(int* labels, int a, int b) {
  for (;;) {
    a = first_of(labels, a);
    b = first_of(labels, b);
    if (a == b) return;
    const int high = max(a, b), low = min(a, b);
    const int before = atomicMin(labels + high, low);
    if (before == high) return;
    a = before;
    b = low;
  }
}

// visit(first, end) for every run of set cells in a row; a thread a row.
template <class Visit>
__device__ void for_runs(const std::uint8_t* map, int width, int height, const Visit& visit) {
  for (int y = thread(); y < height; y += threads) {
    int first = -1;
    const int begin = y * width, end = begin + width;
    for (int i = begin; i <= end; ++i) {
      const bool set = i < end && map[i] != 0;
      if (set && first < 0) first = i;
      if (set || first < 0) continue;
      visit(first, i);
      first = -1;
    }
  }
}

// Keeps the largest component, the first of equal ones. labels and sizes have as many numbers as the map; sizes are those
// of runs, then of components, at their first cells.
__device__ void keep_largest(const std::uint8_t* from, int width, int height, int* labels, int* sizes,
                             std::uint8_t* to, page_state& s) {
  const int size = width * height;
  for_runs(from, width, height, [&](int first, int end) {
    sizes[first] = end - first;
    for (int i = first; i < end; ++i) labels[i] = first;
  });
  __syncthreads();
  // Where two runs begin to be neighbours.
  for (int i = thread() + width; i < size; i += threads) {
    if (from[i] == 0 || from[i - width] == 0) continue;
    if (i % width == 0 || from[i - 1] == 0 || from[i - width - 1] == 0) unite(labels, i, i - width);
  }
  __syncthreads();
  for_runs(from, width, height, [&](int first, int) {
    if (const int root = first_of(labels, first); root != first) atomicAdd(sizes + root, sizes[first]);
  });
  __syncthreads();
  for_runs(from, width, height, [&](int first, int) {
    if (first_of(labels, first) != first) return;
    const int count = *static_cast<volatile int*>(sizes + first);
    atomicMax(&s.largest,
              static_cast<unsigned long long>(count) << 32 | (0xffffffffULL - static_cast<unsigned>(first)));
  });
  for (int i = thread(); i < size; i += threads) to[i] = 0;
  __syncthreads();
  if (s.largest == 0) return;
  const int kept = static_cast<int>(0xffffffffULL - (s.largest & 0xffffffffULL));
  for_runs(from, width, height, [&](int first, int end) {
    if (first_of(labels, first) != kept) return;
    for (int i = first; i < end; ++i) to[i] = 1;
  });
}

__device__ void fill_between(std::uint8_t* first, int count, int stride) {
  int low = 0, high = count - 1;
  while (low < count && first[low * stride] == 0) ++low;
  while (high > low && first[high * stride] == 0) --high;
  for (int i = low; i <= high; ++i) first[i * stride] = 1;
}

__device__ void find_edges(const std::uint8_t* map, int width, int height, page_state& s) {
  for (int y = thread(); y < height; y += threads) {
    int left = 0, right = width - 1;
    while (left < width && map[y * width + left] == 0) ++left;
    while (right >= 0 && map[y * width + right] == 0) --right;
    s.left[y] = static_cast<short>(left < width ? left : no_edge);
    s.right[y] = static_cast<short>(right);
  }
  for (int x = thread(); x < width; x += threads) {
    int top = 0;
    while (top < height && map[top * width + x] == 0) ++top;
    s.top[x] = static_cast<short>(top < height ? top : no_edge);
  }
  int count = 0, sum_x = 0, sum_y = 0;
  for (int i = thread(); i < width * height; i += threads)
    if (map[i] != 0) {
      ++count;
      sum_x += i % width;
      sum_y += i / width;
    }
  count = warp_sum(count);
  sum_x = warp_sum(sum_x);
  sum_y = warp_sum(sum_y);
  if (thread() % 32 != 0) return;
  atomicAdd(&s.count, count);
  atomicAdd(&s.sum_x, sum_x);
  atomicAdd(&s.sum_y, sum_y);
}

__device__ void place_print(const std::uint8_t* map, int width, int height, page_state& s) {
  // A warp an edge: one thread of each.
  if (thread() % 32 == 0 && thread() / 32 < 3) {
    const short* const edge = thread() == 0 ? s.left : thread() == 32 ? s.top : s.right;
    s.edges[thread() / 32] = regress(thread() == 32 ? width : height, [=](int i) { return int{edge[i]}; });
  }
  __syncthreads();
  if (thread() == 0) s.place.radians = rotation_of(s.edges[0], s.edges[1], s.edges[2]);
  __syncthreads();
  const tilted_rows rows({mean_cell(s.sum_x, s.count), mean_cell(s.sum_y, s.count)}, s.place.radians);
  for (int k = thread(); k < height; k += threads)
    if (rows.begins_print(map, width, height, k)) atomicMin(&s.first_row, k);
  __syncthreads();
  if (thread() != 0) return;
  const pixel at = s.first_row < height ? rows.centre_below(s.first_row) : rows.centre_at_middle();
  s.place.centre_x = at.x;
  s.place.centre_y = at.y;
}

// The mask in the frame of the snip: a thread a row.
__device__ void cut_foreground(const std::uint8_t* map, int width, int height, const placement_on_gpu& place,
                               std::uint8_t* foreground) {
  if (thread() >= cell_rows) return;
  cut_steps at(place.centre_x / cell, place.centre_y / cell, place.radians, cell_columns, cell_rows);
  for (int y = 0; y < thread(); ++y) at.next_row();
  for (int x = 0; x < cell_columns; ++x, at.next_column()) {
    const int ix = static_cast<int>(at.x), iy = static_cast<int>(at.y);
    const bool inside = ix >= 0 && ix < width && iy >= 0 && iy < height;
    foreground[thread() * cell_columns + x] = inside ? map[iy * width + ix] : 0;
  }
}

// Ends in s.state, and where that is found with the map in first.
__device__ void segment_page(const page_on_gpu& page, int width, int height, std::uint8_t* first,
                             std::uint8_t* second, int* labels, int* sizes, page_state& s) {
  find_darkest(page, width, height, first, s);
  __syncthreads();
  if (s.least == s.most) {
    __syncthreads();
    if (thread() == 0) s.state = segmentation::uniform;
    return;
  }
  if (thread() == 0) {
    float share = first_share;
    for (int k = 0; k < thresholds; ++k, share += share_step)
      s.limits[k] = threshold_at(share, s.least, s.most);
  }
  __syncthreads();
  apply_thresholds(first, width * height, second, s);
  __syncthreads();
  count_transitions(second, width, height, s);
  __syncthreads();
  if (thread() == 0) choose_threshold(s);
  __syncthreads();
  if (s.chosen < 0) return;
  for (int i = thread(); i < width * height; i += threads)
    first[i] = static_cast<std::uint8_t>(second[i] >> s.chosen & 1);
  static_assert(erosions == 3);
  __syncthreads();
  erode(first, width, height, second);
  __syncthreads();
  erode(second, width, height, first);
  __syncthreads();
  erode(first, width, height, second);
  __syncthreads();
  keep_largest(second, width, height, labels, sizes, first, s);
  __syncthreads();
  if (s.largest == 0) {
    if (thread() == 0) s.state = segmentation::too_thin;
    return;
  }
  for (int y = thread(); y < height; y += threads) fill_between(first + y * width, width, 1);
  __syncthreads();
  for (int x = thread(); x < width; x += threads) fill_between(first + x, height, width);
  __syncthreads();
  find_edges(first, width, height, s);
  __syncthreads();
  place_print(first, width, height, s);
}

// Dynamic shared memory begins with the state of the page; its two maps follow.
constexpr std::size_t state_bytes = (sizeof(page_state) + 15) / 16 * 16;

__global__ void __launch_bounds__(threads) find_prints(const page_on_gpu* pages, int largest_map, int* labels,
                                                       std::uint8_t* foreground, placement_on_gpu* places) {
  extern __shared__ __align__(16) std::uint8_t shared_bytes[];
  page_state& s = *reinterpret_cast<page_state*>(shared_bytes);
  std::uint8_t* const maps = shared_bytes + state_bytes;
  const std::int64_t print = blockIdx.x;
  const page_on_gpu page = pages[print];
  const int width = page.width / cell, height = page.height / cell;
  if (thread() == 0) {
    s.least = 255;
    s.most = s.count = s.sum_x = s.sum_y = 0;
    for (int k = 0; k < thresholds; ++k) s.set[k] = s.transitions[k] = 0;
    s.largest = 0;
    s.first_row = most_cells_a_side;
    s.state = page.state;
    s.place = {};
  }
  __syncthreads();
  if (page.state == segmentation::found)
    segment_page(page, width, height, maps, maps + largest_map, labels + 2 * print * largest_map,
                 labels + (2 * print + 1) * largest_map, s);
  __syncthreads();
  std::uint8_t* const to = foreground + print * cells;
  if (s.state == segmentation::found)
    cut_foreground(maps, width, height, s.place, to);
  else
    for (int i = thread(); i < cells; i += threads) to[i] = 0;
  if (thread() != 0) return;
  placement_on_gpu place = s.place;  // which others may read yet
  place.state = s.state;
  places[print] = place;
}

// static_cast<int>(v), or below -1 a smaller one, of a number within the whole ones of 32 bits, by the adder of doubles:
// converters are a quarter as many.
__device__ int truncated(double v) {
  constexpr double whole = 6755399441055744.0;  // 1.5 2^52: a sum with it has no fraction
  const int below = __double2loint(__dadd_rd(v, whole));
  return below == -1 && v > -1 ? 0 : below;
}

constexpr int strip = 32, warps_a_block = 3, strips = snip_height / strip;
static_assert(strips % warps_a_block == 0 && snip_width % strip == 0);
constexpr unsigned outside = ~0U;

// A warp 32 rows, 32 columns at a time: a thread follows the positions of a row, then the warp reads the pixels of one row
// after the other.
__global__ void __launch_bounds__(32 * warps_a_block)
    cut_snips(const page_on_gpu* pages, const placement_on_gpu* places, std::uint8_t* snips) {
  __shared__ unsigned positions[warps_a_block][strip][strip + 1];
  constexpr int blocks = strips / warps_a_block;
  const int warp = thread() / 32, lane = thread() % 32;
  const std::int64_t print = blockIdx.x / blocks;
  const int top = (static_cast<int>(blockIdx.x % blocks) * warps_a_block + warp) * strip;
  const page_on_gpu page = pages[print];
  const placement_on_gpu place = places[print];
  std::uint8_t* const to = snips + print * snip_pixels + top * snip_width + lane;
  if (place.state != segmentation::found) {
    for (int i = 0; i < strip * snip_width; i += 32) to[i] = 0;
    return;
  }
  cut_steps at(place.centre_x, place.centre_y, place.radians, snip_width, snip_height);
  for (int y = 0; y < top + lane; ++y) at.next_row();
  for (int left = 0; left < snip_width; left += strip) {
#pragma unroll 8
    for (int i = 0; i < strip; ++i, at.next_column()) {
      const int x = truncated(at.x), y = truncated(at.y);
      const bool inside = x >= 0 && x < page.width && y >= 0 && y < page.height;
      positions[warp][lane][i] = inside ? static_cast<unsigned>(y * page.width + x) : outside;
    }
    __syncwarp();
    // All are under way before the first is stored, which may be the memory of another for all that the compiler knows.
    constexpr int at_once = 16;
    for (int first = 0; first < strip; first += at_once) {
      std::uint8_t levels[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const unsigned from = positions[warp][first + i][lane];
        const std::uint8_t level = __ldg(page.pixels + (from != outside ? from : 0));
        levels[i] = from != outside ? level : std::uint8_t{255};
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) to[(first + i) * snip_width + left] = levels[i];
    }
    __syncwarp();
  }
}

}  // namespace

void segment(const device& dev, std::int64_t n, int most_width, int most_height, const page_on_gpu* pages,
             std::uint8_t* snips, std::uint8_t* foreground, placement_on_gpu* places) {
  const int map = most_width / cell * (most_height / cell);
  const scratch<int> labels(dev, 2 * n * map);
  launch(dev, "find_prints", {n, threads, state_bytes + 2 * static_cast<std::size_t>(map)}, find_prints, pages,
         map, labels.data(), foreground, places);
  launch(dev, "cut_snips", {n * (strips / warps_a_block), 32 * warps_a_block}, cut_snips, pages, places, snips);
}

}  // namespace vouch::fingerprint::gpu
