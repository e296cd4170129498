// Conjugate gradients for small systems: one kernel runs the whole solve with everything on chip.
//
// Mapping   A block owns some rows (cg_resident_plan.hpp): their entries, and all vectors of its own and halo
//           rows, in shared memory. `lanes` threads share a row. r and p of halo rows are updated by every
//           block that holds them, from the same numbers in the same order, so only q = A p and the inner
//           products travel, together, once an iteration.
// Cluster   up to 16 blocks write into each other's shared memory and meet at the cluster's barrier.
// Grid      all multiprocessors; q and the sums go through L2 as 16-byte words {value, iteration}: a reader
// spins
//           on the word it needs, so there is no barrier and no fence. Two buffers in turn are enough: nobody
//           writes number k+1 before all sums of k have come, and a block sends its sums of k after it has read
//           every q of k-1.
// Bound     by latency: barrier or L2 round trip, two reductions, two block barriers.
// Bits      fixed orders throughout; the same on every run.
#include <cuda_runtime.h>

#include <string>
#include <vector>

#include <vouch/core/check.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/solve/cg_engine.hpp>
#include <vouch/solve/cg_resident_plan.hpp>
#include <vouch/solve/device_history.cuh>

namespace vouch {
namespace {

constexpr int max_cluster = 16;
constexpr unsigned all_lanes = ~0u;

// Sums travel as rows of this many doubles: {pq, qMq, rMq, rr} and with a diagonal M {rMr, 0, 0, 0} besides.
template <bool Diagonal>
constexpr int sum_width = Diagonal ? 8 : 4;

struct tagged {
  double value;
  std::uint64_t tag;
};

__device__ void store_tagged(tagged* to, double value, std::uint64_t tag) {
  asm volatile("{ .reg .b128 t; mov.b128 t, {%1, %2}; st.relaxed.gpu.global.b128 [%0], t; }" ::"l"(to),
               "l"(__double_as_longlong(value)), "l"(tag)
               : "memory");
}

__device__ double wait_tagged(const tagged* from, std::uint64_t tag) {
  long long bits;
  std::uint64_t seen;
  do {
    asm volatile("{ .reg .b128 t; ld.relaxed.gpu.global.b128 t, [%2]; mov.b128 {%0, %1}, t; }"
                 : "=l"(bits), "=l"(seen)
                 : "l"(from)
                 : "memory");
  } while (seen != tag);
  return __longlong_as_double(bits);
}

__device__ unsigned cluster_address(const void* shared, unsigned rank) {
  unsigned to;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(to)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "r"(rank));
  return to;
}

__device__ void store_cluster(unsigned to, double value) {
  asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(to), "d"(value) : "memory");
}
__device__ void store_cluster(unsigned to, float value) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(to), "f"(value) : "memory");
}

__device__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

template <class T>
struct parameters {
  resident_strides stride;
  int blocks;
  const resident_block* block;
  const T* val;
  const std::uint16_t* col;
  const std::uint32_t* slice;
  const std::int32_t* row;
  const std::uint32_t* push_start;
  const std::uint32_t* push;
  const T* minv;  // by matrix row, or nullptr
  T* r;           // by matrix row
  T* d;
  tagged* q_out;     // grid: 2 x rows
  tagged* sum_out;   // grid: 2 x blocks x sum_width
  tagged* wish_out;  // grid: 2
  std::int64_t rows;
  cg_rule rule;
  std::uint64_t epoch;  // tags of this run are above it
  device_mailbox* box;
};

// What a block has in shared memory.
template <class T>
struct on_chip {
  T* val;
  std::uint16_t* col;
  std::uint32_t* slice;
  std::uint32_t* push_start;
  std::uint32_t* push;
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
    c.push_start = carve<std::uint32_t>(free, stride.own + 1);
    c.push = carve<std::uint32_t>(free, stride.pushes);
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

// Column sums of a table of `count` rows of Width doubles, by one warp: lane l gets column l % Width.
template <int Width, class Load>
__device__ double sum_table(int count, Load load) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  double sum = 0;
  for (int i = lane; i < count * Width; i += 32) sum += load(i);
  return sum_across<Width>(sum);
}

