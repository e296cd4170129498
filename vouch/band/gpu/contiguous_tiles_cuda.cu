#include <algorithm>

#include <vouch/band/gpu/contiguous_tile.cuh>
#include <vouch/band/gpu/partition_engines.cuh>
#include <vouch/core/gpu/tma.cuh>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

// The shared memory of a block: a stage for each array, and one for the unknowns, which holds the
// separators of the tree while they are being found.
template <real T, int Warps>
struct contiguous_memory {
  static constexpr int threads = 32 * Warps, stage = threads * contiguous_rows + long_line<T>;
  static constexpr std::size_t bytes = 5 * stage * sizeof(T) + 128;

  T* const rows = reinterpret_cast<T*>(dynamic_shared() + (0u - shared_address(dynamic_shared())) % 128);
  T* const unknowns = rows + 4 * stage;
  std::uint64_t* arrived;

  __device__ contiguous_memory() {
    __shared__ std::uint64_t barrier;
    arrived = &barrier;
  }
};

// True for one thread of a warp: where a branch hangs on it, the compiler knows that nothing differs there.
__device__ inline bool elected() {
  if constexpr (compiled_for_sm90) {
    unsigned chosen;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen));
    return chosen != 0;
  } else {
    return threadIdx.x % 32 == 0;
  }
}

template <real T>
__device__ void take_arrays(register_segment<T, contiguous_rows>& segment, const T* rows, int stage) {
  take_rows(segment.a, rows);
  take_rows(segment.d, rows + stage);
  take_rows(segment.c, rows + 2 * stage);
  take_rows(segment.f, rows + 3 * stage);
}

// The rows of systems that begin in lines of 16 bytes and fill them: the first warp has TMA move
// each system, to a place of its own.
template <real T, int Warps>
class whole_lines {
 public:
  __device__ whole_lines(const contiguous_batch<T>& of, const contiguous_memory<T, Warps>& memory,
                         const contiguous_place& place, int thread)
      : of_(of), memory_(memory), place_(place), thread_(thread) {
    // Rows of the identity behind a system's last row, where no copy comes.
    constexpr int stage = contiguous_memory<T, Warps>::stage;
    for (int k = max(place.left, 0); k < contiguous_rows; ++k) {
      T* const row = memory.rows + thread * contiguous_rows + k;
      row[0] = row[2 * stage] = row[3 * stage] = 0;
      row[stage] = 1;
    }
  }
  __device__ void look_at(std::int64_t) const {}
  __device__ void load(std::int64_t tile) const {
    if (thread_ >= 32 || tile >= of_.tiles || !elected()) return;
    const int count = of_.systems_of(tile);
    const unsigned bytes = static_cast<unsigned>(of_.n) * sizeof(T);
#pragma unroll 1
    for (int s = 0; s < count; ++s)
#pragma unroll
      for (int array = 0; array < 4; ++array)
        bulk_load(memory_.rows + array * memory_.stage + s * of_.segments * contiguous_rows,
                  of_.from[array] + (tile * of_.width + s) * of_.pitch[array], bytes, memory_.arrived);
    mbarrier_arrive_expect_tx(memory_.arrived, static_cast<unsigned>(4 * count) * bytes);
  }
  // Takes a thread's rows once they have come. Returns whether it has any.
  __device__ bool take(register_segment<T, contiguous_rows>& segment, std::int64_t tile) const {
    T* const rows = memory_.rows + thread_ * contiguous_rows;
    if (place_.ends()) rows[2 * memory_.stage + place_.left - 1] = 0;
    take_arrays(segment, rows, memory_.stage);
    if (place_.begins()) segment.a[0] = 0;
    return place_.left > 0 && place_.system < of_.systems_of(tile);
  }
  __device__ void put(const T (&x)[contiguous_rows]) const {
    put_rows(memory_.unknowns + thread_ * contiguous_rows, x);
  }
  // Writes the unknowns of a tile.
  __device__ void store(std::int64_t tile) const {
    if (thread_ >= 32 || !elected()) return;
    const int count = of_.systems_of(tile);
#pragma unroll 1
    for (int s = 0; s < count; ++s)
      bulk_store(of_.x + (tile * of_.width + s) * of_.pitch_x,
                 memory_.unknowns + s * of_.segments * contiguous_rows,
                 static_cast<unsigned>(of_.n) * sizeof(T));
    bulk_commit_group();
  }

 private:
  const contiguous_batch<T>& of_;
  const contiguous_memory<T, Warps>& memory_;
  const contiguous_place& place_;
  int thread_;
};

