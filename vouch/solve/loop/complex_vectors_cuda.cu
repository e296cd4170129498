#include <vector>

#include <vouch/core/parallel_for.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/solve/loop/complex_vectors.hpp>

namespace vouch {
namespace {

constexpr unsigned block = 256;
constexpr std::int64_t blocks = 512;  // the same on every GPU, so that the bits are too

struct parts_of_product {
  double real, imaginary, first, second;
};

// Thread t of block b takes number b*block + t and every (blocks*block)-th after it; trees join the threads.
template <class T>
__global__ void __launch_bounds__(block)
    partial_products(const T* u, const T* v, std::int64_t numbers, parts_of_product* out) {
  __shared__ double sums[block / 32][4];
  double sum[4] = {};
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < numbers; i += blocks * block) {
    const double a = u[2 * i], b = u[2 * i + 1], c = v[2 * i], d = v[2 * i + 1];
    sum[0] += a * c - b * d;
    sum[1] += a * d + b * c;
    sum[2] += a * a + b * b;
    sum[3] += c * c + d * d;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    for (int d = 16; d > 0; d /= 2) sum[k] += __shfl_xor_sync(~0u, sum[k], d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32][k] = sum[k];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  parts_of_product all{};
  for (const auto& of_warp : sums) {
    all.real += of_warp[0];
    all.imaginary += of_warp[1];
    all.first += of_warp[2];
    all.second += of_warp[3];
  }
  out[blockIdx.x] = all;
}

}  // namespace

template <real T>
complex_product multiply_complex_cuda(const device& dev, const T* u, const T* v, std::int64_t n) {
  const scratch<parts_of_product> parts(dev, blocks);
  launch(dev, "partial_products", {blocks, block}, partial_products<T>, u, v, n / 2, parts.data());
  std::vector<parts_of_product> host(blocks);
  copy_bytes(host.data(), device::cpu(1), parts.data(), dev, host.size() * sizeof(parts_of_product));
  complex_product all;
  for (const parts_of_product& part : host) {
    all.product += std::complex<double>(part.real, part.imaginary);
    all.first += part.first;
    all.second += part.second;
  }
  return all;
}

template <class Body>
void for_numbers_cuda(const device& dev, std::int64_t n, const Body& body) {
  detail::parallel_for(dev, "complex numbers", n / 2, body);
}

template complex_product multiply_complex_cuda(const device&, const float*, const float*, std::int64_t);
template complex_product multiply_complex_cuda(const device&, const double*, const double*, std::int64_t);

#define VOUCH_FOR_NUMBERS(body)                                                    \
  template void for_numbers_cuda(const device&, std::int64_t, const body<float>&); \
  template void for_numbers_cuda(const device&, std::int64_t, const body<double>&);
VOUCH_COMPLEX_BODIES(VOUCH_FOR_NUMBERS)
#undef VOUCH_FOR_NUMBERS

}  // namespace vouch
