#include <algorithm>

#include <vouch/band/line_tile.cuh>
#include <vouch/band/tiles_cuda.hpp>
#include <vouch/core/copy_engine.cuh>
#include <vouch/core/launch.cuh>

namespace vouch::detail {
namespace {

// The shared memory of a block: a stage for each array, and one for the unknowns, which holds the joints of the
// tree while they are being found.
template <real T, int Warps>
struct line_memory {
  static constexpr int threads = 32 * Warps, stage = threads * line_rows;
  static constexpr std::size_t bytes = 5 * stage * sizeof(T) + 128;

  T* const rows = reinterpret_cast<T*>(dynamic_shared() + (0u - shared_address(dynamic_shared())) % 128);
  T* const unknowns = rows + 4 * stage;
  std::uint64_t* arrived;

  __device__ line_memory() {
    __shared__ std::uint64_t barrier;
    arrived = &barrier;
  }
  // Rows of the identity behind a system's last row, where no copy comes.
  __device__ void complete(int thread, int left) const {
    for (int k = max(left, 0); k < line_rows; ++k) {
      T* const row = rows + thread * line_rows + k;
      row[0] = row[2 * stage] = row[3 * stage] = 0;
      row[stage] = 1;
    }
  }
};

// True for one thread of a warp: where a branch hangs on it, the compiler knows that nothing differs there.
__device__ inline bool elected() {
  unsigned chosen;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen));
  return chosen != 0;
}

// The first warp has the copy engine bring a tile.
template <real T, int Warps>
__device__ void bring_tile(const line_batch<T>& of, std::int64_t tile, const line_memory<T, Warps>& memory,
                           int thread) {
  if (thread >= 32 || tile >= of.tiles || !elected()) return;
  const int count = of.systems_of(tile);
  const unsigned bytes = static_cast<unsigned>(of.n) * sizeof(T);
  arrive_expecting(memory.arrived, static_cast<unsigned>(4 * count) * bytes);
#pragma unroll 1
  for (int s = 0; s < count; ++s)
#pragma unroll
    for (int array = 0; array < 4; ++array)
      bulk_copy(memory.rows + array * memory.stage + s * of.pieces * line_rows,
                of.from[array] + (tile * of.width + s) * of.pitch[array], bytes, memory.arrived);
}

// Takes a thread's rows once they have come.
template <real T, int Warps>
__device__ void take_tile(held_piece<T, line_rows>& piece, const line_memory<T, Warps>& memory,
                          const line_place& place, int thread, unsigned parity) {
  T* const rows = memory.rows + thread * line_rows;
  await(memory.arrived, parity);
  if (place.ends()) rows[2 * memory.stage + place.left - 1] = 0;
  take_rows(piece.a, rows);
  take_rows(piece.d, rows + memory.stage);
  take_rows(piece.c, rows + 2 * memory.stage);
  take_rows(piece.f, rows + 3 * memory.stage);
  if (place.begins()) piece.a[0] = 0;
}

// Writes the unknowns of a tile.
template <real T, int Warps>
__device__ void store_tile(const line_batch<T>& of, std::int64_t tile, const line_memory<T, Warps>& memory,
                           int thread, const T (&x)[line_rows]) {
  sync_tile<Warps>();  // the joints are needed no more
  put_rows(memory.unknowns + thread * line_rows, x);
  fence_for_copy_engine();
  sync_tile<Warps>();
  if (thread >= 32 || !elected()) return;
  const int count = of.systems_of(tile);
#pragma unroll 1
  for (int s = 0; s < count; ++s)
    bulk_store(of.x + (tile * of.width + s) * of.pitch_x, memory.unknowns + s * of.pieces * line_rows,
               static_cast<unsigned>(of.n) * sizeof(T));
  commit_stores();
}

