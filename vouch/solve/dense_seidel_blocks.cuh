// vouch/solve/dense_seidel_blocks.cuh -- makes V and M of dense_seidel.cuh; private.
#pragma once
#include <vouch/solve/dense_seidel_lead.cuh>

namespace vouch::seidel_kernel {

/// Bytes of dynamic shared memory of invert_steps.
template <class T>
constexpr std::size_t invert_bytes = static_cast<std::size_t>(step_rows<T>) * step_rows<T>*(sizeof(double) +
                                                                                            sizeof(T));

// A block per step, in double. X = (D/omega + L)^-1, a thread per column from the first row to the last, where
// rows count in the order of the sweep; then M = X C, C the block that couples the step with the one before,
// a thread per column and every second or fourth row. Bound by latency. V and M are zeroed before.
template <class T>
__global__ void __launch_bounds__(threads)
    invert_steps(const T* __restrict__ a, std::int64_t n, std::int64_t ld, const T* __restrict__ weight,
                 int forward, T* __restrict__ V, T* __restrict__ M) {
  constexpr int rows = step_rows<T>;
  extern __shared__ __align__(128) char memory[];
  double* const X = reinterpret_cast<double*>(memory);
  T* const block = reinterpret_cast<T*>(X + rows * rows);
  const int thread = static_cast<int>(threadIdx.x), column = thread % rows;
  const std::int64_t step = blockIdx.x, first = step * rows;
  const int size = static_cast<int>(min(std::int64_t{rows}, n - first));
  const auto at = [&](int i) { return forward != 0 ? i : size - 1 - i; };

  for (int e = thread; e < size * rows; e += threads)
    if (const int j = e % rows; j < size) block[e] = a[(first + at(e / rows)) * ld + first + at(j)];
  __syncthreads();
  if (thread < size)
    for (int i = 0; i < size; ++i) {
      double sum[4] = {i == thread ? 1.0 : 0.0, 0, 0, 0};
      int j = 0;
      for (; j + 4 <= i; j += 4)
#pragma unroll
        for (int l = 0; l < 4; ++l)
          sum[l] -= static_cast<double>(block[i * rows + j + l]) * X[(j + l) * rows + thread];
      for (; j < i; ++j) sum[0] -= static_cast<double>(block[i * rows + j]) * X[j * rows + thread];
      X[i * rows + thread] =
          ((sum[0] + sum[1]) + (sum[2] + sum[3])) / static_cast<double>(weight[first + at(i)]);
    }
  __syncthreads();

  T* const own_V = V + step * lead_elements<T>;
  T* const own_M = M + step * lead_elements<T>;
  for (int e = thread; e < size * rows; e += threads)
    if (const int j = e % rows; j < size) own_V[lead_place<T>(at(e / rows), at(j))] = static_cast<T>(X[e]);

  const std::int64_t before = forward != 0 ? first - rows : first + rows;
  if (before < 0 || before >= n) return;
  const int width = static_cast<int>(min(std::int64_t{rows}, n - before));
  for (int e = thread; e < size * rows; e += threads)
    if (const int j = e % rows; j < width) block[e] = a[(first + at(e / rows)) * ld + before + j];
  __syncthreads();
  if (column >= width) return;
  for (int i = thread / rows; i < size; i += threads / rows) {
    double sum[4] = {};
    int k = 0;
    for (; k + 4 <= i + 1; k += 4)
#pragma unroll
      for (int l = 0; l < 4; ++l)
        sum[l] += X[i * rows + k + l] * static_cast<double>(block[(k + l) * rows + column]);
    for (; k <= i; ++k) sum[0] += X[i * rows + k] * static_cast<double>(block[k * rows + column]);
    own_M[lead_place<T>(at(i), column)] = static_cast<T>((sum[0] + sum[1]) + (sum[2] + sum[3]));
  }
}

}  // namespace vouch::seidel_kernel
