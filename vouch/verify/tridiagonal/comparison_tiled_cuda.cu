#include <vouch/verify/tridiagonal/comparison_elimination.cuh>
#include <vouch/verify/tridiagonal/refutation.cuh>

namespace vouch::detail {
namespace {

constexpr int tile_rows = 8;  // of a thread

/// Neighbouring systems, cut into pieces of at most tile_rows rows; both numbers are powers of two.
struct tile_plan {
  int pieces, systems;
  bool paired;  // two systems at a time can be copied

  static tile_plan of(const short_systems& task, bool all, int threads) {
    const auto lie_in_pairs = [&](const double* data, const batch_shape& shape) {
      return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && shape.system_stride == 1 &&
             shape.row_stride % 2 == 0;
    };
    const tridiagonal_view<const double>& A = task.A;
    const std::int64_t n = task.vectors.n;
    tile_plan plan{1, threads, all && task.vectors.systems % 2 == 0};
    for (const double* data : {A.dl, A.d, A.du}) plan.paired &= lie_in_pairs(data, A.shape);
    for (const double* data : {task.b, task.x}) plan.paired &= lie_in_pairs(data, task.vectors);
    while (plan.pieces * tile_rows < n) plan.pieces *= 2, plan.systems /= 2;
    return plan;
  }
};

/// The piece of a thread: its rows are the last of tile_rows slots.
struct tile_place {
  int thread, systems, pieces, system, piece, n, begin, end;

  __device__ tile_place(const tile_plan& plan, int rows)
      : thread(static_cast<int>(threadIdx.x)),
        systems(plan.systems),
        pieces(plan.pieces),
        system(thread % plan.systems),
        piece(thread / plan.systems),
        n(rows),
        begin(start(piece)),
        end(start(piece + 1)) {}
  __device__ int start(int p) const { return p * n / pieces; }
  __device__ int row(int k) const { return end - tile_rows + k; }
  __device__ bool present(int k) const { return row(k) >= begin; }
  __device__ int first() const { return tile_rows - (end - begin); }
  // The thread that has the piece so far away, in a ring, and the first slot of the next piece.
  __device__ int neighbour(int distance) const {
    return ((piece + distance) & (pieces - 1)) * systems + system;
  }
  __device__ int first_of_next() const {
    const int next = (piece + 1) & (pieces - 1);
    return tile_rows - (start(next + 1) - start(next));
  }
};

/// Every so many-th tile from the block's first on, but for those whose systems their first rows all refute:
/// these are deferred. As many tiles are tested together as systems have pieces. All threads of the block call
/// the same.
class tile_schedule {
 public:
  static constexpr int least_pieces = 8;  // with fewer the test takes as long as a tile
  static constexpr int parts_seen = 2;    // of eight rows

  /// remains: scratch, one for each piece.
  __device__ tile_schedule(const short_systems& task, const worklists& lists, const tile_place& place,
                           std::int64_t count, bool look_ahead, unsigned* remains)
      : task_(task),
        lists_(lists),
        place_(place),
        count_(count),
        first_(std::int64_t{blockIdx.x} * place.systems),
        remains_(remains),
        looks_ahead_(look_ahead && place.pieces >= least_pieces),
        seen_(place.pieces) {}

  /// The first system of the present tile; `count` or more behind the last one.
  __device__ std::int64_t first() const { return first_; }

  __device__ void advance() {
    do {
      first_ += step();
      if (looks_ahead_ && ++seen_ >= place_.pieces) look_ahead();
    } while (looks_ahead_ && first_ < count_ && remains_[seen_] == 0);
  }

 private:
  __device__ std::int64_t step() const { return std::int64_t{gridDim.x} * place_.systems; }

  // A thread tests the system of its own place, of the tile that is as far ahead as its piece.
  __device__ void look_ahead() {
    seen_ = 0;
    __syncthreads();
    if (place_.system == 0) remains_[place_.piece] = 0;
    __syncthreads();
    const std::int64_t s = first_ + place_.piece * step() + place_.system;
    const bool there = s < count_;
    if (there && !refuted_by_first_rows(task_, located_system(task_, s), parts_seen))
      remains_[place_.piece] = 1;
    __syncthreads();
    defer_lanes(task_, lists_, s, there && remains_[place_.piece] == 0);
  }

