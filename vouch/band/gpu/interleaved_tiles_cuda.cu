#include <cuda.h>

#include <algorithm>
#include <cstdint>

#include <vouch/band/gpu/contiguous_tile.cuh>
#include <vouch/band/gpu/partition_boundaries.cuh>
#include <vouch/band/gpu/partition_engines.cuh>
#include <vouch/band/gpu/tensor_map.cuh>
#include <vouch/core/gpu/cluster.cuh>
#include <vouch/core/gpu/dependent_launch.cuh>
#include <vouch/core/gpu/tma.cuh>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

// Tiles of tridiagonal systems that lie side by side, a block's registers full.
//
// A tile is whole systems, cut into segments, a segment a thread (register_segment.cuh). A warp has a part
// of each of two systems, lanes in turns, so that neighbours find their rows on different banks; a system
// is a part, or two, or two in either block of a cluster. TMA loads and fetches boxes of rows, so that
// memory moves lines of a tile's width. It has a thread wait that asks it for a box until it has begun with
// it: warps ask for one each, the arrays at different times. Warps share nothing but these and their
// systems.

constexpr int interleaved_warps = 8;  // of a block, which has a multiprocessor to itself
constexpr int interleaved_threads = 32 * interleaved_warps;
constexpr int interleaved_rows = register_rows;  // odd, so that segments do not lie on the same banks
constexpr int part_segments = 16, part_systems = 2;
constexpr int box_segments = 8;  // in a box for TMA, which has at most 256 rows
constexpr int box_rows = box_segments * interleaved_rows;
template <class T>
constexpr int interleaved_stage = interleaved_threads* interleaved_rows* static_cast<int>(sizeof(T));  // bytes

/// A batch of systems side by side, in tiles.
template <real T>
struct interleaved_batch {
  CUtensorMap from[4], to;  // dl, d, du, b; x
  int* broken;              // see band_task
  std::int64_t systems, tiles;
  int n;
  int segments, width;  // places for segments of a system in a block, a power of two; systems of a tile
  int share;            // segments of a system in the first block that has it
  int line;             // bytes of a tile's row
  std::int64_t first;   // of the tiles of a launch; `tiles` is their end
  // Blocks one after another that have tiles beside each other, whose rows share lines of 128 bytes; the other
  // halves of their systems follow. In a cluster of four that was measured to read faster than any other order.
  int neighbours;

  template <int Blocks>
  __device__ std::int64_t first_tile() const {
    const int block = static_cast<int>(blockIdx.x);
    return first + block / (neighbours * Blocks) * neighbours + block % neighbours;
  }
  /// The block of the cluster that has the other half of this one's systems.
  __device__ unsigned other_half() const { return blockIdx.x % (2 * neighbours) ^ neighbours; }
  __device__ int systems_of(std::int64_t tile) const {
    const std::int64_t left = systems - tile * width;
    return left < width ? static_cast<int>(left) : width;
  }
};

/// The rows of every tile that a block and a thread hold.
struct interleaved_place {
  int rank, first_row, rows;  // of the block: which share of a system it has, and its rows
  int segments, leaves;       // of a system there: places and segments
  int parts, part;            // of a system there, and the thread's
  int system, segment, left;  // of the thread; left: rows from its first to the block's last
  bool last_block;

  template <int Blocks, real T>
  __device__ static interleaved_place of(const interleaved_batch<T>& all, int thread) {
    interleaved_place at;
    at.rank = static_cast<int>(blockIdx.x) / all.neighbours % Blocks;
    at.first_row = at.rank * all.share * interleaved_rows;
    at.rows = min(all.n - at.first_row, all.share * interleaved_rows);
    at.segments = all.segments;
    at.leaves = (at.rows + interleaved_rows - 1) / interleaved_rows;
    const int warp = thread / 32, lane = thread % 32;
    at.parts = all.segments / part_segments;
    at.part = warp & (at.parts - 1);
    at.system = warp / at.parts * part_systems + lane % part_systems;
    at.segment = at.part * part_segments + lane / part_systems;
    at.left = at.rows - at.segment * interleaved_rows;
    at.last_block = at.rank == Blocks - 1;
    return at;
  }
  __device__ int leaves_of_part() const { return min(max(leaves - part * part_segments, 0), part_segments); }
  /// Whether both parts have rows.
  __device__ bool joined() const { return leaves > part_segments; }
  __device__ bool begins() const { return rank == 0 && segment == 0; }
  __device__ bool ends() const { return last_block && left > 0 && left <= interleaved_rows; }
};

