// Conjugate gradients for small systems: one kernel runs the whole solve with everything on chip.
//
// Mapping   A block owns some rows (cg_resident_plan.hpp): their entries, and all vectors of its own and halo
//           rows, in shared memory. `lanes` threads share a row. r and p of halo rows are updated by every
//           block that holds them, from the same numbers in the same order, so only q = A p and the inner
//           products travel, together, once an iteration.
// Cluster   up to 16 blocks write into each other's shared memory; every block knows how many bytes an
//           iteration brings, and waits for just those: no barrier of the cluster.
// Grid      all multiprocessors; q and the sums go through L2, and all blocks meet at a counter.
//           Either way two buffers in turn are enough: nobody writes number k+1 before all sums of k have come,
//           and a block sends its sums of k after it has read every q of k-1.
// Bound     by latency: one trip between multiprocessors, two reductions, three block barriers.
// Bits      fixed orders throughout; the same on every run.
#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include <vouch/core/check.cuh>
#include <vouch/core/gpu/cluster.cuh>
#include <vouch/core/gpu/mbarrier.cuh>
#include <vouch/core/grid_barrier.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_resident_plan.hpp>
#include <vouch/solve/krylov/resident.cuh>
#include <vouch/solve/loop/pinned_history.cuh>

namespace vouch::resident {

// Sums travel as rows of this many doubles: {pq, rMq, qMq, rr} and with a diagonal M {rMr, 0, 0, 0} besides.
template <bool Diagonal>
constexpr int sum_width = Diagonal ? 8 : 4;

template <class T>
struct parameters : placed_rows<T> {
  const T* minv;  // by matrix row, or nullptr
  T* r;           // by matrix row
  T* d;
  T* q_out;           // grid: 2 x rows
  double* sum_out;    // grid: 2 x blocks x sum_width
  unsigned* counter;  // grid
  unsigned barriers;  // grid: those of earlier runs
  std::int64_t rows;
  stopping_rule rule;
  pinned_history* box;
};

// What a block has in shared memory.
template <class T>
struct on_chip {
  T* val;
  std::uint16_t* col;
  std::uint32_t* slice;
  std::uint16_t* push;
  resident_task* task;
  std::int32_t* row;
  T *p, *q[2], *r, *minv, *d;
};

template <class Piece>
__device__ Piece* carve(char*& free, int count) {
  auto* piece = reinterpret_cast<Piece*>(free);
  free += (static_cast<std::size_t>(count) * sizeof(Piece) + 15) / 16 * 16;
  return piece;
}

template <class T, bool Cluster, bool Diagonal>
__device__ on_chip<T> carve_all(const resident_strides& stride, char* free) {
  on_chip<T> c{};
  c.val = carve<T>(free, stride.entries);
  c.col = carve<std::uint16_t>(free, stride.entries);
  c.slice = carve<std::uint32_t>(free, stride.slices + 1);
  c.p = carve<T>(free, stride.slots);
  c.q[0] = carve<T>(free, stride.slots);
  c.q[1] = carve<T>(free, stride.slots);
  c.r = carve<T>(free, stride.slots);
  if constexpr (Diagonal) c.minv = carve<T>(free, stride.slots);
  c.d = carve<T>(free, stride.own);
  if constexpr (Cluster) {
    c.push = carve<std::uint16_t>(free, stride.pushes);
    c.task = carve<resident_task>(free, stride.tasks);
  } else {
    c.row = carve<std::int32_t>(free, stride.slots);
  }
  return c;
}

// From the products that a lane keeps to one a lane: lane l gets column l % 4 summed over its four lanes (over
// none where four or more lanes share a row and keep one product each).
template <int Lanes>
__device__ double one_of_four(const double (&v)[4]) {
  if constexpr (Lanes >= 4) return v[0];
  const bool odd = threadIdx.x & 1, high = threadIdx.x & 2;
  double a = v[0], b = v[1];  // two lanes a row: {pq, qMq} in the even, {rMq, rr} in the odd ones
  if constexpr (Lanes == 1) {
    a = (odd ? v[2] : v[0]) + __shfl_xor_sync(all_lanes, odd ? v[0] : v[2], 1);
    b = (odd ? v[3] : v[1]) + __shfl_xor_sync(all_lanes, odd ? v[1] : v[3], 1);
  }
  return (high ? b : a) + __shfl_xor_sync(all_lanes, high ? a : b, 2);
}

// What every thread of the block learns at the end of an iteration's exchange.
struct decision {
  double alpha, beta, rr;
  solver_event event;
};

// d += alpha p on the own rows; r -= alpha q and p = M r + beta p there and on the halo.
template <class T, bool Diagonal>
__device__ void update(const on_chip<T>& c, const resident_block& block, const T* q, T alpha, T beta) {
  for (int s = static_cast<int>(threadIdx.x); s < block.slots; s += static_cast<int>(blockDim.x)) {
    const T p = c.p[s], r = c.r[s] - alpha * q[s];
    T z = r;
    if constexpr (Diagonal) z = c.minv[s] * r;
    if (s < block.own) c.d[s] += alpha * p;
    c.r[s] = r;
    c.p[s] = z + beta * p;
  }
}

// q = A p on the own rows. Returns, in lanes 0 to width - 1, the warp's share of the sums. Where several lanes
// share a row, lane j keeps product number j.
template <class T, int Lanes, bool Cluster, bool Diagonal>
__device__ double multiply(const on_chip<T>& c, const resident_block& block, T* q, T* q_out) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int part = lane % Lanes;
  double product[4] = {}, fifth = 0;
  for (int s = warp; s < block.slices; s += warps) {
    const unsigned start = c.slice[s], count = c.slice[s + 1] - start;
    T sum = lane_product(c.val + start * 32 + lane, c.col + start * 32 + lane, c.p, count);
#pragma unroll
    for (int d = 1; d < Lanes; d *= 2) sum += __shfl_xor_sync(all_lanes, sum, d);
    const int own = s * (32 / Lanes) + lane / Lanes;
    if (own >= block.own) continue;
    if (part == 0) {
      q[own] = sum;
      if constexpr (!Cluster) q_out[c.row[own]] = sum;
    }
    const double qi = sum, pi = c.p[own], ri = c.r[own];
    double mq = qi, mr = ri;
    if constexpr (Diagonal) {
      mq = c.minv[own] * qi;
      mr = c.minv[own] * ri;
      if (part == 0) fifth += ri * mr;
    }
    if constexpr (Lanes <= 2) {
      product[0] += Lanes == 2 && part == 1 ? ri * mq : pi * qi;
      product[1] += Lanes == 2 && part == 1 ? ri * ri : qi * mq;
      if constexpr (Lanes == 1) {
        product[2] += ri * mq;
        product[3] += ri * ri;
      }
    } else {
      const double a = part == 0 ? pi : part == 2 ? qi : ri;
      const double b = part == 0 ? qi : part == 3 ? ri : mq;
      if (part < 4) product[0] += a * b;
    }
  }
  double mine = sum_across<(Lanes < 4 ? 4 : Lanes)>(one_of_four<Lanes>(product));
  if constexpr (Diagonal) {
    fifth = sum_across<1>(fifth);
    if (lane >= 4) mine = lane == 4 ? fifth : 0.0;
  }
  return mine;
}

