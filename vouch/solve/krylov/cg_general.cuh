// vouch/solve/krylov/cg_general.cuh -- the updates of conjugate gradients with any preconditioner, on one GPU and on
// several; private.
#pragma once
#include <cstdint>

#include <vouch/solve/krylov/cg_recurrence.hpp>
#include <vouch/solve/krylov/grid_sum.cuh>

namespace vouch::cg_graph {

// Each thread takes every (grid)-th element. Bound by memory.

template <class T>
__global__ void __launch_bounds__(passes::block)
    general_update(std::int64_t n, const cg_scalars* s, const T* __restrict__ p, const T* __restrict__ q,
                   T* __restrict__ r, T* __restrict__ d) {
  if (s->event != solver_event::running) return;
  const T alpha = static_cast<T>(s->alpha);
  for (std::int64_t i = std::int64_t{blockIdx.x} * passes::block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * passes::block) {
    d[i] += alpha * p[i];
    r[i] -= alpha * q[i];
  }
}

template <class T>
__global__ void __launch_bounds__(passes::block)
    general_turn(std::int64_t n, const cg_scalars* s, const T* __restrict__ z, T* __restrict__ p, bool first) {
  const T beta = first ? T{} : static_cast<T>(s->beta);
  for (std::int64_t i = std::int64_t{blockIdx.x} * passes::block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * passes::block)
    p[i] = first ? z[i] : z[i] + beta * p[i];
}

/// This thread's share of r'r and r'z.
template <class T>
__device__ passes::sums<2> direction_products(std::int64_t n, const T* __restrict__ r,
                                              const T* __restrict__ z) {
  passes::sums<2> products;
  for (std::int64_t i = std::int64_t{blockIdx.x} * passes::block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * passes::block) {
    const double ri = r[i];
    products.value[0] += ri * ri;
    products.value[1] += ri * static_cast<double>(z[i]);
  }
  return products;
}

}  // namespace vouch::cg_graph
