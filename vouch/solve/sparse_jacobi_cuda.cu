// Jacobi's sweeps over a large sparse matrix on a GPU: one kernel a sweep, the product with the update and the
// norms in its epilogue, in a graph that loops by itself.
//
// Bound  by memory: the matrix as the plan keeps it, 5 n values (7 n with Chebyshev's acceleration).
// Bits   fixed by the grid, which is fixed by the matrix and the GPU.
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/launch.cuh>
#include <vouch/core/while_graph.cuh>
#include <vouch/solve/dense_engine_cuda.cuh>
#include <vouch/solve/device_history.cuh>
#include <vouch/solve/sparse_jacobi.hpp>
#include <vouch/solve/sweep_progress.hpp>
#include <vouch/sparse/spmv_kernels.cuh>

namespace vouch {
namespace {

constexpr int warps = spmv_threads / 32;

// What the sweeps of a run share, in GPU memory.
struct control {
  sweep_progress progress;
  chebyshev_steps chebyshev;
  cg_event event = cg_event::go_on;
  std::int64_t iteration = 0;
  std::int64_t look = 512;  // iterations between two looks at the mailbox
  unsigned ticket = 0;
};

// Of some rows: two sums and two maxima.
struct row_facts {
  double squares = 0, change = 0, largest_change = 0, largest = 0;

  __device__ void join(const row_facts& other) {
    squares += other.squares;
    change += other.change;
    largest_change = fmax(largest_change, other.largest_change);
    largest = fmax(largest, other.largest);
  }
};

__device__ row_facts over_warp(row_facts mine) {
  for (int d = 16; d > 0; d /= 2)
    mine.join({__shfl_xor_sync(~0u, mine.squares, d), __shfl_xor_sync(~0u, mine.change, d),
               __shfl_xor_sync(~0u, mine.largest_change, d), __shfl_xor_sync(~0u, mine.largest, d)});
  return mine;
}

// For the first thread.
__device__ row_facts over_block(const row_facts& mine) {
  __shared__ double part[4][warps];
  const row_facts here = over_warp(mine);
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) {
    part[0][warp] = here.squares;
    part[1][warp] = here.change;
    part[2][warp] = here.largest_change;
    part[3][warp] = here.largest;
  }
  __syncthreads();
  row_facts all;
  if (threadIdx.x == 0)
    for (int w = 0; w < warps; ++w) all.join({part[0][w], part[1][w], part[2][w], part[3][w]});
  __syncthreads();
  return all;
}

// Of sums A d, to the next iterate; the last block adds the blocks' facts in their order and judges.
template <class T, bool Accelerated>
struct jacobi_update {
  using state = row_facts;
  const T* r;
  const T* factor;
  const T* from;
  T* to;
  T* step;
  row_facts* parts;
  control* c;
  device_mailbox* box;
  cudaGraphConditionalHandle loop;

  struct operands {
    T r, factor, d, step;
  };
  __device__ operands fetch(std::int64_t i) const {
    return {__ldcs(r + i), __ldcs(factor + i), from[i], Accelerated ? step[i] : T{}};
  }

  __device__ void row(state& s, std::int64_t i, T sum, const operands& o) const {
    if (c->event != cg_event::go_on) return;
    const T left = o.r - sum;
    T move = o.factor * left;
    if constexpr (Accelerated) {
      const T along_change = static_cast<T>(c->chebyshev.along_change),
              keep = static_cast<T>(c->chebyshev.keep);
      move = keep == T{} ? along_change * move : along_change * move + keep * o.step;
      step[i] = move;
    }
    const T value = o.d + move;
    to[i] = value;
    const double residual = left, moved = fabs(static_cast<double>(move));
    s.join({residual * residual, moved, moved, fabs(static_cast<double>(value))});
  }

  __device__ void finish(const state& mine) const {
    __shared__ bool last;
    const row_facts here = over_block(mine);
    if (threadIdx.x == 0) {
      parts[blockIdx.x] = here;
      __threadfence();
      last = atomicInc(&c->ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    row_facts all;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += spmv_threads)
      all.join({__ldcg(&parts[b].squares), __ldcg(&parts[b].change), __ldcg(&parts[b].largest_change),
                __ldcg(&parts[b].largest)});
    all = over_block(all);
    if (threadIdx.x == 0 && c->event == cg_event::go_on) judge(all);
  }

  __device__ void judge(const row_facts& all) const {
    const std::int64_t iteration = c->iteration++;
    const bool looks = (iteration + 1) % c->look == 0;
    const double wish = looks && *static_cast<volatile std::int32_t*>(&box->stop) != 0 ? 1 : 0;
    const sweep_facts now{all.squares, all.change, all.largest_change, all.largest, wish};
    c->event = c->progress.take(now, iteration);
    tell_host(*box, iteration, now.met, c->event, looks);
    if (c->event == cg_event::go_on) return c->chebyshev.take(sqrt(now.met));
    box->mean_change = now.change / static_cast<double>(c->progress.unknowns);
    if (loop != 0) cudaGraphSetConditional(loop, 0);
  }
};

template <real T>
class jacobi_engine final : public cg_engine<T> {
 public:
  jacobi_engine(const device& dev, csr_view<const T> A, array<T> factor, const sweep_rule& rule,
                bool by_residual, bool chebyshev)
      : dev_(dev),
        A_(spmv_plan<T>::make(dev, A)),
        factor_(std::move(factor)),
        by_residual_(by_residual),
        learnt_(rule.learnt),
        iterate_{array<T>(dev, A.rows), array<T>(dev, A.rows)},
        step_(dev, chebyshev ? A.rows : 0),
        parts_(dev, spmv_blocks(A_)),
        control_(dev, 1),
        box_(borrow_mailbox()) {
    steps_.wanted = chebyshev;
    steps_.low = rule.lowest_eigenvalue;
    steps_.high = std::max(0.0, rule.lowest_eigenvalue);
  }

