// The steps of a row of a triangular system, for numbers, intervals and rectangles.
#include <cstdint>

#include <vouch/core/gpu/async_copy.cuh>
#include <vouch/core/gpu/flagged_words.cuh>
#include <vouch/core/gpu/mbarrier.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/core/parallel_for.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/dense/blas/entries.cuh>
#include <vouch/dense/factor/prepared_divisor.hpp>
#include <vouch/dense/factor/triangular_solve.hpp>
#include <vouch/interval/complex_interval.hpp>

namespace vouch::detail {

/// Body(k, number) for the numbers that an element is made of, in the order of its memory.
template <real T, class Body>
__device__ void for_numbers(T& x, const Body& body) {
  body(0, x);
}
template <class E, class Body>
__device__ void for_numbers(E& x, const Body& body) {
  using number = typename E::bound_type;
  constexpr int count = sizeof(E) / sizeof(number);
#pragma unroll
  for (int k = 0; k < count; ++k) body(k, reinterpret_cast<number*>(&x)[k]);
}

/// The value that another lane of the warp has; for all lanes.
template <class E>
__device__ E of_lane(E x, int lane) {
  for_numbers(x, [lane](int, auto& number) { number = __shfl_sync(~0U, number, lane); });
  return x;
}

/// Makes an unknown known to all blocks.
template <class R>
__device__ void publish(std::uint64_t* words, std::int64_t u, R value, std::uint32_t epoch) {
  for_numbers(value, [&](int k, auto& number) {
    constexpr int words_of_number = flagged_words<std::remove_reference_t<decltype(number)>>;
    store_flagged(words + u * flagged_words<R> + k * words_of_number, number, epoch);
  });
}

/// Whether the values of these lanes are finite; for all lanes.
template <class R>
__device__ bool are_finite(R value, int first, int count) {
  const unsigned asked = ((1U << count) - 1) << first;
  return (__ballot_sync(~0U, magnitude_bits(value) < infinite_bits<R>) & asked) == asked;
}

/// An unknown that a lane has asked for: words that are looked at when they are needed.
template <class R>
class received {
 public:
  __device__ void ask(const std::uint64_t* words, std::int64_t u) {
    const std::uint64_t* const at = words + u * count;
    if constexpr (count == 1) {
      word_[0] = flagged::load(at);
    } else {
#pragma unroll
      for (int k = 0; k < count; k += 2) flagged::load_pair(at + k, word_[k], word_[k + 1]);
    }
  }
  __device__ void ask_again(const std::uint64_t* words, std::int64_t u, std::uint32_t epoch) {
    if (!is_there(epoch)) ask(words, u);
  }
  /// Whether all lanes have theirs; for all lanes.
  __device__ bool are_there(std::uint32_t epoch) const { return __all_sync(~0U, is_there(epoch)) != 0; }
  /// Until these lanes have theirs; for all lanes.
  __device__ void wait_for(const std::uint64_t* words, std::int64_t u, std::uint32_t epoch, int first,
                           int lanes) {
    const unsigned asked = ((1U << lanes) - 1) << first;
    while ((__ballot_sync(~0U, is_there(epoch)) & asked) != asked) ask_again(words, u, epoch);
  }
  __device__ R value() const {
    R value{};
    for_numbers(value, [this](int k, auto& number) { read(k, number); });
    return value;
  }

 private:
  static constexpr int count = flagged_words<R>;

  __device__ bool is_there(std::uint32_t epoch) const {
    bool all = true;
#pragma unroll
    for (int k = 0; k < count; ++k) all = flagged::has(word_[k], epoch) && all;
    return all;
  }
  __device__ void read(int k, float& number) const {
    number = __uint_as_float(static_cast<std::uint32_t>(word_[k]));
  }
  __device__ void read(int k, double& number) const {
    number = __hiloint2double(static_cast<int>(word_[2 * k + 1]), static_cast<int>(word_[2 * k]));
  }

  std::uint64_t word_[count] = {};
};

/// What is left of a right-hand side while products with unknowns are taken from it.
template <class R, class A>
class row_sum {
 public:
  __device__ row_sum(R right_side, bool) : left_(right_side) {}
  __device__ R value() const { return left_; }
  __device__ void add(A a, R x) { left_ = multiply_add(a, x, left_); }
  __device__ void add_finite(A a, R x) { left_ = multiply_add_finite(a, x, left_); }
  __device__ void negate() { left_ = -left_; }

