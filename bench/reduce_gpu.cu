#include "reduce_gpu.hpp"

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>

#include "machine_cuda.hpp"

namespace vouch::bench {
namespace {

constexpr unsigned threads = 512;

// Each thread reads 16 bytes at a time, the whole grid's stride apart.
__global__ void __launch_bounds__(threads, 2) read_all(const int4* from, std::int64_t packs, int* to) {
  const std::int64_t stride = std::int64_t{gridDim.x} * threads;
  std::int64_t k = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  int mixed = 0;
  for (; k + 3 * stride < packs; k += 4 * stride) {
    const int4 a = __ldcs(from + k), b = __ldcs(from + k + stride), c = __ldcs(from + k + 2 * stride),
               d = __ldcs(from + k + 3 * stride);
    mixed ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w ^ c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
  }
  for (; k < packs; k += stride) {
    const int4 a = __ldcs(from + k);
    mixed ^= a.x ^ a.y ^ a.z ^ a.w;
  }
  if (mixed == 0x5eed) *to = mixed;  // so that nothing is optimised away
}

}  // namespace

double cuda_read_seconds(const device& gpu, const void* from, std::size_t bytes) {
  array<int> to(gpu, 1);
  const launch_shape shape{std::int64_t{gpu.processors()} * 2, threads};
  return cuda_seconds(gpu, 20, [&] {
    launch(gpu, "read_all", shape, read_all, static_cast<const int4*>(from),
           static_cast<std::int64_t>(bytes / 16), to.data());
  });
}

double cuda_bus_seconds(const device& gpu, double bytes) {
  constexpr std::int64_t piece = std::int64_t{32} << 20;
  constexpr int pieces = 16;
  void* pinned = nullptr;
  check(cudaHostAlloc(&pinned, piece, cudaHostAllocDefault), "allocating pinned memory");
  array<std::byte> there(gpu, piece);
  const double seconds = cuda_seconds(gpu, 3, [&] {
    for (int k = 0; k < pieces; ++k)
      check(cudaMemcpyAsync(there.data(), pinned, piece, cudaMemcpyHostToDevice,
                            static_cast<cudaStream_t>(gpu.stream())),
            "copying to the GPU");
  });
  cudaFreeHost(pinned);
  return seconds * bytes / (static_cast<double>(piece) * pieces);
}

}  // namespace vouch::bench
