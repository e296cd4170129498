// Conjugate gradients for several right-hand sides on the CPU. The vectors of 2, 4 or 8 columns lie row by row,
// so that a row of A meets all columns at once: a lane a column, and the inner products need no sum over lanes.
// The sweeps are those of cg_cpu.cpp: the matrix and 9 n values a column.
//
// A column's bits depend on neither the other columns nor the number of them nor that of threads: chunks have a
// size that depends on n alone, and every thread adds the chunks' sums in the same order.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_many_step.hpp>

namespace vouch {
namespace {

// One row of Width columns.
template <real T, int Width>
struct row_of {
  typedef T type __attribute__((vector_size(Width * sizeof(T))));
};

template <class Row, class T>
VOUCH_SIMD_INLINE Row row_at(const T* from) {
  Row row;
  std::memcpy(&row, from, sizeof row);
  return row;
}

template <class Row, class T>
VOUCH_SIMD_INLINE void put_row(T* to, const Row& row) {
  std::memcpy(to, &row, sizeof row);
}

// q = A p for rows begin to end - 1, and their part of the five products (cg_dots) of each column. Products are
// added in T over 64 rows, then in double.
template <real T, int Width, bool Diagonal>
VOUCH_SIMD_INLINE void multiply_chunk(const csr_view<const T>& A, const T* p, const T* r, const T* minv, T* q,
                                      std::int64_t begin, std::int64_t end, cg_dots* sums) {
  using row = typename row_of<T, Width>::type;
  constexpr std::int64_t ahead = 1024;  // see spmv_cpu.cpp
  double totals[cg_dots::count][Width] = {};
  for (std::int64_t i = begin; i < end;) {
    row pq{}, qmq{}, rmq{}, rmr{}, rr{};
    for (const std::int64_t stop = std::min(i + 64, end); i < stop; ++i) {
      row even{}, odd{};
      std::int64_t k = A.row_ptr[i];
      const std::int64_t last = A.row_ptr[i + 1];
      __builtin_prefetch(A.val + k + ahead);
      __builtin_prefetch(A.col + k + ahead);
      for (; k + 2 <= last; k += 2) {
        even += A.val[k] * row_at<row>(p + std::int64_t{A.col[k]} * Width);
        odd += A.val[k + 1] * row_at<row>(p + std::int64_t{A.col[k + 1]} * Width);
      }
      if (k < last) even += A.val[k] * row_at<row>(p + std::int64_t{A.col[k]} * Width);
      const row qi = even + odd, pi = row_at<row>(p + i * Width), ri = row_at<row>(r + i * Width);
      put_row(q + i * Width, qi);
      row mq = qi;
      if constexpr (Diagonal) {
        mq = minv[i] * qi;
        rmr += ri * (minv[i] * ri);
      }
      pq += pi * qi;
      qmq += qi * mq;
      rmq += ri * mq;
      rr += ri * ri;
    }
    for (int c = 0; c < Width; ++c) {
      totals[0][c] += pq[c];
      totals[1][c] += qmq[c];
      totals[2][c] += rmq[c];
      totals[3][c] += Diagonal ? rmr[c] : rr[c];
      totals[4][c] += rr[c];
    }
  }
  for (int c = 0; c < Width; ++c)
    sums[c] = {totals[0][c], totals[1][c], totals[2][c], totals[3][c], totals[4][c]};
}

// What an iteration does to the vectors of each column.
template <real T, int Width>
struct row_steps {
  T alpha[Width] = {}, beta[Width] = {}, along_p[Width] = {}, along_mr[Width] = {};
  bool now = false;  // whether any solution moves
};

template <real T, int Width, bool Diagonal>
VOUCH_SIMD_INLINE void update_chunk(const row_steps<T, Width>& steps, const T* q, const T* minv, T* p, T* r,
                                    T* d, std::int64_t begin, std::int64_t end) {
  using row = typename row_of<T, Width>::type;
  const row alpha = row_at<row>(steps.alpha), beta = row_at<row>(steps.beta),
            along_p = row_at<row>(steps.along_p), along_mr = row_at<row>(steps.along_mr);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t at = i * Width;
    const row pi = row_at<row>(p + at);
    row ri = row_at<row>(r + at);
    if (steps.now) {
      row mr = ri;
      if constexpr (Diagonal) mr = minv[i] * ri;
      put_row(d + at, row_at<row>(d + at) + (along_p * pi + along_mr * mr));
    }
    ri -= alpha * row_at<row>(q + at);
    put_row(r + at, ri);
    if constexpr (Diagonal) ri = minv[i] * ri;
    put_row(p + at, ri + beta * pi);
  }
}

#define VOUCH_MANY_KERNELS(T, Width)                                                                           \
  VOUCH_SIMD_CLONES void multiply(const csr_view<const T>& A, const T* p, const T* r, const T* minv, T* q,     \
                                  std::int64_t begin, std::int64_t end, std::array<cg_dots, Width>& sums) {    \
    minv ? multiply_chunk<T, Width, true>(A, p, r, minv, q, begin, end, sums.data())                           \
         : multiply_chunk<T, Width, false>(A, p, r, minv, q, begin, end, sums.data());                         \
  }                                                                                                            \
  VOUCH_SIMD_CLONES void update(const row_steps<T, Width>& steps, const T* q, const T* minv, T* p, T* r, T* d, \
                                std::int64_t begin, std::int64_t end) {                                        \
    minv ? update_chunk<T, Width, true>(steps, q, minv, p, r, d, begin, end)                                   \
         : update_chunk<T, Width, false>(steps, q, minv, p, r, d, begin, end);                                 \
  }
VOUCH_MANY_KERNELS(float, 2)
VOUCH_MANY_KERNELS(float, 4)
VOUCH_MANY_KERNELS(float, 8)
VOUCH_MANY_KERNELS(double, 2)
VOUCH_MANY_KERNELS(double, 4)
VOUCH_MANY_KERNELS(double, 8)
#undef VOUCH_MANY_KERNELS

// Rows a chunk: p, q and r of 8 columns stay in the second-level cache.
std::int64_t chunk_rows(std::int64_t n) { return n <= 65536 ? 128 : 512; }

template <real T, int Width>
class many_engine final : public block_inner_solver<T> {
 public:
  many_engine(const device& dev, csr_view<const T> A, const T* minv)
      : A_(A),
        minv_(minv),
        threads_(useful_threads(dev, A)),
        chunk_(chunk_rows(A.rows)),
        p_(dev, A.rows * Width),
        q_(dev, A.rows * Width),
        r_(dev, A.rows * Width),
        d_(dev, A.rows * Width),
        parts_(dev, ceil_div(A.rows, chunk_)) {}

