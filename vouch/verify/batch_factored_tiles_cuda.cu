#include <vouch/verify/quick_ratios.cuh>

namespace vouch::detail {
namespace {

constexpr int tile_threads = 128, tiles_at_once = 3;  // of a multiprocessor
constexpr int rows_ahead = 3;                         // on their way while as many are looked at
constexpr int sector = 4;                             // numbers that memory moves at least

// Neighbouring systems, a power of two of them, in as many pieces of 17 rows each as a block has threads.
struct tile_cut {
  std::int64_t tiles, all_systems;
  int systems, pieces;
  int pitch;  // between systems in shared memory: threads that read or factor use different banks

  static tile_cut of(const batch_shape& shape, int least_pieces) {
    tile_cut cut{0, shape.systems, 0, least_pieces, 0};
    while (cut.pieces * rows_of_lane < shape.n) cut.pieces *= 2;
    cut.systems = tile_threads / cut.pieces;
    cut.tiles = ceil_div<std::int64_t>(shape.systems, cut.systems);
    cut.pitch = cut.pieces * rows_of_lane + std::max(1, cut.pieces / 8);
    return cut;
  }
};

// Warps share a system.
template <int Warps>
struct tile_memory {
  static constexpr int teams = tile_threads / (32 * Warps), places = tile_threads * (rows_of_lane + 1);
  double l[places], d[places], u[places], other[places];
  typename system_lanes<Warps, teams>::memory lanes[teams];
  std::int64_t next;       // tile
  int most[tile_threads];  // of each system, see quick_ratios
};

// A thread's piece of a system as memory has it. Neighbouring threads have neighbouring systems.
class read_piece {
 public:
  __device__ read_piece(const visit_task& task, std::int64_t s, bool there, int piece)
      : task_(task), of_(task, there ? s : 0), first_(piece * rows_of_lane) {
    if (!there) of_.n = 0;
    if (of_.n > 0) weight_ = weight_of_first_row();
    if (!(weight_ > 0)) weight_ = 1;
  }
  __device__ int left() const { return of_.n - first_; }

  // Copies the rows; those behind the last have no neighbours and the weight of the first.
  __device__ void take(const rows_in_memory& to, quick_ratios& ratios) const {
    double before = x(-1), here = x(0);
    some_rows next = read(0);
#pragma unroll 1
    for (int k = 0; k < rows_of_lane; k += rows_ahead) {
      const some_rows now = next;
      next = read(k + rows_ahead);
#pragma unroll
      for (int j = 0; j < rows_ahead; ++j) {
        if (k + j == rows_of_lane) break;
        to.l[k + j] = now.l[j], to.d[k + j] = now.d[j], to.u[k + j] = now.u[j];
        ratios.add({{now.l[j], now.d[j], now.u[j]}, {before, here, now.x[j]}, {}, now.b[j], {}, 1}, k + j);
        before = here;
        here = now.x[j];
      }
    }
  }
  // The same row once more.
  __device__ row_data<double> again(int k) const {
    return {{l(k), d(k), u(k)}, {x(k - 1), x(k), x(k + 1)}, {}, b(k), {}, 1};
  }

 private:
  struct some_rows {
    double l[rows_ahead], d[rows_ahead], u[rows_ahead], b[rows_ahead];
    double x[rows_ahead];  // of the next row each
  };

  __device__ some_rows read(int k) const {
    some_rows rows;
#pragma unroll
    for (int j = 0; j < rows_ahead; ++j) {
      rows.l[j] = l(k + j), rows.d[j] = d(k + j), rows.u[j] = u(k + j), rows.b[j] = b(k + j);
      rows.x[j] = x(k + j + 1);
    }
    return rows;
  }
  __device__ double weight_of_first_row() const {
    const double d = __ldg(task_.A.d + of_.in_A), u = of_.n > 1 ? __ldg(task_.A.du + of_.in_A) : 0;
    return fabs(d) + fabs(u);
  }

  // Of row k, 0 where there is none or the piece has ended.
  __device__ double in_A(const double* part, int k, bool used) const {
    return used ? __ldg(part + of_.in_A + (first_ + k) * task_.A.shape.row_stride) : 0;
  }
  __device__ double in_vectors(const double* part, int k, bool used) const {
    return used ? __ldg(part + of_.at(first_ + k)) : 0;
  }
  __device__ bool has(int k) const { return k < rows_of_lane && k < left(); }
  __device__ double l(int k) const { return in_A(task_.A.dl, k, has(k) && first_ + k > 0); }
  __device__ double u(int k) const { return in_A(task_.A.du, k, has(k) && k + 1 < left()); }
  __device__ double d(int k) const { return has(k) ? in_A(task_.A.d, k, true) : weight_; }
  __device__ double b(int k) const { return in_vectors(task_.b, k, has(k)); }
  __device__ double x(int k) const {
    return in_vectors(task_.x, k, k <= rows_of_lane && k < left() && first_ + k >= 0);
  }

  const visit_task& task_;
  visited_system of_;
  int first_;
  double weight_ = 0;
};

// A block at work on its tiles: each thread reads a piece, factors another one, and puts some radii.
template <int Warps>
class factored_tiles {
 public:
  using memory = tile_memory<Warps>;

  __device__ factored_tiles(const visit_task& task, const visit_lists& lists, const tile_cut& cut, memory& in)
      : task_(task),
        lists_(lists),
        cut_(cut),
        in_(in),
        system_(thread() % cut.systems),
        piece_(thread() / cut.systems) {}

