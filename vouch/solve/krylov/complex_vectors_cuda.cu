#include <vector>

#include <vouch/core/parallel_for.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/solve/krylov/complex_vectors.hpp>

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

template <real T>
void move_along_cuda(const device& dev, std::complex<double> alpha, const T* p, const T* q, T* x, T* r,
                     std::int64_t n) {
  detail::parallel_for(dev, "move_along", n / 2,
                       move_body<T>{static_cast<T>(alpha.real()), static_cast<T>(alpha.imag()), p, q, x, r});
}

template <real T>
void turn_direction_cuda(const device& dev, const T* z, std::complex<double> beta, T* p, std::int64_t n) {
  detail::parallel_for(dev, "turn_direction", n / 2,
                       turn_body<T>{z, static_cast<T>(beta.real()), static_cast<T>(beta.imag()), p});
}

template <real T>
void multiply_numbers_cuda(const device& dev, const T* d, const T* r, T* z, std::int64_t n) {
  detail::parallel_for(dev, "multiply_numbers", n / 2, multiply_body<T>{d, r, z});
}

template <real T>
void multiply_by_i_cuda(const device& dev, const T* r, T* z, std::int64_t n) {
  detail::parallel_for(dev, "multiply_by_i", n / 2, multiply_by_i_body<T>{r, z});
}

#define VOUCH_COMPLEX_VECTORS(T)                                                                      \
  template complex_product multiply_complex_cuda(const device&, const T*, const T*, std::int64_t);    \
  template void move_along_cuda(const device&, std::complex<double>, const T*, const T*, T*, T*,      \
                                std::int64_t);                                                        \
  template void turn_direction_cuda(const device&, const T*, std::complex<double>, T*, std::int64_t); \
  template void multiply_by_i_cuda(const device&, const T*, T*, std::int64_t);                        \
  template void multiply_numbers_cuda(const device&, const T*, const T*, T*, std::int64_t);
VOUCH_COMPLEX_VECTORS(float)
VOUCH_COMPLEX_VECTORS(double)
#undef VOUCH_COMPLEX_VECTORS

}  // namespace vouch
