// vouch/solve/krylov/cg_graph.cuh -- conjugate gradients as a CUDA graph that loops by itself until the scalars say
// so: what its kinds share; private.
#pragma once
#include <string>

#include <vouch/core/launch.cuh>
#include <vouch/core/while_graph.cuh>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/grid_sum.cuh>
#include <vouch/solve/loop/pinned_history.cuh>

namespace vouch::cg_graph {

using passes::block;
using passes::block_sum;
using passes::grid_sum;
using passes::sums;

// Everything the kernels of one solve share, in GPU memory.
struct control {
  cg_scalars s;
  cg_solution_update solution;
  stopping_rule rule;
  unsigned ticket;
};

// One thread: tells the host about iteration `iteration`, hears its wish to stop, ends the loop at an event.
__device__ inline void report(control& c, pinned_history& box, std::int64_t iteration, double rr,
                              cudaGraphConditionalHandle loop) {
  if (c.s.event == solver_event::running && asked_to_stop(box, iteration))
    c.s.event = solver_event::interrupted;
  publish_step(box, iteration, c.s.alpha, c.s.beta);
  publish_to_host(box, iteration, rr, c.s.event);
  if (c.s.event != solver_event::running && loop != 0) cudaGraphSetConditional(loop, 0);
}

// What the two engines share: the control block, the mailbox, the graph.
template <class T>
class graph_engine : public inner_solver<T> {
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
        box_(make_pinned_histories()) {}

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
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
      follow(dev_, *box_, log, mail::residuals_and_steps);
      settle();
    }
    return {static_cast<solver_event>(box_->event), box_->iterations, box_->last_squared};
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
  std::shared_ptr<pinned_history> box_;
  T* r_ = nullptr;
  T* d_ = nullptr;

 private:
  void loop() {
    if (loop_on_host()) {
      do record(0);
      while (control_.to_vector()[0].s.event == solver_event::running);
      return;
    }
    if (graph_ == nullptr)
      graph_ = std::make_unique<while_graph>(dev_, [&](cudaGraphConditionalHandle handle) { record(handle); });
    graph_->launch();
  }

  std::unique_ptr<while_graph> graph_;
};

}  // namespace vouch::cg_graph
