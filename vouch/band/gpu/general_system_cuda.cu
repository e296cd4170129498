#include <algorithm>

#include <vouch/band/gpu/chunk.cuh>
#include <vouch/band/gpu/one_chunk.cuh>
#include <vouch/band/gpu/partition_engines.cuh>
#include <vouch/band/gpu/pivoting.cuh>
#include <vouch/band/gpu/separators.cuh>
#include <vouch/band/gpu/tensor_map.cuh>
#include <vouch/core/gpu/l2_policy.cuh>
#include <vouch/core/gpu/tma.cuh>
#include <vouch/core/grid_barrier.cuh>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

// Separators on their way through global memory.
//
// The first pivot at a separator is a row of one of the two segments, which says nothing of the far end of the
// other: two of the numbers are zero.

/// A separator, in a slot separator_pair::first and then separator_pair::last, without its zeros.
class packed_separators {
 public:
  static constexpr int size = slot_size - 2;

  /// Of a slot.
  __device__ explicit packed_separators(const double* slot) : with_before_(slot[8] == 0 && slot[9] == 0) {
#pragma unroll
    for (int k = 0; k < size; ++k) numbers_[k] = slot[place(k)];
  }
  /// As put() has left it.
  __device__ packed_separators(const double* from, int step, bool with_before) : with_before_(with_before) {
#pragma unroll
    for (int k = 0; k < size; ++k) numbers_[k] = from[k * step];
  }
  /// It is read again before most of what passes through L2 meanwhile.
  __device__ void put(double* to, int step) const {
#pragma unroll
    for (int k = 0; k < size; ++k) store(to + k * step, numbers_[k], evict_last_policy());
  }
  __device__ void unpack(double* slot) const {
#pragma unroll
    for (int k = 6; k < slot_size - 1; ++k) slot[k] = 0;
#pragma unroll
    for (int k = 0; k < size; ++k) slot[place(k)] = numbers_[k];
  }
  /// Whether the row of the first pivot is one of the segment before the separator.
  __device__ bool with_before() const { return with_before_; }

 private:
  // Of separator_pair::last the factor of x_f, those of left and first or of last and right, and the
  // right-hand side.
  __device__ int place(int k) const {
    return k < 6 ? k : k == size - 1 ? slot_size - 1 : with_before_ ? k : k + 2;
  }

  double numbers_[size];
  bool with_before_;
};

// A lane's rows in shared memory as boxes of TMA hold them, condensed to their reduced block or solved
// from their boundary unknowns.
//
// A warp's tile is 32 segments of 32 rows, one after another in memory: to TMA a segment is a line,
// and a box holds 16 rows, 128 bytes, of all of them. Swizzled, 16 bytes of eight lanes lie on different
// banks: a lane reads and writes pairs of rows.

constexpr int tma_segment_rows = 32;                  // of a segment
constexpr int box_rows = 16;                          // 128 bytes
constexpr int tma_tile_rows = 32 * tma_segment_rows;  // of a warp
constexpr int box_numbers = 32 * box_rows;            // of an array
constexpr int half_tile_numbers = 4 * box_numbers;    // arrays a, d, c, f: rows as in segment.cuh

/// The run of a lane's rows so far, where all of them dominate. At first x_f is x_l.
struct dominant_run {
  row_run<double> run;
  int dominant = 1;  // so far

  __device__ void begin(const band_row<double>& row) {
    run = {0, -1, 0, row.a, row.d, row.c, row.f};
    dominant = dominant_row(row);
  }
  __device__ void append(const band_row<double>& row) {
    dominant &= dominant_row(row);
    const double inverse = inverse_of(run.diagonal);
    const double spike = run.before * inverse, up = run.after * inverse, rhs = run.rhs * inverse;
    run.first_rhs -= run.first_last * rhs;
    run.first_before -= run.first_last * spike;
    run.first_last = -run.first_last * up;
    run.before = -row.a * spike;
    run.diagonal = row.d - row.a * up;
    run.after = row.c;
    run.rhs = row.f - row.a * rhs;
  }
  __device__ reduced_block<double> whole() const {
    return balanced(reduced_block<double>{{run.first_before, run.before},
                                          {1, 0},
                                          {run.first_last, run.diagonal},
                                          {0, run.after},
                                          {run.first_rhs, run.rhs}});
  }
};

