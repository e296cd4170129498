#include <vouch/core/launch.cuh>
#include <vouch/dense/blas/entries.cuh>
#include <vouch/dense/gemm/block_product.hpp>

namespace vouch::detail {
namespace {

constexpr int solved_columns = 4;
constexpr int solve_size = 64;

// Solves D X = X for a triangle D of at most 64 rows: a block takes 4 columns at a time, a thread an element.
// Bound by the latency of 64 steps.
template <class TA, class R>
__global__ void __launch_bounds__(solve_size* solved_columns)
    solve_columns_by_block(factor<TA> f, matrix_view<R> X) {
  extern __shared__ __align__(16) unsigned char memory[];
  TA* const D = reinterpret_cast<TA*>(memory);  // (i, j) at i + 64 j
  __shared__ shared_elements<R, solve_size * solved_columns> value;
  const int n = static_cast<int>(X.rows), row = static_cast<int>(threadIdx.x) % solve_size,
            column = static_cast<int>(threadIdx.x) / solve_size;
  const bool lower = f.is_lower(), unit = f.unit == diagonal::unit;
  for (int j = column; j < n; j += solved_columns)
    if (row < n && !f.is_outside(row, j)) D[row + solve_size * j] = f(row, j);
  R* const x = &value[solve_size * column];
  for (std::int64_t j0 = std::int64_t{blockIdx.x} * solved_columns; j0 < X.cols;
       j0 += std::int64_t{gridDim.x} * solved_columns) {
    const bool mine = row < n && j0 + column < X.cols;
    if (mine) x[row] = X(row, j0 + column);
    __syncthreads();
    for (int k = 0; k < n; ++k) {
      const int j = lower ? k : n - 1 - k;
      if (mine && row == j && !unit) x[j] = x[j] / D[j + solve_size * j];
      __syncthreads();
      if (mine && (lower ? row > j : row < j)) x[row] = multiply_add(-x[j], D[row + solve_size * j], x[row]);
      __syncthreads();
    }
    if (mine) X(row, j0 + column) = x[row];
  }
}

template <scalar TA, scalar R>
void solve_range(const device& dev, const factor<TA>& f, matrix_view<R> B, range rows) {
  const std::int64_t n = rows.size();
  if (n <= solve_size) {
    const std::int64_t blocks =
        std::min<std::int64_t>(ceil_div<std::int64_t>(B.cols, solved_columns), 4 * dev.processors());
    return launch(dev, "solve_columns_by_block",
                  {blocks, solve_size * solved_columns, sizeof(TA) * solve_size * solve_size},
                  solve_columns_by_block<TA, R>, diagonal_part(f, rows), B.block(rows.first, 0, n, B.cols));
  }
  const std::int64_t middle = rows.first + ceil_div<std::int64_t>(n, 2 * solve_size) * solve_size;
  const range low{rows.first, middle}, high{middle, rows.last};
  const range known = f.is_lower() ? low : high, sought = f.is_lower() ? high : low;
  solve_range(dev, f, B, known);
  const factor<R> solved{B.block(known.first, 0, known.size(), B.cols)};
  add_products_cuda<R, TA, R>(dev, R{bound_of<R>{-1}}, {{general_part(f, sought, known), solved}},
                              R{bound_of<R>{1}}, B.block(sought.first, 0, sought.size(), B.cols), region::all);
  solve_range(dev, f, B, sought);
}

}  // namespace

template <scalar TA, scalar R>
void solve_left_cuda(const device& dev, const factor<TA>& f, R alpha, matrix_view<R> B) {
  if (B.rows == 0 || B.cols == 0) return;
  if (!is_one(alpha)) combine_cuda<R>(dev, R{}, B, alpha, B, region::all);
  solve_range(dev, f, B, {0, B.rows});
}

#define VOUCH_SOLVE(A, R) template void solve_left_cuda(const device&, const factor<A>&, R, matrix_view<R>);
#define VOUCH_PRECISION(T)    \
  VOUCH_SOLVE(T, T)           \
  VOUCH_SOLVE(T, interval<T>) \
  VOUCH_SOLVE(interval<T>, interval<T>)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch::detail