 private:
  R left_;
};

template <real T>
class row_sum<complex_interval<T>, complex_interval<T>> {
  using Z = complex_interval<T>;

 public:
  __device__ row_sum(Z right_side, bool conjugated)
      : direct_{right_side.real(), right_side.imag()}, crossed_{}, conjugated_(conjugated) {}
  __device__ void negate() {}  // never asked for
  __device__ Z value() const { return {direct_[0] - crossed_[1], direct_[1] + crossed_[0]}; }
  __device__ void add(Z a, Z x) {
    if (conjugated_) a = conj(a);
    direct_[0] = multiply_add(a.real(), x.real(), direct_[0]);
    direct_[1] = multiply_add(a.imag(), x.real(), direct_[1]);
    crossed_[0] = multiply_add(a.real(), x.imag(), crossed_[0]);
    crossed_[1] = multiply_add(a.imag(), x.imag(), crossed_[1]);
  }
  __device__ void add_finite(Z a, Z x) {
    if (conjugated_) a = conj(a);
    direct_[0] = multiply_add_finite(a.real(), x.real(), direct_[0]);
    direct_[1] = multiply_add_finite(a.imag(), x.real(), direct_[1]);
    crossed_[0] = multiply_add_finite(a.real(), x.imag(), crossed_[0]);
    crossed_[1] = multiply_add_finite(a.imag(), x.imag(), crossed_[1]);
  }

 private:
  interval<T> direct_[2], crossed_[2];
  bool conjugated_;
};

/// Takes the products with unknowns that lanes from `lane` on have from a row, whose entries from `from` to
/// `to` - 1 are stored. For all lanes.
template <int Count, class R, class A>
__device__ void take(row_sum<R, A>& sum, const A* entries, int ld, int from, int to, R unknown, int lane) {
  R negative[Count];
  const bool unknowns_finite = are_finite(unknown, lane, Count);
#pragma unroll
  for (int c = 0; c < Count; ++c) negative[c] = -of_lane(unknown, lane + c);
  if (from <= 0 && to >= Count) {
    A entry[Count];
    unsigned largest = 0;
#pragma unroll
    for (int c = 0; c < Count; ++c) entry[c] = load_entry(entries + c * ld);
#pragma unroll
    for (int c = 0; c < Count; ++c) largest = ::max(largest, magnitude_bits(entry[c]));
    if (unknowns_finite && largest < infinite_bits<A>) {
#pragma unroll
      for (int c = 0; c < Count; ++c) sum.add_finite(entry[c], negative[c]);
      return;
    }
  }
#pragma unroll
  for (int c = 0; c < Count; ++c)
    if (c >= from && c < to) sum.add(load_entry(entries + c * ld), negative[c]);
}

/// A diagonal element that holds no 0, ready to divide, with the bits of the operator. Where it is negative,
/// row and right-hand side change their signs first. quickly(x) has no branches, and is right where
/// is_moderate(x).
template <class R, class A>
class divisor;

template <real T>
class divisor<T, T> {
 public:
  static constexpr bool is_quick = true;
  __device__ divisor(T a, bool) : by_(a), prepared_(a), moderate_(prepared_.is_moderate()) {}
  __device__ bool is_negative() const { return false; }
  __device__ bool is_moderate(T x) const { return moderate_ && prepared_.is_moderate(x); }
  __device__ T quickly(T x) const { return prepared_.to_nearest(x); }
  __device__ T divide(T x) const { return x / by_; }

 private:
  T by_;
  prepared_divisor<T> prepared_;
  bool moderate_;
};

// Each bound of a quotient by a positive set is one of x over the larger or the smaller divisor.
template <real T, class A>
class divisor<interval<T>, A> {
 public:
  static constexpr bool is_quick = true;
  __device__ divisor(A a, bool)
      : negative_(upper(a) < 0),
        by_(negative_ ? -a : a),
        small_(lower(by_)),
        large_(upper(by_)),
        moderate_(small_.is_moderate() && large_.is_moderate()) {}

