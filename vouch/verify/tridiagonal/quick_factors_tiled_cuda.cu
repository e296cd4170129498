#include <vouch/band/gpu/tensor_map.cuh>
#include <vouch/core/gpu/tma.cuh>
#include <vouch/verify/tridiagonal/quick_factors.cuh>

namespace vouch::detail {
namespace {

constexpr int most_stages = 8;

// Neighbouring systems, a power of two of them, in as many pieces of 17 rows each as a block has threads. A
// chunk is `deep` times as many rows as systems have pieces: so many for each thread.
struct tile_cut {
  CUtensorMap from[5], to;  // dl, d, du, b, x; radii
  std::int64_t tiles, all_systems;
  int n, systems, pieces, deep, chunks;
  int pitch;               // between systems in shared memory: threads that read or factor use different banks
  int stages, stage_size;  // of chunks on their way, in bytes

  static tile_cut of(const short_systems& task, int threads, int least_pieces, int deep) {
    tile_cut cut{};
    cut.all_systems = task.vectors.systems;
    cut.n = static_cast<int>(task.vectors.n);
    cut.pieces = least_pieces;
    while (cut.pieces * rows_of_lane < cut.n) cut.pieces *= 2;
    cut.systems = threads / cut.pieces;
    cut.tiles = ceil_div<std::int64_t>(cut.all_systems, cut.systems);
    cut.deep = deep;
    cut.chunks = ceil_div(cut.n, cut.rows_of_chunk());
    cut.pitch = cut.pieces * rows_of_lane + std::max(1, 16 / cut.systems);
    return cut;
  }
  static constexpr int alignment = 128;
  VOUCH_HOST_DEVICE int rows_of_chunk() const { return deep * pieces; }
  VOUCH_HOST_DEVICE int bytes_of(int rows) const { return rows * systems * static_cast<int>(sizeof(double)); }
  // x comes with a row before and one behind.
  VOUCH_HOST_DEVICE int bytes_of_chunk() const {
    return 4 * bytes_of(rows_of_chunk()) + bytes_of(rows_of_chunk() + 2);
  }

  // Whether the copy engine can bring the rows.
  bool describe(const short_systems& task, int room) {
    stage_size = ceil_div(bytes_of_chunk(), alignment) * alignment;
    stages = std::min({most_stages, chunks, room / stage_size});
    const tensor_box plain{systems, rows_of_chunk()}, with_neighbours{systems, rows_of_chunk() + 2};
    const auto described = [](CUtensorMap& map, const double* data, const batch_shape& shape, tensor_box of) {
      return is_interleaved(data, shape) && encode_tensor_map(map, data, shape, of, CU_TENSOR_MAP_SWIZZLE_NONE);
    };
    return stages > 0 && described(from[0], task.A.dl, task.A.shape, plain) &&
           described(from[1], task.A.d, task.A.shape, plain) &&
           described(from[2], task.A.du, task.A.shape, plain) &&
           described(from[3], task.b, task.vectors, plain) &&
           described(from[4], task.x, task.vectors, with_neighbours) &&
           described(to, task.radius, task.vectors, plain);
  }
};

// Warps share a system.
template <int Threads, int Warps>
struct tile_memory {
  static constexpr int teams = Threads / (32 * Warps), places = Threads * (rows_of_lane + 1);
  static constexpr int room = (Threads == 128 ? 21 : 44) << 10;
  static constexpr int deep = Warps < 4 ? 2 : 1;  // the copy engine brings 256 rows at most
  alignas(tile_cut::alignment) unsigned char chunks[room];
  double l[places], d[places], u[places], other[places], x[places];
  typename system_lanes<Warps, teams>::memory lanes[teams];
  std::uint64_t arrived[most_stages];  // see mbarrier.cuh
  unsigned taken[most_stages];         // by warps
  int most[Threads];                   // of each system, see quick_ratios
  std::int64_t next;                   // tile
};

// Whether this is the last one of a block's warps to come, who then sees what the others have done.
template <int Warps>
__device__ bool last_warp_to_come(unsigned* count) {
  unsigned before;
  asm volatile("atom.acq_rel.cta.shared::cta.add.u32 %0, [%1], 1;"
               : "=r"(before)
               : "r"(shared_address(count))
               : "memory");
  return before % Warps == Warps - 1;
}

// A block at work on its tiles. A thread brings every so many-th row of a system, and puts its radius in the
// end; neighbours have neighbouring systems, then neighbouring rows. Between it factors a piece. Boxes: the
// copy engine brings chunks, the last warp to take one has another brought in its stage.
template <int Threads, int Warps, bool Boxes>
class factored_tiles {
 public:
  using memory = tile_memory<Threads, Warps>;