class tma_segment {
 public:
  __device__ tma_segment(double* tile, int lane) : tile_(tile), lane_(lane) {}

  /// A number of any segment of the tile.
  __device__ double& number(int array, int segment, int row) const {
    return tile_[place(array, segment, row / 2) + row % 2];
  }

  /// The rows of one half behind those of the other: both make the reduced block of the segment.
  __device__ void reduce_half(int half, reduced_block<double>& at) const {
#pragma unroll 1
    for (int quarter = 2 * half; quarter < 2 * half + 2; ++quarter) {
      const pairs<4> rows(*this, 4 * quarter);
      if (quarter == 0) {
        at = reduced_block_of(rows.row(0), rows.row(1));
      } else {
        append_only(at, rows.row(0));
        append_only(at, rows.row(1));
      }
#pragma unroll
      for (int k = 2; k < 8; ++k) append_only(at, rows.row(k));
    }
  }

  /// Likewise without interchanges.
  __device__ void reduce_half(int half, dominant_run& at) const {
#pragma unroll 1
    for (int quarter = 2 * half; quarter < 2 * half + 2; ++quarter) {
      const pairs<4> rows(*this, 4 * quarter);
      if (quarter == 0)
        at.begin(rows.as_it_is(0));
      else
        at.append(rows.as_it_is(0));
#pragma unroll
      for (int k = 1; k < 8; ++k) at.append(rows.as_it_is(k));
    }
  }

  /// The unknowns take the place of d. Returns false where one is no number. From both ends to the middle and
  /// back: two chains of instructions that do not wait for each other.
  __device__ bool solve(const boundary_unknowns<double>& known) const {
    sides at;
    eliminated open[2];
    eliminate(known, at, open);
    equation<double> middle[4];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      middle[2 * k] = {at[0].last[k], at[0].right[k], at[0].rhs[k]};
      middle[2 * k + 1] = {at[1].right[k], at[1].last[k], at[1].rhs[k]};
    }
    double upper, lower;
    solve_equations(middle, upper, lower);
    return fill(open, known, upper, lower);
  }

  /// The same without interchanges, where all rows dominate.
  __device__ bool solve_dominant(const boundary_unknowns<double>& known) const {
    // x_k = y - up x_{k+1} above the middle, x_k = z - down x_{k-1} below it; they take the places of c and f.
    double up = 0, y = known.first, down = 0, z = known.last;
#pragma unroll 1
    for (int first = 0; first < all_pairs / 2; first += 2) {
      const pairs<2> upper(*this, first), lower(*this, all_pairs - first - 2);
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int here = first + k, there = all_pairs - 1 - here, of_lower = 2 * (1 - k);
        if (k > 0 || first > 0) {
          sweep(upper.as_it_is(2 * k), up, y);
          sweep(mirrored(lower.as_it_is(of_lower + 1)), down, z);
        }
        const double outer[4] = {up, y, down, z};
        sweep(upper.as_it_is(2 * k + 1), up, y);
        sweep(mirrored(lower.as_it_is(of_lower)), down, z);
        pair(2, here) = {outer[0], up};
        pair(3, here) = {outer[1], y};
        pair(2, there) = {down, outer[2]};
        pair(3, there) = {z, outer[3]};
      }
    }
    constexpr int half = all_pairs / 2;
    // The next unknown towards the middle, from above and from below.
    double l = (z - down * y) * inverse_of(1 - down * up), u = l, rest = 0;
    l = y - up * l;
