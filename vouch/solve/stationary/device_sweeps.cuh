// vouch/solve/stationary/device_sweeps.cuh -- sweeps that a GPU runs by itself, for whatever holds the rows: one
// cooperative kernel from the first sweep to the last; private.
//
// Mapping   Rows are renumbered by sets that can be taken side by side; a warp takes a unit of a set (rows of a
//           slice, or one dense row), units in turn to the multiprocessors. Jacobi: one set and two iterates.
//           Gauss-Seidel: set after set, in place. Asynchronous: one set, in place.
// Barriers  one a sweep, to exchange the norms; between sets; one for vectors, where a sweep is accelerated or
//           symmetric; one more sweep's worth of reading where sweeps in place believe that they are done.
// Bound     by memory where sets are large, by a barrier (about 1 us) and the latency of some loads a set where
//           they are small; then one block does it all.
// Bits      every sum has a fixed order and every block takes the same decision from the same numbers; the
//           asynchronous method alone reads what others happen to have written.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/grid_barrier.cuh>
#include <vouch/core/types.hpp>
#include <vouch/solve/loop/pinned_history.cuh>
#include <vouch/solve/stationary/anderson_coefficients.hpp>
#include <vouch/solve/stationary/chebyshev_steps.hpp>
#include <vouch/solve/stationary/dense_engine_cuda.cuh>
#include <vouch/solve/stationary/sweep_progress.hpp>

namespace vouch::device_sweeps {

inline constexpr unsigned threads = 512;
inline constexpr int warps = 16;

/// A barrier of all threads of all blocks; what was written before is everybody's to read after.
struct grid_group {
  unsigned* counter;
  unsigned number = 0;

  __device__ void sync() {
    __syncthreads();
    if (gridDim.x == 1) return;
    ++number;
    if (threadIdx.x == 0) grid_barrier(counter, gridDim.x, number);
    __syncthreads();
  }
};

inline constexpr int most_numbers = sweep_facts::count + 2 * most_mixed;

struct shared_facts {
  double part[most_numbers][warps];
  double total[most_numbers];
  double products[most_mixed * most_mixed], weight[most_mixed];
  // One thread a block decides for all, from the same numbers in every block.
  sweep_progress progress;
  chebyshev_steps chebyshev;
  anderson_course course;
  sweep_facts now;
  solver_event event;
  bool worse;       // the mixed iterate gives way to the plain one
  int differences;  // that are mixed into the next
  bool in_doubt;    // sweeps in place believe that they are done: the residual itself has to say so
};

// Facts 2 and 3 are the largest of all, the others sums.
__device__ inline double combined(int fact, double a, double b) {
  return fact == 2 || fact == 3 ? fmax(a, b) : a + b;
}
__device__ inline double over_warp(int fact, double value) {
  for (int d = 16; d > 0; d /= 2) value = combined(fact, value, __shfl_xor_sync(~0u, value, d));
  return value;
}

// The first `count` numbers of all threads, known to all of them afterwards.
__device__ __forceinline__ void all_reduce(shared_facts& shared, const double* values, int count, double* sums,
                                           int numbers, grid_group& grid) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int v = 0; v < count; ++v) {
    const double value = over_warp(v, values[v]);
    if (lane == 0) shared.part[v][warp] = value;
  }
  __syncthreads();
  // Blocks that are one barrier ahead write to the other half.
  double* const now = sums + (grid.number & 1) * (numbers * std::int64_t{gridDim.x});
  for (int v = warp; v < count; v += warps) {
    const double value = over_warp(v, lane < warps ? shared.part[v][lane] : 0.0);  // no largest is negative
    if (lane == 0) (gridDim.x == 1 ? shared.total[v] : now[v * gridDim.x + blockIdx.x]) = value;
  }
  grid.sync();
  if (gridDim.x == 1) return;
  for (int v = warp; v < count; v += warps) {
    double value = 0;
    for (unsigned b = static_cast<unsigned>(lane); b < gridDim.x; b += 32)
      value = combined(v, value, __ldcg(now + v * gridDim.x + b));
    value = over_warp(v, value);
    if (lane == 0) shared.total[v] = value;
  }
  __syncthreads();
}