  __device__ factored_tiles(const short_systems& task, const worklists& lists, const tile_cut& cut, memory& in)
      : task_(task),
        lists_(lists),
        cut_(cut),
        in_(in),
        system_(thread() % cut.systems),
        first_row_(thread() / cut.systems),
        candidate_(blockIdx.x),
        mark_(mark_in(candidate_)) {}

  __device__ void run() {
    if (thread() == 0) {
      upcoming_ = take_tile();
      for (int k = 0; k < most_stages; ++k) {
        mbarrier_init(in_.arrived + k, 1);
        in_.taken[k] = 0;
      }
      mbarrier_init_fence();
    }
    find_next();
    tile_ = next_;
    if (Boxes && thread() == 0)
      for (int k = 0; k < cut_.stages; ++k) bring(k, k);
    while (next_ < cut_.tiles) {
      tile_ = next_;
      asked_ = asked_next_;
      find_next();
      prove();
    }
    if (Boxes) bulk_wait_group_read();  // before the shared memory goes to another block
    join_block<Threads / 32>(of_ratios_, &lists_.all->ratios);
    join_block<Threads / 32>(of_radii_, &lists_.all->radii);
    if (thread() == 0) report_to_host(lists_);
  }

 private:
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }

  // ---- tiles

  __device__ std::int64_t system_in(std::int64_t tile) const { return tile * cut_.systems + system_; }
  __device__ double mark_in(std::int64_t tile) const {
    const std::int64_t s = system_in(tile);
    return s < cut_.all_systems ? task_.ratio[s] : 0;
  }
  __device__ std::int64_t take_tile() const {
    return static_cast<std::int64_t>(gridDim.x) +
           static_cast<std::int64_t>(atomicAdd(&lists_.all->taken, 1ull));
  }
  // The next tile with a system that is asked for. Thread 0 is one ahead: nobody waits for its numbers.
  __device__ void find_next() {
    for (bool any = false; !any;) {
      next_ = candidate_;
      if (next_ >= cut_.tiles) return;
      __syncthreads();
      if (thread() == 0) {
        in_.next = upcoming_;
        upcoming_ = take_tile();
      }
      asked_next_ = mark_ == is_remaining;
      any = __syncthreads_or(asked_next_) != 0;
      candidate_ = in_.next;
      mark_ = mark_in(candidate_);
    }
  }

  __device__ void prove() {
    const std::int64_t s = system_in(tile_);
    if (Boxes && thread() == 0) bulk_wait_group_read();
    if (first_row_ == 0) in_.most[system_] = asked_ ? 0 : quick_ratios::none;
    const bool whole = __syncthreads_and(asked_ || s >= cut_.all_systems) != 0;
    const located_system of(task_, asked_ ? s : 0);
    quick_ratios ratios;
    if constexpr (Boxes)
      take_chunks(of, ratios);
    else
      take_rows(of, ratios);
    const int own = ratios.largest([&](int k) { return again(of, row(k)); }, rows_of_lane);
    if (asked_) atomicMax(in_.most + system_, own);
    __syncthreads();
    const int largest_v = factor();
    __syncthreads();
    if (in_.most[factored_system()] < high_of_infinity)
      of_ratios_.about[1] = ::max(of_ratios_.about[1], static_cast<unsigned>(largest_v));
    if (asked_) put(s, of, ratios, Boxes && whole);
    if (Boxes) fence_proxy_async();
    __syncthreads();  // the memory goes to the next tile
    if (Boxes && whole && thread() == 0) store();
  }

  // ---- rows

  static constexpr int size_of_part = memory::deep * Threads * static_cast<int>(sizeof(double));  // of a chunk
  __device__ int row(int k) const { return first_row_ + k * cut_.pieces; }
  __device__ int place(int i) const { return system_ * cut_.pitch + i; }