#pragma unroll
    for (int k = 0; k < half; ++k) {
      const int here = half - 1 - k, there = half + k;
      const double2 c = pair(2, here), f = pair(3, here), e = pair(2, there), g = pair(3, there);
      const double odd = f.y - c.y * u, even = g.x - e.x * l;
      u = f.x - c.x * odd;
      l = g.y - e.y * even;
      rest = odd * 0 + (even * 0 + (u * 0 + (l * 0 + rest)));
      pair(1, here) = {u, odd};
      pair(1, there) = {even, l};
    }
    return rest == 0;
  }

 private:
  using eliminated = known_left<double>::eliminated;
  using sides = known_left<double>[2];  // from the first row on, and from the last one, mirrored
  static constexpr int all_pairs = tma_segment_rows / 2;

  // Rows that have been read.
  template <int Count>
  struct pairs {
    static constexpr int count = Count;
    double2 a[count], d[count], c[count], f[count];
    __device__ pairs(const tma_segment& of, int first) {
#pragma unroll
      for (int k = 0; k < count; ++k) {
        a[k] = of.pair(0, first + k);
        d[k] = of.pair(1, first + k);
        c[k] = of.pair(2, first + k);
        f[k] = of.pair(3, first + k);
      }
    }
    __device__ band_row<double> as_it_is(int k) const {
      return k % 2 == 0 ? band_row<double>{a[k / 2].x, d[k / 2].x, c[k / 2].x, f[k / 2].x}
                        : band_row<double>{a[k / 2].y, d[k / 2].y, c[k / 2].y, f[k / 2].y};
    }
    __device__ band_row<double> row(int k) const { return balanced(as_it_is(k)); }
    __device__ band_row<double> mirrored(int k) const { return tma_segment::mirrored(row(k)); }
  };

  __device__ static band_row<double> mirrored(const band_row<double>& of) { return {of.c, of.d, of.a, of.f}; }
  // The next row of a sweep: x_k = y - up x_{k+1}.
  __device__ static void sweep(const band_row<double>& row, double& up, double& y) {
    const double inverse = inverse_of(row.d - row.a * up);
    y = (row.f - row.a * y) * inverse;
    up = row.c * inverse;
  }

  __device__ void keep(int k, const eliminated& even, const eliminated& odd) const {
    pair(0, k) = {even.after, odd.after};
    pair(2, k) = {even.next, odd.next};
    pair(3, k) = {even.rhs, odd.rhs};
  }
  // Upper rows become x_k + c x_{k+1} + a x_{k+2} = f, lower ones x_k + c x_{k-1} + a x_{k-2} = f. open: those
  // next to the middle, of which nothing is kept.
  __device__ void eliminate(const boundary_unknowns<double>& known, sides& at, eliminated (&open)[2]) const {
    constexpr int at_once = 2;
    open[0] = open[1] = {};
#pragma unroll 1
    for (int first = 0; first < all_pairs / 2; first += at_once) {
      const pairs<at_once> upper(*this, first), lower(*this, all_pairs - first - at_once);
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int here = first + k, there = all_pairs - 1 - here, of_lower = 2 * (at_once - 1 - k);
        const band_row<double> outer[2] = {upper.row(2 * k), lower.mirrored(of_lower + 1)},
                               inner[2] = {upper.row(2 * k + 1), lower.mirrored(of_lower)};
        if (k == 0 && first == 0) {
          at[0] = start_known(outer[0], inner[0], known.left, known.first);
          at[1] = start_known(outer[1], inner[1], known.right, known.last);
          continue;
        }
        eliminated gone[2];
        append_known(at, outer, gone);
        keep(here - 1, open[0], gone[0]);
        keep(there + 1, gone[1], open[1]);
        append_known(at, inner, open);
      }
    }
  }
  // upper and lower: the unknowns in the middle.
  __device__ bool fill(const eliminated (&open)[2], const boundary_unknowns<double>& known, double upper,
                       double lower) const {
    constexpr int half = all_pairs / 2;
    double u1 = open[0].rhs - open[0].next * upper - open[0].after * lower, u2 = upper;
    double l1 = open[1].rhs - open[1].next * lower - open[1].after * upper, l2 = lower;
    double rest = known.first * 0 + known.last * 0 + u1 * 0 + l1 * 0;
    pair(1, half - 1) = {u1, u2};
    pair(1, half) = {l2, l1};
#pragma unroll
    for (int k = 1; k < half; ++k) {
      const int here = half - 1 - k, there = half + k;
      const double2 a = pair(0, here), c = pair(2, here), f = pair(3, here);
      const double2 b = pair(0, there), e = pair(2, there), g = pair(3, there);
      u2 = f.y - a.y * u2 - c.y * u1;
      l2 = g.x - b.x * l2 - e.x * l1;
      u1 = here > 0 ? f.x - a.x * u1 - c.x * u2 : known.first;
      l1 = here > 0 ? g.y - b.y * l1 - e.y * l2 : known.last;
      rest = u2 * 0 + (l2 * 0 + (u1 * 0 + (l1 * 0 + rest)));
      pair(1, here) = {u1, u2};
      pair(1, there) = {l2, l1};
    }
    return rest == 0;
  }

  __device__ static int place(int array, int segment, int pair) {
    return (pair / 8) * half_tile_numbers + array * box_numbers + segment * box_rows +
           ((pair % 8) ^ (segment % 8)) * 2;
  }
  __device__ double2& pair(int array, int k) const {
    return *reinterpret_cast<double2*>(tile_ + place(array, lane_, k));
  }

  double* tile_;
  int lane_;
};

