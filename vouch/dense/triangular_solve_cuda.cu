#include <vouch/core/arrival.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/core/relay.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/dense/substitution.cuh>
#include <vouch/dense/triangular_solve.hpp>

namespace vouch::detail {
namespace {

constexpr int warp = 32, loaders = 128, stages = 3;
constexpr int at_once = 8;                     // unknowns that are taken from a row together
constexpr std::uint32_t solved = 1;            // the stamp of an unknown that is there
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

template <class A>
struct shared_tiles {
  std::uint64_t full[stages], empty[stages];
  std::uint64_t handed[groups_a_warp];  // unknowns of the block's first warp to its second
  std::int64_t ticket;
};

// Brings entries of rows from u0 and columns from v0 on into a tile.
template <class A>
__device__ void load_tile(const lower_system<A>& system, std::int64_t u0, std::int64_t v0, A* to, int loader) {
  constexpr int rows = block_rows<A>, ld = tile_ld<A>;
  const std::int64_t n = system.a.cols;
  for (int e = loader; e < rows * rows; e += loaders) {
    // Neighbours in memory by neighbouring threads.
    const int near = e % rows, far = e / rows;
    const int row = system.transposed ? far : near, column = system.transposed ? near : far;
    const std::int64_t u = u0 + row, v = v0 + column;
    if (u >= n || v > u || (v == u && system.unit) || u - v > system.reach) continue;
    copy_entry(to + column * ld + row, system.at(u, v));
  }
}

// A block has 64 unknowns, or 32 of large entries, and takes the next place in the order of substitution when
// it begins: the blocks that it waits for have begun before. Two warps hold a row a thread; four others bring
// tiles of entries into shared memory, some ahead. Unknowns travel through L2 as soon as they are found. Bound
// by one read of the triangle or, below some ten thousand unknowns, by the chain of divisions and products
// along the diagonal. The order of each row's chain is that of substitution, so bits do not change between
// runs.
template <class R, class A>
__global__ void __launch_bounds__(loaders + block_rows<A>)
    substitute(lower_system<A> system, view<R> x, std::uint64_t* words, unsigned* tickets) {
  constexpr int rows = block_rows<A>, ld = tile_ld<A>, halves = rows / warp;
  extern __shared__ __align__(16) unsigned char memory[];
  A* const tiles = reinterpret_cast<A*>(memory);
  __shared__ shared_tiles<A> shared;
  __shared__ shared_elements<R, warp> first_half;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      arrival_init(&shared.full[s], loaders);
      arrival_init(&shared.empty[s], halves);
    }
    for (int g = 0; g < groups_a_warp; ++g) arrival_init(&shared.handed[g], 1);
    shared.ticket = atomicAdd(tickets, 1U);
  }
  __syncthreads();
  const std::int64_t n = x.size(), u0 = shared.ticket * rows;
  const std::int64_t first = ::max(std::int64_t{0}, u0 - system.reach) / rows;
  const int steps = static_cast<int>(shared.ticket - first);  // tiles before the one on the diagonal
  const auto tile_of = [&](int step) { return tiles + step % stages * rows * ld; };

  if (threadIdx.x >= rows) {
    const int loader = static_cast<int>(threadIdx.x) - rows;
    for (int step = 0; step <= steps; ++step) {
      if (step >= stages) await(&shared.empty[step % stages], static_cast<unsigned>(step / stages - 1) % 2);
      load_tile(system, u0, (first + step) * rows, tile_of(step), loader);
      arrive_when_copied(&shared.full[step % stages]);
    }
    return;
  }

  const int row = static_cast<int>(threadIdx.x), lane = row % warp, half = row / warp;
  const std::int64_t u = u0 + row;
  row_sum<R, A> sum(u < n ? x[system.place(u)] : R{}, system.conjugated);
  // Columns of the tile from v0 on that this row stores.
  const auto stored_from = [&](std::int64_t v0) {
    const std::int64_t before = u - system.reach - v0;
    return before <= 0 ? 0 : static_cast<int>(::min(before, std::int64_t{rows}));
  };
  received<R> known[halves];
  for (int h = 0; h < halves && steps > 0; ++h) known[h].look(words, first * rows + h * warp + lane, solved);
  for (int step = 0; step < steps; ++step) {
    const std::int64_t v0 = (first + step) * rows;
    received<R> next[halves];
    if (step + 1 < steps)
      for (int h = 0; h < halves; ++h) next[h].look(words, v0 + rows + h * warp + lane, solved);
    await(&shared.full[step % stages], static_cast<unsigned>(step / stages) % 2);
    const A* const entries = tile_of(step) + row;
    const int from = u < n ? stored_from(v0) : rows;
#pragma unroll
    for (int h = 0; h < halves; ++h)
#pragma unroll 1
      for (int group = 0; group < groups_a_warp; ++group) {
        const int column = h * warp + group * at_once;
        const bool finite = known[h].wait_for(words, v0 + h * warp + lane, solved, group * at_once, at_once);
        take<at_once>(sum, entries + column * ld, ld, from - column, at_once, known[h].value, group * at_once,
                      finite);
      }
    __syncwarp();
    if (lane == 0) arrive(&shared.empty[step % stages]);
#pragma unroll
    for (int h = 0; h < halves; ++h) known[h] = next[h];
  }

  await(&shared.full[steps % stages], static_cast<unsigned>(steps / stages) % 2);
  const A* const entries = tile_of(steps) + row;
  const int from = stored_from(u0);
  for (int group = 0; group < groups_a_warp && half > 0; ++group) {
    await(&shared.handed[group], 0);
    const R value = first_half[lane];
    const int column = group * at_once;
    take<at_once>(sum, entries + column * ld, ld, u < n ? from - column : at_once, at_once, value, column,
                  are_finite(value, column, at_once));
  }
  divisor<R, A> diagonal(u < n && !system.unit ? entries[row * ld] : A{}, system.conjugated);
  R found{};
#pragma unroll 1
  for (int group = 0; group < groups_a_warp; ++group) {
    const int column = half * warp + group * at_once;
    A entry[at_once];
#pragma unroll
    for (int c = 0; c < at_once; ++c)
      if (column + c < row && column + c >= from && u < n) entry[c] = entries[(column + c) * ld];
#pragma unroll
    for (int c = 0; c < at_once; ++c) {
      if (row == column + c && u < n) {
        found = system.unit ? sum.value() : diagonal.divide(sum.value());
        publish(words, u, found, solved);
      }
      const R negative = -of_lane(found, group * at_once + c);
      if (column + c < row && column + c >= from && u < n) sum.add(entry[c], negative);
    }
    if (half == 0 && halves > 1) {
      if (lane / at_once == group) first_half[lane] = found;
      __syncwarp();
      if (lane == 0) arrive(&shared.handed[group]);
    }
  }
  if (u < n) x[system.place(u)] = found;
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
  const std::int64_t words = blocks * rows * relay_words<R>;
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