template <class T, int Lanes, bool Cluster, bool Diagonal>
__global__ void __launch_bounds__(512) resident_cg(const __grid_constant__ parameters<T> in) {
  constexpr int width = sum_width<Diagonal>;
  extern __shared__ __align__(16) char memory[];
  __shared__ double warp_sums[16 * width];
  __shared__ double block_sums[2][max_cluster * width];
  __shared__ std::uint64_t arrivals[2];
  __shared__ decision decided;

  const int me = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int warp = thread / 32, lane = thread % 32, warps = threads / 32;
  const resident_block block = in.block[me];
  const on_chip<T> c = carve_all<T, Cluster, Diagonal>(in.stride, memory);
  const std::int32_t* row = in.row + std::int64_t{me} * in.stride.slots;
  const unsigned bytes_coming =
      static_cast<unsigned>((block.slots - block.own) * sizeof(T) + in.blocks * width * sizeof(double));

  bring_in(c.val, in.val + std::int64_t{me} * in.stride.entries, in.stride.entries);
  bring_in(c.col, in.col + std::int64_t{me} * in.stride.entries, in.stride.entries);
  bring_in(c.slice, in.slice + std::int64_t{me} * (in.stride.slices + 1), in.stride.slices + 1);
  if constexpr (Cluster) {
    bring_in(c.push, in.push + std::int64_t{me} * in.stride.pushes, in.stride.pushes);
    bring_in(c.task, in.task + std::int64_t{me} * in.stride.tasks, in.stride.tasks);
  } else {
    bring_in(c.row, row, in.stride.slots);
  }
  for (int s = thread; s < block.slots; s += threads) {
    const T r = in.r[row[s]];
    T z = r;
    if constexpr (Diagonal) {
      c.minv[s] = in.minv[row[s]];
      z = c.minv[s] * r;
    }
    c.r[s] = r;
    c.p[s] = z;
    if (s < block.own) c.d[s] = T{};
  }
  if constexpr (Cluster) {
    if (thread == 0)
      for (std::uint64_t& arrival : arrivals) {
        mbarrier_init(&arrival, 1);
        mbarrier_arrive_expect_tx(&arrival, bytes_coming);
      }
    mbarrier_init_fence();
    __syncthreads();
    cluster_barrier();  // nobody writes here before this block has begun
  } else {
    __syncthreads();
  }

  for (std::int64_t iteration = 0;; ++iteration) {
    const int turn = static_cast<int>(iteration & 1);
    T* q = turn == 0 ? c.q[0] : c.q[1];
    const bool looks = (iteration + 1) % mailbox_interval == 0;  // at the host's wish to stop
    T* q_out = in.q_out + turn * in.rows;
    double* sum_out = in.sum_out + turn * in.blocks * width;

    const double mine = multiply<T, Lanes, Cluster, Diagonal>(c, block, q, q_out);
    if (lane < width) warp_sums[warp * width + lane] = mine;
    __syncthreads();

    // The block's sums go to everybody, everybody's sums and the halo come here. A negative r'r from block 0 is
    // the host's wish to stop.
    if (warp == 0) {
      double sum = sum_table<width, 4>(warps, [&](int i) { return warp_sums[i]; });
      if (looks && me == 0 && lane % width == 3 && *static_cast<volatile std::int32_t*>(&in.box->stop) != 0)
        sum = -sum - 2.3e-308;  // below zero also where r is zero
      if constexpr (Cluster) {
        for (int i = lane; i < in.blocks * width; i += 32)  // lane % width stays: 32 is a multiple of width
          cluster_store_async(cluster_address(&block_sums[turn][me * width + lane % width], i / width), sum,
                              cluster_address(&arrivals[turn], i / width));
      } else {
        if (lane < width) sum_out[me * width + lane] = sum;
        __syncwarp();
        if (lane == 0)
          grid_barrier(in.counter, static_cast<unsigned>(in.blocks),
                       in.barriers + static_cast<unsigned>(iteration) + 1);
      }
    }
    if constexpr (Cluster) {
      send_halo(c.task, block.tasks, c.push, q, q, &arrivals[turn]);  // warp 0, which has the sums, begins last
      mbarrier_wait_cluster(&arrivals[turn], static_cast<unsigned>(iteration >> 1) & 1);
    } else {
      __syncthreads();
      for (int s = block.own + thread; s < block.slots; s += threads) q[s] = __ldcg(q_out + c.row[s]);
    }
    if (warp == 0) {
      const auto table = [&](int i) { return Cluster ? block_sums[turn][i] : __ldcg(sum_out + i); };
      const double column = sum_table < width, Cluster ? 4 : 17 > (in.blocks, table);  // 17: 132 blocks, 4 sums
      cg_dots dots;
      dots.pq = __shfl_sync(all_lanes, column, 0);
      dots.rmq = __shfl_sync(all_lanes, column, 1);
      dots.qmq = __shfl_sync(all_lanes, column, 2);
      dots.rr = __shfl_sync(all_lanes, column, 3);
      dots.rmr = Diagonal ? __shfl_sync(all_lanes, column, 4) : dots.rr;
      bool wish = false;
      if (looks) {
        const double first = table(3);
        wish = first < 0;
        if (wish) dots.rr -= 2 * first;
        if (!Diagonal) dots.rmr = dots.rr;
      }
      cg_step step = cg_advance(dots, in.rule, iteration);
      if (wish && step.event == solver_event::running) step.event = solver_event::interrupted;
      if (lane == 0) decided = {step.alpha, step.beta, dots.rr, step.event};
    }
    __syncthreads();
    const decision now = decided;
    if (thread == threads - 1) {
      if constexpr (Cluster) mbarrier_arrive_expect_tx(&arrivals[turn], bytes_coming);
      if (me == 0) {
        publish_step(*in.box, iteration, now.alpha, now.beta);
        publish_to_host(*in.box, iteration, now.rr, now.event, looks);
      }
    }
    if (now.event != solver_event::running) break;
    update<T, Diagonal>(c, block, q, static_cast<T>(now.alpha), static_cast<T>(now.beta));
    __syncthreads();
  }

  for (int s = thread; s < block.own; s += threads) {
    in.r[row[s]] = c.r[s];
    in.d[row[s]] = c.d[s];
  }
  if constexpr (Cluster) cluster_barrier();  // nobody leaves while others may still write here
}

}  // namespace vouch::resident