  std::string name() const override { return A_.format() + ", looping graph" + chebyshev_text(steps_); }

  cg_outcome run(T* r, T* d, const cg_rule& rule, cg_log& log) override {
    const std::int64_t n = A_.rows();
    if (rule.limit <= 0) return {cg_event::limit, 0, sum_of_squares(r)};
    control fresh;
    fresh.progress =
        dense_engine::progress_of<T>(rule, residual_trigger<T>(rule, by_residual_), by_residual_, n);
    fresh.chebyshev = steps_;
    fresh.chebyshev.begin();
    fresh.look = dense_engine::iterations_between_looks(A_.bytes());
    copy_bytes(control_.data(), dev_, &fresh, device::cpu(1), sizeof fresh);
    zero_bytes(dev_, iterate_[0].data(), static_cast<std::size_t>(n) * sizeof(T));
    if (step_.size() > 0) zero_bytes(dev_, step_.data(), static_cast<std::size_t>(n) * sizeof(T));
    box_->progress = 0;
    box_->stop = 0;
    loop(r);
    follow(dev_, *box_, log);
    const std::int64_t sweeps = box_->iterations + 1;
    copy_bytes(d, dev_, iterate_[sweeps % 2].data(), dev_, static_cast<std::size_t>(n) * sizeof(T));
    steps_ = control_.to_vector()[0].chebyshev;
    if (learnt_ != nullptr) *learnt_ = steps_;
    return {static_cast<cg_event>(box_->event), sweeps, box_->last_squared, box_->mean_change};
  }

 private:
  void loop(const T* r) {
    if (loop_on_host()) {
      do record(r, 0);
      while (control_.to_vector()[0].event == cg_event::go_on);
      return;
    }
    if (graph_ == nullptr || r != r_)
      graph_ =
          std::make_unique<while_graph>(dev_, [&](cudaGraphConditionalHandle handle) { record(r, handle); });
    r_ = r;
    graph_->launch();
  }

  // Several sweeps a turn: the loop's own step costs a few microseconds. After the end they change nothing.
  void record(const T* r, cudaGraphConditionalHandle handle) {
    constexpr int sweeps = 4;
    for (int k = 0; k < sweeps; ++k)
      step_.size() > 0 ? sweep<true>(r, k % 2, handle) : sweep<false>(r, k % 2, handle);
  }

  template <bool Accelerated>
  void sweep(const T* r, int parity, cudaGraphConditionalHandle handle) {
    const T* const from = iterate_[parity].data();
    launch_spmv(
        dev_, A_, from,
        jacobi_update<T, Accelerated>{r, factor_.data(), from, iterate_[1 - parity].data(), step_.data(),
                                      parts_.data(), control_.data(), box_.get(), handle});
  }

  double sum_of_squares(const T* r) const {
    std::vector<T> v(static_cast<std::size_t>(A_.rows()));
    copy_bytes(v.data(), device::cpu(1), r, dev_, v.size() * sizeof(T));
    return detail::sum_of_squares(1, A_.rows(), v.data());
  }

  device dev_;
  spmv_plan<T> A_;
  array<T> factor_;
  bool by_residual_;
  chebyshev_steps* learnt_;
  chebyshev_steps steps_;
  array<T> iterate_[2];
  array<T> step_;
  array<row_facts> parts_;
  array<control> control_;
  std::shared_ptr<device_mailbox> box_;
  std::unique_ptr<while_graph> graph_;
  const T* r_ = nullptr;
};

}  // namespace

template <real T>
std::unique_ptr<cg_engine<T>> make_jacobi_graph(const device& dev, csr_view<const T> A, array<T> factor,
                                                const sweep_rule& rule, bool by_residual, bool chebyshev) {
  return std::make_unique<jacobi_engine<T>>(dev, A, std::move(factor), rule, by_residual, chebyshev);
}

template std::unique_ptr<cg_engine<float>> make_jacobi_graph(const device&, csr_view<const float>, array<float>,
                                                             const sweep_rule&, bool, bool);
template std::unique_ptr<cg_engine<double>> make_jacobi_graph(const device&, csr_view<const double>,
                                                              array<double>, const sweep_rule&, bool, bool);

}  // namespace vouch