  void run(std::span<inner_task<T>> columns) override {
    stop_.fill(false);
    if (threads_ == 1) {
      loop(columns, [] {});
    } else {
#pragma omp parallel firstprivate(ieee) num_threads(threads_)
      loop(columns, [] {
#pragma omp barrier
      });
    }
    for (inner_task<T>& column : columns)
      column.engine = std::to_string(Width) + " columns at once, " + std::to_string(threads_) +
                      (threads_ == 1 ? " thread, csr" : " threads, csr");
  }

 private:
  // Threads that pay: see cg_cpu.cpp.
  static int useful_threads(const device& dev, csr_view<const T> A) {
    const std::int64_t work = A.nonzeros * Width / 4 + 10 * A.rows * Width;
    return static_cast<int>(std::clamp<std::int64_t>(work / 65536, 1, dev.threads()));
  }

  // Every thread of the team runs this with the same scalars; thread 0 also keeps the logs.
  template <class Barrier>
  void loop(std::span<inner_task<T>> columns, Barrier barrier) {
    for_my_chunks([&](std::int64_t begin, std::int64_t end, std::int64_t) { take_in(columns, begin, end); });
    barrier();
    std::array<many_step, Width> step{};
    for (std::size_t c = 0; c < Width; ++c)
      if (c >= columns.size()) step[c].event = solver_event::reached;
    bool going = true;
    for (std::int64_t iteration = 0; going; ++iteration) {
      for_my_chunks([&](std::int64_t begin, std::int64_t end, std::int64_t chunk) {
        multiply(A_, p_.data(), r_.data(), minv_, q_.data(), begin, end, parts_[chunk]);
      });
      barrier();
      const std::array<cg_dots, Width> sums = add_up();
      going = false;
      std::array<bool, Width> ran;
      row_steps<T, Width> steps;
      for (std::size_t c = 0; c < Width; ++c) {
        ran[c] = step[c].event == solver_event::running;
        if (ran[c])
          take_step(step[c], sums[c], columns[c].rule, iteration, stop_[c]);
        else
          freeze(step[c]);
        going = going || step[c].event == solver_event::running;
        set(steps, c, step[c]);
      }
      for_my_chunks([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        update(steps, q_.data(), minv_, p_.data(), r_.data(), d_.data(), begin, end);
      });
      if (going) barrier();
      // stop_ is read by the others after the next barrier but one, written again after the next but two.
      if (omp_get_thread_num() == 0)
        for (std::size_t c = 0; c < columns.size(); ++c)
          if (ran[c]) {
            columns[c].log->step(step[c].alpha, step[c].beta);
            note(columns[c], iteration, step[c].event, sums[c].rr, stop_[c]);
          }
    }
    for_my_chunks([&](std::int64_t begin, std::int64_t end, std::int64_t) { give_back(columns, begin, end); });
  }