  const short_systems& task_;
  const worklists& lists_;
  const tile_place& place_;
  std::int64_t count_, first_;
  unsigned* remains_;  // of each tile that was tested: some system does
  bool looks_ahead_;
  int seen_;  // which of those the present tile is
};

template <class Real, int Threads>
struct tile_memory {
  double a[3][tile_rows * Threads], b[tile_rows * Threads];
  double x[(tile_rows + 2) * Threads];  // with neighbours before and behind
  comparison_relation<Real> exchange[2][Threads];
  bits_type parts[Threads];
  unsigned refuses[Threads];                               // of a system: some row does not dominate
  unsigned remains[short_systems::most_rows / tile_rows];  // see tile_schedule
};

// The exchange between pieces, double-buffered, so that one barrier suffices.
template <class Real, int Threads>
class tile_ring {
 public:
  __device__ tile_ring(tile_memory<Real, Threads>& memory, const tile_place& place)
      : memory_(memory), place_(place) {}
  __device__ void publish(const comparison_relation<Real>& mine) {
    turn_ ^= 1;
    memory_.exchange[turn_][place_.thread] = mine;
    __syncthreads();
  }
  __device__ const comparison_relation<Real>& published(int distance) const {
    return memory_.exchange[turn_][place_.neighbour(distance)];
  }

 private:
  tile_memory<Real, Threads>& memory_;
  const tile_place& place_;
  int turn_ = 0;
};

// v of every slot, of the row before the piece in all slots before its own, and of the row behind it.
template <class Real>
struct tile_weights {
  Real v[tile_rows + 2];

  __device__ void put_ones() {
#pragma unroll
    for (Real& one : v) one = 1;
  }

  // row(k): that of the comparison matrix.
  template <class Row, class Ring>
  __device__ void solve(const Row& row, const tile_place& place, bool periodic, Ring& ring) {
    constexpr int last = tile_rows - 1;
    comparison_piece<Real> piece;
    Real lower[last], upper[last];
#pragma unroll
    for (int k = 0; k < last; ++k) {
      if (!place.present(k)) continue;
      const comparison_relation<Real> at = piece.take(row(k));
      lower[k] = at.lower, upper[k] = at.upper, v[k + 1] = at.value;
    }
    Real here = solve_for_last(row(last), piece, place.pieces, ring);
    v[last + 1] = here;
    ring.publish({0, 0, 0, here});
    const Real before = periodic || place.piece > 0 ? ring.published(-1).value : 0;
#pragma unroll
    for (int k = last - 1; k >= 0; --k) {
      if (place.present(k)) here = v[k + 1] + lower[k] * before + upper[k] * here;
      v[k + 1] = place.present(k) ? here : before;
    }
    v[0] = before;
    ring.publish({0, 0, 0, here});
    v[last + 2] = periodic || place.piece < place.pieces - 1 ? ring.published(1).value : 0;
  }
};

// What a thread copies into its own places of shared memory.
__device__ void commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ void wait_all_groups_but_one() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }

template <class Real, int Threads>
class tile_copies {
 public:
  // Rows that no copy reaches are those of the unit matrix.
  __device__ tile_copies(const short_systems& task, const tile_place& place, tile_memory<Real, Threads>& memory,
                         bool paired)
      : task_(task), place_(place), memory_(memory), paired_(paired) {
    for (int k = 0; k < tile_rows; ++k)
      for (int j = 0; j < 3; ++j) memory_.a[j][k * Threads + place_.thread] = j == 1 ? 1 : 0;
  }

  __device__ void begin_matrix_and_b(std::int64_t s, bool mine) const {
    const tridiagonal_view<const double>& A = task_.A;
    const std::int64_t in_A = A.shape.at(s, 0), in_b = task_.vectors.at(s, 0);
    for_copies(mine, [&](int k, auto copy) {
      const int i = place_.row(k), to = k * Threads + place_.thread;
      const std::int64_t at = in_A + i * A.shape.row_stride;
      if (i > 0 || A.periodic) copy(memory_.a[0] + to, A.dl + at);
      copy(memory_.a[1] + to, A.d + at);
      if (i < place_.n - 1 || A.periodic) copy(memory_.a[2] + to, A.du + at);
      copy(memory_.b + to, task_.b + in_b + i * task_.vectors.row_stride);
    });
  }
  __device__ void begin_x(std::int64_t s, bool mine) const {
    const std::int64_t in_x = task_.vectors.at(s, 0);
    for_copies(mine, [&](int k, auto copy) {
      copy(memory_.x + (k + 1) * Threads + place_.thread,
           task_.x + in_x + place_.row(k) * task_.vectors.row_stride);
    });
  }
  __device__ void take(int k, double (&a)[3]) const {
    for (int j = 0; j < 3; ++j) a[j] = memory_.a[j][k * Threads + place_.thread];
  }

