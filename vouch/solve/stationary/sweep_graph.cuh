// vouch/solve/stationary/sweep_graph.cuh -- sweeps as kernels in a graph that loops by itself: what they share, how they
// are judged, and the loop; private.
#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <vouch/core/launch.cuh>
#include <vouch/core/while_graph.cuh>
#include <vouch/solve/loop/pinned_history.cuh>
#include <vouch/solve/stationary/dense_engine_cuda.cuh>
#include <vouch/solve/stationary/stationary_iteration.hpp>
#include <vouch/solve/stationary/sweep_progress.hpp>

namespace vouch::sweep_graph {

inline constexpr unsigned threads = 256;
inline constexpr int warps = threads / 32;
inline constexpr int sweeps_a_turn = 4;  // the loop's own step costs a few microseconds; even

/// What the sweeps of a run share, in GPU memory.
struct control {
  sweep_progress progress;
  chebyshev_steps chebyshev;
  solver_event event = solver_event::running;
  std::int64_t iteration = 0;
  std::int64_t look = 512;  // iterations between two looks at the mailbox
  double squares = 0;       // of the last sum that was asked for
  unsigned ticket = 0;
};

/// Of some rows: two sums and two maxima.
struct row_facts {
  double squares = 0, change = 0, largest_change = 0, largest = 0;

