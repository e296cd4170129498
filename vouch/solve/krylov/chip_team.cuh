// vouch/solve/krylov/chip_team.cuh -- a team that carries out the steps of a Krylov method on the chip, without the host:
// one cluster, which holds the matrix and all vectors in shared memory; private.
//
// Mapping   Rows as in cg_resident_plan.hpp. "Wide" vectors, those that products come from, stand on the own and the halo
//           rows of every block, which make both from the same numbers in the same order; the others on the own rows. Only
//           a product's rows travel, with its sums.
// Control   Warp 0 of every block takes the method's steps, all with the same scalars, and writes each pass over vectors
//           into an order that all threads of the block carry out. Two orders in turn: one is written while the other is
//           carried out.
// Sums      go to every block, with the halo of a product; a block waits for the bytes of that exchange alone. Two places
//           in turn are enough: nobody begins exchange k + 2 before all sums of k + 1 have come, and a block sends those
//           after it has taken what came with k.
// Bound     by latency: an exchange, two barriers of the block and the scalars in between.
// Bits      fixed orders throughout; the same on every run.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <vouch/core/gpu/cluster.cuh>
#include <vouch/core/gpu/mbarrier.cuh>
#include <vouch/solve/krylov/cg_resident_plan.hpp>
#include <vouch/solve/krylov/host_team.hpp>
#include <vouch/solve/krylov/iteration_count.hpp>
#include <vouch/solve/krylov/resident.cuh>
#include <vouch/solve/loop/pinned_history.cuh>
#include <vouch/solve/loop/vector_update.hpp>

