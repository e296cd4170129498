#include <algorithm>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas/pieces.hpp>
#include <vouch/dense/blas/vectors.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/gemm/block_product.hpp>
#include <vouch/dense/transpose.hpp>

namespace vouch {
namespace {

using namespace detail;

constexpr std::int64_t block_size = 64;

// Rows [first, last) of the triangular system, and the rows that are solved before it.
struct step {
  range rows;
  range solved;
};

// Blocks in the order of substitution: downwards, or upwards.
std::vector<step> steps_of(std::int64_t n, bool downwards) {
  std::vector<step> steps;
  for (std::int64_t first = 0; first < n; first += block_size) {
    const std::int64_t last = std::min(n, first + block_size);
    if (downwards)
      steps.push_back({{first, last}, {0, first}});
    else
      steps.push_back({{n - last, n - first}, {n - first, n}});
  }
  return steps;
}

// The diagonal block of op(A), column after column.
template <scalar T>
matrix<T> diagonal_block(const factor<T>& f, range rows) {
  matrix<T> D(device::cpu(1), rows.size(), rows.size());
  for (std::int64_t j = 0; j < rows.size(); ++j)
    for (std::int64_t i = 0; i < rows.size(); ++i) D(i, j) = f(rows.first + i, rows.first + j);
  return D;
}

template <scalar R, scalar T>
void divide(T divisor, std::int64_t n, R* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = x[i] / divisor;
}

// D x = x
template <scalar T, scalar R>
void solve_column(const matrix<T>& D, bool lower, bool unit, R* x) {
  const std::int64_t n = D.rows();
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t j = lower ? k : n - 1 - k;
    if (!unit) divide(D(j, j), 1, x + j);
    const std::int64_t first = lower ? j + 1 : 0, count = lower ? n - 1 - j : j;
    axpy_piece(count, -x[j], &D(0, j) + first, x + first);
  }
}

// X D = X for the rows given of the block of columns X.
template <scalar T, scalar R>
void solve_rows(const matrix<T>& D, bool lower, bool unit, matrix_view<R> X, range rows) {
  const std::int64_t n = D.rows();
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t j = lower ? n - 1 - k : k;
    R* column = &X(rows.first, j);
    for (std::int64_t i = lower ? j + 1 : 0; i < (lower ? n : j); ++i)
      axpy_piece(rows.size(), R{-D(i, j)}, static_cast<const R*>(&X(rows.first, i)), column);
    if (!unit) divide(D(j, j), rows.size(), column);
  }
}

template <scalar T, scalar R>
void solve_left(const device& dev, const factor<T>& f, R alpha, matrix_view<R> B) {
  const bool unit = f.unit == diagonal::unit;
  for (const step& at : steps_of(B.rows, f.is_lower())) {
    const auto X = B.block(at.rows.first, 0, at.rows.size(), B.cols);
    const factor<R> known{B.block(at.solved.first, 0, at.solved.size(), B.cols)};
    add_products<R, T, R>(dev, R{bound_of<R>{-1}}, {{general_part(f, at.rows, at.solved), known}}, alpha, X,
                          region::all);
    const matrix<T> D = diagonal_block(f, at.rows);
    const int threads = loop_threads(dev, B.cols * D.rows() * D.rows());
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static)
    for (std::int64_t j = 0; j < B.cols; ++j) solve_column(D, f.is_lower(), unit, &X(0, j));
  }
}

template <scalar T, scalar R>
void solve_right(const device& dev, const factor<T>& f, R alpha, matrix_view<R> B) {
  const bool unit = f.unit == diagonal::unit;
  constexpr std::int64_t rows_at_once = 256;
  const std::int64_t parts = ceil_div(B.rows, rows_at_once);
  for (const step& at : steps_of(B.cols, !f.is_lower())) {
    const auto X = B.block(0, at.rows.first, B.rows, at.rows.size());
    const factor<R> known{B.block(0, at.solved.first, B.rows, at.solved.size())};
    add_products<R, R, T>(dev, R{bound_of<R>{-1}}, {{known, general_part(f, at.solved, at.rows)}}, alpha, X,
                          region::all);
    const matrix<T> D = diagonal_block(f, at.rows);
    const int threads = loop_threads(dev, B.rows * D.rows() * D.rows());
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static)
    for (std::int64_t p = 0; p < parts; ++p)
      solve_rows(D, f.is_lower(), unit, X, {p * rows_at_once, std::min(B.rows, (p + 1) * rows_at_once)});
  }
}

// On the right it is op(A)^T X^T = alpha B^T.
template <scalar T, scalar R>
void solve_on_gpu(const device& dev, side where, factor<T> f, R alpha, matrix_view<R> B) {
  if (where == side::left) return solve_left_cuda<T, R>(dev, f, alpha, B);
  matrix<R> transposed(dev, B.cols, B.rows);
  transpose_into<R>(dev, B, transposed);
  f.transposed = !f.transposed;
  solve_left_cuda<T, R>(dev, f, alpha, transposed.all());
  transpose_into<R>(dev, transposed, B);
}

}  // namespace

template <scalar TA, scalar TB>
requires accumulates<TB, TA>
void trsm(const device& dev, side where, triangle stored, transpose trans, diagonal unit,
          std::type_identity_t<TB> alpha, matrix_view<const TA> A, matrix_view<TB> B) {
  const ieee_environment here;
  require_reachable(dev, "trsm", A, B);
  require_matrix("trsm", "B", B);
  const std::int64_t n = where == side::left ? B.rows : B.cols;
  require_shape("trsm", "A", A, n, n);
  require_apart("trsm", "B", B, "A", A);
  if (unit == diagonal::general) require_divisors(dev, "trsm", triangle_columns(stored, A));
  const factor<TA> triangular{A, trans != transpose::no, shape::triangular, stored, unit};
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return solve_on_gpu<TA, TB>(dev, where, triangular, alpha, B);
  if (where == side::left)
    solve_left<TA, TB>(dev, triangular, alpha, B);
  else
    solve_right<TA, TB>(dev, triangular, alpha, B);
}

#define VOUCH_TWO(TA, TB)                                                             \
  template VOUCH_PUBLIC void trsm(const device&, side, triangle, transpose, diagonal, \
                                  std::type_identity_t<TB>, matrix_view<const TA>, matrix_view<TB>);
#define VOUCH_PRECISION(T)  \
  VOUCH_TWO(T, T)           \
  VOUCH_TWO(T, interval<T>) \
  VOUCH_TWO(interval<T>, interval<T>)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch
