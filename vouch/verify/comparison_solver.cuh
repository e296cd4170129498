// vouch/verify/comparison_solver.cuh -- v with <A> v near |diagonal|, found by the threads of a block; private.
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/verify/batch_visit.cuh>

namespace vouch::detail {

/// The comparison matrix of a system, each row divided by its diagonal, in shared memory; then v.
///
/// Every thread eliminates the rows of a piece from the first to the last but one, which leaves a relation
/// between the last rows of the pieces; relations over twice the distance follow until there are no others
/// left. Nothing is proved of v here.
template <class Real, int Rows, int Warps>
class comparison_solver {
 public:
  static constexpr int threads = 32 * Warps, most_rows = Rows * threads;

  /// An unknown from two others: value + lower times the one before + upper times the one behind; missing = 1 -
  /// lower - upper.
  struct relation {
    Real lower, upper, missing, value;
  };
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
  __device__ void put(int k, Real lower, Real upper, Real missing) {
    in_.lower[own_place(k, 0)] = lower;
    in_.upper[own_place(k, 0)] = upper;
    in_.slot[own_place(k, 0)].other = missing;
  }
  /// Of that row or the one `step` behind it, after a barrier behind solve() or put_ones().
  __device__ double v(int k, int step) const { return in_.slot[own_place(k, step)].v; }
  /// v := e.
  __device__ void put_ones() {
    for (int k = thread_; k < most_rows + threads + 4; k += threads) in_.slot[k].v = 1;
  }

  /// v from what was put. All threads come here.
  __device__ void solve() {
    int pieces = 1;  // a power of two, none empty unless all but one are
    while (pieces < threads && 4 * pieces <= n_) pieces *= 2;
    const int begin = thread_ < pieces ? start(thread_, pieces) : n_;
    const int end = thread_ < pieces ? start(thread_ + 1, pieces) : n_;
    relation last{1, 0, 0, 0}, first{0, 1, 0, 0};  // of the piece: of its last row seen, and of its first row
    for (int i = begin; i + 1 < end; ++i) {
      last =
          through({in_.lower[place(i)], in_.upper[place(i)], in_.slot[place(i)].other, 1}, last, {0, 1, 0, 0});
      in_.lower[place(i)] = last.lower, in_.upper[place(i)] = last.upper, in_.slot[place(i)].other = last.value;
      first.value += first.upper * last.value;
      first.missing += first.upper * last.missing;
      first.lower += first.upper * last.lower;
      first.upper *= last.upper;
    }
    const relation behind = of(first, 1, pieces);
    relation own{0, 0, 1, 0};
    if (begin < end) {
      const int at = place(end - 1);
      own = through({in_.lower[at], in_.upper[at], in_.slot[at].other, 1}, last, behind);
    }
    for (int distance = 1; distance < pieces; distance *= 2)
      own = through(own, of(own, -distance, pieces), of(own, distance, pieces));
    own.value *= inverse(own.missing);
    const Real before = of(own, -1, pieces).value;
    if (begin >= end) return;
    Real v = own.value;
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
  __device__ int start(int piece, int pieces) const {
    return static_cast<int>(static_cast<unsigned>(piece) * static_cast<unsigned>(n_) /
                            static_cast<unsigned>(pieces));
  }
  __device__ static Real inverse(Real p) {
    if constexpr (std::is_same_v<Real, float>) {
      const float y = __fdividef(1.0f, p);
      return fmaf(y, fmaf(-p, y, 1.0f), y);
    } else {
      return 1 / p;
    }
  }

  // An unknown from what the two that it is related to are related to, which are itself and one more each.
  __device__ static relation through(const relation& own, const relation& below, const relation& above) {
    const Real w = inverse(own.missing + own.lower * (below.missing + below.lower) +
                           own.upper * (above.missing + above.upper));
    return {own.lower * below.lower * w, own.upper * above.upper * w,
            (own.missing + own.lower * below.missing + own.upper * above.missing) * w,
            (own.value + own.lower * below.value + own.upper * above.value) * w};
  }

  // The relation of the piece that is so far away, in a ring. All threads come here.
  __device__ relation of(const relation& mine, int distance, int pieces) {
    const int from = (thread_ + distance) & (pieces - 1);
    if constexpr (Warps == 1) {
      return {__shfl_sync(~0u, mine.lower, from), __shfl_sync(~0u, mine.upper, from),
              __shfl_sync(~0u, mine.missing, from), __shfl_sync(~0u, mine.value, from)};
    } else {
      __syncthreads();
      in_.told[thread_] = mine;
      __syncthreads();
      return in_.told[from];
    }
  }

  memory& in_;
  int n_;
  bool periodic_;
  int thread_;
};

}  // namespace vouch::detail
