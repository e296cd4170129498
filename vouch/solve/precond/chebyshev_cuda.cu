#include <vouch/core/launch.cuh>
#include <vouch/solve/precond/chebyshev_kernels.hpp>

namespace vouch {
namespace {

constexpr unsigned block = 256;

// One thread an element in all of these but the row sums. Bound by memory: 6 values an element.
template <class T>
__global__ void __launch_bounds__(block) three_terms_kernel(std::int64_t n, three_terms<T> step) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i < n) step(i);
}

template <class T>
__global__ void __launch_bounds__(block)
    first_iterate_kernel(std::int64_t n, T factor, const T* __restrict__ inverse, const T* __restrict__ r,
                         T* z) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i < n) z[i] = factor * (inverse[i] * r[i]);
}

template <class T>
__global__ void __launch_bounds__(block)
    products_kernel(std::int64_t n, const T* x, const T* y, const T* inverse, T* out) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i < n) out[i] = inverse != nullptr ? x[i] * y[i] / inverse[i] : x[i] * y[i];
}

// One thread a row. A sum is not negative, so its bits order as an integer does, a NaN above all: the maximum
// by an integer atomic is the same whatever the order. A warp goes to memory once.
template <class T>
__global__ void __launch_bounds__(block)
    largest_row_sum_kernel(csr_view<const T> A, const T* inverse, unsigned long long* most) {
  const auto i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  const double sum = i < A.rows ? relative_row_sum(A, inverse, i) : 0.0;
  auto bits = static_cast<unsigned long long>(__double_as_longlong(fabs(sum)));
  for (unsigned d = 16; d > 0; d /= 2) {
    const unsigned long long other = __shfl_xor_sync(~0u, bits, static_cast<int>(d));
    bits = other > bits ? other : bits;
  }
  if (threadIdx.x % 32 == 0) atomicMax(most, bits);
}

launch_shape shape(std::int64_t n) { return {ceil_div<std::int64_t>(n, block), block}; }

}  // namespace

template <real T>
void three_terms_cuda(const device& dev, std::int64_t n, const three_terms<T>& step) {
  launch(dev, "three_terms", shape(n), three_terms_kernel<T>, n, step);
}

template <real T>
void first_iterate_cuda(const device& dev, std::int64_t n, T factor, const T* inverse, const T* r, T* z) {
  launch(dev, "first_iterate", shape(n), first_iterate_kernel<T>, n, factor, inverse, r, z);
}

template <real T>
void products_cuda(const device& dev, std::int64_t n, const T* x, const T* y, const T* inverse, T* out) {
  launch(dev, "products", shape(n), products_kernel<T>, n, x, y, inverse, out);
}

template <real T>
void largest_row_sum_cuda(const device& dev, csr_view<const T> A, const T* inverse, double* most) {
  launch(dev, "largest_row_sum", shape(A.rows), largest_row_sum_kernel<T>, A, inverse,
         reinterpret_cast<unsigned long long*>(most));
}

#define VOUCH_INSTANTIATE(T)                                                                  \
  template void three_terms_cuda(const device&, std::int64_t, const three_terms<T>&);         \
  template void first_iterate_cuda(const device&, std::int64_t, T, const T*, const T*, T*);   \
  template void products_cuda(const device&, std::int64_t, const T*, const T*, const T*, T*); \
  template void largest_row_sum_cuda(const device&, csr_view<const T>, const T*, double*);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
