// vouch/solve/krylov/cg_fused.cuh -- what one row, and one chunk of rows, of the fused conjugate gradients does, on one
// GPU and on several; private.
#pragma once
#include <vouch/solve/krylov/cg_graph.cuh>
#include <vouch/solve/krylov/chunk.cuh>
#include <vouch/sparse/spmv_kernels.cuh>

namespace vouch::cg_graph {

static_assert(block == spmv_threads);

using passes::chunk;

// Epilogue of q = A p without its end: stores q and takes the five products of its row.
template <class T, bool Diagonal>
struct fused_rows {
  static constexpr int count = Diagonal ? 5 : 4;
  using state = sums<count>;
  const T* p;
  const T* r;
  const T* minv;
  T* q;

  struct operands {
    T p, r, minv;
  };
  __device__ operands fetch(std::int64_t i) const { return {p[i], r[i], Diagonal ? minv[i] : T{}}; }

  __device__ void row(state& s, std::int64_t i, T sum, const operands& o) const {
    q[i] = sum;
    const double qi = sum, pi = o.p, ri = o.r;
    double mq = qi;
    if constexpr (Diagonal) {
      const double m = o.minv;
      mq = m * qi;
      s.value[4] += ri * (m * ri);
    }
    s.value[0] += pi * qi;
    s.value[1] += qi * mq;
    s.value[2] += ri * mq;
    s.value[3] += ri * ri;
  }

  static __device__ cg_dots dots(const state& t) {
    return {t.value[0], t.value[1], t.value[2], Diagonal ? t.value[count - 1] : t.value[3], t.value[3]};
  }
};

// The three updates of one element: the solution where it is its turn, r -= alpha q, p = M r + beta p.
template <class T, bool Diagonal>
struct fused_element {
  T alpha, beta, along_p, along_mr;

  __device__ fused_element(const cg_scalars& s, const cg_solution_update& solution)
      : alpha(static_cast<T>(s.alpha)),
        beta(static_cast<T>(s.beta)),
        along_p(static_cast<T>(solution.along_p)),
        along_mr(static_cast<T>(solution.along_mr)) {}
  __device__ void operator()(T m, T qi, T& pi, T& ri, T& di) const {
    di += along_p * pi + along_mr * (Diagonal ? m * ri : ri);
    ri -= alpha * qi;
    pi = (Diagonal ? m * ri : ri) + beta * pi;
  }
};

// The same for chunk number k of the vectors; gives the new p.
template <class T, bool Diagonal>
__device__ chunk<T> update_chunk(const fused_element<T, Diagonal>& one, bool solution_now, std::int64_t k,
                                 const T* __restrict__ q, const T* __restrict__ minv, T* __restrict__ p,
                                 T* __restrict__ r, T* __restrict__ d) {
  using piece = chunk<T>;
  const piece qk = reinterpret_cast<const piece*>(q)[k];
  piece mk{};
  if constexpr (Diagonal) mk = reinterpret_cast<const piece*>(minv)[k];
  piece pk = reinterpret_cast<piece*>(p)[k], rk = reinterpret_cast<piece*>(r)[k], dk{};
  if (solution_now) dk = reinterpret_cast<piece*>(d)[k];
#pragma unroll
  for (int v = 0; v < piece::width; ++v) one(mk.v[v], qk.v[v], pk.v[v], rk.v[v], dk.v[v]);
  reinterpret_cast<piece*>(p)[k] = pk;
  reinterpret_cast<piece*>(r)[k] = rk;
  if (solution_now) reinterpret_cast<piece*>(d)[k] = dk;
  return pk;
}

// After the loop: the step that d has not seen.
template <class T, bool Diagonal>
__global__ void __launch_bounds__(block)
    fused_settle(std::int64_t n, const cg_solution_update* solution, const T* __restrict__ p,
                 const T* __restrict__ r, const T* __restrict__ minv, T* __restrict__ d) {
  const cg_solution_update owed = cg_flush_update(*solution);
  if (!owed.now) return;
  const T along_p = static_cast<T>(owed.along_p), along_mr = static_cast<T>(owed.along_mr);
  for (std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * block)
    d[i] += along_p * p[i] + along_mr * (Diagonal ? minv[i] * r[i] : r[i]);
}

}  // namespace vouch::cg_graph
