// Conjugate gradients for large systems: a CUDA graph that loops by itself until the scalars say so.
//
// Fused     two kernels an iteration: the product with all inner products in its epilogue, then the three
// updates;
//           the matrix once and 9 n values (the solution moves every other time). The last block of the first
//           kernel adds the blocks' sums in their order and takes the step.
// General   any operator and preconditioner between four small kernels.
// Bound     by memory. Bits fixed by the grid, which is fixed by the matrix and the GPU.
#include <string>

#include <vouch/core/launch.cuh>
#include <vouch/core/while_graph.cuh>
#include <vouch/solve/cg_engine.hpp>
#include <vouch/solve/device_history.cuh>
#include <vouch/sparse/spmv_kernels.cuh>

namespace vouch {
namespace {

constexpr unsigned block = 256;
static_assert(block == spmv_threads);

// Everything the kernels of one solve share, in GPU memory.
struct control {
  cg_scalars s;
  cg_solution_update solution;
  cg_rule rule;
  unsigned ticket;
};

// Sums of Count products over all threads of the grid.
template <int Count>
struct sums {
  double value[Count] = {};
};

template <int Count>
__device__ sums<Count> block_sum(const sums<Count>& mine) {
  __shared__ double warp_sums[Count][block / 32];
  sums<Count> all;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < Count; ++k) {
    double v = mine.value[k];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (lane == 0) warp_sums[k][warp] = v;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < Count; ++k)
    for (unsigned w = 0; w < block / 32; ++w) all.value[k] += warp_sums[k][w];
  __syncthreads();
  return all;
}

// Each block leaves its sums in parts; the last block to come adds them in the order of the blocks and one
// thread of it runs then(totals). Which block is last changes from run to run, what it computes does not.
template <int Count, class Then>
__device__ void grid_sum(const sums<Count>& mine, double* parts, unsigned* ticket, Then then) {
  __shared__ bool last;
  const sums<Count> here = block_sum(mine);
  if (threadIdx.x == 0) {
    for (int k = 0; k < Count; ++k) parts[blockIdx.x * Count + k] = here.value[k];
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sums<Count> all;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += block)
    for (int k = 0; k < Count; ++k) all.value[k] += __ldcg(parts + b * Count + k);
  all = block_sum(all);
  if (threadIdx.x == 0) then(all);
}

// One thread: tells the host about iteration `iteration`, hears its wish to stop, ends the loop at an event.
__device__ void report(control& c, device_mailbox& box, std::int64_t iteration, double rr,
                       cudaGraphConditionalHandle loop) {
  if (c.s.event == cg_event::go_on && asked_to_stop(box, iteration)) c.s.event = cg_event::interrupted;
  tell_host(box, iteration, rr, c.s.event);
  if (c.s.event != cg_event::go_on && loop != 0) cudaGraphSetConditional(loop, 0);
}

// Epilogue of q = A p: stores q and takes the five products of its row, then the step.
template <class T, bool Diagonal>
struct fused_step {
  static constexpr int count = Diagonal ? 5 : 4;
  using state = sums<count>;
  const T* p;
  const T* r;
  const T* minv;
  T* q;
  double* parts;
  control* c;
  device_mailbox* box;
  cudaGraphConditionalHandle loop;

  struct operands {
    T p, r, minv;
  };
  __device__ operands fetch(std::int64_t i) const { return {p[i], r[i], Diagonal ? minv[i] : T{}}; }

  __device__ void row(state& s, std::int64_t i, T sum, const operands& o) const {
    q[i] = sum;
    const double qi = sum, pi = o.p, ri = o.r;
    double mq = qi;
    if constexpr (Diagonal) {
      const double m = o.minv;
      mq = m * qi;
      s.value[4] += ri * (m * ri);
    }
    s.value[0] += pi * qi;
    s.value[1] += qi * mq;
    s.value[2] += ri * mq;
    s.value[3] += ri * ri;
  }

