// vouch/verify/comparison_solver.cuh -- v with <A> v near |diagonal|, found by the threads of a block in single
// precision; private.
#pragma once
#include <cstdint>

#include <vouch/verify/batch_tally.cuh>

namespace vouch::detail {

template <int Warps>
__device__ void sync_threads() {
  if constexpr (Warps == 1)
    __syncwarp();
  else
    __syncthreads();
}

/// An unknown from two others: value + lower times the one before + upper times the one behind.
struct float_relation {
  float lower, upper, value;
};

/// The comparison matrix of a system, each row divided by its diagonal, in shared memory; then v.
///
/// Every thread eliminates the rows of a piece from the first to the last but one, which leaves a relation
/// between the last rows of the pieces; relations over twice the distance follow until there are no others
/// left. Nothing is proved of v here.
template <int Rows, int Warps>
class comparison_solver {
 public:
  static constexpr int threads = 32 * Warps, most_rows = Rows * threads;

  struct memory {
    float lower[most_rows + threads], upper[most_rows + threads], value[most_rows + threads];
    float_relation told[Warps > 1 ? threads : 1];
  };

  __device__ comparison_solver(memory& in, int n) : in_(in), thread_(static_cast<int>(threadIdx.x)) {
    // A power of two of pieces, none empty unless all but one are.
    while (pieces_ < threads && 4 * pieces_ <= n) pieces_ *= 2;
    begin_ = thread_ < pieces_ ? start(thread_, n) : n;
    end_ = thread_ < pieces_ ? start(thread_ + 1, n) : n;
  }

  __device__ void put(int i, float lower, float upper) {
    in_.lower[place(i)] = lower;
    in_.upper[place(i)] = upper;
  }
  __device__ void put_one(int i) { in_.value[place(i)] = 1; }
  __device__ double v(int i) const { return in_.value[place(i)]; }

  /// After a barrier behind put(); v may be read behind another.
  __device__ void solve() {
    float_relation last{1, 0, 0}, first{0, 1, 0};  // of the piece: of its last row seen, and of its first row
    for (int i = begin_; i + 1 < end_; ++i) {
      last = next(i, last);
      in_.lower[place(i)] = last.lower, in_.upper[place(i)] = last.upper, in_.value[place(i)] = last.value;
      first.value += first.upper * last.value;
      first.lower += first.upper * last.lower;
      first.upper *= last.upper;
    }
    const float_relation behind = of(first, 1);
    float_relation own{0, 0, 0};
    if (begin_ < end_) {
      const float l = in_.lower[place(end_ - 1)], u = in_.upper[place(end_ - 1)];
      const float w = inverse(1 - l * last.upper - u * behind.lower);
      own = {l * last.lower * w, u * behind.upper * w, (1 + l * last.value + u * behind.value) * w};
    }
    for (int distance = 1; distance < pieces_; distance *= 2) {
      const float_relation below = of(own, -distance), above = of(own, distance);
      const float w = inverse(1 - own.lower * below.upper - own.upper * above.lower);
      own = {own.lower * below.lower * w, own.upper * above.upper * w,
             (own.value + own.lower * below.value + own.upper * above.value) * w};
    }
    own.value *= inverse(1 - own.lower - own.upper);
    const float before = of(own, -1).value;
    if (begin_ >= end_) return;
    float v = own.value;
    in_.value[place(end_ - 1)] = v;
    for (int i = end_ - 2; i >= begin_; --i) {
      v = in_.value[place(i)] + in_.lower[place(i)] * before + in_.upper[place(i)] * v;
      in_.value[place(i)] = v;
    }
  }

 private:
  __device__ static int place(int i) { return i + i / Rows; }  // neighbouring pieces begin in other banks
  __device__ int start(int piece, int n) const {
    return static_cast<int>(static_cast<unsigned>(piece) * static_cast<unsigned>(n) /
                            static_cast<unsigned>(pieces_));
  }
  __device__ static float inverse(float p) { return __fdividef(1.0f, p); }

  // Row i from the unknown before the piece and the one behind it, after the same of the row before it.
  __device__ float_relation next(int i, const float_relation& before) const {
    const float l = in_.lower[place(i)], u = in_.upper[place(i)], w = inverse(1 - l * before.upper);
    return {l * before.lower * w, u * w, (1 + l * before.value) * w};
  }

  // The relation of the piece that is so far away, in a ring. All threads come here.
  __device__ float_relation of(const float_relation& mine, int distance) {
    const int from = (thread_ + distance) & (pieces_ - 1);
    if constexpr (Warps == 1) {
      return {__shfl_sync(~0u, mine.lower, from), __shfl_sync(~0u, mine.upper, from),
              __shfl_sync(~0u, mine.value, from)};
    } else {
      __syncthreads();
      in_.told[thread_] = mine;
      __syncthreads();
      return in_.told[from];
    }
  }

  memory& in_;
  int thread_, pieces_ = 1, begin_ = 0, end_ = 0;
};

}  // namespace vouch::detail
