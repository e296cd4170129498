#include <algorithm>

#include <vouch/band/boxed_piece.cuh>
#include <vouch/band/general_system.cuh>
#include <vouch/band/lane_slots.cuh>
#include <vouch/band/one_chunk.cuh>
#include <vouch/band/packed_joint.cuh>
#include <vouch/band/row_boxes.cuh>
#include <vouch/core/gpu/tma.cuh>
#include <vouch/core/grid_barrier.cuh>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

using T = double;

constexpr int warps = 6, threads = 32 * warps;  // a block of a multiprocessor: a tile a warp
constexpr int tile_numbers = 2 * half_tile_numbers, tree_numbers = 32 * slot_size;
constexpr std::size_t shared_bytes = sizeof(T) * warps * (tile_numbers + tree_numbers);

// A tile, or all that lie in a node of the level below.
struct tree_node {
  T slot[slot_size];     // its relation, then its joint
  bool dominant;         // of a tile: all its rows do
  unsigned with_before;  // of a tile: of which of its joints packed_joint::with_before
  ends<T> at;
};
constexpr int fan = 128;  // nodes of a level that one of the next one joins
constexpr int most_levels = 5;
static_assert(fan * slot_size <= warps * tree_numbers && fan <= threads);

constexpr std::int64_t node_numbers = sizeof(tree_node) / sizeof(T);

struct general_task {
  CUtensorMap boxes[4], x_boxes;  // dl, d, du, b; pieces that are not full are in no box
  const T* arrays[4];
  T *x, *spare;  // spare: what x has no room for
  std::int64_t n, tiles;
  tree_node* nodes[most_levels];
  std::int64_t counts[most_levels];
  int levels;
  bool held;  // solve_held_runs() has been at work where interchanges are needed
  pass_state* state;
  int* broken;

  // Where a tile's joints are between the passes.
  __device__ T* joints(std::int64_t tile) const {
    return tile + 1 < tiles ? x + tile * boxed_tile_rows : spare;
  }
};

// Numbers that do not wait for each other.
template <int Count>
__device__ void bring_at_once(T* to, const T* from) {
  T numbers[Count];
#pragma unroll
  for (int k = 0; k < Count; ++k) numbers[k] = from[k];
#pragma unroll
  for (int k = 0; k < Count; ++k) to[k] = numbers[k];
}

using joining = quick_joining<T, false>;

// Tiles of a warp, one after another.
class tile_ring {
 public:
  __device__ tile_ring(const general_task& of, T* rows, std::uint64_t* arrived, int lane)
      : piece(rows, lane), of_(of), rows_(rows), arrived_(arrived), lane_(lane) {
    if (lane == 0) {
      mbarrier_init(arrived, 1);
      mbarrier_init(arrived + 1, 1);
      mbarrier_init_fence();
    }
    __syncwarp();
  }
  /// Begins to bring half of a tile; all lanes are done with what stood there.
  __device__ void bring(std::int64_t tile, int half) {
    fence_proxy_async();
    __syncwarp();
    if (lane_ != 0) return;
    expect(half);
    for (int k = 0; k < 4; ++k) copy(tile, half, k);
  }
  /// All of a tile. Diagonals come last: unknowns may be on their way out of there.
  __device__ void bring(std::int64_t tile) {
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
    if (tile == 0 && half == 0 && lane_ == 0) piece.number(0, 0, 0) = 0;
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
    if (rows < boxed_tile_rows && lane_ < rows % boxed_rows)
      of_.x[tile * boxed_tile_rows + rows / boxed_rows * boxed_rows + lane_] =
          piece.number(1, rows / boxed_rows, lane_);
  }

  /// Where half of another tile is on its way instead: this one again.
  __device__ void bring_back(std::int64_t tile, int half) {
    await_arrival(half);
    bring(tile, half);
    await_rows(tile, half);
  }