using T = double;

constexpr int warps = 6, threads = 32 * warps;  // a block of a multiprocessor: a tile a warp
constexpr int tile_numbers = 2 * half_tile_numbers, tree_numbers = 32 * slot_size;
constexpr std::size_t shared_bytes = sizeof(T) * warps * (tile_numbers + tree_numbers);

// A tile, or all that lie in a node of the level below.
struct tree_node {
  T slot[slot_size];     // its reduced block, then its separator
  bool dominant;         // of a tile: all its rows do
  unsigned with_before;  // of a tile: of which of its separators packed_separators::with_before
  boundary_unknowns<T> at;
};
constexpr int fan = 128;  // nodes of a level that one of the next one joins
constexpr int most_levels = 5;
static_assert(fan * slot_size <= warps * tree_numbers && fan <= threads);

constexpr std::int64_t node_numbers = sizeof(tree_node) / sizeof(T);

struct general_task {
  CUtensorMap boxes[4], x_boxes;  // dl, d, du, b; segments that are not full are in no box
  const T* arrays[4];
  T *x, *spare;  // spare: what x has no room for
  std::int64_t n, tiles;
  tree_node* nodes[most_levels];
  std::int64_t counts[most_levels];
  int levels;
  bool resident;  // solve_register_resident() has been at work where interchanges are needed
  pass_state* state;
  int* broken;

  // Where a tile's separators are between the passes.
  __device__ T* separators(std::int64_t tile) const {
    return tile + 1 < tiles ? x + tile * tma_tile_rows : spare;
  }
};

// Numbers that do not wait for each other.
template <int Count>
__device__ void load_at_once(T* to, const T* from) {
  T numbers[Count];
#pragma unroll
  for (int k = 0; k < Count; ++k) numbers[k] = from[k];
#pragma unroll
  for (int k = 0; k < Count; ++k) to[k] = numbers[k];
}

using joining = unpivoted_joining<T, false>;