  __device__ bool is_negative() const { return negative_; }
  __device__ bool is_moderate(interval<T> x) const {
    return moderate_ && small_.is_moderate(x.lo()) && small_.is_moderate(x.hi());
  }
  __device__ interval<T> quickly(interval<T> x) const {
    if constexpr (is_interval<A>) {
      const prepared_divisor<T> low = detail::is_negative(x.lo()) ? small_ : large_,
                                high = detail::is_negative(x.hi()) ? large_ : small_;
      return interval<T>::unchecked(low.down(x.lo()), high.up(x.hi()));
    } else {
      return interval<T>::unchecked(small_.down(x.lo()), small_.up(x.hi()));
    }
  }
  __device__ interval<T> divide(interval<T> x) const { return x / by_; }

 private:
  bool negative_;
  A by_;
  prepared_divisor<T> small_, large_;
  bool moderate_;
};

// z conj(w) / |w|^2, as the operator has it.
template <real T>
class divisor<complex_interval<T>, complex_interval<T>> {
  using Z = complex_interval<T>;
  using part = interval<T>;

 public:
  static constexpr bool is_quick = false;
  __device__ divisor(Z w, bool conjugated)
      : turned_(conjugated ? w : conj(w)), size_(sqr(w.real()) + sqr(w.imag()), false) {}
  __device__ bool is_negative() const { return false; }
  __device__ Z divide(Z z) const {
    const Z product = z * turned_;
    return {quotient(product.real()), quotient(product.imag())};
  }

 private:
  __device__ part quotient(part x) const { return size_.is_moderate(x) ? size_.quickly(x) : size_.divide(x); }

  Z turned_;
  divisor<part, part> size_;
};

}  // namespace vouch::detail

namespace vouch::detail {
namespace {

constexpr int warp = 32, loaders = 128, stages = 3;
constexpr int at_once = 8;                     // unknowns that are taken from a row together
constexpr std::uint32_t solved = 1;            // the epoch of an unknown that is there
constexpr int groups_a_warp = warp / at_once;  // of the unknowns that a warp's lanes hold

/// Unknowns that a block solves.
template <class A>
constexpr int block_rows = sizeof(A) > 16 ? 32 : 64;
/// Distance of columns in a tile: rows are read side by side, and written so or one in each column.
template <class A>
constexpr int tile_ld = block_rows<A> + 1;

// The system as a lower triangle that is solved downwards: unknown u stands in row u, or upwards in n - 1 - u.
template <class A>
struct lower_system {
  columns<const A> a;
  std::int64_t reach;  // an unknown takes part in so many rows after its own
  bool transposed, downwards, unit, conjugated;

