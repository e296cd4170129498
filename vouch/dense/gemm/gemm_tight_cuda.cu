// FP64 tensor cores that round in one direction.
#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cstdint>

#include <vouch/core/gpu/double_mma.cuh>
#include <vouch/core/gpu/mbarrier.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/dense/gemm/gemm.hpp>
#include <vouch/dense/gemm/gemm_operand.cuh>

namespace vouch::detail {

/// c += a b in the warp's usual layout: 16 by 8 by 4, and 16 by 8 by 8. Each element is a chain of fused
/// multiply-adds over k, all rounded in one direction.
template <rounding_mode R>
__device__ inline void multiply_add(double (&c)[4], const double (&a)[2], const double (&b)[1]) {
#define VOUCH_MMA(mode)                                                     \
  asm volatile("mma.sync.aligned.m16n8k4.row.col." mode                     \
               ".f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};" \
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])             \
               : "d"(a[0]), "d"(a[1]), "d"(b[0]))
  if constexpr (!compiled_for_sm90)
    multiply_add_in_parts<R>(c, a, b);
  else if constexpr (R == rounding_mode::down)
    VOUCH_MMA("rm");
  else
    VOUCH_MMA("rp");
#undef VOUCH_MMA
}

template <rounding_mode R>
__device__ inline void multiply_add(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#define VOUCH_MMA(mode)                                                              \
  asm volatile("mma.sync.aligned.m16n8k8.row.col." mode                              \
               ".f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" \
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])                      \
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]))
  if constexpr (!compiled_for_sm90)
    multiply_add_in_parts<R>(c, a, b);
  else if constexpr (R == rounding_mode::down)
    VOUCH_MMA("rm");
  else
    VOUCH_MMA("rp");
#undef VOUCH_MMA
}

/// The part of one sign, by the sign bit.
__device__ inline double plus(double x) { return __double2hiint(x) < 0 ? 0.0 : x; }
__device__ inline double minus(double x) { return __double2hiint(x) < 0 ? x : 0.0; }

}  // namespace vouch::detail

// Stages of tiles in shared memory, filled some steps ahead of their use.

namespace vouch::detail {

/// Step s uses stage s % Stages. Copies run `ahead` steps ahead: the stage they fill was used two steps ago.
/// Warps may be apart by nearly a step, so that a scheduler always has one with products to issue.
template <int Stages>
class gemm_pipeline {
 public:
  static constexpr int stages = Stages, ahead = Stages - 2;

  /// By all threads of the block, `threads` of them; a barrier of the block must follow.
  __device__ void start(unsigned threads) {
    if (threadIdx.x >= Stages) return;
    mbarrier_init(&full_[threadIdx.x], threads);
    mbarrier_init(&empty_[threadIdx.x], threads);
  }
  /// This thread's copies for the step are there.
  __device__ void there(int step) { mbarrier_arrive(&full_[step % Stages]); }
  __device__ void wait_for(int step) { mbarrier_wait(&full_[step % Stages], parity(step)); }
  /// This thread needs the step's stage no longer.
  __device__ void used(int step) { mbarrier_arrive(&empty_[step % Stages]); }
  /// Until the stage of step + ahead is free.
  __device__ void wait_for_room(int step) {
    if (step >= 2) mbarrier_wait(&empty_[(step - 2) % Stages], parity(step - 2));
  }

 private:
  __device__ static unsigned parity(int step) { return static_cast<unsigned>(step / Stages) % 2; }

  std::uint64_t full_[Stages], empty_[Stages];
};

}  // namespace vouch::detail

// Enclosures of matrix products on FP64 tensor cores with directed rounding.
//
// Lower and upper bound of C = A B come from one pass over the tiles of A and B. The tensor core multiplies and
// adds in the rounding mode that the instruction names, as a chain of fused multiply-adds over k would. An
// interval factor is split by sign: with x+ = max(x, 0) and x- = min(x, 0)
//
//   lower = al+ bl+ + ah+ bl- + al- bh+ + ah- bh-      upper = ah+ bh+ + al+ bh- + ah- bl+ + al- bl-
//
// which encloses always, and has the bounds of the product exactly unless both factors straddle zero. Where a
// piece of both tiles holds such an element, or an infinite or empty one, the piece is multiplied element by
// element. docs/rigor.md has the proof.