/// Where a thread's rows lie in a stage, in bytes. TMA exchanges parts of 16 bytes within eight
/// rows, by bits of their addresses, so that neighbouring rows lie on different banks.
template <class T>
class interleaved_rows_at {
 public:
  template <real Real>
  __device__ interleaved_rows_at(const interleaved_batch<Real>& of, const interleaved_place& place)
      : line_(of.line) {
    first_ = place.segment * interleaved_rows * of.line + place.system * static_cast<int>(sizeof(T));
#pragma unroll
    for (int k = 0; k < 8; ++k) at_[k] = swizzled(first_ + k * of.line);
  }
  /// Row k, a constant.
  __device__ T& operator()(unsigned char* stage, int k) const {
    return *reinterpret_cast<T*>(stage + at_[k % 8] + k / 8 * 8 * line_);
  }
  /// Any row.
  __device__ T& row(unsigned char* stage, int k) const {
    return *reinterpret_cast<T*>(stage + swizzled(first_ + k * line_));
  }

 private:
  __device__ int swizzled(int at) const { return at ^ ((at >> 7 & (line_ / 16 - 1)) << 4); }

  int line_, first_, at_[8];
};

/// The shared memory of a block: a stage for each array and one for the unknowns, separators of each warp's
/// trees, and in turns what warps exchange.
template <real T>
struct interleaved_memory {
  static constexpr int part_size = 10 * part_systems;     // numbers: reduced blocks of a warp's parts
  static constexpr int boundary_size = 4 * part_systems;  // a row a system, and a place to fill 16 bytes

  unsigned char *stages, *unknowns;
  T *separators, *parts, *boundaries;
  struct signals {
    std::uint64_t arrived[4], taken[4], put, fetched, published[interleaved_warps][2];
  } * signal;

  __device__ interleaved_memory() {
    __shared__ signals all;
    signal = &all;
    stages = dynamic_shared() + (0u - shared_address(dynamic_shared())) % 1024;
    unknowns = stages + 4 * interleaved_stage<T>;
    separators = reinterpret_cast<T*>(unknowns + interleaved_stage<T>);
    parts = separators + interleaved_threads * slot_size;
    boundaries = parts + interleaved_warps * 2 * part_size;
  }
  static constexpr std::size_t bytes =
      1024 + 5 * interleaved_stage<T> +
      sizeof(T) * (interleaved_threads * slot_size + interleaved_warps * 2 * (part_size + boundary_size));
};

/// Numbers of a slot, Step apart.
template <class T, int Step>
struct interleaved_slot {
  T* first;
  __device__ T& operator[](int k) const { return first[k * Step]; }
};

/// Whether a fact holds for all threads of two warps that share a barrier.
__device__ bool all_of_pair(int barrier, bool fact) {
  int all;
  asm volatile(
      "{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.cta.red.and.pred q, %2, 64, p; selp.s32 %0, 1, 0, q; }"
      : "=r"(all)
      : "r"(static_cast<int>(fact)), "r"(barrier)
      : "memory");
  return all != 0;
}

