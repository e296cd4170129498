// Conjugate gradients for large systems, fused with the matrix.
//
// Two kernels an iteration: the product with all inner products in its epilogue, then the three updates; the
// matrix once and 9 n values (the solution moves every other time). The last block of the first kernel adds the
// blocks' sums in their order and takes the step. Bound by memory. Bits fixed by the grid, which is fixed by
// the matrix and the GPU.
#include <vouch/solve/krylov/cg_graph.cuh>
#include <vouch/sparse/spmv_kernels.cuh>

namespace vouch {
namespace {

using namespace cg_graph;
static_assert(block == spmv_threads);

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
  pinned_history* box;
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
      if (c->s.event != solver_event::running) return;
      const cg_dots dots{t.value[0], t.value[1], t.value[2], Diagonal ? t.value[count - 1] : t.value[3],
                         t.value[3]};
      const std::int64_t iteration = c->s.iteration++;
      const cg_step step = cg_advance(dots, c->rule, iteration);
      c->s.alpha = step.alpha;
      c->s.beta = step.beta;
      c->s.event = step.event;
      report(*c, *box, iteration, dots.rr, loop);
      if (c->s.event == solver_event::running) c->solution = cg_defer_update(c->solution, step);
    });
  }
};

// The solution where it is its turn, r -= alpha q, p = M r + beta p; a thread takes 16 bytes of each at a time.
// Bound by memory: 7 n values and 5 n in turn.
template <class T, bool Diagonal>
__global__ void __launch_bounds__(block)
    fused_update(std::int64_t n, const control* c, const T* __restrict__ q, const T* __restrict__ minv,
                 T* __restrict__ p, T* __restrict__ r, T* __restrict__ d) {
  if (c->s.event != solver_event::running) return;
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
  const cg_solution_update owed = cg_flush_update(c->solution);
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

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> cg_graph_cuda(const device& dev, const spmv_plan<T>& A, const T* minv) {
  if (minv != nullptr) return std::make_unique<fused_engine<T, true>>(dev, A, minv);
  return std::make_unique<fused_engine<T, false>>(dev, A, minv);
}

template std::unique_ptr<inner_solver<float>> cg_graph_cuda(const device&, const spmv_plan<float>&,
                                                            const float*);
template std::unique_ptr<inner_solver<double>> cg_graph_cuda(const device&, const spmv_plan<double>&,
                                                             const double*);

}  // namespace vouch
