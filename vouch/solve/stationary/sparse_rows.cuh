// vouch/solve/stationary/sparse_rows.cuh -- sliced rows of a sparse matrix as sweeps take them; private.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>

#include <vouch/core/array.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/precond/sliced.cuh>
#include <vouch/solve/stationary/device_sweeps.cuh>
#include <vouch/solve/stationary/stationary_iteration.hpp>

namespace vouch {

/// Rows of device_sweeps.cuh: the first entries of a lane's part of a slice stand in registers before the
/// elements of d that they meet are complete.
template <class T>
struct sliced_rows {
  slices<T> side;
  std::int64_t count = 0;

  static constexpr int ahead = 8;
  struct entries {
    std::int64_t next = 0, end = 0;  // of the lane, beyond those here
    std::int32_t own = 0;            // the lane's row: what places without an entry multiply by zero
    bool mine = false;               // the lane ends its row
    T right{}, factor{};
    std::int32_t col[ahead] = {};
    T val[ahead] = {};
  };

  __device__ std::int64_t sets() const { return count; }
  __device__ sweep_set set(std::int64_t k) const { return side.sets[k]; }
  __device__ std::int64_t units(const sweep_set& set) const {
    const int shift = __clz(set.lanes) - 26;  // 32 / lanes rows a slice
    return (set.end_row - set.first_row + (1 << shift) - 1) >> shift;
  }
  __device__ entries fetch(const sweep_set& set, std::int64_t slice, const T* r, const T* factor) const {
    entries e;
    if (slice >= units(set)) return e;
    const int lane = static_cast<int>(threadIdx.x % 32), rows = 32 / set.lanes;
    const std::int32_t row = set.first_row + static_cast<std::int32_t>(slice) * rows + lane / set.lanes;
    e.own = min(row, set.end_row - 1);
    e.mine = lane % set.lanes == 0 && row < set.end_row;
    e.right = r[e.own];
    e.factor = factor[e.own];
    e.end = __ldg(side.slice_ptr + set.first_slice + slice + 1);
    e.next = __ldg(side.slice_ptr + set.first_slice + slice) + lane;
#pragma unroll
    for (int p = 0; p < ahead; ++p) {
      const bool there = e.next + 32 * p < e.end;
      const std::int32_t col = there ? __ldg(side.col + e.next + 32 * p) : -1;
      e.val[p] = there ? __ldg(side.val + e.next + 32 * p) : T{};
      e.col[p] = col < 0 ? e.own : col;
    }
    e.next += 32 * ahead;
    return e;
  }
  struct operands {
    T own{}, x[ahead] = {};
  };
  template <class Vector>
  __device__ operands gather(const entries& e, const Vector& d) const {
    operands o;
#pragma unroll
    for (int p = 0; p < ahead; ++p) o.x[p] = d[e.col[p]];
    o.own = d[e.own];
    return o;
  }
  template <class Vector>
  __device__ std::int64_t residual(const sweep_set& set, std::int64_t, const entries& e, const operands& o,
                                   const Vector& d, device_sweeps::row_result<T>& found) const {
    T sum{};
    found.d = o.own;
    found.factor = e.factor;
#pragma unroll
    for (int p = 0; p < ahead; ++p) sum += e.val[p] * o.x[p];
    for (std::int64_t k = e.next; k < e.end; k += 32) {
      const std::int32_t col = __ldg(side.col + k);
      sum += __ldg(side.val + k) * d[col < 0 ? e.own : col];
    }
    for (int k = set.lanes / 2; k > 0; k /= 2)
      sum += __shfl_down_sync(~0u, sum, static_cast<unsigned>(k), set.lanes);
    found.s = e.right - sum;
    return e.mine ? e.own : -1;
  }
};

/// Rows on a GPU, renumbered by sets; for device_sweeps::engine.
template <real T>
struct sliced_storage {
  slices_on_gpu<T> side;
  array<std::int32_t> place;
  std::int64_t n, padded, bytes, blocks;
  std::string text;

  sliced_rows<T> arguments() const { return {side.arguments(), static_cast<std::int64_t>(side.sets.size())}; }
  const std::string& name() const { return text; }
};

// Sweeps over sparse matrices too large to stay on chip: kernels in graphs that loop by themselves.

/// Jacobi's sweeps. factor is omega over the diagonal. A and all else live on dev; A must outlive the result.
template <real T>
std::unique_ptr<inner_solver<T>> make_jacobi_graph(const device& dev, csr_view<const T> A, array<T> factor,
                                                   const sweep_rule& rule, bool by_residual, bool chebyshev);

/// Sweeps in place, forward or backward, over rows renumbered by sets; so is factor.
template <real T>
std::unique_ptr<inner_solver<T>> make_colours_graph(const device& dev, sliced_storage<T> rows, array<T> factor,
                                                    const sweep_rule& rule, bool by_residual);

}  // namespace vouch