// What every thread of the block learns at the end of an iteration's exchange.
struct decision {
  double alpha, beta;
  cg_event event;
};

template <class T, int Lanes, bool Cluster, bool Diagonal>
__global__ void resident_cg(const __grid_constant__ parameters<T> in) {
  constexpr int width = sum_width<Diagonal>;
  extern __shared__ __align__(16) char memory[];
  __shared__ double warp_sums[32 * width];
  __shared__ double block_sums[2][max_cluster * width];
  __shared__ decision decided;
  __shared__ float stop_wish;

  const int me = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int warp = thread / 32, lane = thread % 32, warps = threads / 32;
  const resident_block block = in.block[me];
  const on_chip<T> c = carve_all<T, Cluster, Diagonal>(in.stride, memory);
  const std::int32_t* row = in.row + std::int64_t{me} * in.stride.slots;

  bring_in(c.val, in.val + std::int64_t{me} * in.stride.entries, in.stride.entries);
  bring_in(c.col, in.col + std::int64_t{me} * in.stride.entries, in.stride.entries);
  bring_in(c.slice, in.slice + std::int64_t{me} * (in.stride.slices + 1), in.stride.slices + 1);
  if constexpr (Cluster) {
    bring_in(c.push_start, in.push_start + std::int64_t{me} * (in.stride.own + 1), in.stride.own + 1);
    bring_in(c.push, in.push + std::int64_t{me} * in.stride.pushes, in.stride.pushes);
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
  if (thread == 0) stop_wish = 0;
  if constexpr (Cluster)
    cluster_barrier();  // nobody writes here before this block has begun
  else
    __syncthreads();

  for (std::int64_t iteration = 0;; ++iteration) {
    const int turn = static_cast<int>(iteration & 1);
    T* q = turn == 0 ? c.q[0] : c.q[1];
    const bool looks = (iteration + 1) % mailbox_interval == 0;  // at the host's wish to stop
    const std::uint64_t tag = in.epoch + static_cast<std::uint64_t>(iteration) + 1;

    // q = A p on the own rows; lane j of a row's threads keeps product number j.
    double mine = 0;
    for (int s = warp; s < block.slices; s += warps) {
      T sum0{}, sum1{};
      unsigned k = c.slice[s] * 32 + lane;
      const unsigned end = c.slice[s + 1] * 32;
      for (; k + 32 < end; k += 64) {
        sum0 += c.val[k] * c.p[c.col[k]];
        sum1 += c.val[k + 32] * c.p[c.col[k + 32]];
      }
      if (k < end) sum0 += c.val[k] * c.p[c.col[k]];
      T sum = sum0 + sum1;
#pragma unroll
      for (int d = 1; d < Lanes; d *= 2) sum += __shfl_xor_sync(all_lanes, sum, d);
      const int own = s * (32 / Lanes) + lane / Lanes, j = lane % Lanes;
      if (own < block.own) {
        const double qi = sum, pi = c.p[own], ri = c.r[own];
        double mq = qi, mr = ri;
        if constexpr (Diagonal) {
          mq = c.minv[own] * qi;
          mr = c.minv[own] * ri;
        }
        if (j == 0) mine += pi * qi;
        if (j == 1) mine += qi * mq;
        if (j == 2) mine += ri * mq;
        if (j == 3) mine += ri * ri;
        if (Diagonal && j == 4) mine += ri * mr;
        if constexpr (Cluster) {
          if (j == 0) q[own] = sum;
          for (unsigned k2 = c.push_start[own] + j; k2 < c.push_start[own + 1]; k2 += Lanes)
            store_cluster(cluster_address(q + (c.push[k2] & 0xffff), c.push[k2] >> 16), sum);
        } else if (j == 0) {
          q[own] = sum;
          store_tagged(in.q_out + turn * in.rows + c.row[own], static_cast<double>(sum), tag);
        }
      }
    }
    mine = sum_across<Lanes>(mine);
    if (lane < width) warp_sums[warp * width + lane] = mine;
    __syncthreads();

    // The block's sums go to everybody, everybody's sums come here.
    if (warp == 0) {
      const double sum = sum_table<width>(warps, [&](int i) { return warp_sums[i]; });
      if constexpr (Cluster) {
        for (int i = lane; i < in.blocks * width; i += 32)  // lane % width stays: 32 is a multiple of width
          store_cluster(cluster_address(&block_sums[turn][me * width + lane % width], i / width), sum);
      } else if (lane < width) {
        store_tagged(in.sum_out + (std::int64_t{turn} * in.blocks + me) * width + lane, sum, tag);
      }
      if (looks && me == 0) {
        const int wish = *static_cast<volatile std::int32_t*>(&in.box->stop);
        if constexpr (Cluster) {
          if (lane < in.blocks) store_cluster(cluster_address(&stop_wish, lane), static_cast<float>(wish));
        } else if (lane == 0) {
          store_tagged(in.wish_out + turn, wish, tag);
        }
      }
    }
    if constexpr (Cluster) cluster_barrier();

    if (warp == 0) {
      double sum;
      if constexpr (Cluster)
        sum = sum_table<width>(in.blocks, [&](int i) { return block_sums[turn][i]; });
      else
        sum = sum_table<width>(in.blocks, [&](int i) {
          return wait_tagged(in.sum_out + std::int64_t{turn} * in.blocks * width + i, tag);
        });
      cg_dots dots;
      dots.pq = __shfl_sync(all_lanes, sum, 0);
      dots.qmq = __shfl_sync(all_lanes, sum, 1);
      dots.rmq = __shfl_sync(all_lanes, sum, 2);
      dots.rr = __shfl_sync(all_lanes, sum, 3);
      dots.rmr = Diagonal ? __shfl_sync(all_lanes, sum, 4) : dots.rr;
      cg_step step = cg_advance(dots, in.rule, iteration);
      bool wish = false;
      if (looks) wish = Cluster ? stop_wish != 0 : wait_tagged(in.wish_out + turn, tag) != 0;
      if (wish && step.event == cg_event::go_on) step.event = cg_event::interrupted;
      if (lane == 0) {
        decided = {step.alpha, step.beta, step.event};
        if (me == 0) {
          const std::int64_t slot = history_slot(iteration);
          if (slot >= 0) in.box->residual_squared[slot] = dots.rr;
          if (looks) {
            __threadfence_system();
            *static_cast<volatile std::int64_t*>(&in.box->progress) = iteration + 1;
          }
          if (step.event != cg_event::go_on) {
            in.box->event = static_cast<std::int32_t>(step.event);
            in.box->iterations = iteration;
            in.box->last_squared = dots.rr;
          }
        }
      }
    }
    __syncthreads();
    const decision now = decided;
    if (now.event != cg_event::go_on) break;

    const T alpha = static_cast<T>(now.alpha), beta = static_cast<T>(now.beta);
    for (int s = thread; s < block.slots; s += threads) {
      T qs;
      if (Cluster || s < block.own)
        qs = q[s];
      else
        qs = static_cast<T>(wait_tagged(in.q_out + turn * in.rows + c.row[s], tag));
      if (s < block.own) c.d[s] += alpha * c.p[s];
      const T r = c.r[s] - alpha * qs;
      T z = r;
      if constexpr (Diagonal) z = c.minv[s] * r;
      c.r[s] = r;
      c.p[s] = z + beta * c.p[s];
    }
    __syncthreads();
  }

  for (int s = thread; s < block.own; s += threads) {
    in.r[row[s]] = c.r[s];
    in.d[row[s]] = c.d[s];
  }
  if constexpr (Cluster) cluster_barrier();  // nobody leaves while others may still write here
}

template <class T>
using kernel = void (*)(const parameters<T>);

template <class T, int Lanes>
kernel<T> pick(bool cluster, bool diagonal) {
  if (cluster) return diagonal ? resident_cg<T, Lanes, true, true> : resident_cg<T, Lanes, true, false>;
  return diagonal ? resident_cg<T, Lanes, false, true> : resident_cg<T, Lanes, false, false>;
}

template <class T>
kernel<T> pick(const resident_shape& shape, bool diagonal) {
  return shape.lanes == 16 ? pick<T, 16>(shape.cluster, diagonal) : pick<T, 8>(shape.cluster, diagonal);
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
class resident_engine final : public cg_engine<T> {
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
        push_start_(send(plan.push_start)),
        push_(send(plan.push)),
        tagged_(array<tagged>::zeros(dev, cluster_ ? 0 : 2 * (plan.rows + plan.shape.blocks * 8 + 1))),
        box_(make_mailbox()) {
    in_ = {plan.stride,   plan.shape.blocks, block_.data(),      val_.data(),  col_.data(),
           slice_.data(), row_.data(),       push_start_.data(), push_.data(), minv};
    in_.q_out = tagged_.data();
    in_.sum_out = in_.q_out + 2 * plan.rows;
    in_.wish_out = in_.sum_out + 2 * plan.shape.blocks * 8;
    in_.rows = plan.rows;
    in_.box = box_.get();
  }

  std::string name() const override {
    return (cluster_ ? "resident in a cluster of " : "resident in ") + std::to_string(in_.blocks) + " blocks";
  }

  cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log& log) override {
    in_.r = r;
    in_.d = d;
    in_.rule = rule;
    box_->progress = 0;
    box_->stop = 0;
    launch(dev_, "resident_cg", shape_, kernel_, in_);
    follow(dev_, *box_, log);
    in_.epoch += static_cast<std::uint64_t>(box_->iterations) + 1;
    return {static_cast<cg_event>(box_->event), box_->iterations, box_->last_squared};
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
  array<std::uint32_t> push_start_, push_;
  array<tagged> tagged_;
  std::shared_ptr<device_mailbox> box_;
  parameters<T> in_{};
};

}  // namespace

template <real T>
std::unique_ptr<cg_engine<T>> cg_resident_cuda(const device& dev, csr_view<const T> A, const T* minv,
                                               const resident_shape* wanted) {
  constexpr std::int64_t most_rows = 250000;  // 16-bit slots and 132 x 227 KB end well before
  if (A.rows == 0 || A.rows > most_rows || A.nonzeros > 20 * most_rows) return nullptr;
  const csr<T> on_host = copy(device::cpu(1), dev, A);
  std::vector<resident_shape> shapes;
  if (wanted != nullptr) {
    shapes.push_back(*wanted);
  } else {
    shapes.push_back(choose_resident_shape(A.rows, A.nonzeros, dev.processors()));
    if (shapes[0].cluster) shapes.push_back({false, dev.processors(), shapes[0].threads, shapes[0].lanes});
  }
  for (const resident_shape& shape : shapes)
    if (const auto plan = plan_resident<T>(on_host.all(), shape); plan && fits(dev, *plan, minv != nullptr))
      return std::make_unique<resident_engine<T>>(dev, *plan, minv);
  return nullptr;
}

template std::unique_ptr<cg_engine<float>> cg_resident_cuda(const device&, csr_view<const float>, const float*,
                                                            const resident_shape*);
template std::unique_ptr<cg_engine<double>> cg_resident_cuda(const device&, csr_view<const double>,
                                                             const double*, const resident_shape*);

}  // namespace vouch