  // Begins to bring a chunk of this tile or, behind its last one, of the next.
  __device__ void bring(int k, int stage) const {
    const std::int64_t tile = k < cut_.chunks ? tile_ : next_;
    if (tile >= cut_.tiles) return;
    const int first = (k < cut_.chunks ? k : k - cut_.chunks) * cut_.rows_of_chunk();
    const int column = static_cast<int>(tile * cut_.systems);
    std::uint64_t* const arrival = in_.arrived + stage;
    unsigned char* const to = in_.chunks + stage * cut_.stage_size;
    mbarrier_arrive_expect_tx(arrival, static_cast<unsigned>(cut_.bytes_of_chunk()));
    for (int array = 0; array < 5; ++array)
      tensor_load(to + array * size_of_part, cut_.from + array, column, array < 4 ? first : first - 1, arrival);
  }
  __device__ void take_chunks(const located_system& of, quick_ratios& ratios) {
    const double weight = weight_of_first_row(of);
#pragma unroll 1
    for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
      row_data<double> data[memory::deep];
      mbarrier_wait(in_.arrived + stage_, parity_);
      const unsigned char* const from = in_.chunks + stage_ * cut_.stage_size;
#pragma unroll
      for (int k = 0; k < memory::deep; ++k) data[k] = read(from, k, row(chunk * memory::deep + k));
      __syncwarp();
      if (threadIdx.x % 32 == 0 && last_warp_to_come<Threads / 32>(in_.taken + stage_))
        bring(chunk + cut_.stages, stage_);
      if (++stage_ == cut_.stages) stage_ = 0, parity_ ^= 1;
#pragma unroll
      for (int k = 0; k < memory::deep; ++k) {
        const int i = row(chunk * memory::deep + k), to = place(i);
        if (i >= cut_.n) break;
        put_row(to, data[k].a[0], data[k].a[1], data[k].a[2]);
        in_.x[to] = data[k].x[1];
        ratios.add(data[k], chunk * memory::deep + k);
      }
    }
    for (int k = rows_of_lane - 1; k >= 0 && row(k) >= cut_.n; --k) put_row(place(row(k)), 0, weight, 0);
  }
  __device__ row_data<double> read(const unsigned char* chunk, int k, int i) const {
    const auto part = [&](int of, int behind) {
      const auto* const numbers = reinterpret_cast<const double*>(chunk + of * size_of_part);
      return numbers[k * Threads + thread() + behind * cut_.systems];
    };
    return {{i > 0 ? part(0, 0) : 0, part(1, 0), i + 1 < cut_.n ? part(2, 0) : 0},
            {part(4, 0), part(4, 1), part(4, 2)},
            {},
            part(3, 0),
            {},
            1};
  }

  // Without the copy engine. b stands where other numbers will.
  __device__ void take_rows(const located_system& of, quick_ratios& ratios) {
    const double weight = weight_of_first_row(of);
#pragma unroll rows_together
    for (int k = 0; k < rows_of_lane; ++k) {
      const int i = row(k), to = place(i);
      const std::int64_t in_A = of.in_A + i * task_.A.shape.row_stride, in_vectors = of.at(i);
      if (i >= of.n) {
        put_row(to, 0, weight, 0);
        continue;
      }
      copy_to_shared_or_clear(in_.l + to, task_.A.dl + in_A, i > 0);
      copy_to_shared(in_.d + to, task_.A.d + in_A);
      copy_to_shared_or_clear(in_.u + to, task_.A.du + in_A, i + 1 < of.n);
      copy_to_shared(in_.other + to, task_.b + in_vectors);
      copy_to_shared(in_.x + to, task_.x + in_vectors);
    }
    wait_copies_to_shared();
    __syncthreads();
#pragma unroll rows_together
    for (int k = 0; k < rows_of_lane; ++k)
      if (row(k) < of.n) {
        const int at = place(row(k));
        ratios.add(neighbourhood(at, row(k), in_.other[at]), k);
      }
  }

  // Behind the last row they have no neighbours and the weight of the first.
  __device__ double weight_of_first_row(const located_system& of) const {
    const double d = __ldg(task_.A.d + of.in_A), u = of.n > 1 ? __ldg(task_.A.du + of.in_A) : 0;
    const double weight = fabs(d) + fabs(u);
    return weight > 0 ? weight : 1;
  }
  __device__ void put_row(int to, double l, double d, double u) const {
    in_.l[to] = l, in_.d[to] = d, in_.u[to] = u;
  }
  // x from memory: chunks of it may not be there yet.
  __device__ row_data<double> again(const located_system& of, int i) const {
    const auto x = [&](int at) { return at >= 0 && at < of.n ? __ldg(task_.x + of.at(at)) : 0; };
    const int at = place(i);
    return {
        {in_.l[at], in_.d[at], in_.u[at]}, {x(i - 1), x(i), x(i + 1)}, {}, __ldg(task_.b + of.at(i)), {}, 1};
  }
  __device__ row_data<double> neighbourhood(int at, int i, double b) const {
    const double before = i > 0 ? in_.x[at - 1] : 0, behind = i + 1 < cut_.n ? in_.x[at + 1] : 0;
    return {{in_.l[at], in_.d[at], in_.u[at]}, {before, in_.x[at], behind}, {}, b, {}, 1};
  }

  // ---- factors

  __device__ int factored_system() const { return thread() / cut_.pieces; }