namespace vouch::resident {

// One pass. Vectors by their first element among all; none: -1.
template <class T>
struct order {
  enum class kind : int { make, multiply, norm, precondition, hash, end };
  static constexpr int most_outputs = 4, most_terms = 4, most_pairs = 3;
  kind what;
  int width;  // sums that are wanted, 4 or 8 with the last one the host's wish to stop; 0: none
  int outputs, pairs;
  int terms[most_outputs], out[most_outputs];
  int in[most_outputs][most_terms];
  T factor[most_outputs][most_terms];
  int left[most_pairs], right[most_pairs];  // products of these are summed
  int x, y, w, u, v;
  T a, b;
  std::uint64_t stream;
};

inline constexpr int most_width = 8;

// Where what stands in shared memory: bytes from its beginning; vectors in elements from the first one.
struct chip_places {
  int val, col, slice, push, task, arriving[2], vectors;
  int wide_stride, own_stride, own_vectors;  // the first own one
  int inverse;                               // the diagonal of M; -1: none
  int lane_bits;                             // of the threads a row
};

// At the beginning of the shared memory.
template <class T>
struct chip_state {
  order<T> orders[2];
  double warp_sums[16 * most_width];
  double block_sums[2][max_cluster * most_width];
  double sums[most_width];
  std::uint64_t arrivals[2];
  chip_places at;
  resident_block block;
  int blocks;
  const std::int32_t* row;
  const pinned_history* box;
};

template <class T>
__device__ chip_state<T>& state() {
  extern __shared__ __align__(16) char memory[];
  return *reinterpret_cast<chip_state<T>*>(memory);
}
template <class Piece>
__device__ Piece* piece(int at) {
  extern __shared__ __align__(16) char memory[];
  return reinterpret_cast<Piece*>(memory + at);
}
template <class T>
__device__ int rows_of(const chip_state<T>& s, int vector) {
  return vector < s.at.own_vectors ? s.block.slots : s.block.own;
}
__device__ inline void meet() { named_barrier(1, static_cast<int>(blockDim.x)); }

// From the sums that every lane has of Width products: lane l gets that of product l % Width over the warp.
template <int Width>
__device__ double sum_of_products(double (&v)[Width]) {
#pragma unroll
  for (int d = 1; d < Width; d *= 2) {
    const bool odd = (threadIdx.x & d) != 0;
#pragma unroll
    for (int i = 0; i < Width / (2 * d); ++i) {
      const double kept = odd ? v[2 * i + 1] : v[2 * i], given = odd ? v[2 * i] : v[2 * i + 1];
      v[i] = kept + __shfl_xor_sync(all_lanes, given, d);
    }
  }
  return sum_across<Width>(v[0]);
}

// The sums of all blocks, to `sums`; of a product its halo, too.
template <class T, int Width>
__device__ void exchange(double (&mine)[Width], const order<T>& o, int number) {
  chip_state<T>& s = state<T>();
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int warp = thread / 32, lane = thread % 32, me = static_cast<int>(blockIdx.x);
  const int turn = number & 1;
  const unsigned parity = static_cast<unsigned>(number >> 1) & 1;
  const bool has_halo = o.what == order<T>::kind::multiply;
  std::uint64_t* arrival = &s.arrivals[turn];
  const double of_warp = sum_of_products<Width>(mine);
  if (lane < Width) s.warp_sums[warp * Width + lane] = of_warp;
  meet();
  if (warp == 0) {
    double sum = sum_table<Width, 4>(threads / 32, [&](int i) { return s.warp_sums[i]; });
    const bool looks = (number + 1) % mailbox_interval == 0;
    if (looks && me == 0 && lane % Width == Width - 1)
      sum = *static_cast<const volatile std::int32_t*>(&s.box->stop) != 0 ? 1 : 0;
    const auto halo = has_halo ? (s.block.slots - s.block.own) * sizeof(T) : 0;
    if (lane == 0)
      mbarrier_arrive_expect_tx(arrival, static_cast<unsigned>(halo + s.blocks * Width * sizeof(double)));
    __syncwarp();
    for (int i = lane; i < s.blocks * Width; i += 32)  // lane % Width stays: 32 is a multiple of Width
      cluster_store_async(cluster_address(&s.block_sums[turn][me * Width + lane % Width], i / Width), sum,
                          cluster_address(arrival, i / Width));
    mbarrier_wait_cluster(arrival, parity);
    const double column = sum_table<Width, 4>(s.blocks, [&](int i) { return s.block_sums[turn][i]; });
    if (lane < Width) s.sums[lane] = column;
    __syncwarp();
  } else if (has_halo) {
    T* const y = piece<T>(s.at.vectors) + o.y;
    T* const came = piece<T>(s.at.arriving[turn]);
    send_halo(piece<resident_task>(s.at.task), s.block.tasks, piece<std::uint16_t>(s.at.push), y, came, arrival,
              1);
    mbarrier_wait_cluster(arrival, parity);
    for (int slot = s.block.own + thread - 32; slot < s.block.slots; slot += threads - 32) y[slot] = came[slot];
  }
}

// Outputs from the vectors as they were, an element a thread, and their sums.
template <class T>
__device__ void make(const order<T>& o, int number) {
  constexpr int outputs = order<T>::most_outputs, terms = order<T>::most_terms, pairs = order<T>::most_pairs;
  const chip_state<T>& s = state<T>();
  T* const vectors = piece<T>(s.at.vectors);
  int in[outputs][terms], count[outputs], last[outputs];
  T factor[outputs][terms];
  int most = o.pairs > 0 ? s.block.own : 0;
#pragma unroll
  for (int j = 0; j < outputs; ++j) {
    const bool is_made = j < o.outputs;
    count[j] = is_made ? o.terms[j] : 0;
    last[j] = is_made ? rows_of(s, o.out[j]) : 0;
    most = std::max(most, last[j]);
#pragma unroll
    for (int k = 0; k < terms; ++k) in[j][k] = o.in[j][k], factor[j][k] = o.factor[j][k];
  }
  double sum[4] = {};
  for (int i = static_cast<int>(threadIdx.x); i < most; i += static_cast<int>(blockDim.x)) {
    T made[outputs] = {};
#pragma unroll
    for (int j = 0; j < outputs; ++j)
#pragma unroll
      for (int k = 0; k < terms; ++k)
        if (i < last[j] && k < count[j]) made[j] += factor[j][k] * vectors[in[j][k] + i];
#pragma unroll
    for (int j = 0; j < outputs; ++j)
      if (i < last[j]) vectors[o.out[j] + i] = made[j];
    if (i < s.block.own)
#pragma unroll
      for (int p = 0; p < pairs; ++p)
        if (p < o.pairs)
          sum[p] += static_cast<double>(vectors[o.left[p] + i]) * static_cast<double>(vectors[o.right[p] + i]);
  }
  if (o.width > 0) exchange<T, 4>(sum, o, number);
}

// y = a A x + b w on the own rows, and products of y, u and v: yy, uy, uu; with Width 8 yy, uy, vy, uv, vv.
template <class T, int Width>
__device__ void multiply(const order<T>& o, int number) {
  const chip_state<T>& s = state<T>();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warps = static_cast<int>(blockDim.x) / 32, bits = s.at.lane_bits;
  const auto* slice = piece<std::uint32_t>(s.at.slice);
  T* const vectors = piece<T>(s.at.vectors);
  double sum[Width] = {};
  for (int t = warp; t < s.block.slices; t += warps) {
    const unsigned start = slice[t], count = slice[t + 1] - start;
    T row = lane_product(piece<T>(s.at.val) + start * 32 + lane,
                         piece<std::uint16_t>(s.at.col) + start * 32 + lane, vectors + o.x, count);
    for (int d = 1; d < 1 << bits; d *= 2) row += __shfl_xor_sync(all_lanes, row, d);
    const int own = (t * 32 + lane) >> bits;
    if (own >= s.block.own || (lane & ((1 << bits) - 1)) != 0) continue;
    T y = o.a * row;
    if (o.w >= 0) y += o.b * vectors[o.w + own];
    vectors[o.y + own] = y;
    const double yi = y, ui = o.u >= 0 ? vectors[o.u + own] : T{};
    sum[0] += yi * yi;
    sum[1] += ui * yi;
    if constexpr (Width == 4) {
      sum[2] += ui * ui;
    } else {
      const double vi = vectors[o.v + own];
      sum[2] += vi * yi;
      sum[3] += ui * vi;
      sum[4] += vi * vi;
    }
  }
  exchange<T, Width>(sum, o, number);
}

// Of squares of the elements of x: those of moderate size, of small ones times, of large ones over a power of two. Those
// of a solution may be far from 1.
inline constexpr double moderate_from = 0x1p-450, moderate_to = 0x1p450, far = 0x1p500;
template <class T>
__device__ void add_squares(const order<T>& o, int number) {
  const chip_state<T>& s = state<T>();
  const T* const x = piece<T>(s.at.vectors) + o.x;
  double sum[4] = {};
  for (int i = static_cast<int>(threadIdx.x); i < s.block.own; i += static_cast<int>(blockDim.x)) {
    const double size = std::fabs(static_cast<double>(x[i]));
    if (size > moderate_to)
      sum[2] += size / far * (size / far);
    else if (size < moderate_from)
      sum[1] += size * far * (size * far);
    else
      sum[0] += size * size;
  }
  exchange<T, 4>(sum, o, number);
}

// All threads of all blocks; number: of the exchange, if it has one.
template <class T>
__device__ __noinline__ void carry_out(int which, int number) {
  const chip_state<T>& s = state<T>();
  const order<T>& o = s.orders[which];
  using kind = typename order<T>::kind;
  if (o.what == kind::make) return make<T>(o, number);
  if (o.what == kind::multiply) return o.width == 4 ? multiply<T, 4>(o, number) : multiply<T, 8>(o, number);
  if (o.what == kind::norm) return add_squares<T>(o, number);
  T* const vectors = piece<T>(s.at.vectors);
  const int last = std::min(rows_of(s, o.x), rows_of(s, o.y));
  for (int i = static_cast<int>(threadIdx.x); i < last; i += static_cast<int>(blockDim.x))
    vectors[o.y + i] = o.what == kind::hash ? hashed_element<T>(o.stream, s.row[i])
                                            : vectors[s.at.inverse + i] * vectors[o.x + i];
}

// All warps but the first, until the end.
template <class T>
__device__ void carry_out_orders() {
  const chip_state<T>& s = state<T>();
  for (int which = 0, number = 0;; which ^= 1) {
    meet();
    if (s.orders[which].what == order<T>::kind::end) return;
    carry_out<T>(which, number);
    if (s.orders[which].width > 0) ++number;
  }
}

/// As host_team; warp 0 of every block.
template <class T>
class chip_team {
 public:
  using kind = typename order<T>::kind;