namespace vouch::detail {

/// Sizes of the tiles: a block has 8 warps, 4 by 2, each with 32 by 32 elements of C in registers.
struct gemm_tile {
  static constexpr int m = 128, n = 64, k = 16;
  static constexpr unsigned threads = 256;
};

/// The tiles of one stage; rows padded so that a quarter of a warp meets every bank once.
template <class EA, class EB>
struct gemm_stage {
  static constexpr int ld_a = gemm_tile::m + 32 / static_cast<int>(sizeof(EA));
  static constexpr int ld_b = gemm_tile::n + 32 / static_cast<int>(sizeof(EB));
  alignas(16) EA a[gemm_tile::k * ld_a];
  alignas(16) EB b[gemm_tile::k * ld_b];
};

/// As many stages as fit into 224 KB: 8 of points, 4 of intervals.
template <class EA, class EB>
constexpr int gemm_stages = std::min<int>(8, 224 * 1024 / sizeof(gemm_stage<EA, EB>));

// What the elements of a piece of a tile forbid.
enum : unsigned { a_straddles = 1, b_straddles = 2, not_finite = 4 };

template <class E>
__device__ inline unsigned character(const E& e, unsigned straddles) {
  using element = gemm_element<E>;
  const double lo = element::lo(e), hi = element::hi(e);
  if (!(fabs(lo) < INFINITY) || !(fabs(hi) < INFINITY)) return not_finite;
  return lo < 0 && hi > 0 ? straddles : 0;
}

/// A thread's share of bringing the tiles of an operand, one after the other: count elements of Size by 16.
template <class E, int Size, int Ld>
class gemm_loader {
 public:
  static constexpr int count = Size * gemm_tile::k / static_cast<int>(gemm_tile::threads);

  __device__ gemm_loader(const gemm_operand<E>& operand, std::int64_t first, std::int64_t depth)
      : left_(depth) {
    const int thread = static_cast<int>(threadIdx.x);
    // Neighbouring threads take neighbours in memory.
    by_column_ = operand.along == 1;
    const int i = by_column_ ? thread % Size : thread / gemm_tile::k;
    k_ = by_column_ ? thread / Size : thread % gemm_tile::k;
    rows_ = static_cast<int>(::min(std::int64_t{Size}, operand.size - first)) - i;
    from_ = operand.data + (first + i) * operand.along + k_ * operand.across;
    place_ = k_ * Ld + i;
    constexpr int columns = static_cast<int>(gemm_tile::threads) / Size,
                  rows = static_cast<int>(gemm_tile::threads) / gemm_tile::k;
    stride_ = by_column_ ? columns * operand.across : rows * operand.along;
    place_stride_ = by_column_ ? columns * Ld : rows;
    unit_ = by_column_ ? columns : rows;
    step_ = gemm_tile::k * operand.across;
  }

  /// Copies first to first + Count - 1 of the tile at hand.
  template <int Count>
  __device__ void bring(int first, E* tile) const {
    const int depth = static_cast<int>(::min(left_, std::int64_t{gemm_tile::k})) - k_;
    const int limit = by_column_ ? (rows_ > 0 ? depth : 0) : (depth > 0 ? rows_ : 0);
#pragma unroll
    for (int c = first; c < first + Count; ++c)
      __pipeline_memcpy_async(tile + place_ + c * place_stride_, from_ + c * stride_, sizeof(E),
                              c * unit_ < limit ? 0 : sizeof(E));
  }
  __device__ void next() {
    from_ += step_;
    left_ -= gemm_tile::k;
  }

  /// Of the elements that this thread brought.
  __device__ unsigned inspect(const E* tile, unsigned straddles) const {
    unsigned found = 0;
#pragma unroll
    for (int c = 0; c < count; ++c) found |= character(tile[place_ + c * place_stride_], straddles);
    return found;
  }