/// One thread a block, after the facts of a sweep are there.
__device__ inline void judge(shared_facts& shared, bool in_place, std::int64_t iteration) {
  const double* const total = shared.total;
  shared.now = {total[0], total[1], total[2], total[3], total[4]};
  shared.event = shared.progress.take(shared.now, iteration);
  shared.in_doubt = in_place && shared.event == solver_event::reached && total[0] <= shared.progress.trigger;
}

/// The same thread, after a doubt was looked into: where so much is left of the residual sweeps go on until
/// they meet as much less as is missing.
__device__ inline void settle(shared_facts& shared, double target, std::int64_t iteration) {
  const double squares = shared.total[0], met = shared.now.met;
  if (squares <= target) return;
  const double missing = met > 0 ? target * (met / squares) : target;
  shared.progress.trigger = 0.81 * fmin(shared.progress.trigger, missing);
  shared.event = iteration + 1 >= shared.progress.limit ? solver_event::iteration_limit : solver_event::running;
}

/// The same thread, where sweeps go on: how the next iterate is mixed.
__device__ inline void decide_anderson(shared_facts& shared) {
  anderson_course& course = shared.course;
  shared.worse = course.worse(shared.now.met);
  const bool mixed =
      !shared.worse && course.weigh(shared.total + sweep_facts::count, shared.products, shared.weight);
  shared.differences = mixed ? course.held() : 0;
  course.advance(shared.worse, shared.now.met, mixed);
}

}  // namespace vouch::device_sweeps

// Anderson acceleration. All threads of all blocks go over the vectors, each element always to the same thread;
// what one pass leaves there the next one finds without a barrier.

namespace vouch::device_sweeps {

/// What Anderson acceleration keeps beside the iterate: n values each, of changes and images depth times n;
/// see anderson_course.
template <class T>
struct anderson_vectors {
  int depth = 0;
  std::int64_t n = 0;
  T *last_change = nullptr, *last_g = nullptr, *plain = nullptr;
  T *changes = nullptr, *images = nullptr;
};

/// An element's change in a sweep, for the facts that are found on the way.
__device__ inline void see_change(double* values, double moved, double value) {
  values[1] += moved;
  values[2] = fmax(values[2], moved);
  values[3] = fmax(values[3], fabs(value));
}

/// After a sweep from d to g: takes the differences to the sweep before. This thread's part of the products of
/// the newest with all held ones, then of these with the last change. facts: nullptr, or what sees the changes.
template <class T>
__device__ void take_differences(const anderson_vectors<T>& mix, const anderson_course& course, const T* d,
                                 const T* g, double* facts, double* products) {
  const int held = course.held(), slot = course.slot;
  const std::int64_t all = std::int64_t{blockDim.x} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < mix.n; i += all) {
    const T value = g[i], change = value - d[i];
    if (facts != nullptr) see_change(facts, fabs(static_cast<double>(change)), static_cast<double>(value));
    if (course.has_last) {
      mix.changes[slot * mix.n + i] = change - mix.last_change[i];
      mix.images[slot * mix.n + i] = value - mix.last_g[i];
    }
    mix.last_change[i] = change;
    mix.last_g[i] = value;
    const double newest = held > 0 ? static_cast<double>(mix.changes[slot * mix.n + i]) : 0.0;
    for (int k = 0; k < held; ++k) {
      const double kth = mix.changes[k * mix.n + i];
      products[k] += kth * newest;
      products[held + k] += kth * static_cast<double>(change);
    }
  }
}

/// The next iterate in the place of g, and in copy where that is not nullptr: the combination, g itself, or the
/// plain iterate before it.
template <class T>
__device__ void next_iterate(const anderson_vectors<T>& mix, bool worse, int differences, const double* weight,
                             T* g, T* copy) {
  const std::int64_t all = std::int64_t{blockDim.x} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < mix.n; i += all) {
    T x = worse ? mix.plain[i] : g[i];
    if (!worse) mix.plain[i] = x;
    for (int k = 0; k < differences; ++k) x -= static_cast<T>(weight[k]) * mix.images[k * mix.n + i];
    g[i] = x;
    if (copy != nullptr) copy[i] = x;
  }
}

}  // namespace vouch::device_sweeps