  __device__ void finish(const state& s) const {
    grid_sum(s, parts, &c->ticket, [&](const state& t) {
      if (c->s.event != cg_event::go_on) return;
      const cg_dots dots{t.value[0], t.value[1], t.value[2], Diagonal ? t.value[count - 1] : t.value[3],
                         t.value[3]};
      const std::int64_t iteration = c->s.iteration++;
      const cg_step step = cg_advance(dots, c->rule, iteration);
      c->s.alpha = step.alpha;
      c->s.beta = step.beta;
      c->s.event = step.event;
      report(*c, *box, iteration, dots.rr, loop);
      if (c->s.event == cg_event::go_on) c->solution = cg_put_off(c->solution, step);
    });
  }
};

// The solution where it is its turn, r -= alpha q, p = M r + beta p; a thread takes 16 bytes of each at a time.
// Bound by memory: 7 n values and 5 n in turn.
template <class T, bool Diagonal>
__global__ void __launch_bounds__(block)
    fused_update(std::int64_t n, const control* c, const T* __restrict__ q, const T* __restrict__ minv,
                 T* __restrict__ p, T* __restrict__ r, T* __restrict__ d) {
  if (c->s.event != cg_event::go_on) return;
  constexpr int width = 16 / sizeof(T);
  struct alignas(16) chunk {
    T v[width];
  };
  const T alpha = static_cast<T>(c->s.alpha), beta = static_cast<T>(c->s.beta);
  const cg_solution_update solution = c->solution;
  const T along_p = static_cast<T>(solution.along_p), along_mr = static_cast<T>(solution.along_mr);
  const auto one = [&](T m, T qi, T& pi, T& ri, T& di) {
    di += along_p * pi + along_mr * (Diagonal ? m * ri : ri);
    ri -= alpha * qi;
    pi = (Diagonal ? m * ri : ri) + beta * pi;
  };
  const std::int64_t first = std::int64_t{blockIdx.x} * block + threadIdx.x,
                     stride = std::int64_t{gridDim.x} * block;
  for (std::int64_t k = first; k < n / width; k += stride) {
    const chunk qk = reinterpret_cast<const chunk*>(q)[k];
    chunk mk{};
    if constexpr (Diagonal) mk = reinterpret_cast<const chunk*>(minv)[k];
    chunk pk = reinterpret_cast<chunk*>(p)[k], rk = reinterpret_cast<chunk*>(r)[k], dk{};
    if (solution.now) dk = reinterpret_cast<chunk*>(d)[k];
#pragma unroll
    for (int v = 0; v < width; ++v) one(mk.v[v], qk.v[v], pk.v[v], rk.v[v], dk.v[v]);
    reinterpret_cast<chunk*>(p)[k] = pk;
    reinterpret_cast<chunk*>(r)[k] = rk;
    if (solution.now) reinterpret_cast<chunk*>(d)[k] = dk;
  }
  for (std::int64_t i = n / width * width + first; i < n; i += stride) {
    T di = d[i];
    one(Diagonal ? minv[i] : T{}, q[i], p[i], r[i], di);
    if (solution.now) d[i] = di;
  }
}

// After the loop: the step that d has not seen.
template <class T, bool Diagonal>
__global__ void __launch_bounds__(block)
    fused_settle(std::int64_t n, const control* c, const T* __restrict__ p, const T* __restrict__ r,
                 const T* __restrict__ minv, T* __restrict__ d) {
  const cg_solution_update owed = cg_settle(c->solution);
  if (!owed.now) return;
  const T along_p = static_cast<T>(owed.along_p), along_mr = static_cast<T>(owed.along_mr);
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block)
    d[i] += along_p * p[i] + along_mr * (Diagonal ? minv[i] * r[i] : r[i]);
}

template <class T, bool Diagonal>
__global__ void __launch_bounds__(block)
    fused_start(std::int64_t n, const T* __restrict__ r, const T* __restrict__ minv, T* __restrict__ p,
                T* __restrict__ d) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block) {
    p[i] = Diagonal ? minv[i] * r[i] : r[i];
    d[i] = T{};
  }
}

// The general loop's kernels; each thread takes every (grid)-th element.

template <class T>
__global__ void __launch_bounds__(block)
    general_step(std::int64_t n, const T* __restrict__ p, const T* __restrict__ q, double* parts, control* c,
                 device_mailbox* box, cudaGraphConditionalHandle loop) {
  sums<1> pq;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block)
    pq.value[0] += static_cast<double>(p[i]) * static_cast<double>(q[i]);
  grid_sum(pq, parts, &c->ticket, [&](const sums<1>& all) {
    if (c->s.event != cg_event::go_on) return;
    cg_take_step(c->s, all.value[0]);
    if (c->s.event != cg_event::go_on) report(*c, *box, c->s.iteration, c->s.rr, loop);
  });
}

