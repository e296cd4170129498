// Conjugate gradients for several right-hand sides on a GPU: a CUDA graph that loops by itself, as in
// cg_graph_cuda.cu, over vectors of 2, 4 or 8 columns that lie row by row.
//
// Two kernels an iteration: the product with all inner products, whose last block takes every column's step,
// then the updates. A as csr once and 9 n values a column. Bound by memory where A is large. Bits fixed by the
// grid, which is fixed by the sizes and the GPU.
#include <algorithm>
#include <string>

#include <vouch/core/launch.cuh>
#include <vouch/core/while_graph.cuh>
#include <vouch/solve/krylov/cg_engines.hpp>
#include <vouch/solve/krylov/cg_many_step.hpp>
#include <vouch/solve/loop/pinned_history.cuh>

namespace vouch {
namespace {

constexpr unsigned block = 256;

// Everything the kernels of one solve share, in GPU memory.
template <int Width>
struct control {
  many_step step[Width];
  stopping_rule rule[Width];
  std::int64_t iteration;
  unsigned ticket;
  bool at_work;  // whether any column still ran when this iteration began
};

// Two neighbouring columns of a row, moved at once.
template <class T>
struct alignas(2 * sizeof(T)) duo {
  T v[2];
};

template <class T>
__device__ duo<T> load_duo(const T* from) {
  return *reinterpret_cast<const duo<T>*>(from);
}

template <class T>
__device__ void store_duo(T* to, const duo<T>& v) {
  *reinterpret_cast<duo<T>*>(to) = v;
}

// The row's sums for two columns. The Lanes threads of a row load Lanes of its entries side by side and hand
// them round; each takes every slots-th entry for its two columns. All threads of the warp come here, with
// length 0 where there is no row; `longest` is the largest length among them. Result in all lanes of the row.
template <class T, int Width, int Lanes>
__device__ duo<T> row_sums(const T* __restrict__ val, const std::int32_t* __restrict__ col, int length,
                           int longest, const T* __restrict__ p, int place) {
  constexpr int duos = Width / 2, slots = Lanes / duos;
  const int slot = place / duos;
  p += 2 * (place % duos);
  T a = place < length ? __ldcs(val + place) : T{};
  std::int32_t j = place < length ? __ldcs(col + place) : 0;
  duo<T> sum{};
  for (int first = 0; first < longest; first += Lanes) {
    const int next = first + Lanes + place;
    const T next_a = next < length ? __ldcs(val + next) : T{};
    const std::int32_t next_j = next < length ? __ldcs(col + next) : 0;
#pragma unroll
    for (int t = 0; t < duos; ++t) {
      const int e = t * slots + slot;
      const T value = __shfl_sync(~0u, a, e, Lanes);
      const std::int32_t column = __shfl_sync(~0u, j, e, Lanes);
      if (first + e < length) {
        const duo<T> x = load_duo(p + std::int64_t{column} * Width);
        sum.v[0] += value * x.v[0];
        sum.v[1] += value * x.v[1];
      }
    }
    a = next_a;
    j = next_j;
  }
#pragma unroll
  for (int d = duos; d < Lanes; d *= 2) {
    sum.v[0] += __shfl_xor_sync(~0u, sum.v[0], d);
    sum.v[1] += __shfl_xor_sync(~0u, sum.v[1], d);
  }
  return sum;
}

// Leaves the block's sums in parts; the last block to come adds them in a fixed order. Sums for column c are
// totals[c * Count] and the following, in shared memory; true in the last block. mine belongs to columns
// 2 place and 2 place + 1 for place < Width/2 and is zero elsewhere.
template <int Width, int Lanes, int Count>
__device__ bool grid_sum(const double (&mine)[2][Count], int place, double* parts, unsigned* ticket,
                         double* totals) {
  constexpr unsigned values = Width * Count, groups = block / values, warps = block / 32;
  __shared__ double of_warp[warps][values];
  __shared__ double of_group[groups][values];
  __shared__ bool last;
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      double v = mine[h][k];
      for (int d = Lanes; d < 32; d *= 2) v += __shfl_xor_sync(~0u, v, d);
      if (threadIdx.x % 32 < Width / 2) of_warp[threadIdx.x / 32][(2 * place + h) * Count + k] = v;
    }
  __syncthreads();
  if (threadIdx.x < values) {
    double sum = 0;
    for (unsigned w = 0; w < warps; ++w) sum += of_warp[w][threadIdx.x];
    parts[blockIdx.x * values + threadIdx.x] = sum;
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return false;
  __threadfence();
  if (threadIdx.x < groups * values) {
    const unsigned group = threadIdx.x / values, value = threadIdx.x % values;
    double sum = 0;
    for (unsigned b = group; b < gridDim.x; b += groups) sum += __ldcg(parts + b * values + value);
    of_group[group][value] = sum;
  }
  __syncthreads();
  if (threadIdx.x < values) {
    double sum = 0;
    for (unsigned g = 0; g < groups; ++g) sum += of_group[g][threadIdx.x];
    totals[threadIdx.x] = sum;
  }
  __syncthreads();
  return true;
}

// All threads of one block: each column's step from its sums, and the end of the loop.
template <int Width, int Count>
__device__ void take_steps(const double* totals, control<Width>& c, pinned_history* boxes,
                           cudaGraphConditionalHandle loop) {
  const std::int64_t iteration = c.iteration;
  bool ran = false, goes_on = false;
  if (threadIdx.x < Width) {
    many_step s = c.step[threadIdx.x];
    ran = s.event == solver_event::running;
    if (ran) {
      const double* const t = totals + threadIdx.x * Count;
      const cg_dots dots{t[0], t[1], t[2], t[Count - 1], t[3]};
      pinned_history& box = boxes[threadIdx.x];
      take_step(s, dots, c.rule[threadIdx.x], iteration, asked_to_stop(box, iteration));
      publish_step(box, iteration, s.alpha, s.beta);
      publish_to_host(box, iteration, dots.rr, s.event);
    } else {
      freeze(s);
    }
    goes_on = s.event == solver_event::running;
    c.step[threadIdx.x] = s;
  }
  const bool any_ran = __syncthreads_or(ran), any_goes_on = __syncthreads_or(goes_on);
  if (threadIdx.x != 0) return;
  c.iteration = iteration + 1;
  c.at_work = any_ran;
  if (!any_goes_on && loop != 0) cudaGraphSetConditional(loop, 0);
}

// q = A p and the inner products of all columns, then their steps. A warp takes 32/Lanes rows at a time; the
// first Width/2 threads of a row's Lanes have two columns each.
template <class T, int Width, int Lanes, bool Diagonal>
__global__ void __launch_bounds__(block)
    many_product(csr_view<const T> A, const T* __restrict__ p, const T* __restrict__ r,
                 const T* __restrict__ minv, T* __restrict__ q, double* parts, control<Width>* c,
                 pinned_history* boxes, cudaGraphConditionalHandle loop) {
  constexpr int count = Diagonal ? 5 : 4, rows_a_warp = 32 / Lanes;
  __shared__ double totals[Width * count];
  const unsigned lane = threadIdx.x % 32;
  const int place = static_cast<int>(lane % Lanes);
  const std::int64_t warp = (std::int64_t{blockIdx.x} * block + threadIdx.x) / 32,
                     warps = std::int64_t{gridDim.x} * (block / 32);
  double sums[2][count] = {};
  for (std::int64_t base = warp * rows_a_warp; base < A.rows; base += warps * rows_a_warp) {
    const std::int64_t row = base + lane / Lanes, at = row * Width + 2 * place;
    std::int64_t begin = 0;
    int length = 0;
    if (row < A.rows) {
      begin = A.row_ptr[row];
      length = static_cast<int>(A.row_ptr[row + 1] - begin);
    }
    const bool has_columns = row < A.rows && place < Width / 2;
    duo<T> pi{}, ri{};
    double m = 1;
    if (has_columns) {
      pi = load_duo(p + at);
      ri = load_duo(r + at);
      if constexpr (Diagonal) m = minv[row];
    }
    const duo<T> sum = row_sums<T, Width, Lanes>(A.val + begin, A.col + begin, length,
                                                 __reduce_max_sync(~0u, length), p, place);
    if (!has_columns) continue;
    store_duo(q + at, sum);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const double qh = sum.v[h], ph = pi.v[h], rh = ri.v[h], mq = Diagonal ? m * qh : qh;
      sums[h][0] += ph * qh;
      sums[h][1] += qh * mq;
      sums[h][2] += rh * mq;
      sums[h][3] += rh * rh;
      if constexpr (Diagonal) sums[h][4] += rh * (m * rh);
    }
  }
  if (grid_sum<Width, Lanes, count>(sums, place, parts, &c->ticket, totals))
    take_steps<Width, count>(totals, *c, boxes, loop);
}

// The solutions where it is their turn, r -= alpha q, p = M r + beta p; a thread has the same two columns of
// many rows. Bound by memory: 7 n values a column and 5 n in turn.
template <class T, int Width, bool Diagonal>
__global__ void __launch_bounds__(block)
    many_update(std::int64_t n, const control<Width>* c, const T* __restrict__ q, const T* __restrict__ minv,
                T* __restrict__ p, T* __restrict__ r, T* __restrict__ d) {
  if (!c->at_work) return;
  constexpr int duos = Width / 2;
  static_assert(block % duos == 0);  // so that a stride keeps the columns
  const std::int64_t first = std::int64_t{blockIdx.x} * block + threadIdx.x,
                     stride = std::int64_t{gridDim.x} * block;
  const many_step steps[2] = {c->step[2 * (first % duos)], c->step[2 * (first % duos) + 1]};
  const bool now = steps[0].solution.now || steps[1].solution.now;
  T alpha[2], beta[2], along_p[2], along_mr[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    alpha[h] = static_cast<T>(steps[h].alpha);
    beta[h] = static_cast<T>(steps[h].beta);
    along_p[h] = static_cast<T>(steps[h].solution.along_p);
    along_mr[h] = static_cast<T>(steps[h].solution.along_mr);
  }
  for (std::int64_t k = first; k < n * duos; k += stride) {
    const duo<T> qk = load_duo(q + 2 * k);
    duo<T> pk = load_duo(p + 2 * k), rk = load_duo(r + 2 * k), dk{};
    if (now) dk = load_duo(d + 2 * k);
    const T m = Diagonal ? minv[k / duos] : T{1};
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      dk.v[h] += along_p[h] * pk.v[h] + along_mr[h] * (m * rk.v[h]);
      rk.v[h] -= alpha[h] * qk.v[h];
      pk.v[h] = m * rk.v[h] + beta[h] * pk.v[h];
    }
    if (now) store_duo(d + 2 * k, dk);
    store_duo(r + 2 * k, rk);
    store_duo(p + 2 * k, pk);
  }
}

