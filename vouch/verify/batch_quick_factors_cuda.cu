#include <vouch/verify/factored_piece.cuh>

namespace vouch::detail {
namespace {

constexpr int warps_at_once = 10;
constexpr int infinite = 0x7ff00000;  // the high word

// The rows that a block has.
template <int Warps>
struct quick_memory {
  static constexpr int slots = 32 * Warps * rows_of_lane;
  double l[slots], d[slots], u[slots], b[slots], x[slots];
  typename system_lanes<Warps>::memory lanes;
};

__device__ void copy_or_clear(double* to, const double* from, bool present) {
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
      "l"(from), "r"(present ? 8 : 0)
      : "memory");
}

// Rows of the identity stand behind the last of a system, zeros where it has no entry.
template <int Warps>
__device__ void begin_copies(const visit_task& task, const visited_system& of, quick_memory<Warps>& to,
                             int first, int count) {
  const std::int64_t in_A = task.A.shape.row_stride, in_vectors = task.vectors.row_stride;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < count; i += 32 * Warps) {
    const int at = first + i;
    const bool present = i < of.n;
    const std::int64_t row = present ? of.in_A + i * in_A : 0;
    const std::int64_t place = present ? of.in_vectors + i * in_vectors : 0;
    copy_or_clear(to.l + at, task.A.dl + row, present & (i > 0));
    copy_or_clear(to.d + at, task.A.d + row, present);
    copy_or_clear(to.u + at, task.A.du + row, i + 1 < of.n);
    copy_or_clear(to.b + at, task.b + place, present);
    copy_or_clear(to.x + at, task.x + place, present);
  }
}
// After the copies: what they could not bring.
__device__ void complete(double* d, int left) {
  for (int k = ::max(left, 0); k < rows_of_lane; ++k) d[k] = 1;
}

// What the rows of a lane say without v.
struct lane_ratios {
  static constexpr double part = 1 - quick_delta;
  static constexpr int none = 0x7fffffff;
  int ratio = 0;             // the high word of more than the largest ratio; 0: that is 0
  int weight = 0, u = none;  // of the largest and of the least

  // left: rows from the first of the lane to the last of the system; b: of the first one, step from row to row.
  template <int Warps>
  __device__ lane_ratios(const quick_memory<Warps>& of, int first, const system_lanes<Warps>& lanes, int left,
                         const double* b, std::int64_t step) {
    const row_judgement judgement{nullptr, nullptr, {}};
    const auto x_at = [&](int k) {
      const bool present = k >= 0 ? k < rows_of_lane || !lanes.last() : !lanes.first();
      return present ? of.x[first + k] : 0;
    };
    const auto data_of = [&](int k) {
      const int at = first + k;
      return row_data<double>{
          {of.l[at], of.d[at], of.u[at]}, {x_at(k - 1), x_at(k), x_at(k + 1)}, {}, of.b[at], {}, 1};
    };
    unsigned vanishing = 0;
#pragma unroll rows_together
    for (int k = 0; k < rows_of_lane; ++k) {
      const double share = part;
      const measured_row<double> row = judgement.measure<double>(data_of(k), &share, false);
      const bool present = k < left;
      const int own = quotient(row);
      vanishing |= present & row.may_vanish ? 1u << k : 0u;
      weight = ::max(weight, present ? high_of(row.weight) : 0);
      u = ::min(u, present ? high_of(row.u) : none);
      ratio = ::max(ratio, present & !row.may_vanish ? own : 0);
    }
    for (int k = 0; vanishing >> k != 0; ++k) {
      if ((vanishing >> k & 1) == 0) continue;
      row_data<double> data = data_of(k);
      data.b = b[k * step];
      const double share = part;
      if (judgement.vanishes<double>(data)) continue;
      ratio = ::max(ratio, quotient(judgement.measure<double>(data, &share, false)));
    }
  }
  __device__ bool moderate_weights() const {
    return (weight < high_of_power(300)) & (u >= high_of_power(-299));
  }

 private:
  __device__ static int quotient(const measured_row<double>& row) {
    const quick_inverse of(row.u);
    const int high = high_of(__fma_ru(row.size, of.value(), outward::tiny));
    return of.good() ? ::min(high, infinite) + 1 : none;
  }
};

// The radii of a system and what they amount to.
template <int Warps>
__device__ void put_radii(const visit_task& task, const visited_system& of, double ratio, const double* v,
                          const double* x, radius_tally& tally) {
  int relative = 0;  // the high word of more than the largest
#pragma unroll rows_together
  for (int i = static_cast<int>(threadIdx.x); i < of.n; i += 32 * Warps) {
    const double size = fabs(x[i]), most = __dmul_ru(ratio, v[i]);
    const quick_inverse inverse(__dadd_rd(size, -most));
    const int quotient = high_of(__fma_ru(most, inverse.value(), outward::tiny)) + 1;
    const bool positive = inverse.good() & (size > most);
    relative = ::max(relative, most > 0 ? (positive ? quotient : infinite) : 0);
    tally.most[1] = ::max(tally.most[1], bits_of(most));
    task.radius[of.in_vectors + i * task.vectors.row_stride] = most;
  }
  tally.most[0] = ::max(tally.most[0], bits_of(__dmul_ru(__hiloint2double(relative, 0), quick_slack)));
}

