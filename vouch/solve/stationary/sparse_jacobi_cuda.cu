// Jacobi's sweeps over a large sparse matrix on a GPU: one kernel a sweep, the product with the update and the
// norms in its epilogue, in a graph that loops by itself.
//
// Bound  by memory: the matrix as the plan keeps it, 5 n values (7 n with Chebyshev's acceleration).
// Bits   fixed by the grid, which is fixed by the matrix and the GPU.
#include <memory>
#include <string>
#include <utility>

#include <vouch/solve/stationary/sparse_rows.cuh>
#include <vouch/solve/stationary/sweep_graph.cuh>
#include <vouch/sparse/spmv_kernels.cuh>

namespace vouch {
namespace {

static_assert(sweep_graph::threads == spmv_threads);

// Of sums A d, to the next iterate.
template <class T, bool Accelerated>
struct jacobi_update {
  using state = sweep_graph::row_facts;
  const T* r;
  const T* factor;
  const T* from;
  T* to;
  T* step;
  sweep_graph::grid_reduction end;

  struct operands {
    T r, factor, d, step;
  };
  __device__ operands fetch(std::int64_t i) const {
    return {__ldcs(r + i), __ldcs(factor + i), from[i], Accelerated ? step[i] : T{}};
  }

  __device__ void row(state& s, std::int64_t i, T sum, const operands& o) const {
    if (end.c->event != solver_event::running) return;
    const T left = o.r - sum;
    T move = o.factor * left;
    if constexpr (Accelerated) {
      const chebyshev_steps& steps = end.c->chebyshev;
      const T along_change = static_cast<T>(steps.along_change), keep = static_cast<T>(steps.keep);
      move = keep == T{} ? along_change * move : along_change * move + keep * o.step;
      step[i] = move;
    }
    const T value = o.d + move;
    to[i] = value;
    s.see(static_cast<double>(left), static_cast<double>(move), static_cast<double>(value));
  }

  __device__ void finish(const state& mine) const {
    end.add(mine, blockIdx.x, [&](const sweep_graph::row_facts& all) { end.judge(all); });
  }
};

template <real T>
class jacobi_engine final : public sweep_graph::engine<T> {
  using base = sweep_graph::engine<T>;

 public:
  jacobi_engine(const device& dev, spmv_plan<T> A, array<T> factor, const sweep_rule& rule, bool by_residual,
                bool chebyshev)
      : base(dev, A.rows(), A.bytes(), spmv_blocks(A), rule, by_residual, chebyshev),
        A_(std::move(A)),
        factor_(std::move(factor)),
        iterate_{array<T>(dev, A_.rows()), array<T>(dev, A_.rows())},
        step_(dev, chebyshev ? A_.rows() : 0) {}

  std::string name() const override { return A_.format() + ", looping graph" + chebyshev_text(this->steps_); }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(this->n_) * sizeof(T); }

  void start(const T*) override {
    zero_bytes(this->dev_, iterate_[0].data(), bytes());
    if (step_.size() > 0) zero_bytes(this->dev_, step_.data(), bytes());
  }
  void record(const T* r, cudaGraphConditionalHandle loop) override {
    for (int k = 0; k < sweep_graph::sweeps_a_turn; ++k)
      step_.size() > 0 ? sweep<true>(r, k % 2, loop) : sweep<false>(r, k % 2, loop);
  }
  template <bool Accelerated>
  void sweep(const T* r, int parity, cudaGraphConditionalHandle loop) {
    const T* const from = iterate_[parity].data();
    launch_spmv(this->dev_, A_, from,
                jacobi_update<T, Accelerated>{r, factor_.data(), from, iterate_[1 - parity].data(),
                                              step_.data(), this->where(loop)});
  }
  void finish(std::int64_t sweeps, T* d) override {
    copy_bytes(d, this->dev_, iterate_[sweeps % 2].data(), this->dev_, bytes());
  }

  spmv_plan<T> A_;
  array<T> factor_;
  array<T> iterate_[2];
  array<T> step_;
};

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> make_jacobi_graph(const device& dev, csr_view<const T> A, array<T> factor,
                                                   const sweep_rule& rule, bool by_residual, bool chebyshev) {
  return std::make_unique<jacobi_engine<T>>(dev, spmv_plan<T>::make(dev, A), std::move(factor), rule,
                                            by_residual, chebyshev);
}

template std::unique_ptr<inner_solver<float>> make_jacobi_graph(const device&, csr_view<const float>,
                                                                array<float>, const sweep_rule&, bool, bool);
template std::unique_ptr<inner_solver<double>> make_jacobi_graph(const device&, csr_view<const double>,
                                                                 array<double>, const sweep_rule&, bool, bool);

}  // namespace vouch
