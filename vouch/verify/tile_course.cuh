// vouch/verify/tile_course.cuh -- tiles of neighbouring systems, and which of them a block visits; private.
#pragma once
#include <vouch/verify/refuted_systems.cuh>

namespace vouch::detail {

constexpr int tile_rows = 8;  // of a thread

/// Neighbouring systems, cut into pieces of at most tile_rows rows; both numbers are powers of two.
struct tile_plan {
  int pieces, systems;
  bool paired;  // two systems at a time can be copied

  static tile_plan of(const visit_task& task, bool all, int threads) {
    const auto lie_in_pairs = [&](const double* data, const batch_shape& shape) {
      return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && shape.system_stride == 1 &&
             shape.row_stride % 2 == 0;
    };
    const tridiagonal_view<const double>& A = task.A;
    const std::int64_t n = task.vectors.n;
    tile_plan plan{1, threads, all && task.vectors.systems % 2 == 0};
    for (const double* data : {A.dl, A.d, A.du}) plan.paired &= lie_in_pairs(data, A.shape);
    for (const double* data : {task.b, task.x}) plan.paired &= lie_in_pairs(data, task.vectors);
    while (plan.pieces * tile_rows < n) plan.pieces *= 2, plan.systems /= 2;
    return plan;
  }
};

/// The piece of a thread: its rows are the last of tile_rows slots.
struct tile_place {
  int thread, systems, pieces, system, piece, n, begin, end;

  __device__ tile_place(const tile_plan& plan, int rows)
      : thread(static_cast<int>(threadIdx.x)),
        systems(plan.systems),
        pieces(plan.pieces),
        system(thread % plan.systems),
        piece(thread / plan.systems),
        n(rows),
        begin(start(piece)),
        end(start(piece + 1)) {}
  __device__ int start(int p) const { return p * n / pieces; }
  __device__ int row(int k) const { return end - tile_rows + k; }
  __device__ bool present(int k) const { return row(k) >= begin; }
  __device__ int first() const { return tile_rows - (end - begin); }
  // The thread that has the piece so far away, in a ring, and the first slot of the next piece.
  __device__ int neighbour(int distance) const {
    return ((piece + distance) & (pieces - 1)) * systems + system;
  }
  __device__ int first_of_next() const {
    const int next = (piece + 1) & (pieces - 1);
    return tile_rows - (start(next + 1) - start(next));
  }
};

/// Every so many-th tile from the block's first on, but for those whose systems their first rows all refute:
/// these are left. As many are looked at together as systems have pieces. All threads of the block call the
/// same.
class tile_course {
 public:
  static constexpr int least_pieces = 8;  // with fewer a look takes as long as a tile
  static constexpr int parts_seen = 2;    // of eight rows

  /// stays: scratch, one for each piece.
  __device__ tile_course(const visit_task& task, const visit_lists& lists, const tile_place& place,
                         std::int64_t count, bool looks, unsigned* stays)
      : task_(task),
        lists_(lists),
        place_(place),
        count_(count),
        first_(std::int64_t{blockIdx.x} * place.systems),
        stays_(stays),
        looks_(looks && place.pieces >= least_pieces),
        seen_(place.pieces) {}

  /// The first system of the present tile; `count` or more behind the last one.
  __device__ std::int64_t first() const { return first_; }

  __device__ void go_on() {
    do {
      first_ += step();
      if (looks_ && ++seen_ >= place_.pieces) look();
    } while (looks_ && first_ < count_ && stays_[seen_] == 0);
  }

 private:
  __device__ std::int64_t step() const { return std::int64_t{gridDim.x} * place_.systems; }

  // A thread looks at the system of its own place, of the tile that is as far ahead as its piece.
  __device__ void look() {
    seen_ = 0;
    __syncthreads();
    if (place_.system == 0) stays_[place_.piece] = 0;
    __syncthreads();
    const std::int64_t s = first_ + place_.piece * step() + place_.system;
    const bool there = s < count_;
    if (there && !refuted_by_first_rows(task_, visited_system(task_, s), parts_seen)) stays_[place_.piece] = 1;
    __syncthreads();
    leave_some(task_, lists_, s, there && stays_[place_.piece] == 0);
  }

  const visit_task& task_;
  const visit_lists& lists_;
  const tile_place& place_;
  std::int64_t count_, first_;
  unsigned* stays_;  // of each tile that has been looked at: some system does
  bool looks_;
  int seen_;  // which of those the present tile is
};

}  // namespace vouch::detail