// Blocks take every so many-th tile: everything is read once and written once. Bound by memory.
template <real T, int Warps>
__global__ void __launch_bounds__(32 * Warps, line_warps / Warps)
    solve_line_tiles(const __grid_constant__ line_batch<T> of) {
  const int thread = static_cast<int>(threadIdx.x);
  const line_memory<T, Warps> memory;
  const line_place place(of, thread);
  if (thread == 0) {
    arrival_init(memory.arrived, 1);
    arrival_init_fence();
  }
  memory.complete(thread, place.left);
  sync_tile<Warps>();
  bring_tile(of, blockIdx.x, memory, thread);
  unsigned parity = 0;
  for (std::int64_t tile = blockIdx.x; tile < of.tiles; tile += gridDim.x, parity ^= 1) {
    held_piece<T, line_rows> piece;
    take_tile(piece, memory, place, thread, parity);
    const bool works = place.left > 0 && place.system < of.systems_of(tile), fit = piece.dominates(works);
    await_reads_of_stores();
    fence_for_copy_engine();
    const bool dominant = all_of_tile<Warps>(fit || !works);
    bring_tile(of, tile + gridDim.x, memory, thread);
    bool numbers;
    if (dominant) {
      const relation<T> own = piece.reduce_dominant();
      const line_solver<true, Warps, T> solver(of, place, memory.unknowns, thread);
      numbers = piece.fill_dominant(solver.ends_of_piece(own));
    } else {
      unsigned far = 0;
      const relation<T> own = piece.reduce_pivoted(far);
      const line_solver<false, Warps, T> solver(of, place, memory.unknowns, thread);
      numbers = piece.fill_pivoted(far, solver.ends_of_piece(own));
    }
    if (works && !numbers && of.broken != nullptr) of.broken[tile * of.width + place.system] = 1;
    store_tile(of, tile, memory, thread, piece.d);
  }
  await_reads_of_stores();  // before the shared memory goes to another block
}

// ---- launchers

// Whether rows lie side by side and systems begin in lines of 16 bytes.
template <class T>
bool in_lines(const T* data, const batch_shape& shape) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && shape.row_stride == 1 &&
         shape.system_stride % line_size<T> == 0;
}

template <real T, int Warps>
bool solve_line_tiles(const device& dev, line_batch<T> of) {
  of.width = 32 * Warps / of.pieces;
  of.tiles = ceil_div<std::int64_t>(of.systems, of.width);
  const std::int64_t blocks = std::int64_t{dev.processors()} * (line_warps / Warps);
  if (of.tiles < dev.processors()) return false;
  launch(dev, "solve_line_tiles", {std::min(of.tiles, blocks), 32 * Warps, line_memory<T, Warps>::bytes},
         solve_line_tiles<T, Warps>, of);
  return true;
}

}  // namespace

template <real T>
bool solve_in_line_tiles(const device& dev, const tridiagonal_view<const T>& A, const batch_view<const T>& b,
                         const batch_view<T>& x, int* broken) {
  if (A.periodic || A.shape.offsets != nullptr || b.shape.offsets != nullptr || x.shape.offsets != nullptr)
    return false;
  if (b.shape.n > 32 * line_warps * line_rows || b.shape.n % line_size<T> != 0 || !in_lines(A.dl, A.shape) ||
      !in_lines(A.d, A.shape) || !in_lines(A.du, A.shape) || !in_lines(b.data, b.shape) ||
      !in_lines(x.data, x.shape))
    return false;
  line_batch<T> of{};
  const std::int64_t pitch = A.shape.system_stride;
  const T* const from[] = {A.dl, A.d, A.du, b.data};
  const std::int64_t pitches[] = {pitch, pitch, pitch, b.shape.system_stride};
  std::copy_n(from, 4, of.from);
  std::copy_n(pitches, 4, of.pitch);
  of.x = x.data;
  of.pitch_x = x.shape.system_stride;
  of.broken = broken;
  of.systems = b.shape.systems;
  of.n = static_cast<int>(b.shape.n);
  of.leaves = ceil_div(of.n, line_rows);
  of.pieces = line_size<T>;  // systems are copied to addresses that are multiples of 16
  while (of.pieces < of.leaves) of.pieces *= 2;
  switch (of.pieces) {
    case 256:
      return solve_line_tiles<T, 8>(dev, of);
    case 128:
      return solve_line_tiles<T, 4>(dev, of);
    case 64:
      return solve_line_tiles<T, 2>(dev, of);
    default:
      return solve_line_tiles<T, 1>(dev, of);
  }
}

template bool solve_in_line_tiles(const device&, const tridiagonal_view<const float>&,
                                  const batch_view<const float>&, const batch_view<float>&, int*);
template bool solve_in_line_tiles(const device&, const tridiagonal_view<const double>&,
                                  const batch_view<const double>&, const batch_view<double>&, int*);

}  // namespace vouch::detail
