#include <cmath>
#include <cstdint>

#include <vouch/verify/tridiagonal/comparison_elimination.cuh>
#include <vouch/verify/tridiagonal/refutation.cuh>
#include <vouch/verify/tridiagonal/short_systems.cuh>

namespace vouch::detail {
namespace {

/// The comparison matrix of a system, each row divided by its diagonal, in shared memory; then v. Nothing is
/// proved of it here.
template <class Real, int Rows, int Warps>
class comparison_solver {
 public:
  static constexpr int threads = 32 * Warps, most_rows = Rows * threads;

  using relation = comparison_relation<Real>;
  struct memory {
    union {
      double v;
      Real other;  // before: what is missing in a row, then its value
    } slot[most_rows + threads + 4];
    Real lower[most_rows + threads + 4], upper[most_rows + threads + 4];
    relation exchange[Warps > 1 ? threads : 1];
  };

  __device__ comparison_solver(memory& in, int n, bool periodic)
      : in_(in), n_(n), periodic_(periodic), thread_(static_cast<int>(threadIdx.x)) {}

  /// Of row k * threads + thread: what follows a barrier behind it may use it.
  __device__ void put(int k, const relation& row) {
    in_.lower[own_place(k, 0)] = row.lower;
    in_.upper[own_place(k, 0)] = row.upper;
    in_.slot[own_place(k, 0)].other = row.missing;
  }
  /// Of that row or the one `step` behind it, after a barrier behind solve() or put_ones().
  __device__ double v(int k, int step) const { return in_.slot[own_place(k, step)].v; }
  /// v := e.
  __device__ void put_ones() {
    for (int k = thread_; k < most_rows + threads + 4; k += threads) in_.slot[k].v = 1;
  }

  // What solve() calls as its ring. All threads call it.
  __device__ void publish(const relation& mine) {
    if constexpr (Warps == 1) {
      mine_ = mine;
    } else {
      __syncthreads();
      in_.exchange[thread_] = mine;
      __syncthreads();
    }
  }
  __device__ relation published(int distance) const {
    const int from = (thread_ + distance) & (pieces_ - 1);
    if constexpr (Warps == 1)
      return {__shfl_sync(~0u, mine_.lower, from), __shfl_sync(~0u, mine_.upper, from),
              __shfl_sync(~0u, mine_.missing, from), __shfl_sync(~0u, mine_.value, from)};
    else
      return in_.exchange[from];
  }

  /// v from what was put. All threads call it.
  __device__ void solve() {
    pieces_ = 1;  // a power of two, none empty unless all but one are
    while (pieces_ < threads && 4 * pieces_ <= n_) pieces_ *= 2;
    const int begin = thread_ < pieces_ ? start(thread_) : n_;
    const int end = thread_ < pieces_ ? start(thread_ + 1) : n_;
    comparison_piece<Real> piece;
    for (int i = begin; i + 1 < end; ++i) {
      const relation row = piece.take(row_at(place(i)));
      in_.lower[place(i)] = row.lower, in_.upper[place(i)] = row.upper, in_.slot[place(i)].other = row.value;
    }
    const Real last =
        solve_for_last(begin < end ? row_at(place(end - 1)) : relation{0, 0, 1, 0}, piece, pieces_, *this);
    publish({0, 0, 0, last});
    const Real before = published(-1).value;
    if (begin >= end) return;
    Real v = last;
    in_.slot[place(end - 1)].v = v;
    if (end == n_) in_.slot[place(-1)].v = periodic_ ? v : 0;
    for (int i = end - 2; i >= begin; --i) {
      v = in_.slot[place(i)].other + in_.lower[place(i)] * before + in_.upper[place(i)] * v;
      in_.slot[place(i)].v = v;
    }
    if (begin == 0) in_.slot[place(n_)].v = periodic_ ? v : 0;
  }

 private:
  // Of row i, from -1 to n; neighbouring pieces begin in other banks.
  __device__ static int place(int i) {
    return 1 + i + static_cast<int>(static_cast<unsigned>(i + Rows) / Rows);
  }
  __device__ int own_place(int k, int step) const {
    return place(thread_ + step) + k * (threads + threads / Rows);
  }
  __device__ int start(int piece) const {
    return static_cast<int>(static_cast<unsigned>(piece) * static_cast<unsigned>(n_) /
                            static_cast<unsigned>(pieces_));
  }
  __device__ relation row_at(int at) const { return {in_.lower[at], in_.upper[at], in_.slot[at].other, 1}; }