namespace vouch {
namespace {

using namespace resident;

template <class T>
using kernel = void (*)(const parameters<T>);

template <class T, int Lanes>
kernel<T> pick(bool cluster, bool diagonal) {
  if (cluster) return diagonal ? resident_cg<T, Lanes, true, true> : resident_cg<T, Lanes, true, false>;
  return diagonal ? resident_cg<T, Lanes, false, true> : resident_cg<T, Lanes, false, false>;
}

template <class T>
kernel<T> pick(const resident_shape& shape, bool diagonal) {
  switch (shape.lanes) {
    case 1:
      return pick<T, 1>(shape.cluster, diagonal);
    case 2:
      return pick<T, 2>(shape.cluster, diagonal);
    case 4:
      return pick<T, 4>(shape.cluster, diagonal);
    default:
      return pick<T, 8>(shape.cluster, diagonal);
  }
}

template <class T>
bool can_run(const device& dev, const resident_plan<T>& plan, bool diagonal) {
  return fits(dev, reinterpret_cast<const void*>(pick<T>(plan.shape, diagonal)), plan.shape,
              plan.shared_bytes(diagonal));
}

template <class T>
class resident_engine final : public inner_solver<T> {
 public:
  resident_engine(const device& dev, const resident_plan<T>& plan, const T* minv)
      : dev_(dev),
        shape_(launch_shape_of(plan.shape, plan.shared_bytes(minv != nullptr))),
        kernel_(pick<T>(plan.shape, minv != nullptr)),
        cluster_(plan.shape.cluster),
        placed_(dev, plan),
        q_out_(dev, cluster_ ? 0 : 2 * plan.rows),
        sum_out_(dev, cluster_ ? 0 : 2 * plan.shape.blocks * 8),
        counter_(array<unsigned>::zeros(dev, 1)),
        box_(make_pinned_histories()) {
    static_cast<placed_rows<T>&>(in_) = placed_.rows();
    in_.minv = minv;
    in_.q_out = q_out_.data();
    in_.sum_out = sum_out_.data();
    in_.counter = counter_.data();
    in_.rows = plan.rows;
    in_.box = box_.get();
  }