namespace vouch::device_sweeps {

/// Rows is how the matrix is kept: sets(), set(k), units(set), fetch(set, unit, r, factor), which brings what
/// a unit needs beside d on its way while others are at work (of a unit that does not exist: nothing),
/// gather(fetched, d), which does so with elements of d, and residual(set, unit, fetched, gathered, d, found):
/// for a lane that ends a row its number; else -1.
template <class T, class Rows>
struct task {
  Rows A;
  std::int64_t n = 0;
  const std::int32_t* place = nullptr;  // the matrix's number of each row; nullptr: the same
  const T* r = nullptr;                 // by the matrix's numbers
  T* result = nullptr;                  // likewise
  T* own_r = nullptr;
  const T* factor = nullptr;  // omega over the diagonal
  T* d = nullptr;             // the iterate
  T* other = nullptr;  // simultaneous: the iterate of odd sweeps; else, with vectors, the one before the sweep
  T* step = nullptr;   // with Chebyshev's acceleration: the last one
  anderson_vectors<T> mix;
  chebyshev_steps* chebyshev = nullptr;
  double* sums = nullptr;            // 2 x numbers x blocks
  int numbers = sweep_facts::count;  // that blocks exchange at most
  unsigned* counter = nullptr;       // 0 at the start
  pinned_history* box = nullptr;
  sweep_progress progress;
  double target = -1;       // of the residual, squared
  std::int64_t look = 512;  // iterations between two looks at the mailbox
  int simultaneous = 0;
  int forward = 1;  // the first pass
  int symmetric = 0;
  int vectors = 0;    // a pass over the vectors ends a sweep
  int goes_back = 0;  // simultaneous: ends with the iterate that met the target, not with the next
};

/// Of a row that a lane ends.
template <class T>
struct row_result {
  T s{};       // (r - A d) there
  T d{};       // as it was
  T factor{};  // omega over the diagonal
};

/// Reads what other threads are writing: some value that the element has had.
template <class T>
struct shifting;
template <>
struct shifting<float> {
  const float* at;
  __device__ float operator[](std::int64_t i) const {
    float value;
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(value) : "l"(at + i) : "memory");
    return value;
  }
};
template <>
struct shifting<double> {
  const double* at;
  __device__ double operator[](std::int64_t i) const {
    double value;
    asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(value) : "l"(at + i) : "memory");
    return value;
  }
};
__device__ inline void store_shifting(float* at, float value) {
  asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(at), "f"(value) : "memory");
}
__device__ inline void store_shifting(double* at, double value) {
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(at), "d"(value) : "memory");
}

__device__ inline std::int64_t first_unit() { return std::int64_t{threadIdx.x / 32} * gridDim.x + blockIdx.x; }
__device__ inline std::int64_t all_warps() { return std::int64_t{warps} * gridDim.x; }

/// Jacobi's sweep from one iterate to the other.
template <class T, class Rows>
__device__ void sweep_at_once(const task<T, Rows>& in, const T* from, T* to, T along_change, T keep,
                              double* values) {
  const auto set = in.A.set(0);
  const std::int64_t units = in.A.units(set);
  auto fetched = in.A.fetch(set, first_unit(), in.own_r, in.factor);
  for (std::int64_t unit = first_unit(); unit < units; unit += all_warps()) {
    row_result<T> found;
    const auto here = fetched;
    const auto gathered = in.A.gather(here, from);
    fetched = in.A.fetch(set, unit + all_warps(), in.own_r, in.factor);
    const std::int64_t row = in.A.residual(set, unit, here, gathered, from, found);
    if (row >= 0) {
      T move = found.factor * found.s;
      if (in.step != nullptr) {
        move = keep == T{} ? along_change * move : along_change * move + keep * in.step[row];
        in.step[row] = move;
      }
      const T value = found.d + move;
      to[row] = value;
      values[0] += static_cast<double>(found.s) * static_cast<double>(found.s);
      see_change(values, fabs(static_cast<double>(move)), static_cast<double>(value));
    }
  }
}

template <bool Racing, class T>
__device__ auto vector_of(const T* d) {
  if constexpr (Racing)
    return shifting<T>{d};
  else
    return d;
}

