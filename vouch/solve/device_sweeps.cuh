// vouch/solve/device_sweeps.cuh -- sweeps that a GPU runs by itself, for whatever holds the rows: one
// cooperative kernel from the first sweep to the last; private.
//
// Mapping   Rows are renumbered by sets that can be taken side by side; a warp takes a unit of a set (rows of a
//           slice, or one dense row), units in turn to the multiprocessors. Jacobi: one set and two iterates.
//           Gauss-Seidel: set after set, in place. Asynchronous: one set, in place.
// Meetings  one a sweep, to exchange the norms; between sets; one for vectors, where a sweep is accelerated or
//           symmetric; one more sweep's worth of reading where sweeps in place believe that they are done.
// Bound     by memory where sets are large, by a meeting (about 1 us) and the latency of some loads a set where
//           they are small; then one block does it all.
// Bits      every sum has a fixed order and every block takes the same decision from the same numbers; the
//           asynchronous method alone reads what others happen to have written.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/solve/device_history.cuh>
#include <vouch/solve/device_sweeps_facts.cuh>
#include <vouch/solve/device_sweeps_mixing.cuh>

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
  mixing_vectors<T> mix;
  chebyshev_steps* chebyshev = nullptr;
  double* sums = nullptr;            // 2 x numbers x blocks
  int numbers = sweep_facts::count;  // that blocks exchange at most
  unsigned* counter = nullptr;       // 0 at the start
  device_mailbox* box = nullptr;
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
struct found_row {
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
    found_row<T> found;
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
__device__ void sweep_in_place(const task<T, Rows>& in, bool forward, bool first, meeting_point& point,
                               double* values) {
  const std::int64_t count = in.A.sets();
  auto set = in.A.set(forward ? 0 : count - 1);
  auto fetched = in.A.fetch(set, first_unit(), in.own_r, in.factor);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto next = in.A.set(k + 1 == count ? 0 : forward ? k + 1 : count - 2 - k);
    const std::int64_t units = in.A.units(set);
    if (k > 0) point.meet();
    if (first_unit() >= units) fetched = in.A.fetch(next, first_unit(), in.own_r, in.factor);
    for (std::int64_t unit = first_unit(); unit < units; unit += all_warps()) {
      found_row<T> found;
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
__device__ void residual_squared(const task<T, Rows>& in, const T* d, shared_facts& shared,
                                 meeting_point& point) {
  double squares = 0;
  for (std::int64_t k = 0; k < in.A.sets(); ++k) {
    const auto set = in.A.set(k);
    for (std::int64_t unit = first_unit(); unit < in.A.units(set); unit += all_warps()) {
      found_row<T> found;
      const auto here = in.A.fetch(set, unit, in.own_r, in.factor);
      if (in.A.residual(set, unit, here, in.A.gather(here, d), d, found) >= 0)
        squares += static_cast<double>(found.s) * static_cast<double>(found.s);
    }
  }
  exchange(shared, &squares, 1, in.sums, in.numbers, point);
}

/// The thread that decides, once the event is certain: takes the next step's coefficients, which may say that
/// the run does not come further; tells the host.
template <class T, class Rows>
__device__ void conclude(const task<T, Rows>& in, shared_facts& shared, std::int64_t iteration, bool looks) {
  if (shared.event == cg_event::go_on) {
    shared.chebyshev.take(sqrt(shared.now.met));
    if (shared.chebyshev.stalled && shared.progress.rounding > 0) shared.event = cg_event::reached;
  }
  if (blockIdx.x == 0) {
    tell_host(*in.box, iteration, shared.now.met, shared.event, looks);
    if (shared.event != cg_event::go_on) {
      in.box->last_squared = shared.total[0];
      in.box->mean_change = shared.now.change / static_cast<double>(in.n);
    }
  }
}

/// How a kernel sweeps.
enum class sweep_kind { plain, mixing, racing };

template <sweep_kind Kind, class T, class Rows>
__global__ void __launch_bounds__(threads, 1) sweeps(const __grid_constant__ task<T, Rows> in) {
  __shared__ shared_facts shared;
  meeting_point point{in.counter};
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
  point.meet();

  constexpr bool mixing = Kind == sweep_kind::mixing, racing = Kind == sweep_kind::racing;
  T* result = in.d;
  const T* before = in.other;
  for (std::int64_t iteration = 0;; ++iteration) {
    const bool looks = (iteration + 1) % in.look == 0;
    const bool accelerated = shared.chebyshev.running;
    const T along_change = static_cast<T>(shared.chebyshev.along_change);
    const T keep = static_cast<T>(shared.chebyshev.keep);
    double values[mixing ? most_numbers : sweep_facts::count] = {};
    if (in.simultaneous) {
      T* const to = iteration & 1 ? in.d : in.other;
      sweep_at_once<T>(in, result, to, along_change, keep, values);
      before = result;
      result = to;
    } else {
      sweep_in_place<racing, T>(in, in.forward != 0, true, point, values);
      if (in.symmetric) {
        point.meet();
        sweep_in_place<racing, T>(in, in.forward == 0, false, point, values);
      }
      if (in.vectors && !mixing) {
        point.meet();
        end_with_vectors<T>(in, accelerated, along_change, keep, values);
      }
    }
    if (looks && thread == 0) values[4] = *static_cast<volatile std::int32_t*>(&in.box->stop) != 0 ? 1 : 0;
    int numbers = sweep_facts::count;
    if constexpr (mixing) {
      point.meet();
      numbers += 2 * shared.course.held();
      take_differences(in.mix, shared.course, before, result, in.simultaneous ? nullptr : values,
                       values + sweep_facts::count);
    }
    exchange(shared, values, numbers, in.sums, in.numbers, point);
    if (threadIdx.x == 0) {
      judge(shared, !in.simultaneous, iteration);
      if (!shared.in_doubt) conclude(in, shared, iteration, looks);
    }
    __syncthreads();
    if (shared.in_doubt) {
      residual_squared<T>(in, result, shared, point);
      if (threadIdx.x == 0) {
        settle(shared, in.target, iteration);
        conclude(in, shared, iteration, looks);
      }
      __syncthreads();
    }
    if (shared.event != cg_event::go_on) break;
    if constexpr (mixing) {
      if (threadIdx.x == 0) decide_mixing(shared);
      __syncthreads();
      next_iterate(in.mix, shared.worse, shared.differences, shared.weight, result,
                   in.simultaneous ? nullptr : in.other);
      point.meet();
    }
  }
  if (mixing && shared.event == cg_event::limit && shared.course.worse(shared.now.met)) result = in.mix.plain;
  const T* const last = in.goes_back && shared.event == cg_event::reached ? before : result;
  for (std::int64_t i = thread; i < in.n; i += all) in.result[in.place != nullptr ? in.place[i] : i] = last[i];
  if (thread == 0) *in.chebyshev = shared.chebyshev;
}

}  // namespace vouch::device_sweeps