// The rows of systems without gaps between them, anywhere in lines: those of a tile are one run, which the copy
// engine moves with all of the lines of 16 bytes that it touches, as far from a line of 128 bytes as in memory.
// A thread's first row is in the begin of 16 bytes; what does not belong to its system becomes rows of the
// identity.
template <real T, int Warps>
class any_lines {
 public:
  __device__ any_lines(const contiguous_batch<T>& of, const contiguous_memory<T, Warps>& memory,
                       const contiguous_place& place, int thread)
      : of_(of), memory_(memory), place_(place), thread_(thread) {}
  // Finds out about the tile that load() is to load, and take() then to take.
  __device__ void look_at(std::int64_t tile) {
    if (of_.offsets != nullptr) return look_at_unequal(tile);
    next_.origin = tile * of_.tile_rows;
    const std::int64_t left = of_.rows - next_.origin;
    next_.rows = left < of_.tile_rows ? max(static_cast<int>(left), 0) : of_.tile_rows;
    next_.lead = lead_at(next_.origin);
    const int before = place_.system * of_.n;
    next_own_ = {next_.lead + before, next_.lead + (before < next_.rows ? before + of_.n : before)};
  }
  __device__ void load(std::int64_t) const {
    if (thread_ >= 32) return;
    const std::int64_t begin = next_.origin - next_.lead;
    span lines{next_.lead / line * line, (next_.lead + next_.rows + line - 1) / line * line};
    if (begin + lines.begin < 0 || begin + lines.end > of_.rows) {  // never reads outside of an array
      lines = inside(next_);
      load_rest(lines);
    }
    if (!elected()) return;
    const unsigned bytes = static_cast<unsigned>(lines.end - lines.begin) * sizeof(T);
#pragma unroll
    for (int array = 0; array < 4 && bytes > 0; ++array)
      bulk_load(memory_.rows + array * memory_.stage + lines.begin, of_.from[array] + (begin + lines.begin),
                bytes, memory_.arrived);
    mbarrier_arrive_expect_tx(memory_.arrived, 4 * bytes);
  }
  __device__ bool take(register_segment<T, contiguous_rows>& segment, std::int64_t tile) {
    run_ = next_;
    const int lead = next_own_.begin & (line - 1), end = next_own_.end;
    const bool exists = next_own_.begin < end;
    at_ = next_own_.begin - lead + place_.segment * contiguous_rows;
    own_ = {place_.begins() ? lead : 0, end - at_};
    look_at(tile + gridDim.x);
    const bool alone = of_.width == 1;
    if (alone) clear_behind(end);
    take_arrays(segment, memory_.rows + at_, memory_.stage);
    if (place_.begins()) {
#pragma unroll
      for (int k = 0; k < line; ++k) {
        if (k <= lead) segment.a[k] = 0;
        if (k >= lead) continue;
        segment.c[k] = segment.f[k] = 0;
        segment.d[k] = 1;
      }
    }
    if (!alone) segment.complete(false, true, own_.end);
    return exists && own_.end > 0;
  }
  __device__ void put(const T (&x)[contiguous_rows]) const {
    T* const to = memory_.unknowns + at_;
    if (of_.width == 1 || (own_.begin == 0 && own_.end >= contiguous_rows)) return put_rows(to, x);
#pragma unroll
    for (int k = 0; k < contiguous_rows; ++k)
      if (k >= own_.begin && k < own_.end) to[k] = x[k];
  }
  __device__ void store(std::int64_t) const {
    if (thread_ >= 32) return;
    const span lines = inside(run_);
    T* const x = of_.x + (run_.origin - run_.lead);
    for_rest(run_, lines, [&](int k) { x[k] = memory_.unknowns[k]; });
    if (!elected()) return;
    if (lines.begin < lines.end)
      bulk_store(x + lines.begin, memory_.unknowns + lines.begin,
                 static_cast<unsigned>(lines.end - lines.begin) * sizeof(T));
    bulk_commit_group();
  }

 private:
  static constexpr int line = line_size<T>;
  struct span {
    int begin, end;
  };

