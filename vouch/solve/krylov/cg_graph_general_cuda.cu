// Conjugate gradients for any operator and preconditioner, these between four small kernels. Bound by memory.
#include <vouch/solve/krylov/cg_general.cuh>
#include <vouch/solve/krylov/cg_graph.cuh>

namespace vouch {
namespace {

using namespace cg_graph;

// Each thread takes every (grid)-th element.

template <class T>
__global__ void __launch_bounds__(block)
    general_step(std::int64_t n, const T* __restrict__ p, const T* __restrict__ q, double* parts, control* c,
                 pinned_history* box, cudaGraphConditionalHandle loop) {
  sums<1> pq;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block)
    pq.value[0] += static_cast<double>(p[i]) * static_cast<double>(q[i]);
  grid_sum(pq, parts, &c->ticket, [&](const sums<1>& all) {
    if (c->s.event != solver_event::running) return;
    cg_take_step(c->s, all.value[0]);
    if (c->s.event != solver_event::running) report(*c, *box, c->s.iteration, c->s.rr, loop);
  });
}

template <class T>
__global__ void __launch_bounds__(block)
    general_direction(std::int64_t n, const T* __restrict__ r, const T* __restrict__ z, double* parts,
                      control* c, pinned_history* box, cudaGraphConditionalHandle loop, bool first) {
  grid_sum(direction_products(n, r, z), parts, &c->ticket, [&](const sums<2>& all) {
    if (c->s.event != solver_event::running) return;
    cg_take_direction(c->s, all.value[0], all.value[1], c->rule, first ? 0 : c->s.iteration + 1);
    if (!first) report(*c, *box, c->s.iteration, c->s.rr, loop);
  });
}

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
    launch(this->dev_, "general_turn", this->shape(), general_turn<T>, this->n_, &this->control_.data()->s, z(),
           this->p_.data(), true);
    const cg_scalars s = this->control_.to_vector()[0].s;
    this->box_->residual_squared[0] = s.rr;
    this->box_->step[0] = {};
    this->box_->event = static_cast<std::int32_t>(s.event);
    this->box_->iterations = 0;
    this->box_->last_squared = s.rr;
    return s.event == solver_event::running;
  }

  void record(cudaGraphConditionalHandle loop) override {
    T* const p = this->p_.data();
    T* const q = this->q_.data();
    control* const c = this->control_.data();
    A_.apply(this->dev_, {p, this->n_}, {q, this->n_});
    launch(this->dev_, "general_step", this->shape(), general_step<T>, this->n_, p, q, this->parts_.data(), c,
           this->box_.get(), loop);
    launch(this->dev_, "general_update", this->shape(), general_update<T>, this->n_, &c->s, p, q, this->r_,
           this->d_);
    precondition();
    launch(this->dev_, "general_direction", this->shape(), general_direction<T>, this->n_, this->r_, z(),
           this->parts_.data(), c, this->box_.get(), loop, false);
    launch(this->dev_, "general_turn", this->shape(), general_turn<T>, this->n_, &c->s, z(), p, false);
  }

  const linear_operator<T>& A_;
  const preconditioner<T>* M_;
  array<T> z_;
};

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> cg_graph_cuda_general(const device& dev, const linear_operator<T>& A,
                                                       const preconditioner<T>* M) {
  return std::make_unique<general_engine<T>>(dev, A, M);
}

template std::unique_ptr<inner_solver<float>> cg_graph_cuda_general(const device&,
                                                                    const linear_operator<float>&,
                                                                    const preconditioner<float>*);
template std::unique_ptr<inner_solver<double>> cg_graph_cuda_general(const device&,
                                                                     const linear_operator<double>&,
                                                                     const preconditioner<double>*);

}  // namespace vouch