  const boxed_piece piece;

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
    const std::int64_t left = of_.n - tile * boxed_tile_rows;
    return static_cast<int>(left < boxed_tile_rows ? left : boxed_tile_rows);
  }
  // The last tile: rows that no box has brought, none beyond the last one, then rows of the identity. Boxes
  // bring zeros in place of what they do not hold.
  __device__ void complete(std::int64_t tile, int half) const {
    const int rows = rows_of(tile), last_piece = rows / boxed_rows, row = half * box_rows + lane_;
    if (lane_ < box_rows && row < rows % boxed_rows)
      for (int k = 0; k < 4; ++k)
        piece.number(k, last_piece, row) =
            of_.arrays[k][tile * boxed_tile_rows + last_piece * boxed_rows + row];
    __syncwarp();
    for (int k = half * box_rows; k < (half + 1) * box_rows; ++k) {
      if (lane_ * boxed_rows + k >= rows) piece.number(1, lane_, k) = 1;
      if (lane_ * boxed_rows + k == rows - 1) piece.number(2, lane_, k) = 0;
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

// The ends of a level's nodes from those of the next one. The joints of the last ones joined are still there.
__device__ void part_nodes(const general_task& of, int level, bool there, T* shared, int thread) {
  const lined_slots<T> slots{shared};
  for (std::int64_t parent = blockIdx.x; parent < of.counts[level + 1]; parent += gridDim.x) {
    tree_node* const nodes = of.nodes[level] + parent * fan;
    const std::int64_t left = of.counts[level] - parent * fan;
    const int leaves = static_cast<int>(left < fan ? left : fan);
    const ends<T> whole = of.nodes[level + 1][parent].at;
    if (!there) {
      __syncthreads();
      if (thread < leaves) bring_at_once<slot_size>(slots(thread), nodes[thread].slot);
      __syncthreads();
    }
    if (thread < leaves) nodes[thread].at = descend<joining>(slots, leaves, thread, whole);
  }
}

// From the relations of all tiles to their ends. All blocks have met.
template <class Meet>
__device__ void solve_tree(const general_task& of, T* shared, int thread, const Meet& meet) {
  const int top = of.levels - 1;
  for (int level = 0; level < top; ++level) {
    if (level > 0) meet();
    join_nodes(of, level, shared, thread);
  }
  if (blockIdx.x == 0 && thread == 0) of.nodes[top][0].at = closed(balanced(joining::get(shared)));
  for (int level = top - 1; level >= 0; --level) {
    if (level + 1 == top) __syncthreads();
    part_nodes(of, level, level + 1 == top, shared, thread);
    meet();
  }
}

// The relations of the pieces of a tile. Its rows are on their way; those of the next tile come as soon as
// these are needed no more. dominant: whether to try without interchanges; afterwards, whether that was sound.
__device__ relation<T> reduce_tile(tile_ring& ring, std::int64_t tile, std::int64_t next, std::int64_t tiles,
                                   bool& dominant) {
  int come = 0;  // halves
  if (dominant) {
    dominant_run run;
#pragma unroll 1
    while (dominant && come < 2) {
      ring.await_rows(tile, come);
      ring.piece.reduce_half(come, run);
      dominant = __all_sync(~0u, run.dominant) != 0;
      if (dominant && next < tiles) ring.bring(next, come);
      ++come;
    }
    if (dominant) return run.whole();
    if (come == 2 && next < tiles) ring.bring_back(tile, 0);
  }
  relation<T> whole;
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    if (half >= come) ring.await_rows(tile, half);
    ring.piece.reduce_half(half, whole);
    if (next < tiles) ring.bring(next, half);
  }
  return whole;
}

// Joins the relations of a warp's lanes to that of the tile, and leaves the joints in global memory.
__device__ void join_tile(const relation<T>& own, T* tree, int lane, T* joints, tree_node& node) {
  const lane_slots<T> slots{tree};
  joining::put(slots(lane), own);
  join_lanes<joining>(slots, lane);
  const packed_joint own_joint(tree + lane * slot_size);
  own_joint.put(joints + lane, 32);
  const unsigned with_before = __ballot_sync(~0u, own_joint.with_before());
  if (lane == 0) node.with_before = with_before;
  if (lane < slot_size - 1) node.slot[lane] = slots(0)[lane];
  __syncwarp();
}

// The ends of a lane's piece from those of its tile and what join_tile() has left.
__device__ ends<T> part_tile(T* tree, int lane, const T* joints, unsigned with_before, const ends<T>& whole) {
  packed_joint(joints + lane, 32, (with_before >> lane & 1) != 0).unpack(tree + lane * slot_size);
  __syncwarp();
  return descend<joining>(lane_slots<T>{tree}, 32, lane, whole);
}

// First warps take tiles, whoever has time, rows streaming through shared memory, and leave joints of the
// pieces and the tile's relation; then all blocks find out about the ends of tiles; then warps take tiles
// again, the last ones first, which L2 still holds, and solve pieces from their ends. Rows are read twice,
// 9 numbers a piece are written and read besides. All blocks run at once. Bound by memory.
__global__ void __launch_bounds__(threads, 1) solve_general(const __grid_constant__ general_task of) {
  __shared__ std::uint64_t arrived[2 * warps];
  const pass_state found = *of.state;
  if (found.halos_failed == 0 || (of.held && found.interchanges != 0 && found.coupled == 0)) return;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  // The copy engine's pattern of banks counts from multiples of 1024 bytes.
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
  if (first < of.tiles) ring.bring(first);
  // Nobody asks earlier than the answer takes: a tile that is spoken for waits while others are done.
  unsigned asked = ask_for_next(0);
  for (std::int64_t tile = first, next; tile < of.tiles; tile = next) {
    next = next_of(asked);
    bool dominant = found.interchanges == 0;  // not what the tile before was: who takes which is chance
    const relation<T> own = reduce_tile(ring, tile, next, of.tiles, dominant);
    asked = ask_for_next(0);
    tree_node& node = of.nodes[0][tile];
    join_tile(own, tree, lane, of.joints(tile), node);
    if (lane == 0) node.dominant = dominant;
  }
  const auto from_last = [&](std::int64_t place) { return of.tiles - 1 - place; };
  if (first < of.tiles) ring.bring(from_last(first));
  unsigned meetings = 0;
  const auto meet = [&] {
    __syncthreads();
    ++meetings;
    if (thread == 0) grid_barrier(&of.state->meetings, gridDim.x, meetings);
    __syncthreads();
  };
  meet();
  solve_tree(of, trees, thread, meet);
  asm volatile("fence.proxy.async;" ::: "memory");  // unknowns are written after joints
  bool numbers = true;
  for (std::int64_t place = first, next; place < of.tiles; place = next) {
    const std::int64_t tile = from_last(place);
    const T* const joints = of.joints(tile);
    const ends<T> whole = of.nodes[0][tile].at;
    const bool quick = of.nodes[0][tile].dominant;
    const ends<T> known = part_tile(tree, lane, joints, of.nodes[0][tile].with_before, whole);
    for (int half = 0; half < 2; ++half) ring.await_rows(tile, half);
    asked = ask_for_next(1);
    numbers = (quick ? ring.piece.solve_dominant(known) : ring.piece.solve(known)) && numbers;
    ring.store(tile);
    next = next_of(asked);
    if (next < of.tiles) ring.bring(from_last(next));
  }
  if (lane == 0) bulk_wait_group_read();  // before the shared memory goes to another block
  if (!numbers && of.broken != nullptr) *of.broken = 1;
}

// Nodes of every level. Returns how many levels there are.
int count_nodes(std::int64_t n, std::int64_t (&counts)[most_levels]) {
  int levels = 0;
  for (std::int64_t count = ceil_div<std::int64_t>(n, boxed_tile_rows); levels < most_levels;
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

bool solve_general_system(const device& dev, const band_task<double>& task, bool held, pass_state* state,
                          double* memory) {
  const batch_shape &a = task.A.shape, &b = task.b.shape, &x = task.x.shape;
  if (b.systems != 1 || task.A.periodic || b.n < 2 * boxed_tile_rows) return false;
  for (const batch_shape* s : {&a, &b, &x})
    if (s->offsets != nullptr || s->row_stride != 1) return false;
  general_task of{};
  of.n = b.n;
  const T* const arrays[4] = {task.A.dl, task.A.d, task.A.du, task.b.data};
  batch_shape pieces;
  pieces.n = of.n / boxed_rows;
  pieces.systems = pieces.row_stride = boxed_rows;
  pieces.system_stride = 1;
  if (!lies_side_by_side(task.x.data, pieces)) return false;
  for (const T* from : arrays)
    if (!lies_side_by_side(from, pieces)) return false;
  constexpr row_box box{box_rows, 32};
  for (int k = 0; k < 4; ++k) {
    of.arrays[k] = arrays[k];
    if (!describe_rows(of.boxes[k], arrays[k], pieces, box, CU_TENSOR_MAP_SWIZZLE_128B)) return false;
  }
  of.x = task.x.data;
  if (!describe_rows(of.x_boxes, static_cast<const T*>(of.x), pieces, box, CU_TENSOR_MAP_SWIZZLE_128B))
    return false;
  of.levels = count_nodes(of.n, of.counts);
  of.tiles = of.counts[0];
  of.spare = memory;
  memory += tree_numbers;
  for (int k = 0; k < of.levels; ++k) {
    of.nodes[k] = reinterpret_cast<tree_node*>(memory);
    memory += of.counts[k] * node_numbers;
  }
  of.held = held;
  of.state = state;
  of.broken = task.broken;
  launch_shape shape{std::min<std::int64_t>(of.tiles, dev.processors()), threads, shared_bytes};
  shape.cooperative = true;
  launch(dev, "solve_general", shape, solve_general, of);
  return true;
}

}  // namespace vouch::detail