  class recipe {
   public:
    static constexpr int most = order<T>::most_outputs;
    __device__ recipe& make(T* out) {
      close();
      if (leads()) o_->out[outputs_] = index_of(out);
      ++outputs_;
      terms_ = 0;
      return *this;
    }
    __device__ recipe& add(double factor, const T* in) {
      if (leads()) {
        o_->in[outputs_ - 1][terms_] = index_of(in);
        o_->factor[outputs_ - 1][terms_] = static_cast<T>(factor);
      }
      ++terms_;
      return *this;
    }
    /// Asks for the product with the first vector made, behind the square of that.
    __device__ recipe& multiply(const T* with) {
      ++probes_;
      if (leads()) o_->left[probes_] = index_of(with);
      return *this;
    }
    __device__ int outputs() const { return outputs_; }

   private:
    friend class chip_team;
    __device__ explicit recipe(order<T>& o) : o_(&o) {}
    __device__ void close() const {
      if (outputs_ > 0 && leads()) o_->terms[outputs_ - 1] = terms_;
    }
    order<T>* o_;
    int outputs_ = 0, terms_ = 0, probes_ = 0;
  };

  __device__ bool has_preconditioner() const { return state<T>().at.inverse >= 0; }
  __device__ void precondition(const T* r, T* z) {
    order<T>& o = next(kind::precondition, 0);
    if (leads()) o.x = index_of(r), o.y = index_of(z);
    issue(0);
  }
  __device__ void hash(std::uint64_t stream, T* v) {
    order<T>& o = next(kind::hash, 0);
    if (leads()) o.x = o.y = index_of(v), o.stream = stream;
    issue(0);
  }
  __device__ recipe begin() { return recipe(state<T>().orders[which_]); }
  __device__ void make(const recipe& r) {
    close(r, 0, 0);
    issue(0);
  }
  __device__ recipe_sums<double> make_and_multiply(const recipe& r) {
    if (leads()) {
      r.o_->left[0] = r.o_->out[0];
      for (int p = 0; p <= r.probes_; ++p) r.o_->right[p] = r.o_->out[0];
    }
    close(r, 1 + r.probes_, 4);
    const double* const sums = issue(4);
    return {sums[0], {sums[1], sums[2]}};
  }
  __device__ operator_sums<double> apply(const product_pass<T>& pass) {
    const bool two = pass.v != nullptr && pass.v != pass.u;
    const int width = two ? 8 : 4;
    order<T>& o = next(kind::multiply, width);
    if (leads()) {
      o.x = index_of(pass.x), o.y = index_of(pass.y), o.w = index_of(pass.w);
      o.u = index_of(pass.u), o.v = index_of(pass.v);
      o.a = pass.a, o.b = pass.b;
    }
    const double* const sums = issue(width);
    if (two) return {sums[0], sums[4], sums[1], sums[2], sums[3]};
    return {sums[0], sums[2], sums[1], sums[1], sums[2]};
  }
  __device__ double product(const T* u, const T* v) { return products(1, u, v, v, v)[0]; }
  __device__ double norm(const T* v) {
    order<T>& o = next(kind::norm, 4);
    if (leads()) o.x = index_of(v);
    const double* const sums = issue(4);
    constexpr double farther = 1 / far / far;
    if (sums[2] > 0) return std::sqrt(sums[2] + sums[0] * farther) * far;
    if (sums[0] > 0) return std::sqrt(sums[0] + sums[1] * farther);
    return sums[0] == 0 ? std::sqrt(sums[1]) / far : sums[0];
  }
  __device__ pair_products pair(const T* u, const T* v) {
    const double* const sums = products(3, u, u, v, v);
    return {sums[0], sums[1], sums[2]};
  }
  __device__ void finish() {
    next(kind::end, 0);
    __syncwarp();
    meet();
  }