  // Returns the high word of the largest v, 0 where the piece has no rows. All warps of a system do the same.
  __device__ int factor() const {
    const system_lanes<Warps, memory::teams> lanes(in_.lanes[thread() / (32 * Warps)], cut_.pieces);
    const int system = factored_system(), first = lanes.piece() * rows_of_lane;
    const int at = system * cut_.pitch + first;
    if (__all_sync(~0u, in_.most[system] == quick_ratios::none) != 0) return 0;
    factored_piece piece(rows_in_memory{in_.l + at, in_.d + at, in_.u + at, in_.other + at}, lanes);
    if (!piece.find()) atomicMax(in_.most + system, quick_ratios::none);
    return first < cut_.n ? piece.largest_v() : 0;
  }

  // ---- radii

  // What is proved. v stands where l did; radii for the copy engine go where u was, in the order of memory.
  __device__ void put(std::int64_t s, const located_system& of, const quick_ratios& ratios, bool together) {
    const double ratio = quick_ratios::bound(in_.most[system_]);
    if (first_row_ == 0) {
      task_.ratio[s] = ratio;
      if (!(ratio < HUGE_VAL)) lists_.marginal[atomicAdd(&lists_.all->hard, 1ull)] = s;
    }
    if (!(ratio < HUGE_VAL) || first_row_ >= cut_.n) return;
    ratios.put(ratio, of_ratios_);
    quick_radii radii(ratio);
    const int rows = (cut_.n - first_row_ + cut_.pieces - 1) / cut_.pieces;
#pragma unroll rows_together
    for (int k = 0; k < rows; ++k) {
      const int i = row(k);
      const double radius = radii.add(in_.l[place(i)], in_.x[place(i)]);
      *(together ? in_.u + k * Threads + thread() : task_.radius + of.at(i)) = radius;
    }
    radii.put(of_radii_);
  }
  __device__ void store() const {
    for (int k = 0; k < cut_.chunks; ++k)
      tensor_store(&cut_.to, static_cast<int>(tile_ * cut_.systems), k * cut_.rows_of_chunk(),
                   in_.u + k * memory::deep * Threads);
    bulk_commit_group();
  }

  const short_systems& task_;
  const worklists& lists_;
  const tile_cut& cut_;
  memory& in_;
  int system_, first_row_;  // that the thread brings
  std::int64_t tile_ = 0, next_ = 0, candidate_, upcoming_ = 0;
  double mark_;  // of the candidate
  bool asked_ = false, asked_next_ = false;
  int stage_ = 0;
  unsigned parity_ = 0;
  ratio_tally of_ratios_;
  radius_tally of_radii_;
};

// In shared memory systems lie one after another. Bound by the latency of operations that follow one another.
template <int Threads, int Warps, bool Boxes>
__global__ void __launch_bounds__(Threads, 256 / Threads)
    prove_with_quick_factors_tiled(__grid_constant__ const short_systems task,
                                   __grid_constant__ const worklists lists,
                                   __grid_constant__ const tile_cut cut) {
  extern __shared__ __align__(16) unsigned char bytes[];
  unsigned char* const aligned = bytes + (0u - shared_address(bytes)) % tile_cut::alignment;
  auto& memory = *reinterpret_cast<tile_memory<Threads, Warps>*>(aligned);
  factored_tiles<Threads, Warps, Boxes>(task, lists, cut, memory).run();
}

template <int Threads, int Warps>
void launch_in_tiles(const device& dev, const short_systems& task, const worklists& lists) {
  using memory = tile_memory<Threads, Warps>;
  tile_cut cut = tile_cut::of(task, Threads, Warps > 1 ? 32 * Warps : 1, memory::deep);
  const launch_shape shape =
      resident_shape(dev, cut.tiles, 256 / Threads, Threads, sizeof(memory) + tile_cut::alignment);
  if (runs_sm90_code(dev) && cut.describe(task, memory::room))
    launch(dev, "prove_with_quick_factors_tiled", shape, prove_with_quick_factors_tiled<Threads, Warps, true>,
           task, lists, cut);
  else
    launch(dev, "prove_with_quick_factors_tiled", shape, prove_with_quick_factors_tiled<Threads, Warps, false>,
           task, lists, cut);
}

}  // namespace

void prove_by_quick_factors_tiled(const device& dev, const short_systems& task, const worklists& lists) {
  static_assert(short_systems::most_rows <= 128 * rows_of_lane);
  if (task.vectors.n <= 32 * rows_of_lane) return launch_in_tiles<128, 1>(dev, task, lists);
  if (task.vectors.n <= 64 * rows_of_lane) return launch_in_tiles<256, 2>(dev, task, lists);
  launch_in_tiles<256, 4>(dev, task, lists);
}

}  // namespace vouch::detail