 private:
  const E* from_;
  std::int64_t left_, stride_, step_;
  int k_, rows_, place_, place_stride_, unit_;
  bool by_column_;
};

/// A warp's 32 by 32 elements of C, both bounds.
struct gemm_sums {
  double lo[2][4][4] = {}, hi[2][4][4] = {};
};

/// A thread's operands of one instruction's depth: 8 steps of k for points, 4 where registers are short.
template <class EA, class EB>
struct gemm_fragment {
  static constexpr int quads = gemm_element<EA>::interval || gemm_element<EB>::interval ? 1 : 2;
  static constexpr int depth = 4 * quads;
  EA a[2][2 * quads];
  EB b[4][quads];

  __device__ gemm_fragment() {}
  __device__ gemm_fragment(const EA* a_tile, const EB* b_tile) {
    using stage = gemm_stage<EA, EB>;
    const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
#pragma unroll
    for (int mi = 0; mi < 2; ++mi)
#pragma unroll
      for (int h = 0; h < 2 * quads; ++h)
        a[mi][h] = a_tile[(t + h / 2 * 4) * stage::ld_a + mi * 16 + h % 2 * 8 + g];
#pragma unroll
    for (int ni = 0; ni < 4; ++ni)
#pragma unroll
      for (int h = 0; h < quads; ++h) b[ni][h] = b_tile[(t + h * 4) * stage::ld_b + ni * 8 + g];
  }
};

// sums.lo += down_a down_b rounded down, sums.hi += up_a up_b rounded up, for one column of the warp's tiles.
template <int A, int B>
__device__ inline void add_bounds(gemm_sums& sums, int ni, const double (&down_a)[2][A],
                                  const double (&down_b)[B], const double (&up_a)[2][A],
                                  const double (&up_b)[B]) {
#pragma unroll
  for (int mi = 0; mi < 2; ++mi) {
    multiply_add<rounding_mode::down>(sums.lo[mi][ni], down_a[mi], down_b);
    multiply_add<rounding_mode::up>(sums.hi[mi][ni], up_a[mi], up_b);
  }
}

// The depth of a fragment by tensor cores.
template <class EA, class EB>
__device__ inline void add_by_sign(gemm_sums& sums, const gemm_fragment<EA, EB>& fragment) {
  using left = gemm_element<EA>;
  using right = gemm_element<EB>;
  constexpr int quads = gemm_fragment<EA, EB>::quads;
  double al[2][2 * quads], ah[2][2 * quads];
#pragma unroll
  for (int mi = 0; mi < 2; ++mi)
#pragma unroll
    for (int h = 0; h < 2 * quads; ++h) {
      al[mi][h] = left::lo(fragment.a[mi][h]);
      ah[mi][h] = left::hi(fragment.a[mi][h]);
    }
  if constexpr (!left::interval && !right::interval) {
#pragma unroll
    for (int ni = 0; ni < 4; ++ni) {
      double b[quads];
#pragma unroll
      for (int h = 0; h < quads; ++h) b[h] = right::lo(fragment.b[ni][h]);
      add_bounds(sums, ni, al, b, al, b);
    }
  } else {
    double alp[2][2], alm[2][2], ahp[2][2], ahm[2][2];
#pragma unroll
    for (int mi = 0; mi < 2; ++mi)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        alp[mi][h] = plus(al[mi][h]);
        alm[mi][h] = minus(al[mi][h]);
        ahp[mi][h] = plus(ah[mi][h]);
        ahm[mi][h] = minus(ah[mi][h]);
      }
#pragma unroll
    for (int ni = 0; ni < 4; ++ni) {
      const double l = right::lo(fragment.b[ni][0]), h = right::hi(fragment.b[ni][0]);
      if constexpr (left::interval) {
        const double lp[1] = {plus(l)}, lm[1] = {minus(l)}, hp[1] = {plus(h)}, hm[1] = {minus(h)};
        add_bounds(sums, ni, alp, lp, ahp, hp);
        add_bounds(sums, ni, ahp, lm, alp, hm);
        add_bounds(sums, ni, alm, hp, ahm, lp);
        add_bounds(sums, ni, ahm, hm, alm, lm);
      } else {
        const double bl[1] = {l}, bh[1] = {h};
        add_bounds(sums, ni, alp, bl, alp, bh);
        add_bounds(sums, ni, alm, bh, alm, bl);
      }
    }
  }
}

