// Conjugate gradients for large systems, fused with the matrix.
//
// Two kernels an iteration: the product with all inner products in its epilogue, then the three updates; the
// matrix once and 9 n values (the solution moves every other time). The last block of the first kernel adds the
// blocks' sums in their order and takes the step. Bound by memory. Bits fixed by the grid, which is fixed by
// the matrix and the GPU.
#include <vouch/solve/krylov/cg_fused.cuh>

namespace vouch {
namespace {

using namespace cg_graph;
// Epilogue of q = A p: the products of its row, then the step.
template <class T, bool Diagonal>
struct fused_step : fused_rows<T, Diagonal> {
  using rows = fused_rows<T, Diagonal>;
  double* parts;
  control* c;
  pinned_history* box;
  cudaGraphConditionalHandle loop;

  __device__ void finish(const typename rows::state& s) const {
    grid_sum(s, parts, &c->ticket, [&](const typename rows::state& t) {
      if (c->s.event != solver_event::running) return;
      const cg_dots dots = rows::dots(t);
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
  constexpr int width = chunk<T>::width;
  const cg_solution_update solution = c->solution;
  const fused_element<T, Diagonal> one(c->s, solution);
  const std::int64_t first = std::int64_t{blockIdx.x} * block + threadIdx.x,
                     stride = std::int64_t{gridDim.x} * block;
  for (std::int64_t k = first; k < n / width; k += stride) update_chunk(one, solution.now, k, q, minv, p, r, d);
  for (std::int64_t i = n / width * width + first; i < n; i += stride) {
    T di = d[i];
    one(Diagonal ? minv[i] : T{}, q[i], p[i], r[i], di);
    if (solution.now) d[i] = di;
  }
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
           &this->control_.data()->solution, this->p_.data(), this->r_, minv_, this->d_);
  }

  // Several iterations a turn where they are short: the loop's own step costs a few microseconds. After the end
  // they do nothing.
  void record(cudaGraphConditionalHandle loop) override {
    const int iterations = A_.bytes() < (std::int64_t{64} << 20) ? 4 : 1;
    for (int k = 0; k < iterations; ++k) {
      launch_spmv(this->dev_, A_, this->p_.data(),
                  fused_step<T, Diagonal>{{this->p_.data(), this->r_, minv_, this->q_.data()},
                                          this->parts_.data(),
                                          this->control_.data(),
                                          this->box_.get(),
                                          loop});
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
