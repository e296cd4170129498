// vouch/verify/comparison_solver.cuh -- v with <A> v near |diagonal|, found by the threads of a block; private.
#pragma once
#include <cstdint>

#include <vouch/verify/batch_visit.cuh>
#include <vouch/verify/comparison_relation.cuh>

namespace vouch::detail {

/// The comparison matrix of a system, each row divided by its diagonal, in shared memory; then v. Nothing is
/// proved of it here.
template <class Real, int Rows, int Warps>
class comparison_solver {
 public:
  static constexpr int threads = 32 * Warps, most_rows = Rows * threads;

  using relation = comparison_relation<Real>;
  struct memory {
    union {
      double v;
      Real other;  // before: what is missing in a row, then its value
    } slot[most_rows + threads + 4];
    Real lower[most_rows + threads + 4], upper[most_rows + threads + 4];
    relation told[Warps > 1 ? threads : 1];
  };

  __device__ comparison_solver(memory& in, int n, bool periodic)
      : in_(in), n_(n), periodic_(periodic), thread_(static_cast<int>(threadIdx.x)) {}

  /// Of row k * threads + thread: what follows a barrier behind it may use it.
  __device__ void put(int k, const relation& row) {
    in_.lower[own_place(k, 0)] = row.lower;
    in_.upper[own_place(k, 0)] = row.upper;
    in_.slot[own_place(k, 0)].other = row.missing;
  }
  /// Of that row or the one `step` behind it, after a barrier behind solve() or put_ones().
  __device__ double v(int k, int step) const { return in_.slot[own_place(k, step)].v; }
  /// v := e.
  __device__ void put_ones() {
    for (int k = thread_; k < most_rows + threads + 4; k += threads) in_.slot[k].v = 1;
  }

  // What solve() asks for. All threads come here.
  __device__ void tell(const relation& mine) {
    if constexpr (Warps == 1) {
      mine_ = mine;
    } else {
      __syncthreads();
      in_.told[thread_] = mine;
      __syncthreads();
    }
  }
  __device__ relation told(int distance) const {
    const int from = (thread_ + distance) & (pieces_ - 1);
    if constexpr (Warps == 1)
      return {__shfl_sync(~0u, mine_.lower, from), __shfl_sync(~0u, mine_.upper, from),
              __shfl_sync(~0u, mine_.missing, from), __shfl_sync(~0u, mine_.value, from)};
    else
      return in_.told[from];
  }

  /// v from what was put. All threads come here.
  __device__ void solve() {
    pieces_ = 1;  // a power of two, none empty unless all but one are
    while (pieces_ < threads && 4 * pieces_ <= n_) pieces_ *= 2;
    const int begin = thread_ < pieces_ ? start(thread_) : n_;
    const int end = thread_ < pieces_ ? start(thread_ + 1) : n_;
    comparison_piece<Real> piece;
    for (int i = begin; i + 1 < end; ++i) {
      const relation row = piece.take(row_at(place(i)));
      in_.lower[place(i)] = row.lower, in_.upper[place(i)] = row.upper, in_.slot[place(i)].other = row.value;
    }
    const Real last =
        solve_for_last(begin < end ? row_at(place(end - 1)) : relation{0, 0, 1, 0}, piece, pieces_, *this);
    tell({0, 0, 0, last});
    const Real before = told(-1).value;
    if (begin >= end) return;
    Real v = last;
    in_.slot[place(end - 1)].v = v;
    if (end == n_) in_.slot[place(-1)].v = periodic_ ? v : 0;
    for (int i = end - 2; i >= begin; --i) {
      v = in_.slot[place(i)].other + in_.lower[place(i)] * before + in_.upper[place(i)] * v;
      in_.slot[place(i)].v = v;
    }
    if (begin == 0) in_.slot[place(n_)].v = periodic_ ? v : 0;
  }

 private:
  // Of row i, from -1 to n; neighbouring pieces begin in other banks.
  __device__ static int place(int i) {
    return 1 + i + static_cast<int>(static_cast<unsigned>(i + Rows) / Rows);
  }
  __device__ int own_place(int k, int step) const {
    return place(thread_ + step) + k * (threads + threads / Rows);
  }
  __device__ int start(int piece) const {
    return static_cast<int>(static_cast<unsigned>(piece) * static_cast<unsigned>(n_) /
                            static_cast<unsigned>(pieces_));
  }
  __device__ relation row_at(int at) const { return {in_.lower[at], in_.upper[at], in_.slot[at].other, 1}; }

  memory& in_;
  int n_;
  bool periodic_;
  int thread_, pieces_ = 1;
  relation mine_;
};

}  // namespace vouch::detail