// One step of k for finite intervals of any sign: each lower bound is the smaller of two candidates chosen by
// the signs of a, each upper bound the larger.
__device__ inline void add_finite(double& lo, double& hi, double al, double ah, double bl, double bh) {
  const bool down = __double2hiint(al) < 0, low = __double2hiint(ah) < 0;
  const double p = __dmul_rd(al, down ? bh : bl), q = __dmul_rd(ah, low ? bh : bl);
  const double r = __dmul_ru(al, down ? bl : bh), s = __dmul_ru(ah, low ? bl : bh);
  lo = __dadd_rd(lo, p < q ? p : q);
  hi = __dadd_ru(hi, r > s ? r : s);
}

// All steps of a stage, element by element.
template <bool Finite, class EA, class EB>
__device__ inline void add_by_element(gemm_sums& sums, const EA* a_tile, const EB* b_tile, int ld_a, int ld_b,
                                      int depth) {
  using left = gemm_element<EA>;
  using right = gemm_element<EB>;
  const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
#pragma unroll 1
  for (int k = 0; k < depth; ++k) {
    EB b[4][2];
#pragma unroll
    for (int ni = 0; ni < 4; ++ni)
#pragma unroll
      for (int c = 0; c < 2; ++c) b[ni][c] = b_tile[k * ld_b + ni * 8 + 2 * t + c];
#pragma unroll
    for (int mi = 0; mi < 2; ++mi)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const EA a = a_tile[k * ld_a + mi * 16 + h * 8 + g];
#pragma unroll
        for (int ni = 0; ni < 4; ++ni)
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            double& lo = sums.lo[mi][ni][2 * h + c];
            double& hi = sums.hi[mi][ni][2 * h + c];
            if constexpr (Finite)
              add_finite(lo, hi, left::lo(a), left::hi(a), right::lo(b[ni][c]), right::hi(b[ni][c]));
            else {
              const auto sum =
                  add_any(interval<double>::unchecked(lo, hi), left::whole(a), right::whole(b[ni][c]));
              lo = sum.lo();
              hi = sum.hi();
            }
          }
      }
  }
}