/// A half of every system in either block of a cluster: eliminates the outer end, so that one row is left
/// in the unknowns at the partition boundary, which the blocks exchange. All lanes of a warp find the same
/// boundary unknowns.
template <real T>
class half_system {
 public:
  /// whole: the reduced block of the lane's system in this block, beyond whose outer end nothing lies.
  __device__ half_system(const reduced_block<T>& whole, int rank) : rank_(rank) {
    const reduced_block<T> of = balanced(whole);
    const T outer[2] = {rank == 0 ? of.first[0] : of.last[0], rank == 0 ? of.first[1] : of.last[1]};
    const T before[2] = {rank == 0 ? of.last[0] : of.left[0], rank == 0 ? of.last[1] : of.left[1]};
    const T behind[2] = {rank == 0 ? of.right[0] : of.first[0], rank == 0 ? of.right[1] : of.first[1]};
    const bool second = fabs(outer[1]) > fabs(outer[0]);
    inverse_ = inverse_of(second ? outer[1] : outer[0]);
    const T multiple = (second ? outer[0] : outer[1]) * inverse_;
    pivot_ = {second ? before[1] : before[0], second ? behind[1] : behind[0], second ? of.rhs[1] : of.rhs[0]};
    own_ = {(second ? before[0] : before[1]) - multiple * pivot_.before,
            (second ? behind[0] : behind[1]) - multiple * pivot_.behind,
            (second ? of.rhs[0] : of.rhs[1]) - multiple * pivot_.rhs};
    const T power = power_against<T>(max(leading_bits(own_.before), leading_bits(own_.behind)));
    own_ = {own_.before * power, own_.behind * power, own_.rhs * power};
  }
  /// Neither block is two turns ahead: each needs the other's row to go on.
  __device__ boundary_unknowns<T> join(const interleaved_memory<T>& memory, unsigned other_half, int warp,
                                       int lane, unsigned turn) const {
    T* const published = memory.boundaries + (warp * 2 + turn % 2) * memory.boundary_size;
    std::uint64_t* const arrived = memory.signal->published[warp] + turn % 2;
    if (lane == 0) mbarrier_arrive_expect_tx(arrived, sizeof(T) * memory.boundary_size);
    if (lane < part_systems) {
      const unsigned to = cluster_address(published + 4 * lane, other_half),
                     barrier = cluster_address(arrived, other_half);
      const T coupling[2] = {own_.before, own_.behind}, rhs[2] = {own_.rhs, T{0}};
      cluster_store_async(to, coupling, barrier);
      cluster_store_async(to + static_cast<unsigned>(sizeof(coupling)), rhs, barrier);
    }
    __syncwarp();
    mbarrier_wait_cluster(arrived, turn / 2 % 2);
    const T* const from = published + 4 * (lane % part_systems);
    const boundary_row<T> other{from[0], from[1], from[2]};
    T before, behind;
    solve_partition_boundary(rank_ == 0 ? own_ : other, rank_ == 0 ? other : own_, before, behind);
    const T outer = (pivot_.rhs - pivot_.before * before - pivot_.behind * behind) * inverse_;
    return rank_ == 0 ? boundary_unknowns<T>{T{0}, outer, before, behind}
                      : boundary_unknowns<T>{before, behind, outer, T{0}};
  }

 private:
  int rank_;
  T inverse_;                    // of the outer end's pivot
  boundary_row<T> pivot_, own_;  // the row it is in, and the one that is left
};

// A block at work on its tiles; warps call this apart from each other.
template <real T, int Blocks>
class interleaved_tiles {
 public:
  __device__ explicit interleaved_tiles(const interleaved_batch<T>& of)
      : of_(of),
        place_(interleaved_place::of<Blocks>(of, static_cast<int>(threadIdx.x))),
        rows_at_(of, place_),
        lane_(static_cast<int>(threadIdx.x) % 32),
        warp_(static_cast<int>(threadIdx.x) / 32),
        tile_(of.template first_tile<Blocks>()) {
    start();
  }

  __device__ void run() {
    for (; tile_ < of_.tiles; tile_ += stride(), ++turn_) solve_tile();
    if (turn_ > 0) {
      store_box();
      bulk_wait_group_read();  // before the shared memory goes to another block
    }
  }

 private:
  __device__ static std::int64_t stride() { return gridDim.x / Blocks; }

  // No copy comes behind the last row of a system.
  __device__ void start() {
    auto& signal = *memory_.signal;
    for (int k = static_cast<int>(threadIdx.x); k < 4 * interleaved_stage<T> / 16; k += interleaved_threads)
      reinterpret_cast<int4*>(memory_.stages)[k] = int4{};
    if (threadIdx.x == 0) {
      const auto boxes = static_cast<unsigned>(ceil_div(place_.rows, box_rows));
      for (int k = 0; k < 4; ++k) {
        mbarrier_init(signal.arrived + k, boxes);
        mbarrier_init(signal.taken + k, interleaved_warps);
      }
      mbarrier_init(&signal.put, interleaved_warps);
      mbarrier_init(&signal.fetched, boxes);
      for (int k = 0; k < 2 * interleaved_warps; ++k) mbarrier_init(&signal.published[k / 2][k % 2], 1);
      mbarrier_init_fence();
    }
    fence_proxy_async();
    __syncthreads();
    if (Blocks > 1) {
      cluster_barrier();
      begin_behind_others();
    }
    for (int k = 0; k < 4; ++k)
      if (has_box_of(k)) load_box(k, tile_);
  }