/// One way through the sets, in place; `first` says that this pass tells the facts.
template <bool Racing, class T, class Rows>
__device__ void sweep_in_place(const task<T, Rows>& in, bool forward, bool first, grid_group& grid,
                               double* values) {
  const std::int64_t count = in.A.sets();
  auto set = in.A.set(forward ? 0 : count - 1);
  auto fetched = in.A.fetch(set, first_unit(), in.own_r, in.factor);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto next = in.A.set(k + 1 == count ? 0 : forward ? k + 1 : count - 2 - k);
    const std::int64_t units = in.A.units(set);
    if (k > 0) grid.sync();
    if (first_unit() >= units) fetched = in.A.fetch(next, first_unit(), in.own_r, in.factor);
    for (std::int64_t unit = first_unit(); unit < units; unit += all_warps()) {
      row_result<T> found;
      const auto d = vector_of<Racing, T>(in.d);
      const auto here = fetched;
      const auto gathered = in.A.gather(here, d);
      const bool more = unit + all_warps() < units;
      fetched = more ? in.A.fetch(set, unit + all_warps(), in.own_r, in.factor)
                     : in.A.fetch(next, first_unit(), in.own_r, in.factor);
      const std::int64_t row = in.A.residual(set, unit, here, gathered, d, found);
      if (row >= 0) {
        const T move = found.factor * found.s, value = found.d + move;
        if constexpr (Racing)
          store_shifting(in.d + row, value);
        else
          in.d[row] = value;
        if (first) {
          values[0] += static_cast<double>(found.s) * static_cast<double>(found.s);
          if (!in.vectors) see_change(values, fabs(static_cast<double>(move)), static_cast<double>(value));
        }
      }
    }
    set = next;
  }
}

/// After a sweep in place: how far it went, and Chebyshev's step instead where there is one.
template <class T, class Rows>
__device__ void end_with_vectors(const task<T, Rows>& in, bool accelerated, T along_change, T keep,
                                 double* values) {
  const std::int64_t all = std::int64_t{threads} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x; i < in.n; i += all) {
    const T before = in.other[i];
    T value = in.d[i], move = value - before;
    if (accelerated) {
      move = keep == T{} ? along_change * move : along_change * move + keep * in.step[i];
      value = before + move;
      in.d[i] = value;
    }
    if (in.step != nullptr) in.step[i] = move;
    in.other[i] = value;
    see_change(values, fabs(static_cast<double>(move)), static_cast<double>(value));
  }
}

/// The sum of squares of r - A d as the first total.
template <class T, class Rows>
__device__ void residual_squared(const task<T, Rows>& in, const T* d, shared_facts& shared, grid_group& grid) {
  double squares = 0;
  for (std::int64_t k = 0; k < in.A.sets(); ++k) {
    const auto set = in.A.set(k);
    for (std::int64_t unit = first_unit(); unit < in.A.units(set); unit += all_warps()) {
      row_result<T> found;
      const auto here = in.A.fetch(set, unit, in.own_r, in.factor);
      if (in.A.residual(set, unit, here, in.A.gather(here, d), d, found) >= 0)
        squares += static_cast<double>(found.s) * static_cast<double>(found.s);
    }
  }
  all_reduce(shared, &squares, 1, in.sums, in.numbers, grid);
}

/// The thread that decides, once the event is certain: takes the next step's coefficients, which may say that
/// the run does not come further; tells the host.
template <class T, class Rows>
__device__ void conclude(const task<T, Rows>& in, shared_facts& shared, std::int64_t iteration, bool looks) {
  if (shared.event == solver_event::running) {
    shared.chebyshev.take(sqrt(shared.now.met));
    if (shared.chebyshev.stalled && shared.progress.rounding > 0) shared.event = solver_event::reached;
  }
  if (blockIdx.x == 0) {
    publish_to_host(*in.box, iteration, shared.now.met, shared.event, looks);
    if (shared.event != solver_event::running) {
      in.box->last_squared = shared.total[0];
      in.box->mean_change = shared.now.change / static_cast<double>(in.n);
    }
  }
}

/// How a kernel sweeps.
enum class sweep_kind { plain, anderson, racing };