// Tiles of a warp, one after another.
class tile_ring {
 public:
  __device__ tile_ring(const general_task& of, T* rows, std::uint64_t* arrived, int lane)
      : segment(rows, lane), of_(of), rows_(rows), arrived_(arrived), lane_(lane) {
    if (lane == 0) {
      mbarrier_init(arrived, 1);
      mbarrier_init(arrived + 1, 1);
      mbarrier_init_fence();
    }
    __syncwarp();
  }
  /// Starts to load half of a tile; all lanes are done with what stood there.
  __device__ void load(std::int64_t tile, int half) {
    fence_proxy_async();
    __syncwarp();
    if (lane_ != 0) return;
    expect(half);
    for (int k = 0; k < 4; ++k) copy(tile, half, k);
  }
  /// All of a tile. Diagonals come last: unknowns may be on their way out of there.
  __device__ void load(std::int64_t tile) {
    fence_proxy_async();
    __syncwarp();
    if (lane_ != 0) return;
    for (int half = 0; half < 2; ++half) {
      expect(half);
      for (const int k : {0, 2, 3}) copy(tile, half, k);
    }
    bulk_wait_group_read();
    for (int half = 0; half < 2; ++half) copy(tile, half, 1);
  }
  /// Waits for half of a tile.
  __device__ void await_rows(std::int64_t tile, int half) {
    await_arrival(half);
    if (tile == 0 && half == 0 && lane_ == 0) segment.number(0, 0, 0) = 0;
    if (tile + 1 == of_.tiles) complete(tile, half);
  }
  /// Begins to write the unknowns.
  __device__ void store(std::int64_t tile) const {
    fence_proxy_async();
    __syncwarp();
    if (lane_ == 0) {
      for (int half = 0; half < 2; ++half)
        tensor_store(&of_.x_boxes, half * box_rows, static_cast<int>(tile * 32),
                     rows_ + half * half_tile_numbers + box_numbers);
      bulk_commit_group();
    }
    const int rows = rows_of(tile);
    if (rows < tma_tile_rows && lane_ < rows % tma_segment_rows)
      of_.x[tile * tma_tile_rows + rows / tma_segment_rows * tma_segment_rows + lane_] =
          segment.number(1, rows / tma_segment_rows, lane_);
  }

  /// Where half of another tile is on its way instead: this one again.
  __device__ void load_back(std::int64_t tile, int half) {
    await_arrival(half);
    load(tile, half);
    await_rows(tile, half);
  }

  const tma_segment segment;

 private:
  __device__ void expect(int half) const {
    mbarrier_arrive_expect_tx(arrived_ + half, half_tile_numbers * sizeof(T));
  }
  __device__ void copy(std::int64_t tile, int half, int k) const {
    tensor_load(rows_ + half * half_tile_numbers + k * box_numbers, &of_.boxes[k], half * box_rows,
                static_cast<int>(tile * 32), arrived_ + half);
  }
  __device__ void await_arrival(int half) {
    mbarrier_wait(arrived_ + half, parity_ >> half & 1);
    parity_ ^= 1u << half;
  }
  __device__ int rows_of(std::int64_t tile) const {
    const std::int64_t left = of_.n - tile * tma_tile_rows;
    return static_cast<int>(left < tma_tile_rows ? left : tma_tile_rows);
  }
  // The last tile: rows that no box has loaded, none beyond the last one, then rows of the identity. Boxes
  // load zeros in place of what they do not hold.
  __device__ void complete(std::int64_t tile, int half) const {
    const int rows = rows_of(tile), last_segment = rows / tma_segment_rows, row = half * box_rows + lane_;
    if (lane_ < box_rows && row < rows % tma_segment_rows)
      for (int k = 0; k < 4; ++k)
        segment.number(k, last_segment, row) =
            of_.arrays[k][tile * tma_tile_rows + last_segment * tma_segment_rows + row];
    __syncwarp();
    for (int k = half * box_rows; k < (half + 1) * box_rows; ++k) {
      if (lane_ * tma_segment_rows + k >= rows) segment.number(1, lane_, k) = 1;
      if (lane_ * tma_segment_rows + k == rows - 1) segment.number(2, lane_, k) = 0;
    }
  }