  // All before this was done while earlier kernels were still at work. What this kernel may read then the one
  // beside it may read, too.
  __device__ void begin_behind_others() const {
    if (of_.first == 0) wait_for_earlier_kernels();
    let_next_kernel_begin();  // see solve_halves()
  }

  // Boxes of the arrays go by turns to one half of the warps and to the other.
  __device__ int box_row() const { return warp_ % (interleaved_warps / 2) * box_rows; }
  __device__ bool has_box_of(int array) const {
    return lane_ == 0 && warp_ / (interleaved_warps / 2) == array % 2 && box_row() < place_.rows;
  }
  __device__ void load_box(int array, std::int64_t tile) const {
    if (tile >= of_.tiles) return;
    std::uint64_t* const arrival = memory_.signal->arrived + array;
    tensor_load(memory_.stages + array * interleaved_stage<T> + box_row() * of_.line, of_.from + array,
                static_cast<int>(tile * of_.width), place_.first_row + box_row(), arrival);
    mbarrier_arrive_expect_tx(arrival, static_cast<unsigned>(box_rows * of_.line));
  }
  __device__ void load_next(int array) const {
    if (has_box_of(array)) {
      mbarrier_wait(memory_.signal->taken + array, turn_ % 2);
      load_box(array, tile_ + stride());
    }
    __syncwarp();
  }

  __device__ void take(int array, T (&rows)[interleaved_rows]) const {
    unsigned char* const stage = memory_.stages + array * interleaved_stage<T>;
    mbarrier_wait(memory_.signal->arrived + array, turn_ % 2);
    if (array == 2 && place_.ends()) {
      rows_at_.row(stage, place_.left - 1) = 0;
      fence_proxy_async();
    }
#pragma unroll
    for (int k = 0; k < interleaved_rows; ++k) rows[k] = rows_at_(stage, k);
    __syncwarp();
    if (lane_ == 0) mbarrier_arrive(memory_.signal->taken + array);
  }

  __device__ void take_segment(register_segment<T>& segment) const {
    take(0, segment.a);
    take(1, segment.d);
    if (turn_ > 0) store_box();
    take(2, segment.c);
    load_next(0);
    take(3, segment.f);
    if (place_.begins()) segment.a[0] = 0;
#pragma unroll
    for (int k = 0; k < interleaved_rows; ++k)
      if (k >= place_.left) segment.d[k] = 1;
  }

  __device__ void solve_tile() {
    register_segment<T> segment;
    take_segment(segment);
    const bool works = place_.left > 0 && place_.system < of_.systems_of(tile_), fit = segment.dominates(works);
    const bool dominant = all_of_systems(fit || !works);
    load_next(1);
    // While a warp asks for boxes, the other one of its scheduler computes.
    const auto load_between = [this](int row) {
      if (row == 3) load_next(2);
      if (row == 7) load_next(3);
    };
    bool numbers;
    if (dominant) {
      numbers = segment.fill_dominant(boundary_of_segment<true>(segment.reduce_dominant(load_between)));
    } else {
      unsigned far = 0;
      const reduced_block<T> own = segment.reduce_pivoted(far, load_between);
      numbers = segment.fill_pivoted(far, boundary_of_segment<false>(own));
    }
    if (works && !numbers && of_.broken != nullptr) of_.broken[tile_ * of_.width + place_.system] = 1;
    put(segment.d);
  }

  __device__ int pair_barrier() const { return 1 + warp_ / 2; }
  __device__ bool all_of_systems(bool fact) const {
    return place_.parts == 1 ? __all_sync(~0u, fact) != 0 : all_of_pair(pair_barrier(), fact);
  }

  template <bool Dominant>
  __device__ boundary_unknowns<T> boundary_of_segment(const reduced_block<T>& own) const {
    using joining = std::conditional_t<Dominant, dominant_joining<T>, pivoted_joining<T, false>>;
    const int leaf = place_.segment % part_segments, system = lane_ % part_systems;
    T* const separators = memory_.separators + warp_ * 32 * slot_size + system;
    const lane_tree<Dominant, 32, T, part_systems> tree(separators, place_.leaves_of_part(), part_segments);
    const interleaved_slot<T, 32> between{separators};  // no separator is in front of the first leaf
    const reduced_block<T> whole = reduced_in_block<Dominant>(tree.join(own, leaf), between);
    if (turn_ > 0 && has_box_of(1)) {
      bulk_wait_group_read();
      mbarrier_arrive(&memory_.signal->fetched);
    }
    boundary_unknowns<T> at;
    if constexpr (Blocks == 1)
      at = closed(whole);
    else
      at = half_system<T>(whole, place_.rank).join(memory_, of_.other_half(), warp_, lane_, turn_);
    __syncwarp();
    if (place_.joined()) {
      boundary_unknowns<T> before, after;
      joining::solve(between, at, before, after);
      at = place_.part == 0 ? before : after;
    }
    return tree.template descend<part_segments>(at, leaf);
  }

