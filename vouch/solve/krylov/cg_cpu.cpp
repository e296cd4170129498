// Conjugate gradients on the CPU. An iteration has two sweeps over chunks of rows: A p with all inner products
// while the chunk is in cache, then the updates. It moves the matrix and 9 n values: the solution moves every
// other time.
//
// Chunks have a size that depends on n alone, each chunk's sums a fixed order, and every thread adds the
// chunks' sums in the same order: the bits do not depend on the number of threads.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/solve/krylov/cg_chunk.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>

namespace vouch {
namespace {

// Rows a chunk: in the first-level cache with their p, q and r, and few enough for many threads.
std::int64_t chunk_rows(std::int64_t n) { return n <= 65536 ? 512 : 2048; }

// Threads that pay: a barrier costs as much as some 20,000 entries of a matrix in cache.
template <real T>
int useful_threads(const device& dev, const spmv_plan<T>& A) {
  const std::int64_t work = A.bytes() / 12 + 10 * A.rows();
  return static_cast<int>(std::clamp<std::int64_t>(work / 65536, 1, dev.threads()));
}

cg_dots add_up(const array<cg_dots>& parts) {
  cg_dots all;
  for (const cg_dots& part : parts) {
    all.pq += part.pq;
    all.qmq += part.qmq;
    all.rmq += part.rmq;
    all.rmr += part.rmr;
    all.rr += part.rr;
  }
  return all;
}

template <real T>
class cpu_engine final : public inner_solver<T> {
 public:
  cpu_engine(const device& dev, const spmv_plan<T>& A, const T* minv)
      : A_(A),
        minv_(minv),
        threads_(useful_threads(dev, A)),
        chunk_(chunk_rows(A.rows())),
        p_(dev, A.rows()),
        q_(dev, A.rows()),
        parts_(dev, ceil_div(A.rows(), chunk_)) {}

  std::string name() const override {
    return std::to_string(threads_) + (threads_ == 1 ? " thread, " : " threads, ") + A_.format();
  }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    inner_outcome outcome;
    wishes asked;
    start begin;
    begin.resumed =
        log.resume([&](solver_state& state) { keep(state, begin.iteration, begin.deferred_alpha); });
    if (threads_ == 1) {
      loop(r, d, rule, log, outcome, asked, begin, [] {});
    } else {
#pragma omp parallel firstprivate(ieee) num_threads(threads_)
      loop(r, d, rule, log, outcome, asked, begin, [] {
#pragma omp barrier
      });
    }
    return outcome;
  }
  bool saves() const override { return true; }

 private:
  // What thread 0 has heard between two barriers.
  struct wishes {
    bool stop = false, save = false;
  };
  struct start {
    bool resumed = false;
    std::int64_t iteration = 0;
    double deferred_alpha = 0;  // of the step that d has not seen
  };

  // Before the updates of an iteration.
  void keep(solver_state& state, std::int64_t& iteration, double& deferred_alpha) {
    state.vector("direction of CG", device::cpu(1), p_.data(), p_.size());
    state.integer("iterations of this run", iteration);
    state.number("deferred step", deferred_alpha);
  }

  // Every thread of the team runs this with the same scalars; thread 0 also keeps the log.
  template <class Barrier>
  void loop(T* r, T* d, const stopping_rule& rule, iteration_log& log, inner_outcome& outcome, wishes& asked,
            const start& begin, Barrier barrier) {
    const bool first = omp_get_thread_num() == 0;
    if (!begin.resumed)
      for_my_chunks([&](std::int64_t i, std::int64_t n, std::int64_t) {
        std::fill_n(d + i, n, T{});
        for (std::int64_t k = i; k < i + n; ++k) p_[k] = minv_ ? minv_[k] * r[k] : r[k];
      });
    barrier();
    cg_solution_update solution;
    solution.deferred_alpha = begin.deferred_alpha;
    const auto move_solution = [&](std::int64_t i, std::int64_t n) {
      cg_chunk::update_solution(static_cast<T>(solution.along_p), static_cast<T>(solution.along_mr),
                                p_.data() + i, r + i, minv_ ? minv_ + i : nullptr, d + i, n);
    };
    for (std::int64_t iteration = begin.iteration;; ++iteration) {
      for_my_chunks([&](std::int64_t i, std::int64_t n, std::int64_t chunk) {
        A_.multiply_rows(p_.data(), q_.data(), i, i + n);
        parts_[chunk] = cg_chunk::dots(p_.data() + i, q_.data() + i, r + i, minv_ ? minv_ + i : nullptr, n);
      });
      barrier();
      const cg_dots sums = add_up(parts_);
      cg_step step = cg_advance(sums, rule, iteration);
      if (asked.save && step.event == solver_event::running) {
        if (first)
          log.save(iteration, [&](solver_state& state) { keep(state, iteration, solution.deferred_alpha); });
        barrier();
      }
      if (asked.stop && step.event == solver_event::running) step.event = solver_event::interrupted;
      if (step.event != solver_event::running) {
        solution = cg_flush_update(solution);
        if (solution.now)
          for_my_chunks([&](std::int64_t i, std::int64_t n, std::int64_t) { move_solution(i, n); });
        barrier();
        if (first) {
          log.note(iteration, std::sqrt(sums.rr), d);
          outcome = {step.event, iteration, sums.rr};
        }
        return;
      }
      if (log.shows()) {
        solution = cg_flush_update(solution);
        if (solution.now)
          for_my_chunks([&](std::int64_t i, std::int64_t n, std::int64_t) { move_solution(i, n); });
        barrier();
        if (first && !log.note(iteration, std::sqrt(sums.rr), d)) asked.stop = true;
      }
      solution = cg_defer_update(solution, step);
      for_my_chunks([&](std::int64_t i, std::int64_t n, std::int64_t) {
        if (solution.now) move_solution(i, n);
        cg_chunk::update(static_cast<T>(step.alpha), static_cast<T>(step.beta), q_.data() + i,
                         minv_ ? minv_ + i : nullptr, p_.data() + i, r + i, n);
      });
      barrier();
      // Read by the others after the next barrier but one, written again after the next but two.
      if (first) log.step(step.alpha, step.beta);
      if (!first) continue;
      if (!log.note(iteration, std::sqrt(sums.rr))) asked.stop = true;
      asked.save = log.save_due() || (asked.stop && log.keeps());
    }
  }

  // Contiguous shares, the same for every sweep, so that a thread finds its chunks in its own cache.
  template <class Body>
  void for_my_chunks(Body body) {
    const std::int64_t chunks = parts_.size();
    const std::int64_t team = threads_ == 1 ? 1 : omp_get_num_threads();
    const std::int64_t me = threads_ == 1 ? 0 : omp_get_thread_num();
    for (std::int64_t c = chunks * me / team; c < chunks * (me + 1) / team; ++c)
      body(c * chunk_, std::min(chunk_, A_.rows() - c * chunk_), c);
  }

  const spmv_plan<T>& A_;
  const T* minv_;
  int threads_;
  std::int64_t chunk_;
  array<T> p_, q_;
  array<cg_dots> parts_;
};

}  // namespace

template <real T>
std::unique_ptr<inner_solver<T>> cg_cpu(const device& dev, const spmv_plan<T>& A, const T* minv) {
  return std::make_unique<cpu_engine<T>>(dev, A, minv);
}

template std::unique_ptr<inner_solver<float>> cg_cpu(const device&, const spmv_plan<float>&, const float*);
template std::unique_ptr<inner_solver<double>> cg_cpu(const device&, const spmv_plan<double>&, const double*);

}  // namespace vouch