// The columns' own vectors; nullptr for a column that is not there.
template <class T, int Width>
struct column_pointers {
  T* of[Width];
};

// r from the columns, p = M r, d = 0; each thread takes every (grid)-th element.
template <class T, int Width>
__global__ void __launch_bounds__(block)
    many_start(std::int64_t n, const __grid_constant__ column_pointers<T, Width> columns,
               const T* __restrict__ minv, T* __restrict__ p, T* __restrict__ r, T* __restrict__ d) {
  for (std::int64_t k = std::int64_t{blockIdx.x} * block + threadIdx.x; k < n * Width;
       k += std::int64_t{gridDim.x} * block) {
    const std::int64_t i = k / Width;
    const T* const column = columns.of[k % Width];
    const T value = column != nullptr ? column[i] : T{};
    r[k] = value;
    p[k] = minv != nullptr ? minv[i] * value : value;
    d[k] = T{};
  }
}

template <class T, int Width>
__global__ void __launch_bounds__(block)
    many_end(std::int64_t n, const __grid_constant__ column_pointers<T, Width> columns,
             const T* __restrict__ d) {
  for (std::int64_t k = std::int64_t{blockIdx.x} * block + threadIdx.x; k < n * Width;
       k += std::int64_t{gridDim.x} * block)
    if (T* const column = columns.of[k % Width]; column != nullptr) column[k / Width] = d[k];
}

