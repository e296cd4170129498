// Passes over vectors on a GPU, real and complex. Bound by memory.
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/parallel_for.cuh>
#include <vouch/core/scratch.cuh>
#include <vouch/solve/loop/complex_vectors.hpp>
#include <vouch/solve/loop/vector_update.hpp>

namespace vouch {
namespace {

constexpr unsigned block = 256;

constexpr std::int64_t sum_blocks = 256;

// Thread t of block b sums elements b*block + t, then every (sum_blocks*block)-th; a tree joins the threads.
// The grid is the same on every GPU, so the bits are too.
template <class T>
__global__ void __launch_bounds__(block) partial_sums(const T* x, std::int64_t n, double_double<double>* out) {
  __shared__ double_double<double> part[block];
  double_double<double> sum;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n; i += sum_blocks * block)
    sum = sum + static_cast<double>(x[i]);
  part[threadIdx.x] = sum;
  for (unsigned d = block / 2; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) part[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + d];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

}  // namespace

template <real T>
void accumulate_pair_cuda(const device& dev, T* hi, T* lo, const T* d, std::int64_t n) {
  detail::parallel_for(dev, "accumulate_pair", n,
                       [=] __device__(std::int64_t i) { add_to_pair(hi[i], lo[i], d[i]); });
}

template <real T>
double sum_elements_cuda(const device& dev, const T* x, std::int64_t n) {
  array<double_double<double>> parts(dev, sum_blocks);
  launch(dev, "partial_sums", {sum_blocks, block}, partial_sums<T>, x, n, parts.data());
  double_double<double> all;
  for (const double_double<double>& part : parts.to_vector()) all = all + part;
  return all.hi;
}

template <real T>
void add_constant_cuda(const device& dev, T* x, double c, std::int64_t n) {
  detail::parallel_for(dev, "add_constant", n, [=] __device__(std::int64_t i) {
    x[i] = static_cast<T>(static_cast<double>(x[i]) + c);
  });
}

template <real T>
void fill_cuda(const device& dev, T* x, T c, std::int64_t n) {
  detail::parallel_for(dev, "fill", n, [=] __device__(std::int64_t i) { x[i] = c; });
}

template <real T>
void scale_cuda(const device& dev, T* x, T c, std::int64_t n) {
  detail::parallel_for(dev, "scale", n, [=] __device__(std::int64_t i) { x[i] *= c; });
}

template <real T>
void axpby_cuda(const device& dev, T a, const T* x, T b, T* y, std::int64_t n) {
  detail::parallel_for(dev, "axpby", n, [=] __device__(std::int64_t i) { y[i] = a * x[i] + b * y[i]; });
}

template <real T>
void fill_hashed_cuda(const device& dev, std::uint64_t stream, view<T> x) {
  T* const to = x.data();
  detail::parallel_for(dev, "fill_hashed", x.size(),
                       [=] __device__(std::int64_t i) { to[i] = hashed_element<T>(stream, i); });
}

template <real To, real From>
void convert_cuda(const device& dev, To* y, const From* x, std::int64_t n) {
  detail::parallel_for(dev, "convert", n, [=] __device__(std::int64_t i) { y[i] = static_cast<To>(x[i]); });
}

template void fill_hashed_cuda(const device&, std::uint64_t, view<float>);
template void fill_hashed_cuda(const device&, std::uint64_t, view<double>);
template void convert_cuda(const device&, float*, const double*, std::int64_t);
template void convert_cuda(const device&, double*, const float*, std::int64_t);
template void accumulate_pair_cuda(const device&, float*, float*, const float*, std::int64_t);
template void accumulate_pair_cuda(const device&, double*, double*, const double*, std::int64_t);
template double sum_elements_cuda(const device&, const float*, std::int64_t);
template double sum_elements_cuda(const device&, const double*, std::int64_t);
template void add_constant_cuda(const device&, float*, double, std::int64_t);
template void add_constant_cuda(const device&, double*, double, std::int64_t);
template void scale_cuda(const device&, float*, float, std::int64_t);
template void scale_cuda(const device&, double*, double, std::int64_t);
template void axpby_cuda(const device&, float, const float*, float, float*, std::int64_t);
template void axpby_cuda(const device&, double, const double*, double, double*, std::int64_t);
template void fill_cuda(const device&, float*, float, std::int64_t);
template void fill_cuda(const device&, double*, double, std::int64_t);

namespace {

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