  /// Whether the host wants an end.
  __device__ bool asked_to_stop() const { return asked_; }
  __device__ T* wide(int k) const { return vectors() + k * state<T>().at.wide_stride; }
  __device__ T* own(int k) const {
    return vectors() + state<T>().at.own_vectors + k * state<T>().at.own_stride;
  }

 private:
  __device__ static bool leads() { return threadIdx.x == 0; }
  __device__ static T* vectors() { return piece<T>(state<T>().at.vectors); }
  __device__ static int index_of(const T* v) { return v != nullptr ? static_cast<int>(v - vectors()) : -1; }

  __device__ order<T>& next(kind what, int width) {
    order<T>& o = state<T>().orders[which_];
    if (leads()) o.what = what, o.width = width;
    return o;
  }
  __device__ void close(const recipe& r, int pairs, int width) {
    r.close();
    order<T>& o = next(kind::make, width);
    if (leads()) o.outputs = r.outputs_, o.pairs = pairs;
  }
  // Sums of a b, of b c and of c d; so many of them.
  __device__ const double* products(int count, const T* a, const T* b, const T* c, const T* d) {
    order<T>& o = next(kind::make, 4);
    if (leads()) {
      o.outputs = 0, o.pairs = count;
      o.left[0] = index_of(a), o.left[1] = index_of(b), o.left[2] = index_of(c);
      o.right[0] = index_of(b), o.right[1] = index_of(c), o.right[2] = index_of(d);
    }
    return issue(4);
  }
  // The sums, until the next order.
  __device__ const double* issue(int width) {
    __syncwarp();
    meet();
    carry_out<T>(which_, number_);
    which_ ^= 1;
    const double* const sums = state<T>().sums;
    if (width == 0) return sums;
    ++number_;
    asked_ = asked_ || sums[width - 1] != 0;
    return sums;
  }