// A warp has some systems at a time, or some warps have one, in shared memory, a thread 17 rows. Bound by the
// latency of operations that follow one another.
template <int Warps>
__global__ void __launch_bounds__(32 * Warps, warps_at_once / Warps)
    visit_with_quick_factors(__grid_constant__ const visit_task task, __grid_constant__ const visit_lists lists,
                             std::int64_t count, int pieces) {
  extern __shared__ double raw_memory[];
  auto& memory = *reinterpret_cast<quick_memory<Warps>*>(raw_memory);
  const int thread = static_cast<int>(threadIdx.x), width = 32 * Warps / pieces;
  const int length = pieces * rows_of_lane, first = thread * rows_of_lane;
  const system_lanes<Warps> lanes(memory.lanes, pieces);
  const std::int64_t step = task.vectors.row_stride;
  ratio_tally of_ratios;
  radius_tally of_radii;
  for (std::int64_t c = std::int64_t{blockIdx.x} * width; c < count; c += std::int64_t{gridDim.x} * width) {
    const int systems = static_cast<int>(::min(std::int64_t{width}, count - c));
    int left = 0;
    const double* b = task.b;
    for (int k = 0; k < width; ++k) {
      visited_system of(task, lists.left[c + ::min(k, systems - 1)]);
      if (k >= systems) of.n = 0;
      begin_copies(task, of, memory, k * length, length);
      if (k != thread / pieces) continue;
      left = of.n - lanes.piece() * rows_of_lane;
      b += of.in_vectors + lanes.piece() * rows_of_lane * step;
    }
    await_copies();
    complete(memory.d + first, left);
    sync_threads<Warps>();
    const lane_ratios ratios(memory, first, lanes, left, b, step);
    factored_piece<Warps> piece({memory.l + first, memory.d + first, memory.u + first, memory.b + first},
                                lanes);
    const bool good = piece.find() & ratios.moderate_weights();
    const int most = lanes.largest(good ? ratios.ratio : lane_ratios::none);
    const bool proved = most < infinite;
    const double ratio = !proved ? HUGE_VAL : most == 0 ? 0 : __dmul_ru(__hiloint2double(most, 0), quick_slack);
    if (proved && left > 0) {
      of_ratios.most[0] = ::max(of_ratios.most[0], bits_of(ratio));
      of_ratios.about[0] = ::max(of_ratios.about[0], static_cast<unsigned>(ratios.weight));
      of_ratios.about[1] = ::max(of_ratios.about[1], static_cast<unsigned>(piece.largest_v()));
      of_ratios.about[2] = ::max(of_ratios.about[2], ~static_cast<unsigned>(ratios.u));
    }
    sync_threads<Warps>();
    for (int k = 0; k < systems; ++k) {
      const std::int64_t s = lists.left[c + k];
      const double of_system = width > 1 ? __shfl_sync(~0u, ratio, k * pieces) : ratio;
      if (of_system < HUGE_VAL) {
        put_radii<Warps>(task, visited_system(task, s), of_system, memory.l + k * length, memory.x + k * length,
                         of_radii);
        if (thread == 0) task.ratio[s] = of_system;
      } else if (thread == 0) {
        lists.nearly[atomicAdd(&lists.all->hard, 1ull)] = s;
      }
    }
    sync_threads<Warps>();  // the memory goes to the next systems
  }
  join_block<Warps>(of_ratios, &lists.all->ratios);
  join_block<Warps>(of_radii, &lists.all->radii);
  if (thread == 0) tell(lists);
}

template <int Warps>
void launch_with_quick_factors(const device& dev, const visit_task& task, const visit_lists& lists,
                               std::int64_t count) {
  int pieces = Warps > 1 ? 32 * Warps : 1;
  while (pieces * rows_of_lane < task.vectors.n) pieces *= 2;
  const std::int64_t width = 32 * Warps / pieces;
  launch(
      dev, "visit_with_quick_factors",
      visit_shape(dev, ceil_div(count, width), warps_at_once / Warps, 32 * Warps, sizeof(quick_memory<Warps>)),
      visit_with_quick_factors<Warps>, task, lists, count, pieces);
}

}  // namespace

bool quick_factors_serve(const visit_task& task) {
  return task.judgement.x_lo == nullptr && task.judgement.middle == nullptr &&
         !(task.judgement.within.matrix > 0) && !(task.judgement.within.rhs > 0);
}

void visit_by_quick_factors(const device& dev, const visit_task& task, const visit_lists& lists,
                            std::int64_t count) {
  static_assert(visit_task::most_rows <= quick_memory<4>::slots);
  if (task.vectors.n <= quick_memory<1>::slots) return launch_with_quick_factors<1>(dev, task, lists, count);
  if (task.vectors.n <= quick_memory<2>::slots) return launch_with_quick_factors<2>(dev, task, lists, count);
  launch_with_quick_factors<4>(dev, task, lists, count);
}

}  // namespace vouch::detail