  __device__ std::int64_t place(std::int64_t u) const { return downwards ? u : a.cols - 1 - u; }
  __device__ const A* at(std::int64_t u, std::int64_t v) const {
    const std::int64_t i = place(u), j = place(v);
    return transposed ? &a(j, i) : &a(i, j);
  }
};

template <class R>
struct shared_state {
  std::uint64_t full[stages], empty[stages];
  std::uint64_t handed[groups_a_warp];  // unknowns of the block's first warp to its second
  shared_elements<R, warp> first_half;  // those unknowns
  std::int64_t ticket;
};

// Brings entries of rows from u0 and columns from v0 on into a tile: neighbours in memory by neighbouring
// threads.
template <class A>
__device__ void load_tile(const lower_system<A>& system, std::int64_t u0, std::int64_t v0, A* to, int loader) {
  constexpr int rows = block_rows<A>, ld = tile_ld<A>, lines = loaders / rows;
  const int near = loader % rows, far = loader / rows;
  const int row = system.transposed ? far : near, column = system.transposed ? near : far;
  const int next_row = system.transposed ? lines : 0, next_column = system.transposed ? 0 : lines;
  const std::int64_t n = system.a.cols, last = u0 + rows - 1;
  to += column * ld + row;
  const int step_to = next_column * ld + next_row;
  if (system.a.growth == 0 && v0 < u0 && last < n && last - v0 <= system.reach) {
    const A* from = system.at(u0 + row, v0 + column);
    const std::int64_t step = system.at(u0 + row + next_row, v0 + column + next_column) - from;
#pragma unroll 8
    for (int k = 0; k < rows / lines; ++k) copy_to_shared(to + k * step_to, from + k * step);
    return;
  }
  for (int k = 0; k < rows / lines; ++k) {
    const std::int64_t u = u0 + row + k * next_row, v = v0 + column + k * next_column;
    if (u >= n || v > u || (v == u && system.unit) || u - v > system.reach) continue;
    copy_to_shared(to + k * step_to, system.at(u, v));
  }
}

// Solves eight rows of a warp, from the lane given on, whose entries in the columns of these rows are in
// `entry`, 0 where none is stored: one division and one product of all lanes for each row. False, and nothing
// done, where an operand needs a closer look.
template <bool Unit, class R, class A>
__device__ bool solve_quickly(row_sum<R, A>& sum, const divisor<R, A>& diagonal, const A (&entry)[at_once],
                              int first, bool exists, R& found) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  row_sum<R, A> rest = sum;
  unsigned largest = 0;
  R mine{};
#pragma unroll
  for (int c = 0; c < at_once; ++c) {
    largest = ::max(largest, magnitude_bits(entry[c]));
    const R value = rest.value();
    if (lane == first + c) mine = value;
    const R x = Unit ? value : diagonal.quickly(value);
    rest.add_finite(entry[c], -of_lane(x, first + c));
  }
  const bool asked = lane >= first && lane < first + at_once && exists;
  const bool moderate = Unit ? magnitude_bits(mine) < infinite_bits<R> : diagonal.is_moderate(mine);
  if (!__all_sync(~0U, largest < infinite_bits<A> && (!asked || moderate))) return false;
  sum = rest;
  if (asked) found = Unit ? mine : diagonal.quickly(mine);
  return true;
}

// The same for any operands.
template <class R, class A>
__device__ void solve_slowly(row_sum<R, A>& sum, const divisor<R, A>& diagonal, bool unit,
                             const A (&entry)[at_once], int first, int from, bool exists, R& found) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
#pragma unroll
  for (int c = 0; c < at_once; ++c) {
    if (lane == first + c && exists) found = unit ? sum.value() : diagonal.divide(sum.value());
    const R negative = -of_lane(found, first + c);
    if (c < from || first + c >= lane || !exists) continue;
    if (::max(magnitude_bits(entry[c]), magnitude_bits(negative)) < infinite_bits<A>)
      sum.add_finite(entry[c], negative);
    else
      sum.add(entry[c], negative);
  }
}

// What a block does: its unknowns from u0 on, and the tiles of its rows from column first * rows on.
template <class R, class A>
struct solving_block {
  static constexpr int rows = block_rows<A>, ld = tile_ld<A>, halves = rows / warp;

  const lower_system<A>& system;
  std::uint64_t* words;
  shared_state<R>& shared;
  A* tiles;
  std::int64_t u0, first;
  int steps;  // tiles before the one on the diagonal

  __device__ A* tile_of(int step) const { return tiles + step % stages * rows * ld; }
  __device__ static unsigned parity(int step) { return static_cast<unsigned>(step / stages) % 2; }
  __device__ bool exists(int row) const { return u0 + row < system.a.cols; }
  // The first column of the tile from v0 on that a row stores.
  __device__ int stored_from(int row, std::int64_t v0) const {
    const std::int64_t before = u0 + row - system.reach - v0;
    return !exists(row) ? rows : before <= 0 ? 0 : static_cast<int>(::min(before, std::int64_t{rows}));
  }

  __device__ void bring_tiles(int loader) const {
    for (int step = 0; step <= steps; ++step) {
      if (step >= stages) mbarrier_wait(&shared.empty[step % stages], parity(step - stages));
      load_tile(system, u0, (first + step) * rows, tile_of(step), loader);
      mbarrier_arrive_when_copied(&shared.full[step % stages]);
    }
  }

  // Takes the products with the unknowns of the blocks before from a row; the tile on the diagonal is there
  // then.
  __device__ void take_tiles(row_sum<R, A>& sum, int row) const {
    const int lane = row % warp;
    received<R> known[halves];
    for (int h = 0; h < halves && steps > 0; ++h) known[h].ask(words, first * rows + h * warp + lane);
    for (int step = 0; step < steps; ++step) {
      const std::int64_t v0 = (first + step) * rows;
      received<R> next[halves];
      if (step + 1 < steps)
        for (int h = 0; h < halves; ++h) next[h].ask(words, v0 + rows + h * warp + lane);
      mbarrier_wait(&shared.full[step % stages], parity(step));
      const int from = stored_from(row, v0);
#pragma unroll
      for (int h = 0; h < halves; ++h)
        take_half(sum, tile_of(step) + h * warp * ld + row, from - h * warp, known[h], v0 + h * warp + lane);
      mbarrier_arrive(&shared.empty[step % stages]);
#pragma unroll
      for (int h = 0; h < halves; ++h) known[h] = next[h];
    }
    mbarrier_wait(&shared.full[steps % stages], parity(steps));
  }