  int which_ = 0, number_ = 0;
  bool asked_ = false;
};

/// As krylov_run.
template <class T>
class chip_run : public iteration_count {
 public:
  __device__ chip_run(const chip_team<T>& team, const stopping_rule& rule, std::int64_t n, double norm,
                      pinned_history& box)
      : iteration_count(rule, n, norm), team_(team), box_(box) {
    note(norm);
  }
  template <class State>
  __device__ bool resumes(const State&) const {
    return false;
  }
  template <class State>
  __device__ bool goes_on_from(const State&) const {
    return goes_on_;
  }
  __device__ bool shows() const { return false; }
  __device__ void step(double norm) {
    ++iteration_;
    note(norm);
  }
  /// The end.
  __device__ void publish() const {
    box_.event = static_cast<std::int32_t>(event_);
    box_.iterations = iteration_;
    box_.last_squared = norm_ * norm_;
  }

 private:
  __device__ void note(double norm) {
    take(norm);
    decide(team_.asked_to_stop());
    if (blockIdx.x == 0 && threadIdx.x == 0)
      publish_to_host(box_, iteration_, norm * norm, solver_event::running,
                      (iteration_ + 1) % mailbox_interval == 0);
  }

  const chip_team<T>& team_;
  pinned_history& box_;
};

template <class T>
struct chip_parameters : placed_rows<T> {
  chip_places places;
  const T* minv;  // by matrix row, or nullptr
  T* r;           // by matrix row
  T* d;
  std::int64_t rows;
  stopping_rule rule;
  pinned_history* box;
};

/// Method::steps(team, facts) are the method's steps; its first wide vector is r, its first own one d.
template <class T, class Method>
__global__ void __launch_bounds__(512, 1)
    solve_on_chip(const __grid_constant__ chip_parameters<T> in, typename Method::facts* facts) {
  chip_state<T>& s = state<T>();
  const int me = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const resident_block block = in.block[me];
  const std::int32_t* const row = in.row + std::int64_t{me} * in.stride.slots;
  if (thread == 0) {
    s.at = in.places;
    s.block = block;
    s.blocks = in.blocks;
    s.row = row;
    s.box = in.box;
    for (std::uint64_t& arrival : s.arrivals) mbarrier_init(&arrival, 1);
  }
  bring_in(piece<T>(in.places.val), in.val + std::int64_t{me} * in.stride.entries, in.stride.entries);
  bring_in(piece<std::uint16_t>(in.places.col), in.col + std::int64_t{me} * in.stride.entries,
           in.stride.entries);
  bring_in(piece<std::uint32_t>(in.places.slice), in.slice + std::int64_t{me} * (in.stride.slices + 1),
           in.stride.slices + 1);
  bring_in(piece<std::uint16_t>(in.places.push), in.push + std::int64_t{me} * in.stride.pushes,
           in.stride.pushes);
  bring_in(piece<resident_task>(in.places.task), in.task + std::int64_t{me} * in.stride.tasks, in.stride.tasks);
  T *const vectors = piece<T>(in.places.vectors), *const d = vectors + in.places.own_vectors;
  for (int i = thread; i < block.slots; i += threads) {
    vectors[i] = in.r[row[i]];
    if (in.minv != nullptr) vectors[in.places.inverse + i] = in.minv[row[i]];
    if (i < block.own) d[i] = T{};
  }
  mbarrier_init_fence();
  __syncthreads();
  cluster_barrier();  // nobody writes here before this block has begun

  if (thread < 32) {
    chip_team<T> team;
    auto steps = Method::steps(team, *facts);
    const double norm = team.norm(team.wide(0));
    chip_run<T> run(team, in.rule, in.rows, norm, *in.box);
    steps.run(run);
    team.finish();
    if (me == 0 && thread == 0) {
      *facts = steps.known();
      run.publish();
    }
  } else {
    carry_out_orders<T>();
  }
  __syncthreads();
  for (int i = thread; i < block.own; i += threads) {
    in.r[row[i]] = vectors[i];
    in.d[row[i]] = d[i];
  }
  cluster_barrier();  // nobody leaves while others may still write here
}

}  // namespace vouch::resident
