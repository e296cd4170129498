// vouch/dense/gemm_nearest.cuh -- midpoint products in rounding to nearest, made into enclosures by a radius;
// private.
#pragma once
#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include <vouch/dense/gemm_pipeline.cuh>
#include <vouch/dense/gemm_tight.cuh>

namespace vouch::detail {

/// The midpoints of op(A) or of op(B) transposed: row after row of k, `padded` numbers each, zeros beyond the
/// matrix; padded is a multiple of 128, and there is a multiple of 16 rows.
struct midpoints {
  const double* data = nullptr;
  std::int64_t padded = 0;
};

/// Sizes: a block has 8 warps, 4 by 2, each with 32 by 64 elements of C in registers.
struct nearest_tile {
  static constexpr int m = 128, n = 128, k = 16, stages = 6, ld = m + 4;
  static constexpr unsigned threads = 256;
};

struct nearest_stage {
  alignas(16) double a[nearest_tile::k * nearest_tile::ld];
  alignas(16) double b[nearest_tile::k * nearest_tile::ld];
};

__device__ inline void multiply_add_nearest(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.rn.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

/// A thread's share of bringing the tiles of one operand: 4 times 16 bytes a step.
class nearest_loader {
 public:
  __device__ nearest_loader(const midpoints& operand, std::int64_t first)
      : from_(operand.data + threadIdx.x / 64 * operand.padded + first + threadIdx.x % 64 * 2),
        row_(operand.padded),
        place_(static_cast<int>(threadIdx.x / 64) * nearest_tile::ld + static_cast<int>(threadIdx.x % 64) * 2) {
  }

  /// Two of the four; the last step's are the last there are.
  __device__ void bring(int half, double* tile, bool there) const {
#pragma unroll
    for (int c = 2 * half; c < 2 * half + 2; ++c)
      if (there) __pipeline_memcpy_async(tile + place_ + 4 * c * nearest_tile::ld, from_ + 4 * c * row_, 16);
  }
  __device__ void next() { from_ += nearest_tile::k * row_; }

 private:
  const double* from_;
  std::int64_t row_;
  int place_;
};

/// A thread's operands of 8 steps of k: all of A's, half of B's.
struct nearest_left {
  double a[2][4];
  __device__ nearest_left() {}
  __device__ explicit nearest_left(const double* tile) {
    const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
#pragma unroll
    for (int mi = 0; mi < 2; ++mi)
#pragma unroll
      for (int h = 0; h < 4; ++h) a[mi][h] = tile[(t + h / 2 * 4) * nearest_tile::ld + mi * 16 + h % 2 * 8 + g];
  }
};

struct nearest_right {
  double b[4][2];
  __device__ nearest_right() {}
  __device__ explicit nearest_right(const double* tile) {
    const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
#pragma unroll
    for (int ni = 0; ni < 4; ++ni)
#pragma unroll
      for (int h = 0; h < 2; ++h) b[ni][h] = tile[(t + h * 4) * nearest_tile::ld + ni * 8 + g];
  }
};

template <int Half>
__device__ inline void add_nearest(double (&sums)[2][8][4], const nearest_left& left,
                                   const nearest_right& right) {
#pragma unroll
  for (int ni = 0; ni < 4; ++ni)
#pragma unroll
    for (int mi = 0; mi < 2; ++mi) multiply_add_nearest(sums[mi][4 * Half + ni], left.a[mi], right.b[ni]);
}

/// C := alpha [M - radius, M + radius] + beta C where M is the product of the midpoints rounded to nearest;
/// radius is column after column of C.rows numbers and covers the rounding of M. A block takes 128 by 128
/// elements; the order of its sums is fixed. Bound by the tensor cores: one multiply-add an element and k.
///
/// A sum that overflows, or that met an infinity or NaN, is made again from the operands themselves.
template <class EA, class EB, class T>
__global__ void __launch_bounds__(nearest_tile::threads, 1)
    gemm_nearest(midpoints A, midpoints B, gemm_operand<EA> left, gemm_operand<EB> right, std::int64_t depth,
                 const double* radius, gemm_result<T> C) {
  using pipeline_type = gemm_pipeline<nearest_tile::stages>;
  constexpr int ahead = pipeline_type::ahead;
  extern __shared__ __align__(16) char memory[];
  nearest_stage* const stages = reinterpret_cast<nearest_stage*>(memory);
  __shared__ pipeline_type pipeline;

  std::int64_t tile_i, tile_j;
  place_of_block(ceil_div<std::int64_t>(left.size, nearest_tile::m),
                 ceil_div<std::int64_t>(right.size, nearest_tile::n), tile_i, tile_j);
  nearest_loader load_a(A, tile_i * nearest_tile::m), load_b(B, tile_j * nearest_tile::n);
  const int steps = static_cast<int>(ceil_div<std::int64_t>(depth, nearest_tile::k));
  const auto bring_half = [&](int half, int step) {
    nearest_stage& stage = stages[step % nearest_tile::stages];
    load_a.bring(half, stage.a, step < steps);
    load_b.bring(half, stage.b, step < steps);
    if (half == 0) return;
    load_a.next();
    load_b.next();
    __pipeline_commit();
  };
  const auto publish = [&](int step) {
    __pipeline_wait_prior(ahead - 1);
    pipeline.there(step);
  };

  pipeline.start(nearest_tile::threads);
  __syncthreads();
  for (int step = 0; step < ahead; ++step) {
    bring_half(0, step);
    bring_half(1, step);
  }
  publish(0);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int row = warp % 4 * 32, column = warp / 4 * 64;
  double sums[2][8][4] = {};
  const auto a_at = [&](int step, int k) {
    return nearest_left(stages[step % nearest_tile::stages].a + k * nearest_tile::ld + row);
  };
  const auto b_at = [&](int step, int k, int half) {
    return nearest_right(stages[step % nearest_tile::stages].b + k * nearest_tile::ld + column + half * 32);
  };
  nearest_left a;
  nearest_right b;
  if (steps > 0) {
    pipeline.wait_for(0);
    a = a_at(0, 0);
    b = b_at(0, 0, 0);
  }
  for (int step = 0; step < steps; ++step) {
    // What a thread does besides goes between the products; operands are loaded a product ahead.
    const nearest_right b1 = b_at(step, 0, 1);
    pipeline.wait_for_room(step);
    bring_half(0, step + ahead);
    add_nearest<0>(sums, a, b);
    const nearest_left a2 = a_at(step, 8);
    const nearest_right b2 = b_at(step, 8, 0);
    add_nearest<1>(sums, a, b1);
    const nearest_right b3 = b_at(step, 8, 1);
    bring_half(1, step + ahead);
    add_nearest<0>(sums, a2, b2);
    publish(step + 1);
    pipeline.wait_for(step + 1);
    a = a_at(step + 1, 0);  // of no use after the last step
    b = b_at(step + 1, 0, 0);
    pipeline.used(step);
    add_nearest<1>(sums, a2, b3);
  }
  __pipeline_wait_prior(0);

  const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
#pragma unroll
  for (int mi = 0; mi < 2; ++mi)
#pragma unroll
    for (int ni = 0; ni < 8; ++ni)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const std::int64_t i = tile_i * nearest_tile::m + row + mi * 16 + e / 2 * 8 + g;
        const std::int64_t j = tile_j * nearest_tile::n + column + ni * 8 + 2 * t + e % 2;
        if (i >= left.size || j >= right.size) continue;
        const double mid = sums[mi][ni][e], rad = radius[i + j * left.size];
        interval<double> sum = fabs(mid) < INFINITY && rad < INFINITY
                                   ? interval<double>::unchecked(sub_down(mid, rad), add_up(mid, rad))
                                   : element_again(left, right, i, j, depth);
        store_result(C, i, j, sum);
      }
}

}  // namespace vouch::detail
