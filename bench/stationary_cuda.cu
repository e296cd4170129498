#include "stationary_cuda.hpp"

#include <algorithm>
#include <limits>

#include <vouch/core/array.hpp>
#include <vouch/core/event_timer.cuh>
#include <vouch/core/gpu/flagged_words.cuh>
#include <vouch/core/launch.cuh>

#include "machine_cuda.hpp"

namespace vouch::bench {
namespace {

constexpr int threads = 256;

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
    const T a = family_entry<T>(family, n, i, j);
    A[i * n + j] = a;
    sum += fabs(static_cast<double>(a));
    product += static_cast<double>(a) * static_cast<double>(x[j]);
  }
  sum = block_sum(sum);
  product = block_sum(product);
  if (threadIdx.x != 0) return;
  const auto diagonal = family_diagonal<T>(family, dominance, n, i, sum);
  A[i * n + i] = diagonal;
  b[i] = static_cast<T>(product + static_cast<double>(diagonal) * static_cast<double>(x[i]));
}

template <class T>
__global__ void __launch_bounds__(threads) fill_solution(dense_family family, std::int64_t n, T* x) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < n) x[i] = family_solution<T>(family, i);
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

// A block has 32 rows of 8 columns.
__global__ void __launch_bounds__(threads) one_element_each(std::int64_t n, const float* from, float* to) {
  const auto down = static_cast<unsigned>(ceil_div<std::int64_t>(n, 32));
  const std::int64_t i = blockIdx.x % down * 32 + threadIdx.x % 32,
                     j = blockIdx.x / down * 8 + threadIdx.x / 32;
  if (i < n && j < n) to[j + i * n] = from[i + j * n];
}

constexpr unsigned rounds = 2000;  // of numbers that travel
constexpr unsigned most_blocks = 256;

// Every block sends a number and waits for those of all blocks, again and again; a thread waits for one.
__global__ void __launch_bounds__(most_blocks) all_to_all(std::uint64_t* words) {
  float value = 0;
  for (unsigned epoch = 1; epoch <= rounds; ++epoch) {
    std::uint64_t* const now = words + (epoch & 1) * most_blocks;
    if (threadIdx.x == 0) store_flagged(now + blockIdx.x, value, epoch);
    if (threadIdx.x < gridDim.x) wait_load(now + threadIdx.x, value, epoch);
    __syncthreads();
  }
}

// Two blocks answer each other.
__global__ void __launch_bounds__(32) answer_each_other(std::uint64_t* words) {
  if (threadIdx.x != 0) return;
  float value = 0;
  for (unsigned epoch = 1; epoch <= rounds; ++epoch) {
    if (epoch % 2 == blockIdx.x)
      store_flagged(words + 32 * blockIdx.x, value, epoch);
    else
      wait_load(words + 32 * (1 - blockIdx.x), value, epoch);
  }
}

// Seconds of a round, the best of some launches.
template <class Kernel>
double seconds_a_round(const device& gpu, Kernel kernel, launch_shape shape) {
  event_timer clock(gpu);
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 4; ++k) {
    auto words = array<std::uint64_t>::zeros(gpu, 2 * most_blocks);
    clock.mark(0);
    launch(gpu, "numbers that travel", shape, kernel, words.data());
    clock.mark(1);
    least = std::min(least, clock.seconds());
  }
  return least / rounds;
}

}  // namespace

template <class T>
void fill_dense_system(const device& gpu, dense_family family, double dominance, std::int64_t n, T* A, T* x,
                       T* b) {
  launch(gpu, "fill_solution", {ceil_div<std::int64_t>(n, threads), threads}, fill_solution<T>, family, n, x);
  launch(gpu, "fill_row", {n, threads}, fill_row<T>, family, dominance, n, A, x, b);
  gpu.synchronize();
}

double cuda_read_speed(const device& gpu, const std::byte* from, std::size_t bytes, int passes) {
  array<float> never(gpu, 1);
  const double seconds = cuda_seconds(gpu, passes, [&] {
    launch(gpu, "read_all", {4 * gpu.processors(), 512}, read_all, reinterpret_cast<const float4*>(from),
           static_cast<std::int64_t>(bytes / sizeof(float4)), never.data());
  });
  return static_cast<double>(bytes) / seconds;
}

travel_seconds cuda_travel_seconds(const device& gpu) {
  const auto blocks =
      static_cast<std::int64_t>(std::min<unsigned>(most_blocks, static_cast<unsigned>(gpu.processors())));
  return {seconds_a_round(gpu, all_to_all, {blocks, most_blocks, 0, 1, true}),
          seconds_a_round(gpu, answer_each_other, {2, 32, 0, 1, true})};
}

void transpose_plainly(const device& gpu, std::int64_t n, const float* from, float* to) {
  launch(gpu, "one_element_each", {ceil_div<std::int64_t>(n, 32) * ceil_div<std::int64_t>(n, 8), threads},
         one_element_each, n, from, to);
}

std::shared_ptr<std::byte> pinned_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "allocating pinned memory");
  return {static_cast<std::byte*>(memory), [](std::byte* p) { cudaFreeHost(p); }};
}

template void fill_dense_system(const device&, dense_family, double, std::int64_t, float*, float*, float*);
template void fill_dense_system(const device&, dense_family, double, std::int64_t, double*, double*, double*);

}  // namespace vouch::bench
