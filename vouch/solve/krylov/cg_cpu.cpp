// Conjugate gradients on the CPU. An iteration has two sweeps over chunks of rows: A p with all inner products
// while the chunk is in cache, then the updates. It moves the matrix and 9 n values: the solution moves every
// other time.
//
// Chunks have a size that depends on n alone, each chunk's sums a fixed order, and every thread adds the
// chunks' sums in the same order: the bits do not depend on the number of threads.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>

namespace vouch {
namespace {

// The five products of one chunk: whole vectors of lanes first, then the rest as one vector filled with zeros.
template <real T, bool Diagonal>
VOUCH_SIMD_INLINE cg_dots chunk_dots(const T* p, const T* q, const T* r, const T* minv, std::int64_t n) {
  constexpr int width = simd<T>::width;
  lanes<T> pq{}, qmq{}, rmq{}, rmr{}, rr{};
  const auto add = [&](const T* pi, const T* qi, const T* ri, const T* mi) __attribute__((always_inline)) {
    lanes<T> pv, qv, rv;
    load<T>(pv, pi);
    load<T>(qv, qi);
    load<T>(rv, ri);
    lanes<T> mq = qv;
    if constexpr (Diagonal) {
      lanes<T> mv;
      load<T>(mv, mi);
      mq = mv * qv;
      rmr += rv * (mv * rv);
    }
    pq += pv * qv;
    qmq += qv * mq;
    rmq += rv * mq;
    rr += rv * rv;
  };
  const std::int64_t whole = n / width * width;
  for (std::int64_t i = 0; i < whole; i += width) add(p + i, q + i, r + i, Diagonal ? minv + i : nullptr);
  if (whole < n) {
    T rest[4][width] = {};
    const auto bytes = static_cast<std::size_t>(n - whole) * sizeof(T);
    std::memcpy(rest[0], p + whole, bytes);
    std::memcpy(rest[1], q + whole, bytes);
    std::memcpy(rest[2], r + whole, bytes);
    if constexpr (Diagonal) std::memcpy(rest[3], minv + whole, bytes);
    add(rest[0], rest[1], rest[2], rest[3]);
  }
  const double square = total<T>(rr);
  return {total<T>(pq), total<T>(qmq), total<T>(rmq), Diagonal ? total<T>(rmr) : square, square};
}

template <real T, bool Diagonal>
VOUCH_SIMD_INLINE void chunk_solution(T along_p, T along_mr, const T* p, const T* r, const T* minv, T* d,
                                      std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) d[i] += along_p * p[i] + along_mr * (Diagonal ? minv[i] * r[i] : r[i]);
}

template <real T, bool Diagonal>
VOUCH_SIMD_INLINE void chunk_update(T alpha, T beta, const T* q, const T* minv, T* p, T* r, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    r[i] -= alpha * q[i];
    p[i] = (Diagonal ? minv[i] * r[i] : r[i]) + beta * p[i];
  }
}

#define VOUCH_CHUNK_KERNELS(T)                                                                               \
  VOUCH_SIMD_CLONES cg_dots dots(const T* p, const T* q, const T* r, const T* minv, std::int64_t n) {        \
    return minv ? chunk_dots<T, true>(p, q, r, minv, n) : chunk_dots<T, false>(p, q, r, minv, n);            \
  }                                                                                                          \
  VOUCH_SIMD_CLONES void update_solution(T along_p, T along_mr, const T* p, const T* r, const T* minv, T* d, \
                                         std::int64_t n) {                                                   \
    minv ? chunk_solution<T, true>(along_p, along_mr, p, r, minv, d, n)                                      \
         : chunk_solution<T, false>(along_p, along_mr, p, r, minv, d, n);                                    \
  }                                                                                                          \
  VOUCH_SIMD_CLONES void update(T alpha, T beta, const T* q, const T* minv, T* p, T* r, std::int64_t n) {    \
    minv ? chunk_update<T, true>(alpha, beta, q, minv, p, r, n)                                              \
         : chunk_update<T, false>(alpha, beta, q, minv, p, r, n);                                            \
  }
VOUCH_CHUNK_KERNELS(float)
VOUCH_CHUNK_KERNELS(double)
#undef VOUCH_CHUNK_KERNELS

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
    bool stop = false;
    if (threads_ == 1) {
      loop(r, d, rule, log, outcome, stop, [] {});
    } else {
#pragma omp parallel firstprivate(ieee) num_threads(threads_)
      loop(r, d, rule, log, outcome, stop, [] {
#pragma omp barrier
      });
    }
    return outcome;
  }

 private:
  // Every thread of the team runs this with the same scalars; thread 0 also keeps the log.
  template <class Barrier>
  void loop(T* r, T* d, const stopping_rule& rule, iteration_log& log, inner_outcome& outcome, bool& stop,
            Barrier barrier) {
    const bool first = omp_get_thread_num() == 0;
    for_my_chunks([&](std::int64_t i, std::int64_t n, std::int64_t) {
      std::fill_n(d + i, n, T{});
      for (std::int64_t k = i; k < i + n; ++k) p_[k] = minv_ ? minv_[k] * r[k] : r[k];
    });
    barrier();
    cg_solution_update solution;
    const auto move_solution = [&](std::int64_t i, std::int64_t n) {
      update_solution(static_cast<T>(solution.along_p), static_cast<T>(solution.along_mr), p_.data() + i, r + i,
                      minv_ ? minv_ + i : nullptr, d + i, n);
    };
    for (std::int64_t iteration = 0;; ++iteration) {
      for_my_chunks([&](std::int64_t i, std::int64_t n, std::int64_t chunk) {
        A_.multiply_rows(p_.data(), q_.data(), i, i + n);
        parts_[chunk] = dots(p_.data() + i, q_.data() + i, r + i, minv_ ? minv_ + i : nullptr, n);
      });
      barrier();
      const cg_dots sums = add_up(parts_);
      cg_step step = cg_advance(sums, rule, iteration);
      if (stop && step.event == solver_event::running) step.event = solver_event::interrupted;
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
        if (first && !log.note(iteration, std::sqrt(sums.rr), d)) stop = true;
      }
      solution = cg_defer_update(solution, step);
      for_my_chunks([&](std::int64_t i, std::int64_t n, std::int64_t) {
        if (solution.now) move_solution(i, n);
        update(static_cast<T>(step.alpha), static_cast<T>(step.beta), q_.data() + i,
               minv_ ? minv_ + i : nullptr, p_.data() + i, r + i, n);
      });
      barrier();
      // Read by the others after the next barrier but one, written again after the next but two.
      if (first) log.step(step.alpha, step.beta);
      if (first && !log.note(iteration, std::sqrt(sums.rr))) stop = true;
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