template <class T>
__global__ void __launch_bounds__(block)
    general_update(std::int64_t n, const control* c, const T* __restrict__ p, const T* __restrict__ q,
                   T* __restrict__ r, T* __restrict__ d) {
  if (c->s.event != cg_event::go_on) return;
  const T alpha = static_cast<T>(c->s.alpha);
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block) {
    d[i] += alpha * p[i];
    r[i] -= alpha * q[i];
  }
}

template <class T>
__global__ void __launch_bounds__(block)
    general_direction(std::int64_t n, const T* __restrict__ r, const T* __restrict__ z, double* parts,
                      control* c, device_mailbox* box, cudaGraphConditionalHandle loop, bool first) {
  sums<2> products;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block) {
    const double ri = r[i];
    products.value[0] += ri * ri;
    products.value[1] += ri * static_cast<double>(z[i]);
  }
  grid_sum(products, parts, &c->ticket, [&](const sums<2>& all) {
    if (c->s.event != cg_event::go_on) return;
    cg_take_direction(c->s, all.value[0], all.value[1], c->rule, first ? 0 : c->s.iteration + 1);
    if (!first) report(*c, *box, c->s.iteration, c->s.rr, loop);
  });
}

template <class T>
__global__ void __launch_bounds__(block)
    general_turn(std::int64_t n, const control* c, const T* __restrict__ z, T* __restrict__ p, bool first) {
  const T beta = first ? T{} : static_cast<T>(c->s.beta);
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block)
    p[i] = first ? z[i] : z[i] + beta * p[i];
}

// What the two engines share: the control block, the mailbox, the graph.
template <class T>
class graph_engine : public cg_engine<T> {
 public:
  graph_engine(const device& dev, std::int64_t n, std::int64_t partial_blocks)
      : dev_(dev),
        n_(n),
        blocks_(std::max<std::int64_t>(
            1, std::min<std::int64_t>(ceil_div<std::int64_t>(n, 2 * block), 8 * dev.processors()))),
        p_(dev, n),
        q_(dev, n),
        parts_(dev, 5 * std::max(partial_blocks, blocks_)),
        control_(array<control>::zeros(dev, 1)),
        box_(make_mailbox()) {}

  cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log& log) override {
    if (r != r_ || d != d_) graph_.reset();
    r_ = r;
    d_ = d;
    control fresh{};
    fresh.rule = rule;
    copy_bytes(control_.data(), dev_, &fresh, device::cpu(1), sizeof fresh);
    box_->progress = 0;
    box_->stop = 0;
    if (start()) {
      loop();
      follow(dev_, *box_, log);
      settle();
    }
    return {static_cast<cg_event>(box_->event), box_->iterations, box_->last_squared};
  }

 protected:
  // Enqueues what comes before the loop; false where there is no loop to run.
  virtual bool start() = 0;
  // Enqueues what comes after the loop.
  virtual void settle() {}
  // Enqueues one turn.
  virtual void record(cudaGraphConditionalHandle loop) = 0;

  launch_shape shape() const { return {blocks_, block}; }

  device dev_;
  std::int64_t n_;
  std::int64_t blocks_;
  array<T> p_, q_;
  array<double> parts_;
  array<control> control_;
  std::shared_ptr<device_mailbox> box_;
  T* r_ = nullptr;
  T* d_ = nullptr;

 private:
  void loop() {
    if (loop_on_host()) {
      do record(0);
      while (control_.to_vector()[0].s.event == cg_event::go_on);
      return;
    }
    if (graph_ == nullptr)
      graph_ = std::make_unique<while_graph>(dev_, [&](cudaGraphConditionalHandle handle) { record(handle); });
    graph_->launch();
  }

  std::unique_ptr<while_graph> graph_;
};

template <class T, bool Diagonal>
class fused_engine final : public graph_engine<T> {
 public:
  fused_engine(const device& dev, const spmv_plan<T>& A, const T* minv)
      : graph_engine<T>(dev, A.rows(), spmv_blocks(A)), A_(A), minv_(minv) {}
  std::string name() const override { return "looping graph, " + A_.format(); }

 private:
  bool start() override {
    launch(this->dev_, "fused_start", this->shape(), fused_start<T, Diagonal>, this->n_, this->r_, minv_,
           this->p_.data(), this->d_);
    return true;
  }

  void settle() override {
    launch(this->dev_, "fused_settle", this->shape(), fused_settle<T, Diagonal>, this->n_,
           this->control_.data(), this->p_.data(), this->r_, minv_, this->d_);
  }