  // The same for 32 of the unknowns, as soon as they are there.
  __device__ void take_half(row_sum<R, A>& sum, const A* entries, int from, received<R>& known,
                            std::int64_t unknown) const {
    if (known.are_there(solved)) {
      constexpr int more = sizeof(R) > 16 ? at_once : 2 * at_once;
      const R value = known.value();
#pragma unroll
      for (int lane0 = 0; lane0 < warp; lane0 += more)
        take<more>(sum, entries + lane0 * ld, ld, from - lane0, more, value, lane0);
      return;
    }
#pragma unroll 1
    for (int lane0 = 0; lane0 < warp; lane0 += at_once) {
      known.wait_for(words, unknown, solved, lane0, at_once);
      const R value = known.value();
      known.ask_again(words, unknown, solved);  // on its way while these are taken
      take<at_once>(sum, entries + lane0 * ld, ld, from - lane0, at_once, value, lane0);
    }
  }

  // Takes the products with the unknowns of the first warp from a row of the second.
  __device__ void take_first_half(row_sum<R, A>& sum, int row) const {
    const int lane = row % warp, from = stored_from(row, u0);
    for (int group = 0; group < groups_a_warp; ++group) {
      mbarrier_wait(&shared.handed[group], 0);
      const int column = group * at_once;
      const R value = lane / at_once == group ? shared.first_half[lane] : R{};  // the others are still to come
      take<at_once>(sum, tile_of(steps) + column * ld + row, ld, from - column, at_once, value, column);
    }
  }

  // The unknown of a row, when its warp's rows have only each other left.
  __device__ R solve(row_sum<R, A>& sum, int row) const {
    const int lane = row % warp, half = row / warp, from = stored_from(row, u0);
    const A* const entries = tile_of(steps) + row;
    const bool mine = exists(row);
    const divisor<R, A> diagonal(mine && !system.unit ? load_entry(entries + row * ld) : A{},
                                 system.conjugated);
    if (diagonal.is_negative()) sum.negate();
    R found{};
#pragma unroll 1
    for (int group = 0; group < groups_a_warp; ++group) {
      const int lane0 = group * at_once, column = half * warp + lane0;
      A entry[at_once];
#pragma unroll
      for (int c = 0; c < at_once; ++c) {
        const bool stored = column + c < row && column + c >= from;
        entry[c] = stored ? load_entry(entries + (column + c) * ld) : A{};
        if (diagonal.is_negative()) entry[c] = -entry[c];
      }
      bool done = false;
      if constexpr (divisor<R, A>::is_quick)
        done = system.unit ? solve_quickly<true>(sum, diagonal, entry, lane0, mine, found)
                           : solve_quickly<false>(sum, diagonal, entry, lane0, mine, found);
      if (!done) solve_slowly(sum, diagonal, system.unit, entry, lane0, from - column, mine, found);
      if (lane / at_once != group) continue;
      if (mine) publish(words, u0 + row, found, solved);
      if (half == 0 && halves > 1) {
        shared.first_half[lane] = found;
        mbarrier_arrive(&shared.handed[group]);
      }
    }
    return found;
  }
};

// A block has 64 unknowns, or 32 of large entries, and takes the next place in the order of substitution when
// it begins: the blocks that it waits for have begun before. Two warps hold a row a thread; four others bring
// tiles of entries into shared memory, some ahead. Unknowns travel through L2 as soon as they are found. Bound
// by one read of the triangle or, below some ten thousand unknowns, by the chain of divisions and products
// along the diagonal. The order of each row's chain is that of substitution, so bits do not change between
// runs.
template <class R, class A>
__global__ void __launch_bounds__(loaders + block_rows<A>)
    substitute(lower_system<A> system, view<R> x, std::uint64_t* words, unsigned* tickets) {
  constexpr int rows = block_rows<A>;
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ shared_state<R> shared;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      mbarrier_init(&shared.full[s], loaders);
      mbarrier_init(&shared.empty[s], rows);
    }
    for (int g = 0; g < groups_a_warp; ++g) mbarrier_init(&shared.handed[g], at_once);
    shared.ticket = atomicAdd(tickets, 1U);
  }
  __syncthreads();
  const std::int64_t u0 = shared.ticket * rows, first = ::max(std::int64_t{0}, u0 - system.reach) / rows;
  const solving_block<R, A> block{
      system, words, shared, reinterpret_cast<A*>(memory), u0, first, static_cast<int>(shared.ticket - first)};
  if (threadIdx.x >= rows) return block.bring_tiles(static_cast<int>(threadIdx.x) - rows);
  const int row = static_cast<int>(threadIdx.x);
  const bool mine = block.exists(row);
  row_sum<R, A> sum(mine ? x[system.place(u0 + row)] : R{}, system.conjugated);
  block.take_tiles(sum, row);
  if (row >= warp) block.take_first_half(sum, row);
  const R found = block.solve(sum, row);
  if (mine) x[system.place(u0 + row)] = found;
}