  std::string name() const override {
    return (cluster_ ? "resident in a cluster of " : "resident in ") + std::to_string(in_.blocks) + " blocks";
  }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    in_.r = r;
    in_.d = d;
    in_.rule = rule;
    box_->progress = 0;
    box_->stop = 0;
    launch(dev_, "resident_cg", shape_, kernel_, in_);
    follow(dev_, *box_, log, mail::residuals_and_steps);
    in_.barriers += static_cast<unsigned>(box_->iterations) + 1;
    return {static_cast<solver_event>(box_->event), box_->iterations, box_->last_squared};
  }

 private:
  device dev_;
  launch_shape shape_;
  kernel<T> kernel_;
  bool cluster_;
  placed_plan<T> placed_;
  array<T> q_out_;
  array<double> sum_out_;
  array<unsigned> counter_;
  std::shared_ptr<pinned_history> box_;
  parameters<T> in_{};
};

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> cg_resident_cuda(const device& dev, csr_view<const T> A, const T* minv,
                                                  const resident_shape* wanted) {
  constexpr std::int64_t most_rows = 250000;  // 16-bit slots and 132 x 227 KB end well before
  if (A.rows == 0 || A.rows > most_rows || A.nonzeros > 20 * most_rows) return nullptr;
  const csr<T> on_host = copy(device::cpu(1), dev, A);
  std::vector<resident_shape> shapes;
  if (wanted != nullptr) {
    shapes.push_back(*wanted);
  } else {
    shapes.push_back(choose_resident_shape(A.rows, A.nonzeros, dev.processors()));
    if (shapes[0].cluster) shapes.push_back(grid_resident_shape(A.rows, A.nonzeros, dev.processors()));
  }
  for (const resident_shape& shape : shapes)
    if (const auto plan = plan_resident<T>(on_host.all(), shape); plan && can_run(dev, *plan, minv != nullptr))
      return std::make_unique<resident_engine<T>>(dev, *plan, minv);
  return nullptr;
}

template std::unique_ptr<inner_solver<float>> cg_resident_cuda(const device&, csr_view<const float>,
                                                               const float*, const resident_shape*);
template std::unique_ptr<inner_solver<double>> cg_resident_cuda(const device&, csr_view<const double>,
                                                                const double*, const resident_shape*);

}  // namespace vouch