  // The reduced block of all rows of a lane's system in this block, from that of its part, which the first
  // lane has.
  template <bool Dominant>
  __device__ reduced_block<T> reduced_in_block(const reduced_block<T>& of_part,
                                               const interleaved_slot<T, 32>& between) const {
    using packing = pivoted_joining<T, false>;
    using joining = std::conditional_t<Dominant, dominant_joining<T>, packing>;
    constexpr int size = interleaved_memory<T>::part_size;
    T* const published =
        memory_.parts + ((warp_ - place_.part) * 2 + turn_ % 2 * place_.parts) * size + lane_ % part_systems;
    if (lane_ < part_systems)
      packing::put(interleaved_slot<T, part_systems>{published + place_.part * size}, of_part);
    if (place_.parts == 1)
      __syncwarp();
    else
      named_barrier(pair_barrier(), 64);
    const reduced_block<T> before = packing::get(interleaved_slot<T, part_systems>{published});
    if (!place_.joined()) return before;
    separator_pair<T> at;
    const reduced_block<T> whole =
        joined<Dominant>(before, packing::get(interleaved_slot<T, part_systems>{published + size}), at);
    if (lane_ < part_systems) joining::keep(between, at);
    return whole;
  }

  __device__ void put(const T (&x)[interleaved_rows]) const {
    if (turn_ > 0) mbarrier_wait(&memory_.signal->fetched, (turn_ - 1) % 2);
#pragma unroll
    for (int k = 0; k < interleaved_rows; ++k) rows_at_(memory_.unknowns, k) = x[k];
    fence_proxy_async();
    __syncwarp();
    if (lane_ == 0) mbarrier_arrive(&memory_.signal->put);
  }
  // Of the tile before.
  __device__ void store_box() const {
    if (has_box_of(1)) {
      mbarrier_wait(&memory_.signal->put, (turn_ - 1) % 2);
      tensor_store(&of_.to, static_cast<int>((tile_ - stride()) * of_.width), place_.first_row + box_row(),
                   memory_.unknowns + box_row() * of_.line);
      bulk_commit_group();
    }
    __syncwarp();
  }

  const interleaved_batch<T>& of_;
  interleaved_memory<T> memory_;
  interleaved_place place_;
  interleaved_rows_at<T> rows_at_;
  int lane_, warp_;
  std::int64_t tile_;
  unsigned turn_ = 0;
};

// Blocks, or two of a cluster together, take every so many-th tile: everything is read once and written once.
// Bound by memory, and with pivoting by latency.
template <real T, int Blocks>
__global__ void __launch_bounds__(interleaved_threads, 1)
    solve_interleaved_tiles(const __grid_constant__ interleaved_batch<T> of) {
  interleaved_tiles<T, Blocks>(of).run();
  if (Blocks == 1) return;
  cluster_barrier();  // no block ends while the other may still write to its shared memory
  wait_for_earlier_kernels();
}

// ---- launchers

// A map of rows, loaded in boxes whose parts TMA exchanges, see interleaved_rows_at.
template <real T>
bool describe(CUtensorMap& map, const T* data, const batch_shape& shape, const interleaved_batch<T>& of) {
  return encode_tensor_map(map, data, shape, {of.width, box_rows},
                           of.line == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                           : of.line == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                           : CU_TENSOR_MAP_SWIZZLE_32B);
}