template <class A>
__global__ void __launch_bounds__(256) find_zero_divisor(columns<const A> a, unsigned long long* first) {
  const std::int64_t j = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (j < a.cols && holds_zero(a(j, j))) atomicMin(first, static_cast<unsigned long long>(j));
}

}  // namespace

template <class A>
std::int64_t first_zero_divisor_cuda(const device& dev, columns<const A> a) {
  const auto stream = static_cast<cudaStream_t>(dev.stream());
  const scratch<unsigned long long> first(dev, 1);
  std::int64_t found = -1;
  check(cudaMemsetAsync(first.data(), 0xff, sizeof found, stream), "find_zero_divisor");
  launch(dev, "find_zero_divisor", {ceil_div<std::int64_t>(a.cols, 256), 256}, find_zero_divisor<A>, a,
         first.data());
  check(cudaMemcpyAsync(&found, first.data(), sizeof found, cudaMemcpyDeviceToHost, stream),
        "find_zero_divisor");
  check(cudaStreamSynchronize(stream), "find_zero_divisor");
  return found;
}

template <real T>
void permute_cuda(const device& dev, view<const std::int64_t> order, bool inverse, const T* from, T* to) {
  parallel_for(dev, "permute", order.size(), [=, order = order.data()] __device__(std::int64_t i) {
    if (inverse)
      to[order[i]] = from[i];
    else
      to[i] = from[order[i]];
  });
}
template void permute_cuda(const device&, view<const std::int64_t>, bool, const float*, float*);
template void permute_cuda(const device&, view<const std::int64_t>, bool, const double*, double*);

template <class R, class A>
void solve_columns_cuda(const device& dev, columns<const A> a, transpose trans, diagonal unit, view<R> x) {
  constexpr int rows = block_rows<A>;
  const std::int64_t n = x.size(), blocks = ceil_div<std::int64_t>(n, rows);
  if (n == 0) return;
  const bool transposed = trans != transpose::no;
  const lower_system<A> system{a,
                               a.is_lower() ? a.below : a.above,
                               transposed,
                               a.is_lower() != transposed,
                               unit == diagonal::unit,
                               trans == transpose::conjugate};
  const std::int64_t words = blocks * rows * flagged_words<R>;
  const scratch<std::uint64_t> travelling(dev, words + 1);
  check(cudaMemsetAsync(travelling.data(), 0, static_cast<std::size_t>(words + 1) * sizeof(std::uint64_t),
                        static_cast<cudaStream_t>(dev.stream())),
        "substitute");
  launch(dev, "substitute", {blocks, loaders + rows, stages * rows * tile_ld<A> * sizeof(A)}, substitute<R, A>,
         system, x, travelling.data(), reinterpret_cast<unsigned*>(travelling.data() + words));
}

#define VOUCH_SOLVE(A, R) \
  template void solve_columns_cuda(const device&, columns<const A>, transpose, diagonal, view<R>);
#define VOUCH_FIND(A) template std::int64_t first_zero_divisor_cuda(const device&, columns<const A>);
#define VOUCH_PRECISION(T)                              \
  VOUCH_SOLVE(T, T)                                     \
  VOUCH_SOLVE(T, interval<T>)                           \
  VOUCH_SOLVE(interval<T>, interval<T>)                 \
  VOUCH_SOLVE(complex_interval<T>, complex_interval<T>) \
  VOUCH_FIND(T)                                         \
  VOUCH_FIND(interval<T>)                               \
  VOUCH_FIND(complex_interval<T>)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch::detail
