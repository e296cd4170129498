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
#include <vouch/solve/loop/pinned_history.cuh>

namespace vouch::resident {

inline constexpr int max_cluster = 16;
inline constexpr unsigned all_lanes = ~0u;

// Sums travel as rows of this many doubles: {pq, rMq, qMq, rr} and with a diagonal M {rMr, 0, 0, 0} besides.
template <bool Diagonal>
constexpr int sum_width = Diagonal ? 8 : 4;

template <class T>
struct parameters {
  resident_strides stride;
  int blocks;
  const resident_block* block;
  const T* val;
  const std::uint16_t* col;
  const std::uint32_t* slice;
  const std::int32_t* row;
  const std::uint16_t* push;
  const resident_task* task;
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

template <class Piece>
__device__ void bring_in(Piece* to, const Piece* from, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) to[i] = from[i];
}

// Sums over lanes that differ in a bit of [From, 32); every lane gets the sum.
template <int From>
__device__ double sum_across(double v) {
#pragma unroll
  for (int d = From; d < 32; d *= 2) v += __shfl_xor_sync(all_lanes, v, d);
  return v;
}

// Column sums of a table of `count` rows of Width doubles, by one warp: lane l gets column l % Width. AtOnce
// loads are under way before the first is added.
template <int Width, int AtOnce, class Load>
__device__ double sum_table(int count, Load load) {
  double sum = 0;
  for (int first = static_cast<int>(threadIdx.x % 32); first < count * Width; first += 32 * AtOnce) {
    double value[AtOnce];
#pragma unroll
    for (int m = 0; m < AtOnce; ++m) value[m] = first + 32 * m < count * Width ? load(first + 32 * m) : 0.0;
#pragma unroll
    for (int m = 0; m < AtOnce; ++m) sum += value[m];
  }
  return sum_across<Width>(sum);
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

// The dot product of a row's share of one lane: `count` entries, 32 apart.
template <class T>
__device__ T lane_product(const T* val, const std::uint16_t* col, const T* p, unsigned count) {
  T s0{}, s1{}, s2{}, s3{};
  for (; count >= 4; count -= 4, val += 128, col += 128) {
    const T v0 = val[0], v1 = val[32], v2 = val[64], v3 = val[96];
    const T p0 = p[col[0]], p1 = p[col[32]], p2 = p[col[64]], p3 = p[col[96]];
    s0 += v0 * p0;
    s1 += v1 * p1;
    s2 += v2 * p2;
    s3 += v3 * p3;
  }
  if (count > 0) s0 += val[0] * p[col[0]];
  if (count > 1) s1 += val[32] * p[col[32]];
  if (count > 2) s2 += val[64] * p[col[64]];
  return (s0 + s1) + (s2 + s3);
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

// Cluster: the own q to every block that holds it as halo; a warp sends up to 32 neighbours at once.
template <class T>
__device__ void send_halo(const on_chip<T>& c, const resident_block& block, T* q, std::uint64_t* arrival) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warps = static_cast<int>(blockDim.x) / 32;
  // The last warps first: warp 0 has the sums to see to.
  for (int t = warps - 1 - static_cast<int>(threadIdx.x) / 32; t < block.tasks; t += warps) {
    const resident_task task = c.task[t];
    if (lane < task.count)
      cluster_store_async(cluster_address(q + task.slot + lane, task.block), q[c.push[task.first + lane]],
                          cluster_address(arrival, task.block));
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
      send_halo(c, block, q, &arrivals[turn]);
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

// Conjugate gradients for small systems: sends the plan to the GPU and runs the kernel of cg_resident.cuh.

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
launch_shape shape_of(const resident_plan<T>& plan, bool diagonal) {
  const resident_shape& shape = plan.shape;
  return {shape.blocks, static_cast<unsigned>(shape.threads), plan.shared_bytes(diagonal),
          shape.cluster ? static_cast<unsigned>(shape.blocks) : 1, !shape.cluster};
}

// Whether the GPU can hold all blocks at once; sets the kernel up for its shared memory.
template <class T>
bool fits(const device& dev, const resident_plan<T>& plan, bool diagonal) {
  const auto run = reinterpret_cast<const void*>(pick<T>(plan.shape, diagonal));
  cudaFuncAttributes facts{};
  check(cudaFuncGetAttributes(&facts, run), "resident_cg");
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, dev.index()), "resident_cg");
  const std::size_t bytes = plan.shared_bytes(diagonal);
  if (bytes + facts.sharedSizeBytes > static_cast<std::size_t>(most)) return false;
  check(cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "resident_cg");
  if (!plan.shape.cluster) return true;
  if (!runs_sm90_code(dev)) return false;
  check(cudaFuncSetAttribute(run, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "resident_cg");
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(plan.shape.blocks);
  config.blockDim = static_cast<unsigned>(plan.shape.threads);
  config.dynamicSmemBytes = bytes;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {config.gridDim.x, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  return cudaOccupancyMaxActiveClusters(&clusters, run, &config) == cudaSuccess && clusters > 0;
}

template <class T>
class resident_engine final : public inner_solver<T> {
 public:
  resident_engine(const device& dev, const resident_plan<T>& plan, const T* minv)
      : dev_(dev),
        shape_(shape_of(plan, minv != nullptr)),
        kernel_(pick<T>(plan.shape, minv != nullptr)),
        cluster_(plan.shape.cluster),
        block_(send(plan.block)),
        val_(send(plan.val)),
        col_(send(plan.col)),
        slice_(send(plan.slice)),
        row_(send(plan.row)),
        push_(send(plan.push)),
        task_(send(plan.task)),
        q_out_(dev, cluster_ ? 0 : 2 * plan.rows),
        sum_out_(dev, cluster_ ? 0 : 2 * plan.shape.blocks * 8),
        counter_(array<unsigned>::zeros(dev, 1)),
        box_(make_pinned_histories()) {
    in_.stride = plan.stride;
    in_.blocks = plan.shape.blocks;
    in_.block = block_.data();
    in_.val = val_.data();
    in_.col = col_.data();
    in_.slice = slice_.data();
    in_.row = row_.data();
    in_.push = push_.data();
    in_.task = task_.data();
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
  template <class Piece>
  array<Piece> send(const std::vector<Piece>& pieces) {
    return array<Piece>::from(dev_, pieces);
  }

  device dev_;
  launch_shape shape_;
  kernel<T> kernel_;
  bool cluster_;
  array<resident_block> block_;
  array<T> val_;
  array<std::uint16_t> col_;
  array<std::uint32_t> slice_;
  array<std::int32_t> row_;
  array<std::uint16_t> push_;
  array<resident_task> task_;
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
    if (const auto plan = plan_resident<T>(on_host.all(), shape); plan && fits(dev, *plan, minv != nullptr))
      return std::make_unique<resident_engine<T>>(dev, *plan, minv);
  return nullptr;
}

template std::unique_ptr<inner_solver<float>> cg_resident_cuda(const device&, csr_view<const float>,
                                                               const float*, const resident_shape*);
template std::unique_ptr<inner_solver<double>> cg_resident_cuda(const device&, csr_view<const double>,
                                                                const double*, const resident_shape*);

}  // namespace vouch