 private:
  // Calls with slots and with how to copy into them. Of pairs one thread copies the even slots of both and the
  // other the odd ones: nobody goes on before both have come here or, awaiting what comes, behind it.
  template <class Call>
  __device__ void for_copies(bool mine, const Call& call) const {
    if (paired_) {
      const int odd = place_.thread % 2;
      __syncwarp();
#pragma unroll
      for (int k = 0; k < tile_rows; k += 2)
        if (mine && place_.present(k + odd))
          call(k + odd, [odd](double* to, const double* from) { copy_line_to_shared(to - odd, from - odd); });
    } else {
#pragma unroll
      for (int k = 0; k < tile_rows; ++k)
        if (mine && place_.present(k)) call(k, copy_to_shared<l2_fetch::sectors, double>);
    }
    commit_group();
  }

  const short_systems& task_;
  const tile_place& place_;
  tile_memory<Real, Threads>& memory_;
  bool paired_;
};

// x of the rows before and behind the piece, beside its own.
template <class Real, int Threads>
__device__ void put_neighbours(const located_system& of, const tile_place& place,
                               tile_memory<Real, Threads>& memory) {
  double* const x = memory.x;
  const bool below = of.below(place.begin), above = of.above(place.end - 1);
  x[place.first() * Threads + place.thread] = below ? x[tile_rows * Threads + place.neighbour(-1)] : 0;
  x[(tile_rows + 1) * Threads + place.thread] =
      above ? x[(place.first_of_next() + 1) * Threads + place.neighbour(1)] : 0;
}

// The largest of a system's threads, for all of them. parts may be used again behind the next barrier.
template <int Threads>
__device__ bits_type largest_of_system(bits_type mine, const tile_place& place, bits_type* parts) {
  for (int d = 16; d >= place.systems; d /= 2) mine = ::max(mine, __shfl_xor_sync(~0u, mine, d));
  const int group = ::max(place.systems, 32);
  if (place.thread % group < place.systems) parts[place.thread / group * place.systems + place.system] = mine;
  __syncthreads();
  for (int g = 0; g < Threads / group; ++g) mine = ::max(mine, parts[g * place.systems + place.system]);
  return mine;
}

// A block has a tile at a time, all of it in shared memory: a thread some rows of a system, its neighbours the
// same rows of the next systems. What is not needed any more makes room for the next tile at once. Plain: as
// prove_by_comparison(). Bound by the latency of its operations and by memory, nearly alike.
template <class Real, int Threads, bool Plain>
__device__ void prove_tiles(const short_systems& task, const worklists& lists, const std::int64_t* those,
                            std::int64_t count, const tile_plan& plan) {
  extern __shared__ double raw_memory[];
  auto& memory = *reinterpret_cast<tile_memory<Real, Threads>*>(raw_memory);
  const tile_place place(plan, static_cast<int>(task.vectors.n));
  const tile_copies<Real, Threads> copies(task, place, memory, plan.paired);
  const row_certificate certificate = Plain ? row_certificate{nullptr, nullptr, {}} : task.certificate;
  const auto system_at = [&](std::int64_t c) { return c >= count ? 0 : those == nullptr ? c : those[c]; };
  tile_ring<Real, Threads> ring(memory, place);
  ratio_tally of_ratios;
  radius_tally of_radii;
  tile_schedule schedule(task, lists, place, count, those == nullptr, memory.remains);
  std::int64_t c = schedule.first() + place.system;
  copies.begin_matrix_and_b(system_at(c), c < count);
  copies.begin_x(system_at(c), c < count);
  while (c - place.system < count) {
    schedule.advance();
    const std::int64_t s = system_at(c), next = schedule.first() + place.system;
    const bool mine = c < count;
    const located_system of(task, s);
    if (place.piece == 0) memory.refuses[place.system] = 0;
    wait_all_groups_but_one();
    __syncwarp();
    bool dominant = true;
#pragma unroll
    for (int k = 0; k < tile_rows; ++k) {
      double a[3];
      copies.take(k, a);
      dominant &= certificate.image_of_ones<double>(fabs(a[0]), fabs(a[1]), fabs(a[2])) > 0;
    }
    tile_weights<Real> weights;
    if (__syncthreads_and(dominant) != 0) {
      weights.put_ones();
    } else {
      if (!dominant) atomicOr(memory.refuses + place.system, 1u);
      const auto row = [&](int k) {
        double a[3];
        copies.take(k, a);
        return comparison_row<Real>(a);
      };
      weights.solve(row, place, of.periodic, ring);
      if (memory.refuses[place.system] == 0) weights.put_ones();
    }
    wait_copies_to_shared();
    __syncthreads();
    put_neighbours(of, place, memory);
    const auto present = [&](int k) { return mine && place.present(k); };
    const auto data_of = [&](int k) {
      row_data<double> data;
      asm volatile("" ::: "memory");  // no row before its turn: registers are scarce
      copies.take(k, data.a);
      for (int j = 0; j < 3; ++j) {
        data.x[j] = memory.x[(k + j) * Threads + place.thread];
        data.v[j] = weights.v[k + j];
      }
      data.b = memory.b[k * Threads + place.thread];
      if constexpr (!Plain) of.put_places(place.row(k), data);
      return data;
    };
    ratio_tally of_system;
    bits_type most = certify_rows<tile_rows, Plain>(certificate, present, data_of, of_system);
    copies.begin_matrix_and_b(system_at(next), next < count);
    most = largest_of_system<Threads>(most, place, memory.parts);
    if (mine && most < marginal) {
      of_system.most[0] = most;
      of_ratios.add(of_system);
#pragma unroll
      for (int k = 0; k < tile_rows; ++k)
        if (place.present(k))
          store_radius(task.radius, certificate.x_lo, of.at(place.row(k)), number_of(most), weights.v[k + 1],
                       memory.x[(k + 1) * Threads + place.thread], of_radii);
    }
    if (mine && place.piece == 0) record_ratio<Real>(task, lists, s, most);
    copies.begin_x(system_at(next), next < count);
    c = next;
  }
  join_block<Threads / 32>(of_ratios, &lists.all->ratios);
  join_block<Threads / 32>(of_radii, &lists.all->radii);
  if (threadIdx.x == 0) report_to_host(lists);
}

// v in single precision.
template <int Threads>
__global__ void __launch_bounds__(Threads, 512 / Threads)
    prove_tiles_in_single(__grid_constant__ const short_systems task, __grid_constant__ const worklists lists,
                          __grid_constant__ const tile_plan plan) {
  prove_tiles<float, Threads, true>(task, lists, nullptr, task.vectors.systems, plan);
}

// v in double precision, of all systems or of those.
template <int Threads>
__global__ void __launch_bounds__(Threads)
    prove_tiles_in_double(__grid_constant__ const short_systems task, __grid_constant__ const worklists lists,
                          const std::int64_t* those, std::int64_t count,
                          __grid_constant__ const tile_plan plan) {
  prove_tiles<double, Threads, false>(task, lists, those, count, plan);
}

// ---- launchers

// go(threads) for systems of n rows. The wider the rows of a tile, the faster they come, where blocks are not
// few to a multiprocessor for it.
template <class Go>
void with_threads(std::int64_t n, const Go& go) {
  if (n <= 64) return go.template operator()<256>();
  go.template operator()<512>();
}

void launch_in_double(const device& dev, const short_systems& task, const worklists& lists,
                      const std::int64_t* those, std::int64_t count) {
  with_threads(task.vectors.n, [&]<int Threads>() {
    const tile_plan plan = tile_plan::of(task, those == nullptr, Threads);
    launch(dev, "prove_tiles_in_double",
           resident_shape(dev, ceil_div<std::int64_t>(count, plan.systems), 1, Threads,
                          sizeof(tile_memory<double, Threads>)),
           prove_tiles_in_double<Threads>, task, lists, those, count, plan);
  });
}

}  // namespace

void prove_by_comparison_tiled(const device& dev, const short_systems& task, const worklists& lists) {
  const std::int64_t systems = task.vectors.systems;
  if (!task.certificate.is_plain()) return launch_in_double(dev, task, lists, nullptr, systems);
  with_threads(task.vectors.n, [&]<int Threads>() {
    const tile_plan plan = tile_plan::of(task, true, Threads);
    launch(dev, "prove_tiles_in_single",
           resident_shape(dev, ceil_div<std::int64_t>(systems, plan.systems), 512 / Threads, Threads,
                          sizeof(tile_memory<float, Threads>)),
           prove_tiles_in_single<Threads>, task, lists, plan);
  });
}

void prove_marginal_tiled(const device& dev, const short_systems& task, const worklists& lists,
                          std::int64_t count) {
  launch_in_double(dev, task, lists, lists.marginal, count);
}

}  // namespace vouch::detail