// Cuts the systems into tiles; returns how many blocks share one, or 0 where there are too few of them or they
// are too long. Where there are few, tiles are narrow.
template <real T>
int cut(interleaved_batch<T>& of, std::int64_t processors) {
  const int leaves = static_cast<int>(std::min<std::int64_t>(ceil_div(of.n, interleaved_rows), 1 << 10));
  const auto tiles = [&] { return ceil_div<std::int64_t>(of.systems, interleaved_threads / of.segments); };
  of.segments = 2 * box_segments;
  while (of.segments < 32 && (of.segments < leaves || tiles() < processors)) of.segments *= 2;
  of.tiles = tiles();
  of.width = interleaved_threads / of.segments;
  const int blocks = leaves > of.segments || (of.tiles < processors && leaves > box_segments) ? 2 : 1;
  of.share = blocks == 1 ? of.segments : ceil_div(ceil_div(leaves, 2), box_segments) * box_segments;
  if (of.share > of.segments || of.tiles * blocks < processors) return 0;
  of.line = of.width * static_cast<int>(sizeof(T));
  return blocks;
}

// How many clusters of a kernel run at once.
template <class Kernel>
int resident_clusters(Kernel* kernel, const launch_shape& shape) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {shape.cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(shape.blocks);
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config), "solve_interleaved_tiles");
  return clusters;
}

template <real T>
bool solve_whole_systems(const device& dev, interleaved_batch<T> of) {
  of.neighbours = 1;
  const std::int64_t blocks = std::min<std::int64_t>(dev.processors(), of.tiles);
  launch(dev, "solve_interleaved_tiles", {blocks, interleaved_threads, interleaved_memory<T>::bytes},
         solve_interleaved_tiles<T, 1>, of);
  return true;
}

// Most multiprocessors in clusters of four; those that are left over, of parts of the GPU that have an odd
// number of pairs, in pairs, by a kernel beside the first, which has ended when that ends. The first one, too,
// begins beside what was there before, and waits for its end once it has made its shared memory ready.
template <real T>
bool solve_halves(const device& dev, interleaved_batch<T> of) {
  constexpr int neighbours = 2, cluster = 2 * neighbours;
  launch_shape shape{dev.processors() / cluster * cluster, interleaved_threads, interleaved_memory<T>::bytes,
                     cluster};
  shape.programmatic_dependent_launch = true;
  check(cudaSetDevice(dev.index()), "solve_interleaved_tiles");
  check(cudaFuncSetAttribute(solve_interleaved_tiles<T, 2>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shape.shared_bytes)),
        "solve_interleaved_tiles");
  shape.blocks = std::int64_t{resident_clusters(solve_interleaved_tiles<T, 2>, shape)} * cluster;
  if (shape.blocks == 0) return false;
  const std::int64_t left_over = (dev.processors() - shape.blocks) / 2, tiles = of.tiles,
                     beside = tiles * left_over / (left_over + shape.blocks / 2);
  of.neighbours = neighbours;
  of.tiles = tiles - beside;
  shape.blocks = std::min(shape.blocks, ceil_div<std::int64_t>(of.tiles, neighbours) * cluster);
  launch(dev, "solve_interleaved_tiles", shape, solve_interleaved_tiles<T, 2>, of);
  if (beside == 0) return true;
  of.neighbours = 1;
  of.first = of.tiles;
  of.tiles = tiles;
  shape.blocks = 2 * std::min(left_over, beside);
  shape.cluster = 2;
  launch(dev, "solve_interleaved_tiles", shape, solve_interleaved_tiles<T, 2>, of);
  return true;
}

}  // namespace

template <real T>
bool solve_in_interleaved_tiles(const device& dev, const tridiagonal_view<const T>& A,
                                const batch_view<const T>& b, const batch_view<T>& x, int* broken) {
  if (!runs_sm90_code(dev) || !are_interleaved(A, b, x) || b.shape.n > 64 * interleaved_rows) return false;
  interleaved_batch<T> of{};
  of.broken = broken;
  of.systems = b.shape.systems;
  of.n = static_cast<int>(b.shape.n);
  const int blocks = cut(of, dev.processors());
  if (blocks == 0 || !describe(of.from[0], A.dl, A.shape, of) || !describe(of.from[1], A.d, A.shape, of) ||
      !describe(of.from[2], A.du, A.shape, of) || !describe(of.from[3], b.data, b.shape, of) ||
      !describe<T>(of.to, x.data, x.shape, of))
    return false;
  return blocks == 1 ? solve_whole_systems(dev, of) : solve_halves(dev, of);
}

template bool solve_in_interleaved_tiles(const device&, const tridiagonal_view<const float>&,
                                         const batch_view<const float>&, const batch_view<float>&, int*);
template bool solve_in_interleaved_tiles(const device&, const tridiagonal_view<const double>&,
                                         const batch_view<const double>&, const batch_view<double>&, int*);

}  // namespace vouch::detail