  // Several iterations a turn where they are short: the loop's own step costs a few microseconds. After the end
  // they do nothing.
  void record(cudaGraphConditionalHandle loop) override {
    const int iterations = A_.bytes() < (std::int64_t{64} << 20) ? 4 : 1;
    for (int k = 0; k < iterations; ++k) {
      launch_spmv(this->dev_, A_, this->p_.data(),
                  fused_step<T, Diagonal>{this->p_.data(), this->r_, minv_, this->q_.data(),
                                          this->parts_.data(), this->control_.data(), this->box_.get(), loop});
      launch(this->dev_, "fused_update",
             {std::max<std::int64_t>(1, ceil_div<std::int64_t>(this->n_, block * 16 / sizeof(T))), block},
             fused_update<T, Diagonal>, this->n_, this->control_.data(), this->q_.data(), minv_,
             this->p_.data(), this->r_, this->d_);
    }
  }

  const spmv_plan<T>& A_;
  const T* minv_;
};

template <class T>
class general_engine final : public graph_engine<T> {
 public:
  general_engine(const device& dev, const linear_operator<T>& A, const preconditioner<T>* M)
      : graph_engine<T>(dev, A.rows(), 0), A_(A), M_(M), z_(dev, M != nullptr ? A.rows() : 0) {}
  std::string name() const override { return "looping graph, general operator"; }

 private:
  const T* z() { return M_ != nullptr ? z_.data() : this->r_; }

  void precondition() {
    if (M_ != nullptr) M_->apply(this->dev_, {this->r_, this->n_}, {z_.data(), this->n_});
  }

  bool start() override {
    zero_bytes(this->dev_, this->d_, static_cast<std::size_t>(this->n_) * sizeof(T));
    precondition();
    launch(this->dev_, "general_direction", this->shape(), general_direction<T>, this->n_, this->r_, z(),
           this->parts_.data(), this->control_.data(), this->box_.get(), cudaGraphConditionalHandle{}, true);
    launch(this->dev_, "general_turn", this->shape(), general_turn<T>, this->n_, this->control_.data(), z(),
           this->p_.data(), true);
    const cg_scalars s = this->control_.to_vector()[0].s;
    this->box_->residual_squared[0] = s.rr;
    this->box_->event = static_cast<std::int32_t>(s.event);
    this->box_->iterations = 0;
    this->box_->last_squared = s.rr;
    return s.event == cg_event::go_on;
  }

  void record(cudaGraphConditionalHandle loop) override {
    T* const p = this->p_.data();
    T* const q = this->q_.data();
    control* const c = this->control_.data();
    A_.apply(this->dev_, {p, this->n_}, {q, this->n_});
    launch(this->dev_, "general_step", this->shape(), general_step<T>, this->n_, p, q, this->parts_.data(), c,
           this->box_.get(), loop);
    launch(this->dev_, "general_update", this->shape(), general_update<T>, this->n_, c, p, q, this->r_,
           this->d_);
    precondition();
    launch(this->dev_, "general_direction", this->shape(), general_direction<T>, this->n_, this->r_, z(),
           this->parts_.data(), c, this->box_.get(), loop, false);
    launch(this->dev_, "general_turn", this->shape(), general_turn<T>, this->n_, c, z(), p, false);
  }

  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  array<T> z_;
};

}  // namespace

template <real T>
std::unique_ptr<cg_engine<T>> cg_graph_cuda(const device& dev, const spmv_plan<T>& A, const T* minv) {
  if (minv != nullptr) return std::make_unique<fused_engine<T, true>>(dev, A, minv);
  return std::make_unique<fused_engine<T, false>>(dev, A, minv);
}

template <real T>
std::unique_ptr<cg_engine<T>> cg_graph_cuda_general(const device& dev, const linear_operator<T>& A,
                                                    const preconditioner<T>* M) {
  return std::make_unique<general_engine<T>>(dev, A, M);
}

template std::unique_ptr<cg_engine<float>> cg_graph_cuda(const device&, const spmv_plan<float>&, const float*);
template std::unique_ptr<cg_engine<double>> cg_graph_cuda(const device&, const spmv_plan<double>&,
                                                          const double*);
template std::unique_ptr<cg_engine<float>> cg_graph_cuda_general(const device&, const linear_operator<float>&,
                                                                 const preconditioner<float>*);
template std::unique_ptr<cg_engine<double>> cg_graph_cuda_general(const device&, const linear_operator<double>&,
                                                                  const preconditioner<double>*);

}  // namespace vouch