  const general_task& of_;
  T* rows_;
  std::uint64_t* arrived_;
  int lane_;
  unsigned parity_ = 0;  // a bit of either half
};

// ---- the tree over tiles, by all blocks

// A block joins the nodes of a level, `fan` at a time, to those of the next one.
__device__ void join_nodes(const general_task& of, int level, T* shared, int thread) {
  const lined_slots<T> slots{shared};
  for (std::int64_t parent = blockIdx.x; parent < of.counts[level + 1]; parent += gridDim.x) {
    tree_node* const nodes = of.nodes[level] + parent * fan;
    const std::int64_t left = of.counts[level] - parent * fan;
    const int leaves = static_cast<int>(left < fan ? left : fan);
    __syncthreads();
    if (thread < leaves) joining::put(slots(thread), balanced(joining::get(nodes[thread].slot)));
    join_slots<joining>(slots, 1, leaves, thread, threads);
    if (thread > 0 && thread < leaves)
      for (int k = 0; k < slot_size; ++k) nodes[thread].slot[k] = slots(thread)[k];
    if (thread < slot_size - 1) of.nodes[level + 1][parent].slot[thread] = slots(0)[thread];
  }
}

// The boundary unknowns of a level's nodes from those of the next one. The separators of the last ones
// joined are still there.
__device__ void part_nodes(const general_task& of, int level, bool there, T* shared, int thread) {
  const lined_slots<T> slots{shared};
  for (std::int64_t parent = blockIdx.x; parent < of.counts[level + 1]; parent += gridDim.x) {
    tree_node* const nodes = of.nodes[level] + parent * fan;
    const std::int64_t left = of.counts[level] - parent * fan;
    const int leaves = static_cast<int>(left < fan ? left : fan);
    const boundary_unknowns<T> whole = of.nodes[level + 1][parent].at;
    if (!there) {
      __syncthreads();
      if (thread < leaves) load_at_once<slot_size>(slots(thread), nodes[thread].slot);
      __syncthreads();
    }
    if (thread < leaves) nodes[thread].at = descend<joining>(slots, leaves, thread, whole);
  }
}

// From the reduced blocks of all tiles to their boundary unknowns. After a barrier of all blocks.
template <class Meet>
__device__ void solve_tree(const general_task& of, T* shared, int thread, const Meet& exchange) {
  const int top = of.levels - 1;
  for (int level = 0; level < top; ++level) {
    if (level > 0) exchange();
    join_nodes(of, level, shared, thread);
  }
  if (blockIdx.x == 0 && thread == 0) of.nodes[top][0].at = closed(balanced(joining::get(shared)));
  for (int level = top - 1; level >= 0; --level) {
    if (level + 1 == top) __syncthreads();
    part_nodes(of, level, level + 1 == top, shared, thread);
    exchange();
  }
}

// The reduced blocks of the segments of a tile. Its rows are on their way; those of the next tile come as
// soon as these are needed no more. dominant: whether to try without interchanges; afterwards, whether that
// was sound.
__device__ reduced_block<T> reduce_tile(tile_ring& ring, std::int64_t tile, std::int64_t next,
                                        std::int64_t tiles, bool& dominant) {
  int come = 0;  // halves
  if (dominant) {
    dominant_run run;
#pragma unroll 1
    while (dominant && come < 2) {
      ring.await_rows(tile, come);
      ring.segment.reduce_half(come, run);
      dominant = __all_sync(~0u, run.dominant) != 0;
      if (dominant && next < tiles) ring.load(next, come);
      ++come;
    }
    if (dominant) return run.whole();
    if (come == 2 && next < tiles) ring.load_back(tile, 0);
  }
  reduced_block<T> whole;
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    if (half >= come) ring.await_rows(tile, half);
    ring.segment.reduce_half(half, whole);
    if (next < tiles) ring.load(next, half);
  }
  return whole;
}