  __device__ void run() {
    for (std::int64_t tile = blockIdx.x, next = 0; tile < cut_.tiles; tile = next) {
      if (thread() == 0) in_.next = static_cast<std::int64_t>(gridDim.x) + atomicAdd(&lists_.all->taken, 1u);
      const std::int64_t s = tile * cut_.systems + system_;
      const bool asked = s < cut_.all_systems && task_.ratio[s] == is_left;
      if (piece_ == 0) in_.most[system_] = asked ? 0 : quick_ratios::none;
      const bool any = __syncthreads_or(asked) != 0;
      next = in_.next;
      if (any) visit(s, asked, next);
      __syncthreads();  // the memory goes to the next tile
    }
    join_block<tile_threads / 32>(of_ratios_, &lists_.all->ratios);
    join_block<tile_threads / 32>(of_radii_, &lists_.all->radii);
    if (thread() == 0) tell(lists_);
  }

 private:
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }

  __device__ void visit(std::int64_t s, bool asked, std::int64_t next) {
    const read_piece read(task_, s, asked, piece_);
    quick_ratios ratios;
    read.take(rows_of(system_, piece_), ratios);
    const int own = ratios.largest([&](int k) { return read.again(k); }, read.left());
    if (asked) atomicMax(in_.most + system_, own);
    __syncthreads();
    expect(next);
    const int largest_v = factor();
    __syncthreads();
    if (in_.most[factored_system()] < high_of_infinity)
      of_ratios_.about[1] = ::max(of_ratios_.about[1], static_cast<unsigned>(largest_v));
    const double ratio = quick_ratios::bound(in_.most[system_]);
    if (!asked) return;
    if (ratio < HUGE_VAL) {
      if (read.left() > 0) ratios.put(ratio, of_ratios_);
      put_radii(s, ratio);
    }
    if (piece_ > 0) return;
    task_.ratio[s] = ratio;
    if (!(ratio < HUGE_VAL)) lists_.nearly[atomicAdd(&lists_.all->hard, 1ull)] = s;
  }

  // Has the cache bring the rows of a tile.
  __device__ void expect(std::int64_t tile) const {
    if (tile >= cut_.tiles) return;
    const int sectors = ::max(1, cut_.systems / sector), step = tile_threads / sectors;
    const std::int64_t s = ::min(tile * cut_.systems + thread() % sectors * sector, task_.vectors.systems - 1);
    const visited_system of(task_, s);
    const auto bring = [](const double* from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); };
    for (int i = thread() / sectors; i < of.n; i += step) {
      const std::int64_t in_A = of.in_A + i * task_.A.shape.row_stride, in_vectors = of.at(i);
      bring(task_.A.dl + in_A);
      bring(task_.A.d + in_A);
      bring(task_.A.du + in_A);
      bring(task_.b + in_vectors);
      bring(task_.x + in_vectors);
    }
  }

  __device__ rows_in_memory rows_of(int system, int piece) const {
    const int at = system * cut_.pitch + piece * rows_of_lane;
    return {in_.l + at, in_.d + at, in_.u + at, in_.other + at};
  }

  __device__ int factored_system() const { return thread() / cut_.pieces; }

  // Returns the high word of the largest v, 0 where the piece has no rows. All warps of a system do the same.
  __device__ int factor() {
    const system_lanes<Warps, memory::teams> lanes(in_.lanes[thread() / (32 * Warps)], cut_.pieces);
    const int system = factored_system();
    if (__all_sync(~0u, in_.most[system] == quick_ratios::none) != 0) return 0;
    factored_piece piece(rows_of(system, lanes.piece()), lanes);
    if (!piece.find()) atomicMax(in_.most + system, quick_ratios::none);
    return lanes.piece() * rows_of_lane < task_.vectors.n ? piece.largest_v() : 0;
  }

  // v stands where l did.
  __device__ void put_radii(std::int64_t s, double ratio) {
    const visited_system of(task_, s);
    const double* const v = in_.l + system_ * cut_.pitch;
    quick_radii radii(ratio);
#pragma unroll rows_together
    for (int i = piece_; i < of.n; i += cut_.pieces)
      task_.radius[of.at(i)] = radii.add(v[i], __ldg(task_.x + of.at(i)));
    if (piece_ < of.n) radii.put(of_radii_);
  }

  const visit_task& task_;
  const visit_lists& lists_;
  const tile_cut& cut_;
  memory& in_;
  int system_, piece_;  // that the thread reads
  ratio_tally of_ratios_;
  radius_tally of_radii_;
};

// A tile's rows come in their order of memory, a sector at least of each; in shared memory systems lie one
// after another. Bound by the latency of operations that follow one another.
template <int Warps>
__global__ void __launch_bounds__(tile_threads, tiles_at_once)
    visit_tiles_with_quick_factors(__grid_constant__ const visit_task task,
                                   __grid_constant__ const visit_lists lists,
                                   __grid_constant__ const tile_cut cut) {
  extern __shared__ double raw_memory[];
  factored_tiles<Warps>(task, lists, cut, *reinterpret_cast<tile_memory<Warps>*>(raw_memory)).run();
}

template <int Warps>
void launch_in_tiles(const device& dev, const visit_task& task, const visit_lists& lists) {
  const tile_cut cut = tile_cut::of(task.vectors, Warps > 1 ? 32 * Warps : 1);
  launch(dev, "visit_tiles_with_quick_factors",
         visit_shape(dev, cut.tiles, tiles_at_once, tile_threads, sizeof(tile_memory<Warps>)),
         visit_tiles_with_quick_factors<Warps>, task, lists, cut);
}

}  // namespace

void visit_tiles_by_quick_factors(const device& dev, const visit_task& task, const visit_lists& lists) {
  static_assert(visit_task::most_rows_in_tiles <= 64 * rows_of_lane);
  if (task.vectors.n <= 32 * rows_of_lane) return launch_in_tiles<1>(dev, task, lists);
  launch_in_tiles<2>(dev, task, lists);
}

}  // namespace vouch::detail