/// EB is an interval where EA is. A block takes 128 by 64 elements of C; 4 stages of tiles are under way at a
/// time. Bound by the tensor cores: 2 multiply-adds an element and k for points, 4 with one interval factor, 8
/// with two.
template <class EA, class EB, class T>
__global__ void __launch_bounds__(gemm_tile::threads, 1)
    gemm_tight(gemm_operand<EA> A, gemm_operand<EB> B, std::int64_t depth, gemm_result<T> C) {
  using stage_type = gemm_stage<EA, EB>;
  constexpr int ld_a = stage_type::ld_a, ld_b = stage_type::ld_b;
  constexpr bool both = gemm_element<EA>::interval && gemm_element<EB>::interval;
  extern __shared__ __align__(16) char memory[];
  stage_type* const stages = reinterpret_cast<stage_type*>(memory);
  using pipeline_type = gemm_pipeline<gemm_stages<EA, EB>>;
  constexpr int stage_count = pipeline_type::stages, ahead = pipeline_type::ahead;
  __shared__ pipeline_type pipeline;
  __shared__ unsigned found[stage_count];

  std::int64_t tile_i, tile_j;
  place_of_tile(blockIdx.x, ceil_div<std::int64_t>(A.size, gemm_tile::m),
                ceil_div<std::int64_t>(B.size, gemm_tile::n), tile_i, tile_j);
  gemm_loader<EA, gemm_tile::m, ld_a> load_a(A, tile_i * gemm_tile::m, depth);
  gemm_loader<EB, gemm_tile::n, ld_b> load_b(B, tile_j * gemm_tile::n, depth);
  const int steps = static_cast<int>(ceil_div<std::int64_t>(depth, gemm_tile::k));
  // Half of a stage's copies; beyond the last stage they bring zeros that nobody reads.
  const auto bring_half = [&](int half, stage_type& stage) {
    constexpr int a = decltype(load_a)::count / 2, b = decltype(load_b)::count / 2;
    load_a.template bring<a>(half * a, stage.a);
    load_b.template bring<b>(half * b, stage.b);
    if (half == 0) return;
    load_a.next();
    load_b.next();
    __pipeline_commit();
  };
  const auto bring_all = [&](stage_type& stage) {
    bring_half(0, stage);
    bring_half(1, stage);
  };
  // This thread's copies for a step are there, all but the last `behind` groups, and what they hold is known.
  constexpr int fragment_depth = gemm_fragment<EA, EB>::depth,
                behind = fragment_depth == 8 ? ahead - 1 : ahead - 2;
  const auto publish = [&](int step) {
    __pipeline_wait_prior(behind);
    if constexpr (both) {
      const int s = step % stage_count;
      const unsigned mine = load_a.inspect(stages[s].a, a_straddles) | load_b.inspect(stages[s].b, b_straddles);
      if (mine != 0) atomicOr(&found[s], mine);
    }
    pipeline.there(step);
  };

  pipeline.start(gemm_tile::threads);
  if (threadIdx.x < stage_count) found[threadIdx.x] = 0;
  __syncthreads();
  for (int s = 0; s <= behind; ++s) bring_all(stages[s]);
  publish(0);
  for (int s = behind + 1; s < ahead; ++s) bring_all(stages[s]);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int row = warp % 4 * 32, column = warp / 4 * 32;
  gemm_sums sums;
  const auto fragment = [&](int s, int k) {
    return gemm_fragment<EA, EB>(stages[s].a + k * ld_a + row, stages[s].b + k * ld_b + column);
  };
  gemm_fragment<EA, EB> at_hand, coming;
  if constexpr (!both) {
    pipeline.wait_for(0);
    at_hand = fragment(0, 0);
  }
  for (int step = 0; step < steps; ++step) {
    const int s = step % stage_count, next = (step + 1) % stage_count, after = (step + ahead) % stage_count;
    // What a thread does besides goes between the products.
    if constexpr (fragment_depth == 8) {
      coming = fragment(s, 8);
      pipeline.wait_for_room(step);
      bring_half(0, stages[after]);
      add_by_sign(sums, at_hand);
      bring_half(1, stages[after]);
      publish(step + 1);
      pipeline.wait_for(step + 1);
      at_hand = fragment(next, 0);
      add_by_sign(sums, coming);
    } else if constexpr (!both) {
      coming = fragment(s, 4);
      add_by_sign(sums, at_hand);
      publish(step + 1);
      at_hand = fragment(s, 8);
      add_by_sign(sums, coming);
      pipeline.wait_for_room(step);
      bring_half(0, stages[after]);
      coming = fragment(s, 12);
      add_by_sign(sums, at_hand);
      bring_half(1, stages[after]);
      pipeline.wait_for(step + 1);
      at_hand = fragment(next, 0);
      add_by_sign(sums, coming);
    } else {
      pipeline.wait_for(step);
      const unsigned obstacle = found[s];
      // All have read it two steps ago, and none writes it before this thread's next arrival.
      if (threadIdx.x == 0) found[after] = 0;
      if ((obstacle & not_finite) != 0 || obstacle == (a_straddles | b_straddles)) {
        publish(step + 1);
        pipeline.wait_for_room(step);
        bring_all(stages[after]);
        if ((obstacle & not_finite) != 0)
          add_by_element<false>(
              sums, stages[s].a + row, stages[s].b + column, ld_a, ld_b,
              static_cast<int>(::min(std::int64_t{gemm_tile::k}, depth - step * gemm_tile::k)));
        else
          add_by_element<true>(sums, stages[s].a + row, stages[s].b + column, ld_a, ld_b, gemm_tile::k);
      } else {
        add_by_sign(sums, fragment(s, 0));
        publish(step + 1);
        add_by_sign(sums, fragment(s, 4));
        pipeline.wait_for_room(step);
        bring_half(0, stages[after]);
        add_by_sign(sums, fragment(s, 8));
        bring_half(1, stages[after]);
        add_by_sign(sums, fragment(s, 12));
      }
    }
    pipeline.used(step);
  }
  __pipeline_wait_prior(0);

  const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
#pragma unroll
  for (int mi = 0; mi < 2; ++mi)
#pragma unroll
    for (int ni = 0; ni < 4; ++ni)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const std::int64_t i = tile_i * gemm_tile::m + row + mi * 16 + e / 2 * 8 + g;
        const std::int64_t j = tile_j * gemm_tile::n + column + ni * 8 + 2 * t + e % 2;
        if (i >= A.size || j >= B.size) continue;
        const double lo = sums.lo[mi][ni][e], hi = sums.hi[mi][ni][e];
        interval<double> sum = interval<double>::unchecked(lo, hi);
        // Where something was infinite or empty, zero times infinity may have been met on the way.
        if constexpr (!both)
          if (!(fabs(lo) < INFINITY) || !(fabs(hi) < INFINITY)) sum = element_again(A, B, i, j, depth);
        store_result(C, i, j, sum);
      }
}

}  // namespace vouch::detail

