#include "stationary_cuda.hpp"

#include <algorithm>
#include <chrono>

#include <vouch/core/array.hpp>
#include <vouch/core/check.cuh>
#include <vouch/core/launch.cuh>
#include <vouch/core/random.hpp>

namespace vouch::bench {
namespace {

constexpr int threads = 256;
constexpr std::uint64_t seed = 1, seed_of_x = 2;

template <class T>
__device__ T entry_of(dense_family family, std::int64_t n, std::int64_t i, std::int64_t j) {
  const auto at = static_cast<std::uint64_t>(i * n + j);
  if (family == dense_family::dominant) return static_cast<T>(random_unit(seed, at));
  const std::int64_t band = 15 * n / 100;
  return i - j <= band && j - i <= band ? static_cast<T>(random_bits(seed, at) % 5) : T{};
}

__device__ double block_sum(double mine) {
  __shared__ double sums[threads];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  const double all = sums[0];
  __syncthreads();
  return all;
}

// A block per row.
template <class T>
__global__ void __launch_bounds__(threads)
    fill_row(dense_family family, double dominance, std::int64_t n, T* A, const T* x, T* b) {
  const std::int64_t i = blockIdx.x;
  double sum = 0, product = 0;
  for (std::int64_t j = threadIdx.x; j < n; j += threads) {
    if (j == i) continue;
    const T a = entry_of<T>(family, n, i, j);
    A[i * n + j] = a;
    sum += static_cast<double>(a);
    product += static_cast<double>(a) * static_cast<double>(x[j]);
  }
  sum = block_sum(sum);
  product = block_sum(product);
  if (threadIdx.x != 0) return;
  const auto diagonal =
      family == dense_family::dominant
          ? static_cast<T>(dominance * sum)
          : static_cast<T>(
                n + static_cast<std::int64_t>(random_bits(seed, static_cast<std::uint64_t>(i * n + i)) % 50));
  A[i * n + i] = diagonal;
  b[i] = static_cast<T>(product + static_cast<double>(diagonal) * static_cast<double>(x[i]));
}

template <class T>
__global__ void __launch_bounds__(threads) fill_solution(std::int64_t n, T* x) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < n) x[i] = static_cast<T>(random_unit(seed_of_x, static_cast<std::uint64_t>(i)));
}

// Reads everything; writes only what cannot be.
__global__ void __launch_bounds__(512) read_all(const float4* from, std::int64_t count, float* never) {
  float4 sum = make_float4(0, 0, 0, 0);
  const std::int64_t apart = std::int64_t{gridDim.x} * 512;
  std::int64_t k = std::int64_t{blockIdx.x} * 512 + threadIdx.x;
  for (; k + 3 * apart < count; k += 4 * apart) {
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const float4 v = __ldcs(from + k + u * apart);
      sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
  }
  for (; k < count; k += apart) sum.x += from[k].x;
  if (sum.x + sum.y + sum.z + sum.w == 1.2345e-30F) *never = 1;
}

}  // namespace

template <class T>
void fill_dense_system(const device& gpu, dense_family family, double dominance, std::int64_t n, T* A, T* x,
                       T* b) {
  launch(gpu, "fill_solution", {ceil_div<std::int64_t>(n, threads), threads}, fill_solution<T>, n, x);
  launch(gpu, "fill_row", {n, threads}, fill_row<T>, family, dominance, n, A, x, b);
  gpu.synchronize();
}

double cuda_read_speed(const device& gpu, const std::byte* from, std::size_t bytes, int passes) {
  const auto stream = static_cast<cudaStream_t>(gpu.stream());
  array<float> never(gpu, 1);
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  double best = 0;
  for (int pass = 0; pass <= passes; ++pass) {
    check(cudaEventRecord(begin, stream), "cudaEventRecord");
    launch(gpu, "read_all", {4 * gpu.processors(), 512}, read_all, reinterpret_cast<const float4*>(from),
           static_cast<std::int64_t>(bytes / sizeof(float4)), never.data());
    check(cudaEventRecord(end, stream), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    if (pass > 0) best = std::max(best, 1e3 * static_cast<double>(bytes) / static_cast<double>(milliseconds));
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return best;
}

std::shared_ptr<std::byte> pinned_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "allocating pinned memory");
  return {static_cast<std::byte*>(memory), [](std::byte* p) { cudaFreeHost(p); }};
}

void upload(const device& gpu, std::byte* to, const std::byte* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, static_cast<cudaStream_t>(gpu.stream())),
        "cudaMemcpyAsync");
  gpu.synchronize();
}

template void fill_dense_system(const device&, dense_family, double, std::int64_t, float*, float*, float*);
template void fill_dense_system(const device&, dense_family, double, std::int64_t, double*, double*, double*);

}  // namespace vouch::bench