  memory& in_;
  int n_;
  bool periodic_;
  int thread_, pieces_ = 1;
  relation mine_;
};

template <int Warps>
__device__ bool all_in_block(bool mine) {
  if constexpr (Warps == 1)
    return __all_sync(~0u, mine) != 0;
  else
    return __syncthreads_and(mine) != 0;
}

template <class Real, int Rows, int Warps>
struct comparison_memory {
  double x[32 * Rows * Warps + 2], b[32 * Rows * Warps];  // x with a neighbour before and behind
  typename comparison_solver<Real, Rows, Warps>::memory solver;
  bits_type parts[Warps];
};

template <int Rows, int Warps>
__device__ void begin_copies(const short_systems& task, const located_system& of, double* x, double* b) {
  const int thread = static_cast<int>(threadIdx.x);
  const double* const from_x = task.x + of.in_vectors;
  const double* const from_b = task.b + of.in_vectors;
#pragma unroll
  for (int k = 0; k < Rows; ++k) {
    const int i = k * 32 * Warps + thread;
    if (i >= of.n) break;
    copy_to_shared(x + 1 + i, from_x + i);
    copy_to_shared(b + i, from_b + i);
  }
  if (thread != 0 || of.n == 0) return;
  if (of.periodic) {
    copy_to_shared(x, from_x + of.n - 1);
    copy_to_shared(x + 1 + of.n, from_x);
  } else {
    x[0] = x[1 + of.n] = 0;
  }
}

// A block has a system at a time, a thread every so many-th row of it in registers, and x and b in shared
// memory, copied while v is computed. Plain: no radii, no x_lo and no middle, which takes half the code.
// Bound by the latency of its operations and by memory, nearly alike.
template <class Real, int Rows, int Warps, bool Plain>
__device__ void prove_systems(const short_systems& task, const worklists& lists, const std::int64_t* those,
                              std::int64_t count) {
  constexpr int threads = 32 * Warps;
  extern __shared__ double raw_memory[];
  auto& memory = *reinterpret_cast<comparison_memory<Real, Rows, Warps>*>(raw_memory);
  const int thread = static_cast<int>(threadIdx.x);
  const tridiagonal_view<const double>& A = task.A;
  const row_certificate certificate = Plain ? row_certificate{nullptr, nullptr, {}} : task.certificate;
  const std::int64_t stride = A.shape.row_stride;
  ratio_tally of_ratios;
  radius_tally of_radii;
  bool wary = false;  // the system before was refuted by its first rows
  for (std::int64_t c = blockIdx.x; c < count; c += gridDim.x) {
    while (wary && c < count) {
      const int skipped = defer_refuted<Warps>(task, lists, c, gridDim.x, count, memory.parts);
      wary = skipped == most_refuted<Warps>;
      c += std::int64_t{gridDim.x} * skipped;
    }
    if (c >= count) break;
    const std::int64_t s = those == nullptr ? c : those[c];
    const located_system of(task, s);
    comparison_solver<Real, Rows, Warps> solver(memory.solver, of.n, of.periodic);
    double a[Rows][3];
#pragma unroll
    for (int k = 0; k < Rows; ++k) {
      const int i = k * threads + thread;
      const std::int64_t at = of.in_A + i * stride;
      const bool present = i < of.n;
      a[k][0] = present && of.below(i) ? __ldg(A.dl + at) : 0;
      a[k][1] = present ? __ldg(A.d + at) : 1;
      a[k][2] = present && of.above(i) ? __ldg(A.du + at) : 0;
    }
    begin_copies<Rows, Warps>(task, of, memory.x, memory.b);
    if (those == nullptr && !all_in_block<Warps>(!refuted_by_neighbours(a[0][0], a[0][1], a[0][2]))) {
      wait_copies_to_shared();
      sync_threads<Warps>();
      if (thread == 0) defer(task, lists, s);
      wary = true;
      continue;
    }
    bool dominant = true;
#pragma unroll
    for (int k = 0; k < Rows; ++k)
      dominant &= certificate.image_of_ones<double>(fabs(a[k][0]), fabs(a[k][1]), fabs(a[k][2])) > 0;
    if (all_in_block<Warps>(dominant)) {
      solver.put_ones();
    } else {
#pragma unroll
      for (int k = 0; k < Rows; ++k) solver.put(k, comparison_row<Real>(a[k]));
      sync_threads<Warps>();
      solver.solve();
    }
    wait_copies_to_shared();
    sync_threads<Warps>();
    const auto data_of = [&](int k) {
      row_data<double> data;
      for (int j = 0; j < 3; ++j) {
        data.a[j] = a[k][j];
        data.x[j] = memory.x[k * threads + thread + j];
        data.v[j] = solver.v(k, j - 1);
      }
      data.b = memory.b[k * threads + thread];
      if constexpr (!Plain) of.put_places(k * threads + thread, data);
      return data;
    };
    ratio_tally of_system;
    const auto present = [&](int k) { return k * threads + thread < of.n; };
    bits_type most = certify_rows<Rows, Plain>(certificate, present, data_of, of_system);
    most = largest_in_block<Warps>(most, memory.parts);
    if (most < marginal) {
      of_system.most[0] = most;
      of_ratios.add(of_system);
#pragma unroll
      for (int k = 0; k < Rows; ++k) {
        const int i = k * threads + thread;
        if (i >= of.n) break;
        store_radius(task.radius, certificate.x_lo, of.in_vectors + i, number_of(most), solver.v(k, 0),
                     memory.x[i + 1], of_radii);
      }
    }
    if (thread == 0) record_ratio<Real>(task, lists, s, most);
    sync_threads<Warps>();  // the memory goes to the next system
  }
  join_block<Warps>(of_ratios, &lists.all->ratios);
  join_block<Warps>(of_radii, &lists.all->radii);
  if (thread == 0) report_to_host(lists);
}

// v in single precision.
template <int Rows, int Warps>
constexpr int blocks_in_single = (Rows == 16  ? 12
                                  : Rows == 8 ? 16
                                  : Rows == 4 ? 20
                                              : 24) /
                                 Warps;
template <int Rows, int Warps>
__global__ void __launch_bounds__(32 * Warps, blocks_in_single<Rows, Warps>)
    prove_in_single(__grid_constant__ const short_systems task, __grid_constant__ const worklists lists) {
  prove_systems<float, Rows, Warps, true>(task, lists, nullptr, task.vectors.systems);
}

// v in double precision, of all systems or of those.
template <int Rows, int Warps>
constexpr int blocks_in_double = (Rows == 16  ? 8
                                  : Rows == 8 ? 12
                                              : 16) /
                                 Warps;
template <int Rows, int Warps>
__global__ void __launch_bounds__(32 * Warps, blocks_in_double<Rows, Warps>)
    prove_in_double(__grid_constant__ const short_systems task, __grid_constant__ const worklists lists,
                    const std::int64_t* those, std::int64_t count) {
  prove_systems<double, Rows, Warps, false>(task, lists, those, count);
}

// ---- launchers

// go(rows a thread, warps) for systems of up to n rows.
template <class Go>
void with_rows_and_warps(std::int64_t n, const Go& go) {
  if (n <= 64) return go.template operator()<2, 1>();
  if (n <= 128) return go.template operator()<4, 1>();
  if (n <= 256) return go.template operator()<8, 1>();
  if (n <= 512) return go.template operator()<8, 2>();
  if (n <= 1024) return go.template operator()<8, 4>();
  go.template operator()<8, 8>();
}

void launch_in_double(const device& dev, const short_systems& task, const worklists& lists,
                      const std::int64_t* those, std::int64_t count) {
  with_rows_and_warps(task.vectors.n, [&]<int Rows, int Warps>() {
    launch(dev, "prove_in_double",
           resident_shape(dev, count, blocks_in_double<Rows, Warps>, 32 * Warps,
                          sizeof(comparison_memory<double, Rows, Warps>)),
           prove_in_double<Rows, Warps>, task, lists, those, count);
  });
}

}  // namespace

void prove_by_comparison(const device& dev, const short_systems& task, const worklists& lists) {
  const std::int64_t systems = task.vectors.systems;
  if (!task.certificate.is_plain()) return launch_in_double(dev, task, lists, nullptr, systems);
  with_rows_and_warps(task.vectors.n, [&]<int Rows, int Warps>() {
    launch(dev, "prove_in_single",
           resident_shape(dev, systems, blocks_in_single<Rows, Warps>, 32 * Warps,
                          sizeof(comparison_memory<float, Rows, Warps>)),
           prove_in_single<Rows, Warps>, task, lists);
  });
}

void prove_marginal(const device& dev, const short_systems& task, const worklists& lists, std::int64_t count) {
  launch_in_double(dev, task, lists, lists.marginal, count);
}

}  // namespace vouch::detail