// Joins the reduced blocks of a warp's lanes to that of the tile, and leaves the separators in global memory.
__device__ void join_tile(const reduced_block<T>& own, T* tree, int lane, T* separators, tree_node& node) {
  const lane_slots<T> slots{tree};
  joining::put(slots(lane), own);
  join_lanes<joining>(slots, lane);
  const packed_separators own_separators(tree + lane * slot_size);
  own_separators.put(separators + lane, 32);
  const unsigned with_before = __ballot_sync(~0u, own_separators.with_before());
  if (lane == 0) node.with_before = with_before;
  if (lane < slot_size - 1) node.slot[lane] = slots(0)[lane];
  __syncwarp();
}

// The boundary unknowns of a lane's segment from those of its tile and what join_tile() has left.
__device__ boundary_unknowns<T> part_tile(T* tree, int lane, const T* separators, unsigned with_before,
                                          const boundary_unknowns<T>& whole) {
  packed_separators(separators + lane, 32, (with_before >> lane & 1) != 0).unpack(tree + lane * slot_size);
  __syncwarp();
  return descend<joining>(lane_slots<T>{tree}, 32, lane, whole);
}

// First warps take tiles, whoever has time, rows streaming through shared memory, and leave separators of
// the segments and the tile's reduced block; then all blocks find out about the boundary unknowns of tiles;
// then warps take tiles again, the last ones first, which L2 still holds, and solve segments from their
// boundary unknowns. Rows are read twice, 9 numbers a segment are written and read besides. All blocks run
// at once. Bound by memory.
__global__ void __launch_bounds__(threads, 1) solve_general(const __grid_constant__ general_task of) {
  __shared__ std::uint64_t arrived[2 * warps];
  const pass_state found = *of.state;
  if (found.halos_failed == 0 || (of.resident && found.interchanges != 0 && found.coupled == 0)) return;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  // TMA's pattern of banks counts from multiples of 1024 bytes.
  extern __shared__ __align__(1024) unsigned char bytes[];
  T* const rows = reinterpret_cast<T*>(bytes);
  T* const trees = rows + warps * tile_numbers;
  T* const tree = trees + warp * tree_numbers;
  tile_ring ring(of, rows + warp * tile_numbers, arrived + 2 * warp, lane);
  // So many tiles have a taker from the beginning, spread over multiprocessors.
  const std::int64_t first = std::int64_t{gridDim.x} * warp + blockIdx.x,
                     spoken_for = std::int64_t{gridDim.x} * warps;
  const auto ask_for_next = [&](int pass) { return lane == 0 ? atomicAdd(of.state->taken + pass, 1u) : 0u; };
  const auto next_of = [&](unsigned asked) { return spoken_for + __shfl_sync(~0u, asked, 0); };
  if (first < of.tiles) ring.load(first);
  // Nobody asks earlier than the answer takes: a tile that is spoken for waits while others are done.
  unsigned asked = ask_for_next(0);
  for (std::int64_t tile = first, next; tile < of.tiles; tile = next) {
    next = next_of(asked);
    bool dominant = found.interchanges == 0;  // not what the tile before was: who takes which is chance
    const reduced_block<T> own = reduce_tile(ring, tile, next, of.tiles, dominant);
    asked = ask_for_next(0);
    tree_node& node = of.nodes[0][tile];
    join_tile(own, tree, lane, of.separators(tile), node);
    if (lane == 0) node.dominant = dominant;
  }
  const auto from_last = [&](std::int64_t place) { return of.tiles - 1 - place; };
  if (first < of.tiles) ring.load(from_last(first));
  unsigned barrier_count = 0;
  const auto exchange = [&] {
    __syncthreads();
    ++barrier_count;
    if (thread == 0) grid_barrier(&of.state->barrier_count, gridDim.x, barrier_count);
    __syncthreads();
  };
  exchange();
  solve_tree(of, trees, thread, exchange);
  fence_proxy_async_global();  // unknowns are written after separators
  bool numbers = true;
  for (std::int64_t place = first, next; place < of.tiles; place = next) {
    const std::int64_t tile = from_last(place);
    const T* const separators = of.separators(tile);
    const boundary_unknowns<T> whole = of.nodes[0][tile].at;
    const bool quick = of.nodes[0][tile].dominant;
    const boundary_unknowns<T> known = part_tile(tree, lane, separators, of.nodes[0][tile].with_before, whole);
    for (int half = 0; half < 2; ++half) ring.await_rows(tile, half);
    asked = ask_for_next(1);
    numbers = (quick ? ring.segment.solve_dominant(known) : ring.segment.solve(known)) && numbers;
    ring.store(tile);
    next = next_of(asked);
    if (next < of.tiles) ring.load(from_last(next));
  }
  if (lane == 0) bulk_wait_group_read();  // before the shared memory goes to another block
  if (!numbers && of.broken != nullptr) *of.broken = 1;
}