namespace vouch::detail {

namespace {

template <class EA, class EB, real T>
void launch_tight(const device& dev, const gemm_operand<EA>& left, const gemm_operand<EB>& right,
                  std::int64_t depth, const gemm_result<T>& result) {
  const std::int64_t blocks =
      ceil_div<std::int64_t>(left.size, gemm_tile::m) * ceil_div<std::int64_t>(right.size, gemm_tile::n);
  constexpr std::size_t bytes = sizeof(gemm_stage<EA, EB>) * gemm_stages<EA, EB>;
  launch(dev, "gemm_tight", {blocks, gemm_tile::threads, bytes}, gemm_tight<EA, EB, T>, left, right, depth,
         result);
}

}  // namespace

template <class TA, class TB, real T>
void gemm_tight_cuda(const device& dev, transpose trans_a, transpose trans_b, T alpha, matrix_view<const TA> A,
                     matrix_view<const TB> B, T beta, matrix_view<interval<T>> C) {
  const bool plain_a = trans_a == transpose::no, plain_b = trans_b == transpose::no;
  const gemm_operand<TA> left{A.data, C.rows, plain_a ? 1 : A.ld, plain_a ? A.ld : 1};
  const gemm_operand<TB> right{B.data, C.cols, plain_b ? B.ld : 1, plain_b ? 1 : B.ld};
  const std::int64_t depth = plain_a ? A.cols : A.rows;
  // An interval factor stands on the right, if need be in the transposed product.
  if constexpr (gemm_element<TA>::interval && !gemm_element<TB>::interval)
    launch_tight(dev, right, left, depth, gemm_result<T>{C.data, C.ld, 1, alpha, beta});
  else
    launch_tight(dev, left, right, depth, gemm_result<T>{C.data, 1, C.ld, alpha, beta});
}

#define VOUCH_INSTANTIATE(TA, TB, T)                                                           \
  template void gemm_tight_cuda(const device&, transpose, transpose, T, matrix_view<const TA>, \
                                matrix_view<const TB>, T, matrix_view<interval<T>>);
#define VOUCH_INSTANTIATE_ALL(T)       \
  VOUCH_INSTANTIATE(T, T, T)           \
  VOUCH_INSTANTIATE(T, interval<T>, T) \
  VOUCH_INSTANTIATE(interval<T>, T, T) \
  VOUCH_INSTANTIATE(interval<T>, interval<T>, T)
VOUCH_INSTANTIATE_ALL(float)
VOUCH_INSTANTIATE_ALL(double)

}  // namespace vouch::detail