  __device__ int lead_at(std::int64_t origin) const {
    return (of_.lead + static_cast<int>(origin)) & (long_line<T> - 1);
  }
  __device__ void look_at_unequal(std::int64_t tile) {
    next_ = {};
    next_own_ = {};
    if (tile >= of_.tiles) return;
    const std::int64_t first = tile * of_.width;
    const int count = of_.systems_of(tile), system = min(place_.system, count);
    next_.origin = of_.offsets[first];
    next_.rows = static_cast<int>(of_.offsets[first + count] - next_.origin);
    next_.lead = lead_at(next_.origin);
    const auto from_line = [this](std::int64_t row) {
      return next_.lead + static_cast<int>(row - next_.origin);
    };
    next_own_ = {from_line(of_.offsets[first + system]),
                 from_line(of_.offsets[first + min(system + 1, count)])};
  }
  // Of the lines that a run fills.
  __device__ static span inside(const contiguous_run& run) {
    const int begin = (run.lead + line - 1) / line * line, end = (run.lead + run.rows) / line * line;
    return {begin, max(begin, end)};
  }
  // Calls with the rows of a run outside of these lines, fewer than a line on either side; by a warp.
  template <class Call>
  __device__ void for_rest(const contiguous_run& run, const span& lines, const Call& call) const {
    const int end = run.lead + run.rows, before = run.lead + thread_, behind = lines.end + thread_;
    if (before < min(lines.begin, end)) call(before);
    if (behind < end) call(behind);
  }
  __device__ void load_rest(const span& lines) const {
    for (int array = 0; array < 4; ++array) {
      const T* const from = of_.from[array] + (next_.origin - next_.lead);
      for_rest(next_, lines, [&](int k) { memory_.rows[array * memory_.stage + k] = from[k]; });
    }
    __syncwarp();
  }
  // Rows of the identity from row `end` of the stage on, and nothing that couples to them: where no other
  // system is in the tile. Every warp in its own rows, before it takes them.
  __device__ void clear_behind(int end) const {
    constexpr int stage = contiguous_memory<T, Warps>::stage;
    const int lane = thread_ % 32, begin = at_ - lane * contiguous_rows;
    if (end > begin + 32 * contiguous_rows) return;
    if (end > begin && lane == 0) memory_.rows[2 * stage + end - 1] = 0;
    // Equal lengths have a segment or two that are not full.
    const int limit = begin + 32 * contiguous_rows,
              near = of_.offsets != nullptr ? limit : min(end + 32, limit);
    for (int k = max(end, begin) + lane; k < near; k += 32) {
      T* const row = memory_.rows + k;
      row[0] = row[2 * stage] = row[3 * stage] = 0;
      row[stage] = 1;
    }
    __syncwarp();
  }

  const contiguous_batch<T>& of_;
  const contiguous_memory<T, Warps>& memory_;
  const contiguous_place& place_;
  int thread_, at_ = 0;  // at_: of its rows in a stage
  span own_{};           // those of its system
  contiguous_run run_, next_;
  span next_own_{};  // rows of its system in the next run's stage
};

// Blocks take every so many-th tile: everything is read once and written once. Bound by memory.
template <real T, int Warps, template <real, int> class Mover>
__global__ void __launch_bounds__(32 * Warps, contiguous_warps<T> / Warps)
    solve_contiguous_tiles(const __grid_constant__ contiguous_batch<T> of) {
  const int thread = static_cast<int>(threadIdx.x);
  const contiguous_memory<T, Warps> memory;
  const contiguous_place place(of, thread);
  if (thread == 0) {
    mbarrier_init(memory.arrived, 1);
    mbarrier_init_fence();
  }
  Mover<T, Warps> rows(of, memory, place, thread);
  sync_tile<Warps>();
  rows.look_at(blockIdx.x);
  rows.load(blockIdx.x);
  unsigned parity = 0;
  for (std::int64_t tile = blockIdx.x; tile < of.tiles; tile += gridDim.x, parity ^= 1) {
    register_segment<T, contiguous_rows> segment;
    mbarrier_wait(memory.arrived, parity);
    const bool works = rows.take(segment, tile), fit = segment.dominates(works);
    bulk_wait_group_read();
    fence_proxy_async();
    const bool dominant = all_of_tile<Warps>(fit || !works);
    rows.load(tile + gridDim.x);
    bool numbers;
    if (dominant) {
      const reduced_block<T> own = segment.reduce_dominant();
      const warp_tile_solver<true, Warps, T> solver(of, place, memory.unknowns, thread);
      numbers = segment.fill_dominant(solver.boundary_of_segment(own));
    } else {
      unsigned far = 0;
      const reduced_block<T> own = segment.reduce_pivoted(far);
      const warp_tile_solver<false, Warps, T> solver(of, place, memory.unknowns, thread);
      numbers = segment.fill_pivoted(far, solver.boundary_of_segment(own));
    }
    if (works && !numbers && of.broken != nullptr) of.broken[tile * of.width + place.system] = 1;
    sync_tile<Warps>();  // the separators are needed no more
    rows.put(segment.d);
    fence_proxy_async();
    sync_tile<Warps>();
    rows.store(tile);
  }
  bulk_wait_group_read();  // before the shared memory goes to another block
}

// ---- launchers