  static void note(inner_task<T>& column, std::int64_t iteration, solver_event event, double rr, bool& stop) {
    if (!column.log->note(iteration, std::sqrt(rr))) stop = true;
    column.outcome = {event, iteration, rr};
  }

  static void set(row_steps<T, Width>& steps, std::size_t c, const many_step& s) {
    steps.alpha[c] = static_cast<T>(s.alpha);
    steps.beta[c] = static_cast<T>(s.beta);
    steps.along_p[c] = static_cast<T>(s.solution.along_p);
    steps.along_mr[c] = static_cast<T>(s.solution.along_mr);
    steps.now = steps.now || s.solution.now;
  }

  void take_in(std::span<inner_task<T>> columns, std::int64_t begin, std::int64_t end) {
    std::fill(d_.data() + begin * Width, d_.data() + end * Width, T{});
    for (std::int64_t i = begin; i < end; ++i)
      for (std::size_t c = 0; c < Width; ++c) {
        const std::int64_t at = i * Width + static_cast<std::int64_t>(c);
        r_[at] = c < columns.size() ? columns[c].r[i] : T{};
        p_[at] = minv_ != nullptr ? minv_[i] * r_[at] : r_[at];
      }
  }

  void give_back(std::span<inner_task<T>> columns, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::size_t c = 0; c < columns.size(); ++c)
        columns[c].d[i] = d_[i * Width + static_cast<std::int64_t>(c)];
  }

  std::array<cg_dots, Width> add_up() const {
    std::array<cg_dots, Width> all{};
    for (const std::array<cg_dots, Width>& part : parts_)
      for (std::size_t c = 0; c < Width; ++c) {
        all[c].pq += part[c].pq;
        all[c].qmq += part[c].qmq;
        all[c].rmq += part[c].rmq;
        all[c].rmr += part[c].rmr;
        all[c].rr += part[c].rr;
      }
    return all;
  }

  // Contiguous shares, the same for every sweep.
  template <class Body>
  void for_my_chunks(Body body) {
    const std::int64_t chunks = parts_.size();
    const std::int64_t team = threads_ == 1 ? 1 : omp_get_num_threads();
    const std::int64_t me = threads_ == 1 ? 0 : omp_get_thread_num();
    for (std::int64_t c = chunks * me / team; c < chunks * (me + 1) / team; ++c)
      body(c * chunk_, std::min((c + 1) * chunk_, A_.rows), c);
  }

  csr_view<const T> A_;
  const T* minv_;
  int threads_;
  std::int64_t chunk_;
  array<T> p_, q_, r_, d_;
  array<std::array<cg_dots, Width>> parts_;
  std::array<bool, Width> stop_{};
};

}  // namespace

template <real T>
std::unique_ptr<block_inner_solver<T>> cg_many_cpu(const device& dev, csr_view<const T> A, const T* minv,
                                                   int width) {
  if (width == 2) return std::make_unique<many_engine<T, 2>>(dev, A, minv);
  if (width == 4) return std::make_unique<many_engine<T, 4>>(dev, A, minv);
  return std::make_unique<many_engine<T, 8>>(dev, A, minv);
}

template std::unique_ptr<block_inner_solver<float>> cg_many_cpu(const device&, csr_view<const float>,
                                                                const float*, int);
template std::unique_ptr<block_inner_solver<double>> cg_many_cpu(const device&, csr_view<const double>,
                                                                 const double*, int);

}  // namespace vouch