// Nodes of every level. Returns how many levels there are.
int count_nodes(std::int64_t n, std::int64_t (&counts)[most_levels]) {
  int levels = 0;
  for (std::int64_t count = ceil_div<std::int64_t>(n, tma_tile_rows); levels < most_levels;
       count = ceil_div<std::int64_t>(count, fan)) {
    counts[levels++] = count;
    if (count == 1) break;
  }
  return levels;
}

}  // namespace

std::int64_t general_system_numbers(std::int64_t n) {
  std::int64_t counts[most_levels], numbers = tree_numbers;
  const int levels = count_nodes(n, counts);
  for (int k = 0; k < levels; ++k) numbers += counts[k] * node_numbers;
  return numbers;
}

bool solve_general_system(const device& dev, const band_task<double>& task, bool resident, pass_state* state,
                          double* memory) {
  const batch_shape &a = task.A.shape, &b = task.b.shape, &x = task.x.shape;
  if (!runs_sm90_code(dev) || b.systems != 1 || task.A.periodic || b.n < 2 * tma_tile_rows) return false;
  for (const batch_shape* s : {&a, &b, &x})
    if (s->offsets != nullptr || s->row_stride != 1) return false;
  general_task of{};
  of.n = b.n;
  const T* const arrays[4] = {task.A.dl, task.A.d, task.A.du, task.b.data};
  batch_shape segments;
  segments.n = of.n / tma_segment_rows;
  segments.systems = segments.row_stride = tma_segment_rows;
  segments.system_stride = 1;
  if (!is_interleaved(task.x.data, segments)) return false;
  for (const T* from : arrays)
    if (!is_interleaved(from, segments)) return false;
  constexpr tensor_box box{box_rows, 32};
  for (int k = 0; k < 4; ++k) {
    of.arrays[k] = arrays[k];
    if (!encode_tensor_map(of.boxes[k], arrays[k], segments, box, CU_TENSOR_MAP_SWIZZLE_128B)) return false;
  }
  of.x = task.x.data;
  if (!encode_tensor_map(of.x_boxes, static_cast<const T*>(of.x), segments, box, CU_TENSOR_MAP_SWIZZLE_128B))
    return false;
  of.levels = count_nodes(of.n, of.counts);
  of.tiles = of.counts[0];
  of.spare = memory;
  memory += tree_numbers;
  for (int k = 0; k < of.levels; ++k) {
    of.nodes[k] = reinterpret_cast<tree_node*>(memory);
    memory += of.counts[k] * node_numbers;
  }
  of.resident = resident;
  of.state = state;
  of.broken = task.broken;
  launch_shape shape{std::min<std::int64_t>(of.tiles, dev.processors()), threads, shared_bytes};
  shape.cooperative = true;
  launch(dev, "solve_general", shape, solve_general, of);
  return true;
}

}  // namespace vouch::detail
