// The steps of a cycle on a GPU: a product with a matrix and what is added to it, one kernel. Bound by memory.
#include <vouch/core/parallel_for.cuh>
#include <vouch/solve/precond/amg/levels.hpp>
#include <vouch/sparse/spmv_kernels.cuh>

namespace vouch::multigrid {
namespace {

struct combining {
  combination terms;

  struct state {};
  struct operands {
    float u, v;
  };
  __device__ operands fetch(std::int64_t i) const {
    return {terms.u != nullptr ? terms.u[i] : 0.0F, terms.v != nullptr ? terms.v[i] : 0.0F};
  }
  __device__ void row(state&, std::int64_t i, float sum, operands at) const {
    terms.out[i] = terms.a * at.u + (terms.b * at.v + terms.c * sum);
  }
  __device__ void finish(state&) const {}
};

// A warp takes a row.
__global__ void __launch_bounds__(256)
    multiply_dense(std::int64_t n, const double* __restrict__ W, const float* __restrict__ in, float* out) {
  const std::int64_t i = std::int64_t{blockIdx.x} * 8 + threadIdx.x / 32;
  if (i >= n) return;
  double sum = 0;
  for (std::int64_t j = threadIdx.x % 32; j < n; j += 32) sum += W[i * n + j] * static_cast<double>(in[j]);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) out[i] = static_cast<float>(sum);
}

}  // namespace

void combine_cuda(const device& dev, const spmv_plan<float>& W, const combination& terms) {
  launch_spmv(dev, W, terms.w, combining{terms});
}

template <class From, class To, real T>
void scale_into_cuda(const device& dev, std::int64_t n, T factor, const T* scale, const From* in, To* out) {
  detail::parallel_for(dev, "scale", n, [=] __device__(std::int64_t i) {
    out[i] = static_cast<To>(factor * (scale[i] * static_cast<T>(in[i])));
  });
}

void multiply_dense_cuda(const device& dev, std::int64_t n, const double* W, const float* in, float* out) {
  launch(dev, "multiply_dense", {ceil_div<std::int64_t>(n, 8), 256}, multiply_dense, n, W, in, out);
}

template void scale_into_cuda(const device&, std::int64_t, float, const float*, const float*, float*);
template void scale_into_cuda(const device&, std::int64_t, double, const double*, const double*, float*);
template void scale_into_cuda(const device&, std::int64_t, double, const double*, const float*, double*);

}  // namespace vouch::multigrid