  __device__ void join(const row_facts& other) {
    squares += other.squares;
    change += other.change;
    largest_change = fmax(largest_change, other.largest_change);
    largest = fmax(largest, other.largest);
  }
  __device__ void see(double residual, double move, double value) {
    join({residual * residual, fabs(move), fabs(move), fabs(value)});
  }
};

__device__ inline row_facts over_warp(row_facts mine) {
  for (int d = 16; d > 0; d /= 2)
    mine.join({__shfl_xor_sync(~0u, mine.squares, d), __shfl_xor_sync(~0u, mine.change, d),
               __shfl_xor_sync(~0u, mine.largest_change, d), __shfl_xor_sync(~0u, mine.largest, d)});
  return mine;
}

/// For the first thread.
__device__ inline row_facts over_block(const row_facts& mine) {
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

/// Sums the facts of all blocks of a sweep, of one kernel or several.
struct grid_reduction {
  row_facts* parts;  // one a block of them all
  control* c;
  pinned_history* box;
  cudaGraphConditionalHandle loop;
  unsigned blocks;  // of them all

  /// Block number `block` of them is done; the last one adds their facts in their order, and one thread of it
  /// runs then(all). Which block is last changes from run to run, what it computes does not.
  template <class Then>
  __device__ void add(const row_facts& mine, unsigned block, const Then& then) const {
    __shared__ bool last;
    const row_facts here = over_block(mine);
    if (threadIdx.x == 0) {
      parts[block] = here;
      __threadfence();
      last = atomicInc(&c->ticket, blocks - 1) == blocks - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    row_facts all;
    for (unsigned b = threadIdx.x; b < blocks; b += threads)
      all.join({__ldcg(&parts[b].squares), __ldcg(&parts[b].change), __ldcg(&parts[b].largest_change),
                __ldcg(&parts[b].largest)});
    all = over_block(all);
    if (threadIdx.x == 0) then(all);
  }

  /// One thread, after a sweep: tells the host and ends the loop, or takes the next step's coefficients.
  __device__ void judge(const row_facts& all) const {
    if (c->event != solver_event::running) return;
    const std::int64_t iteration = c->iteration++;
    const bool looks = (iteration + 1) % c->look == 0;
    const double wish = looks && *static_cast<volatile std::int32_t*>(&box->stop) != 0 ? 1 : 0;
    const sweep_facts now{all.squares, all.change, all.largest_change, all.largest, wish};
    c->event = c->progress.take(now, iteration);
    if (c->event == solver_event::running) {
      c->chebyshev.take(sqrt(now.met));
      if (c->chebyshev.stalled && c->progress.rounding > 0) c->event = solver_event::reached;
    }
    publish_to_host(*box, iteration, now.met, c->event, looks);
    if (c->event == solver_event::running) return;
    box->mean_change = now.change / static_cast<double>(c->progress.unknowns);
    if (loop != 0) cudaGraphSetConditional(loop, 0);
  }
};

/// The loop. An engine says how a run starts, what a turn of sweeps_a_turn sweeps is (after the end they change
/// nothing), whether an end is one, and where the result is.
template <class T>
class engine : public inner_solver<T> {
 public:
  engine(const device& dev, std::int64_t n, std::int64_t bytes, std::int64_t blocks, const sweep_rule& rule,
         bool by_residual, bool chebyshev)
      : dev_(dev),
        n_(n),
        parts_(dev, blocks),
        control_(dev, 1),
        box_(acquire_pinned_history()),
        bytes_(bytes),
        by_residual_(by_residual),
        simultaneous_(rule.simultaneous),
        learnt_(rule.learnt) {
    steps_.prepare<T>(chebyshev, rule.lowest_eigenvalue);
  }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    if (rule.limit <= 0) return {solver_event::iteration_limit, 0, sum_of_squares(r)};
    control fresh;
    const double target = residual_trigger<T>(rule, by_residual_);
    fresh.progress = dense_engine::progress_of<T>(rule, target, by_residual_, n_);
    fresh.chebyshev = steps_;
    fresh.chebyshev.begin();
    fresh.look = dense_engine::iterations_between_looks(bytes_);
    put(fresh);
    box_->progress = 0;
    box_->stop = 0;
    history_reader reader(*box_, log);
    start(r);
    do {
      loop(r);
      follow(dev_, {&reader, 1});
    } while (!ends(target));
    const inner_outcome outcome =
        dense_engine::outcome_of(*box_, simultaneous_ && ends_where_met(rule, by_residual_));
    finish(outcome.iterations, d);
    steps_ = control_.to_vector()[0].chebyshev;
    if (learnt_ != nullptr) *learnt_ = steps_;
    return outcome;
  }

 protected:
  virtual void start(const T* r) = 0;
  virtual void record(const T* r, cudaGraphConditionalHandle loop) = 0;
  virtual bool ends(double) { return true; }
  virtual void finish(std::int64_t sweeps, T* d) = 0;

  grid_reduction where(cudaGraphConditionalHandle loop) const {
    return {const_cast<row_facts*>(parts_.data()), const_cast<control*>(control_.data()), box_.get(), loop,
            static_cast<unsigned>(parts_.size())};
  }
  control now() const { return control_.to_vector()[0]; }
  void put(const control& c) { copy_bytes(control_.data(), dev_, &c, device::cpu(1), sizeof c); }

  device dev_;
  std::int64_t n_;
  chebyshev_steps steps_;
  array<row_facts> parts_;
  array<control> control_;
  std::shared_ptr<pinned_history> box_;

 private:
  void loop(const T* r) {
    if (loop_on_host()) {
      do record(r, 0);
      while (now().event == solver_event::running);
      return;
    }
    if (graph_ == nullptr || r != r_)
      graph_ =
          std::make_unique<while_graph>(dev_, [&](cudaGraphConditionalHandle handle) { record(r, handle); });
    r_ = r;
    graph_->launch();
  }

  double sum_of_squares(const T* r) const {
    std::vector<T> v(static_cast<std::size_t>(n_));
    copy_bytes(v.data(), device::cpu(1), r, dev_, v.size() * sizeof(T));
    return detail::sum_of_squares(1, n_, v.data());
  }

  std::int64_t bytes_;
  bool by_residual_;
  bool simultaneous_;
  chebyshev_steps* learnt_;
  std::unique_ptr<while_graph> graph_;
  const T* r_ = nullptr;
};

}  // namespace vouch::sweep_graph