// Whether rows lie side by side and systems begin in lines of 16 bytes.
template <class T>
bool in_lines(const T* data, const batch_shape& shape) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && shape.row_stride == 1 &&
         shape.system_stride % line_size<T> == 0;
}
template <class T>
bool are_whole_lines(const tridiagonal_view<const T>& A, const batch_view<const T>& b, const batch_view<T>& x) {
  return b.shape.offsets == nullptr && b.shape.n % line_size<T> == 0 && in_lines(A.dl, A.shape) &&
         in_lines(A.d, A.shape) && in_lines(A.du, A.shape) && in_lines(b.data, b.shape) &&
         in_lines(x.data, x.shape);
}

// Elements between a line of so many bytes and these.
template <class T>
int lead_of(const T* data, unsigned bytes) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(data) % bytes / sizeof(T));
}
// Whether no gaps are between systems, and every array begins in the same place of 16 bytes.
template <class T>
bool are_alike(const tridiagonal_view<const T>& A, const batch_view<const T>& b, const batch_view<T>& x) {
  const auto without_gaps = [](const batch_shape& of) {
    return of.row_stride == 1 && (of.offsets != nullptr || of.system_stride == of.n);
  };
  const auto alike = [&](const T* data) { return lead_of(data, 16) == lead_of(x.data, 16); };
  return without_gaps(A.shape) && without_gaps(b.shape) && without_gaps(x.shape) && alike(A.dl) && alike(A.d) &&
         alike(A.du) && alike(b.data);
}

template <real T, int Warps, template <real, int> class Mover>
bool solve_contiguous_tiles(const device& dev, contiguous_batch<T> of) {
  of.width = 32 * Warps / of.segments;
  of.tile_rows = of.width * of.n;
  of.tiles = ceil_div<std::int64_t>(of.systems, of.width);
  const std::int64_t blocks = std::int64_t{dev.processors()} * (contiguous_warps<T> / Warps);
  if (of.tiles < dev.processors()) return false;
  launch(dev, "solve_contiguous_tiles",
         {std::min(of.tiles, blocks), 32 * Warps, contiguous_memory<T, Warps>::bytes},
         solve_contiguous_tiles<T, Warps, Mover>, of);
  return true;
}
// step: of places for segments, so that those of a system begin where they must.
template <real T, template <real, int> class Mover>
bool solve_contiguous_tiles(const device& dev, contiguous_batch<T> of, int most_lead, int step) {
  of.leaves = ceil_div(of.n + most_lead, contiguous_rows);
  of.segments = 32;
  while (of.segments < of.leaves) of.segments *= 2;
  if (of.leaves <= 16) of.segments = ceil_div(of.leaves, step) * step;
  switch (of.segments) {
    case 2 * 32 * most_contiguous_warps:
      return false;
    case 256:
      return solve_contiguous_tiles<T, 8, Mover>(dev, of);
    case 128:
      return solve_contiguous_tiles<T, 4, Mover>(dev, of);
    case 64:
      return solve_contiguous_tiles<T, 2, Mover>(dev, of);
    default:
      return solve_contiguous_tiles<T, 1, Mover>(dev, of);
  }
}

}  // namespace

template <real T>
bool solve_in_contiguous_tiles(const device& dev, const tridiagonal_view<const T>& A,
                               const batch_view<const T>& b, const batch_view<T>& x,
                               const std::int64_t* offsets, int* broken) {
  if (A.periodic || b.shape.n > 32 * most_contiguous_warps * contiguous_rows) return false;
  contiguous_batch<T> of{};
  const std::int64_t pitch = A.shape.system_stride;
  const T* const from[] = {A.dl, A.d, A.du, b.data};
  const std::int64_t pitches[] = {pitch, pitch, pitch, b.shape.system_stride};
  std::copy_n(from, 4, of.from);
  std::copy_n(pitches, 4, of.pitch);
  of.x = x.data;
  of.pitch_x = x.shape.system_stride;
  of.broken = broken;
  of.systems = b.shape.systems;
  of.n = static_cast<int>(b.shape.n);
  of.offsets = offsets;
  of.rows = b.shape.extent();
  of.lead = lead_of(x.data, 128);
  constexpr int line = line_size<T>;
  if (are_whole_lines(A, b, x)) return solve_contiguous_tiles<T, whole_lines>(dev, of, 0, line / 2);
  return are_alike(A, b, x) && solve_contiguous_tiles<T, any_lines>(dev, of, line - 1, 1);
}

template bool solve_in_contiguous_tiles(const device&, const tridiagonal_view<const float>&,
                                        const batch_view<const float>&, const batch_view<float>&,
                                        const std::int64_t*, int*);
template bool solve_in_contiguous_tiles(const device&, const tridiagonal_view<const double>&,
                                        const batch_view<const double>&, const batch_view<double>&,
                                        const std::int64_t*, int*);

}  // namespace vouch::detail