template <sweep_kind Kind, class T, class Rows>
__global__ void __launch_bounds__(threads, 1) sweeps(const __grid_constant__ task<T, Rows> in) {
  __shared__ shared_facts shared;
  grid_group grid{in.counter};
  const std::int64_t thread = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int64_t all = std::int64_t{threads} * gridDim.x;
  for (std::int64_t i = thread; i < in.n; i += all) {
    in.own_r[i] = in.r[in.place != nullptr ? in.place[i] : i];
    in.d[i] = T{};
    if (in.other != nullptr) in.other[i] = T{};
  }
  if (threadIdx.x == 0) {
    shared.progress = in.progress;
    shared.chebyshev = *in.chebyshev;
    shared.chebyshev.begin();
    shared.course = {in.mix.depth};
  }
  grid.sync();

  constexpr bool anderson = Kind == sweep_kind::anderson, racing = Kind == sweep_kind::racing;
  T* result = in.d;
  const T* before = in.other;
  for (std::int64_t iteration = 0;; ++iteration) {
    const bool looks = (iteration + 1) % in.look == 0;
    const bool accelerated = shared.chebyshev.running;
    const T along_change = static_cast<T>(shared.chebyshev.along_change);
    const T keep = static_cast<T>(shared.chebyshev.keep);
    double values[anderson ? most_numbers : sweep_facts::count] = {};
    if (in.simultaneous) {
      T* const to = iteration & 1 ? in.d : in.other;
      sweep_at_once<T>(in, result, to, along_change, keep, values);
      before = result;
      result = to;
    } else {
      sweep_in_place<racing, T>(in, in.forward != 0, true, grid, values);
      if (in.symmetric) {
        grid.sync();
        sweep_in_place<racing, T>(in, in.forward == 0, false, grid, values);
      }
      if (in.vectors && !anderson) {
        grid.sync();
        end_with_vectors<T>(in, accelerated, along_change, keep, values);
      }
    }
    if (looks && thread == 0) values[4] = *static_cast<volatile std::int32_t*>(&in.box->stop) != 0 ? 1 : 0;
    int numbers = sweep_facts::count;
    if constexpr (anderson) {
      grid.sync();
      numbers += 2 * shared.course.held();
      take_differences(in.mix, shared.course, before, result, in.simultaneous ? nullptr : values,
                       values + sweep_facts::count);
    }
    all_reduce(shared, values, numbers, in.sums, in.numbers, grid);
    if (threadIdx.x == 0) {
      judge(shared, !in.simultaneous, iteration);
      if (!shared.in_doubt) conclude(in, shared, iteration, looks);
    }
    __syncthreads();
    if (shared.in_doubt) {
      residual_squared<T>(in, result, shared, grid);
      if (threadIdx.x == 0) {
        settle(shared, in.target, iteration);
        conclude(in, shared, iteration, looks);
      }
      __syncthreads();
    }
    if (shared.event != solver_event::running) break;
    if constexpr (anderson) {
      if (threadIdx.x == 0) decide_anderson(shared);
      __syncthreads();
      next_iterate(in.mix, shared.worse, shared.differences, shared.weight, result,
                   in.simultaneous ? nullptr : in.other);
      grid.sync();
    }
  }
  if (anderson && shared.event == solver_event::iteration_limit && shared.course.worse(shared.now.met))
    result = in.mix.plain;
  const T* const last = in.goes_back && shared.event == solver_event::reached ? before : result;
  for (std::int64_t i = thread; i < in.n; i += all) in.result[in.place != nullptr ? in.place[i] : i] = last[i];
  if (thread == 0) *in.chebyshev = shared.chebyshev;
}

}  // namespace vouch::device_sweeps

// Plans and runs the kernel.