template <class T, int Width>
class many_engine final : public block_inner_solver<T> {
 public:
  many_engine(const device& dev, csr_view<const T> A, const T* minv)
      : dev_(dev),
        A_(A),
        minv_(minv),
        wide_rows_(A.rows < std::int64_t{64} * dev.processors() * 4 && A.nonzeros >= 16 * A.rows),
        product_blocks_(blocks(A.rows * (wide_rows_ ? 32 : 8))),
        p_(dev, A.rows * Width),
        q_(dev, A.rows * Width),
        r_(dev, A.rows * Width),
        d_(dev, A.rows * Width),
        parts_(dev, product_blocks_ * Width * cg_dots::count),
        control_(array<control<Width>>::zeros(dev, 1)),
        boxes_(make_pinned_histories(Width)) {}

  void run(std::span<inner_task<T>> columns) override {
    column_pointers<T, Width> residuals{}, corrections{};
    control<Width> fresh{};
    std::vector<history_reader> readers;
    for (std::size_t c = 0; c < Width; ++c) {
      boxes_.get()[c].progress = 0;
      boxes_.get()[c].stop = 0;
      if (c >= columns.size()) {
        fresh.step[c].event = solver_event::reached;
        continue;
      }
      residuals.of[c] = columns[c].r;
      corrections.of[c] = columns[c].d;
      fresh.rule[c] = columns[c].rule;
      readers.emplace_back(boxes_.get()[c], *columns[c].log, mail::residuals_and_steps);
    }
    copy_bytes(control_.data(), dev_, &fresh, device::cpu(1), sizeof fresh);
    const launch_shape all{blocks(A_.rows * Width), block};
    launch(dev_, "many_start", all, many_start<T, Width>, A_.rows, residuals, minv_, p_.data(), r_.data(),
           d_.data());
    loop();
    follow(dev_, readers);
    launch(dev_, "many_end", all, many_end<T, Width>, A_.rows, corrections, d_.data());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const pinned_history& box = boxes_.get()[c];
      columns[c].outcome = {static_cast<solver_event>(box.event), box.iterations, box.last_squared};
      columns[c].engine = std::to_string(Width) + " columns at once, looping graph, csr";
    }
  }

 private:
  // Enough for so many threads, but no more than the GPU runs at once.
  std::int64_t blocks(std::int64_t threads) const {
    return std::clamp<std::int64_t>(ceil_div<std::int64_t>(threads, block), 1, 8 * dev_.processors());
  }

  void loop() {
    if (loop_on_host()) {
      do record(0);
      while (control_.to_vector()[0].at_work);
      return;
    }
    if (graph_ == nullptr)
      graph_ = std::make_unique<while_graph>(dev_, [&](cudaGraphConditionalHandle handle) { record(handle); });
    graph_->launch();
  }

  // Several iterations a turn where they are short, as in cg_graph_cuda.cu.
  void record(cudaGraphConditionalHandle loop) {
    const std::int64_t bytes = A_.nonzeros * static_cast<std::int64_t>(sizeof(T) + 4) +
                               9 * Width * A_.rows * static_cast<std::int64_t>(sizeof(T));
    const int iterations = bytes < (std::int64_t{64} << 20) ? 4 : 1;
    for (int k = 0; k < iterations; ++k) {
      if (minv_ != nullptr)
        iterate<true>(loop);
      else
        iterate<false>(loop);
    }
  }

  template <bool Diagonal>
  void iterate(cudaGraphConditionalHandle loop) {
    launch(dev_, "many_product", {product_blocks_, block},
           wide_rows_ ? many_product<T, Width, 32, Diagonal> : many_product<T, Width, 8, Diagonal>, A_,
           p_.data(), r_.data(), minv_, q_.data(), parts_.data(), control_.data(), boxes_.get(), loop);
    launch(dev_, "many_update", {blocks(ceil_div<std::int64_t>(A_.rows * Width, 8)), block},
           many_update<T, Width, Diagonal>, A_.rows, control_.data(), q_.data(), minv_, p_.data(), r_.data(),
           d_.data());
  }

  device dev_;
  csr_view<const T> A_;
  const T* minv_;
  bool wide_rows_;  // a warp a row: few rows, each long
  std::int64_t product_blocks_;
  array<T> p_, q_, r_, d_;
  array<double> parts_;
  array<control<Width>> control_;
  std::shared_ptr<pinned_history> boxes_;
  std::unique_ptr<while_graph> graph_;
};

}  // namespace

template <real T>
std::unique_ptr<block_inner_solver<T>> cg_many_cuda(const device& dev, csr_view<const T> A, const T* minv,
                                                    int width) {
  if (width == 2) return std::make_unique<many_engine<T, 2>>(dev, A, minv);
  if (width == 4) return std::make_unique<many_engine<T, 4>>(dev, A, minv);
  return std::make_unique<many_engine<T, 8>>(dev, A, minv);
}

template std::unique_ptr<block_inner_solver<float>> cg_many_cuda(const device&, csr_view<const float>,
                                                                 const float*, int);
template std::unique_ptr<block_inner_solver<double>> cg_many_cuda(const device&, csr_view<const double>,
                                                                  const double*, int);

}  // namespace vouch
