#include <vouch/verify/factored_piece.cuh>

namespace vouch::detail {
namespace {

constexpr int warps_at_once = 10;
constexpr int slots = 32 * rows_of_lane;

// The rows that a warp has, and at last v in place of l.
struct quick_memory {
  double l[slots], d[slots], u[slots], b[slots], x[slots];
};

// Rows of the identity stand behind the last of a system.
__device__ void begin_copies(const visit_task& task, const visited_system& of, quick_memory& to, int first,
                             int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += 32) {
    const int at = first + i;
    const std::int64_t in_A = of.in_A + i * task.A.shape.row_stride, in_vectors = of.in_vectors + i;
    if (i > 0 && i < of.n)
      begin_copy(to.l + at, task.A.dl + in_A);
    else
      to.l[at] = 0;
    if (i + 1 < of.n)
      begin_copy(to.u + at, task.A.du + in_A);
    else
      to.u[at] = 0;
    if (i < of.n) {
      begin_copy(to.d + at, task.A.d + in_A);
      begin_copy(to.b + at, task.b + in_vectors);
      begin_copy(to.x + at, task.x + in_vectors);
    } else {
      to.d[at] = 1;
      to.b[at] = to.x[at] = 0;
    }
  }
}

// What the rows of a lane say without v.
struct lane_ratios {
  static constexpr double part = 1 - quick_delta;
  static constexpr int none = 0x7fffffff;
  int ratio = 0;                   // the high word of more than the largest ratio; 0: that is 0
  int weight = 0, u = 0x7fffffff;  // of the largest and of the least

  // left: rows from the first of the lane to the last of the system.
  __device__ lane_ratios(const quick_memory& of, int first, const lanes_of_system& lanes, int left) {
    const row_judgement judgement{nullptr, nullptr, {}};
    const auto x_at = [&](int k) {
      const bool present = k >= 0 ? k < rows_of_lane || lanes.piece + 1 < lanes.pieces : lanes.piece > 0;
      return present ? of.x[first + k] : 0;
    };
    const auto data_of = [&](int k) {
      const int at = first + k;
      return row_data<double>{
          {of.l[at], of.d[at], of.u[at]}, {x_at(k - 1), x_at(k), x_at(k + 1)}, {}, of.b[at], {}, 1};
    };
    unsigned vanishing = 0;
#pragma unroll
    for (int k = 0; k < rows_of_lane; ++k) {
      const double share = part;
      const measured_row<double> row = judgement.measure<double>(data_of(k), &share, false);
      const bool present = k < left, may_vanish = present && row.may_vanish;
      if (may_vanish) vanishing |= 1u << k;
      if (present) weight = ::max(weight, high_of(row.weight)), u = ::min(u, high_of(row.u));
      if (present && !may_vanish) ratio = ::max(ratio, quotient(row));
    }
    for (int k = 0; vanishing >> k != 0; ++k) {
      if ((vanishing >> k & 1) == 0 || judgement.vanishes<double>(data_of(k))) continue;
      const double share = part;
      ratio = ::max(ratio, quotient(judgement.measure<double>(data_of(k), &share, false)));
    }
  }

 private:
  __device__ static int quotient(const measured_row<double>& row) {
    const quick_inverse of(row.u);
    return of.good() ? high_of(__fma_ru(row.size, of.value(), outward::tiny)) + 1 : none;
  }
};

// A warp has some systems at a time, in shared memory, a thread 17 rows of one of them. Bound by memory and by
// the latency of inverses that follow one another, nearly alike.
__global__ void __launch_bounds__(32, warps_at_once)
    visit_with_quick_factors(__grid_constant__ const visit_task task, __grid_constant__ const visit_lists lists,
                             std::int64_t count, int pieces) {
  extern __shared__ double raw_memory[];
  auto& memory = *reinterpret_cast<quick_memory*>(raw_memory);
  const int lane = static_cast<int>(threadIdx.x), width = 32 / pieces, length = pieces * rows_of_lane;
  const lanes_of_system lanes{pieces, lane & (pieces - 1)};
  ratio_tally of_ratios;
  radius_tally of_radii;
  for (std::int64_t c = std::int64_t{blockIdx.x} * width; c < count; c += std::int64_t{gridDim.x} * width) {
    const int systems = static_cast<int>(::min(std::int64_t{width}, count - c));
    const int own = lane / pieces;
    int left = 0;
    for (int k = 0; k < systems; ++k) {
      const visited_system of(task, lists.left[c + k]);
      begin_copies(task, of, memory, k * length, length);
      if (k == own) left = of.n - lanes.piece * rows_of_lane;
    }
    await_copies();
    __syncwarp();
    const int first = own < systems ? lane * rows_of_lane : lanes.piece * rows_of_lane;
    const lane_ratios ratios(memory, first, lanes, left);
    factored_piece piece(memory.l + first, memory.d + first, memory.u + first, lanes);
    const bool good = piece.find();
    const int most = lanes.largest(good ? ratios.ratio : lane_ratios::none);
    const bool proved = own < systems && most < 0x7ff00000;
    const double ratio = !proved ? HUGE_VAL : most == 0 ? 0 : __dmul_ru(__hiloint2double(most, 0), quick_slack);
    if (proved) {
      of_ratios.most[0] = ::max(of_ratios.most[0], bits_of(ratio));
      of_ratios.about[0] = ::max(of_ratios.about[0], static_cast<unsigned>(ratios.weight));
      of_ratios.about[1] = ::max(of_ratios.about[1], static_cast<unsigned>(piece.largest_v()));
      of_ratios.about[2] = ::max(of_ratios.about[2], ~static_cast<unsigned>(ratios.u));
    }
    __syncwarp();
    if (own < systems)
#pragma unroll
      for (int k = 0; k < rows_of_lane; ++k) memory.l[first + k] = piece.v(k);
    __syncwarp();
    for (int k = 0; k < systems; ++k) {
      const std::int64_t s = lists.left[c + k];
      const double of_system = __shfl_sync(~0u, ratio, k * pieces);
      if (of_system < HUGE_VAL) {
        const visited_system of(task, s);
        for (int i = lane; i < of.n; i += 32)
          put_radius(task.radius, nullptr, of.in_vectors + i, of_system, memory.l[k * length + i],
                     memory.x[k * length + i], of_radii);
        if (lane == 0) task.ratio[s] = of_system;
      } else if (lane == 0) {
        lists.nearly[atomicAdd(&lists.all->hard, 1ull)] = s;
      }
    }
    __syncwarp();  // the memory goes to the next systems
  }
  join_block<1>(of_ratios, &lists.all->ratios);
  join_block<1>(of_radii, &lists.all->radii);
  if (lane == 0) tell(lists);
}

}  // namespace

bool quick_factors_serve(const visit_task& task) {
  return task.vectors.n <= slots && task.judgement.x_lo == nullptr && task.judgement.middle == nullptr &&
         !(task.judgement.within.matrix > 0) && !(task.judgement.within.rhs > 0);
}

void visit_by_quick_factors(const device& dev, const visit_task& task, const visit_lists& lists,
                            std::int64_t count) {
  int pieces = 1;
  while (pieces * rows_of_lane < task.vectors.n) pieces *= 2;
  launch(dev, "visit_with_quick_factors",
         visit_shape(dev, ceil_div(count, std::int64_t{32 / pieces}), warps_at_once, 32, sizeof(quick_memory)),
         visit_with_quick_factors, task, lists, count, pieces);
}

}  // namespace vouch::detail
