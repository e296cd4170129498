// vouch/solve/dense_seidel_blocks.cuh -- makes V and M of dense_seidel.cuh; private.
#pragma once
#include <vouch/solve/dense_seidel_lead.cuh>

namespace vouch::seidel_kernel {

/// Bytes of dynamic shared memory of invert_steps.
template <class T>
constexpr std::size_t invert_bytes = static_cast<std::size_t>(step_rows<T>) * step_rows<T>*(sizeof(double) +
                                                                                            sizeof(T));

// Rows of the triangles that are inverted column by column; larger ones are put together.
constexpr int base_rows = 32;

// put(i, j, sum over k of a(i, k) b(k, j)) for i, j, k < Size: a lane takes every 32nd column, a warp every 8th
// row.
template <int Size, class Left, class Right, class Put>
__device__ void multiply(const Left& a, const Right& b, const Put& put) {
  constexpr int down = Size / warps, across = Size / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  double sum[down][across] = {};
  for (int k = 0; k < Size; ++k) {
    double right[across];
#pragma unroll
    for (int c = 0; c < across; ++c) right[c] = b(k, lane + 32 * c);
#pragma unroll
    for (int r = 0; r < down; ++r) {
      const double left = a(warp + warps * r, k);
#pragma unroll
      for (int c = 0; c < across; ++c) sum[r][c] = fma(left, right[c], sum[r][c]);
    }
  }
#pragma unroll
  for (int r = 0; r < down; ++r)
#pragma unroll
    for (int c = 0; c < across; ++c) put(warp + warps * r, lane + 32 * c, sum[r][c]);
}

// Inverses of neighbouring triangles of Size rows become those of twice as many: below the diagonal
// -X_22 (L_21 X_11). The place above it, which is not looked at, holds the product in brackets meanwhile.
template <int Size, int Rows, class T>
__device__ void merge_triangles(const T* L, double* X) {
  if constexpr (Size < Rows) {
    for (int o = 0; o < Rows; o += 2 * Size)
      multiply<Size>([&](int i, int k) { return static_cast<double>(L[(o + Size + i) * Rows + o + k]); },
                     [&](int k, int j) { return X[(o + k) * Rows + o + j]; },
                     [&](int i, int j, double sum) { X[(o + i) * Rows + o + Size + j] = sum; });
    __syncthreads();
    for (int o = 0; o < Rows; o += 2 * Size)
      multiply<Size>([&](int i, int k) { return X[(o + Size + i) * Rows + o + Size + k]; },
                     [&](int k, int j) { return X[(o + k) * Rows + o + Size + j]; },
                     [&](int i, int j, double sum) { X[(o + Size + i) * Rows + o + j] = -sum; });
    __syncthreads();
    // What is above the diagonal of the larger triangles' halves must be zero for the next turn.
    for (int o = 0; o < Rows; o += 2 * Size)
      for (int e = static_cast<int>(threadIdx.x); e < Size * Size; e += threads)
        X[(o + e / Size) * Rows + o + Size + e % Size] = 0;
    __syncthreads();
    merge_triangles<2 * Size, Rows>(L, X);
  }
}

// A block per step, in double: X = (D/omega + L)^-1, where rows count in the order of the sweep and the
// identity fills up what the last step lacks; then M = X C, C the block that couples the step with the one
// before. Bound by arithmetic and latency. V and M are zeroed before.
template <class T>
__global__ void __launch_bounds__(threads)
    invert_steps(const T* __restrict__ a, std::int64_t n, std::int64_t ld, const T* __restrict__ weight,
                 int forward, T* __restrict__ V, T* __restrict__ M) {
  constexpr int rows = step_rows<T>;
  extern __shared__ __align__(128) char memory[];
  double* const X = reinterpret_cast<double*>(memory);
  T* const block = reinterpret_cast<T*>(X + rows * rows);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t step = blockIdx.x, first = step * rows;
  const int size = static_cast<int>(min(std::int64_t{rows}, n - first));
  const auto at = [&](int i) { return forward != 0 ? i : size - 1 - i; };

  for (int e = thread; e < rows * rows; e += threads) {
    const int i = e / rows, j = e % rows;
    block[e] = i < size && j < size ? a[(first + at(i)) * ld + first + at(j)] : T{};
    X[e] = 0;
  }
  __syncthreads();
  if (thread < rows) {
    const int top = thread / base_rows * base_rows;
    for (int i = thread; i < top + base_rows; ++i) {
      double sum[4] = {i == thread ? 1.0 : 0.0, 0, 0, 0};
      for (int j = top; j < i; j += 4)  // beyond i stand zeros
#pragma unroll
        for (int l = 0; l < 4; ++l)
          sum[l] -= static_cast<double>(block[i * rows + j + l]) * X[(j + l) * rows + thread];
      X[i * rows + thread] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) /
                             (i < size ? static_cast<double>(weight[first + at(i)]) : 1.0);
    }
  }
  __syncthreads();
  merge_triangles<base_rows, rows>(block, X);

  T* const own_V = V + step * inverse_elements<T>;
  T* const own_M = M + step * coupling_elements<T>;
  for (int e = thread; e < size * rows; e += threads)
    if (const int i = e / rows, j = e % rows; j <= i)
      own_V[inverse_place<T>(at(i), at(j), forward != 0)] = static_cast<T>(X[e]);

  const std::int64_t before = forward != 0 ? first - rows : first + rows;
  if (before < 0 || before >= n) return;
  const int width = static_cast<int>(min(std::int64_t{rows}, n - before));
  for (int e = thread; e < rows * rows; e += threads) {
    const int i = e / rows, j = e % rows;
    block[e] = i < size && j < width ? a[(first + at(i)) * ld + before + j] : T{};
  }
  __syncthreads();
  multiply<rows>([&](int i, int k) { return X[i * rows + k]; },
                 [&](int k, int j) { return static_cast<double>(block[k * rows + j]); },
                 [&](int i, int j, double sum) {
                   if (i < size && j < width) own_M[coupling_place<T>(at(i), j)] = static_cast<T>(sum);
                 });
}

}  // namespace vouch::seidel_kernel