namespace vouch::device_sweeps {

/// How an engine sweeps.
struct manner {
  sweep_rule rule;
  bool by_residual = true;
  acceleration accelerate;
};

/// Storage keeps the rows on the GPU: arguments(), their number n and padded (d has so many elements), place
/// (empty: the matrix's order), bytes of a pass, blocks that it wants, name().
template <real T, class Storage>
class engine final : public inner_solver<T> {
 public:
  engine(const device& dev, Storage rows, array<T> factor, const manner& how)
      : dev_(dev),
        by_residual_(how.by_residual),
        rows_(std::move(rows)),
        factor_(std::move(factor)),
        racing_(how.rule.asynchronous),
        learnt_(how.rule.learnt),
        steps_(1) {
    const bool chebyshev = how.accelerate.chebyshev;
    const bool simultaneous = how.rule.simultaneous;
    const bool symmetric = !simultaneous && how.rule.order == sweep_order::symmetric;
    const int depth = how.accelerate.anderson;
    in_.vectors = !simultaneous && (symmetric || chebyshev || depth > 0);
    own_r_ = array<T>(dev, rows_.n);
    d_ = array<T>::zeros(dev, rows_.padded);
    if (simultaneous || in_.vectors) other_ = array<T>::zeros(dev, rows_.padded);
    if (chebyshev) step_ = array<T>(dev, rows_.n);
    if (depth > 0) keep_for_anderson(depth);
    steps_[0].prepare<T>(chebyshev, how.rule.lowest_eigenvalue);
    chebyshev_ = array<chebyshev_steps>::from(dev, steps_);
    in_.numbers = sweep_facts::count + 2 * depth;
    sums_ = array<double>(dev, 2 * in_.numbers * rows_.blocks);
    counter_ = array<unsigned>(dev, 1);
    box_ = acquire_pinned_history();
    in_.A = rows_.arguments();
    in_.n = rows_.n;
    in_.place = rows_.place.size() > 0 ? rows_.place.data() : nullptr;
    in_.own_r = own_r_.data();
    in_.factor = factor_.data();
    in_.d = d_.data();
    in_.other = other_.size() > 0 ? other_.data() : nullptr;
    in_.step = chebyshev ? step_.data() : nullptr;
    in_.chebyshev = chebyshev_.data();
    in_.sums = sums_.data();
    in_.counter = counter_.data();
    in_.box = box_.get();
    in_.look = dense_engine::iterations_between_looks(rows_.bytes);
    in_.simultaneous = simultaneous;
    in_.forward = how.rule.order != sweep_order::backward;
    in_.symmetric = symmetric;
  }

  std::string name() const override {
    std::string text =
        rows_.name() + (rows_.blocks == 1 ? ", one block" : ", " + std::to_string(rows_.blocks) + " blocks");
    return text + ", one kernel" + chebyshev_text(steps_[0]);
  }

  inner_outcome run(T* r, T* d, const stopping_rule& rule, iteration_log& log) override {
    if (rule.limit <= 0) return {solver_event::iteration_limit, 0, sum_of_squares(r)};
    zero_bytes(dev_, counter_.data(), sizeof(unsigned));
    in_.r = r;
    in_.result = d;
    in_.target = residual_trigger<T>(rule, by_residual_);
    in_.progress = dense_engine::progress_of<T>(rule, in_.target, by_residual_, rows_.n);
    in_.goes_back = in_.simultaneous && ends_where_met(rule, by_residual_);
    box_->progress = 0;
    box_->stop = 0;
    launch(dev_, "sweeps", {rows_.blocks, threads, 0, 1, true}, kernel(), in_);
    follow(dev_, *box_, log);
    steps_ = chebyshev_.to_vector();
    if (learnt_ != nullptr) *learnt_ = steps_[0];
    return dense_engine::outcome_of(*box_, in_.goes_back);
  }

 private:
  auto kernel() const {
    using Rows = decltype(rows_.arguments());
    if (racing_) return sweeps<sweep_kind::racing, T, Rows>;
    if (in_.mix.depth > 0) return sweeps<sweep_kind::anderson, T, Rows>;
    return sweeps<sweep_kind::plain, T, Rows>;
  }

  void keep_for_anderson(int depth) {
    anderson_ = array<T>(dev_, (3 + 2 * depth) * rows_.n);
    T* free = anderson_.data();
    const auto take = [&](std::int64_t vectors) { return std::exchange(free, free + vectors * rows_.n); };
    in_.mix.depth = depth;
    in_.mix.n = rows_.n;
    in_.mix.last_change = take(1);
    in_.mix.last_g = take(1);
    in_.mix.plain = take(1);
    in_.mix.changes = take(depth);
    in_.mix.images = take(depth);
  }

  double sum_of_squares(const T* r) const {
    std::vector<T> v(static_cast<std::size_t>(rows_.n));
    copy_bytes(v.data(), device::cpu(1), r, dev_, v.size() * sizeof(T));
    return detail::sum_of_squares(1, rows_.n, v.data());
  }

  device dev_;
  bool by_residual_;
  Storage rows_;
  array<T> factor_;
  bool racing_;
  chebyshev_steps* learnt_;
  std::vector<chebyshev_steps> steps_;
  array<T> own_r_, d_, other_, step_, anderson_;
  array<chebyshev_steps> chebyshev_;
  array<double> sums_;
  array<unsigned> counter_;
  std::shared_ptr<pinned_history> box_;
  task<T, decltype(std::declval<Storage>().arguments())> in_;
};

}  // namespace vouch::device_sweeps
