// A sparse Cholesky solve by SuiteSparse's CHOLMOD with its defaults, as a module for the tool.
#include "cholmod.hpp"

#include <cholmod.h>

#include <algorithm>
#include <chrono>

extern "C" __attribute__((visibility("default"))) int vouch_cholmod_solve(int n, const std::int32_t* col_ptr,
                                                                          const std::int32_t* row,
                                                                          const double* val, const double* b,
                                                                          double* x, double* seconds) {
  cholmod_common common;
  cholmod_start(&common);
  const auto entries = static_cast<std::size_t>(col_ptr[n]), rows = static_cast<std::size_t>(n);
  cholmod_sparse* const A = cholmod_allocate_sparse(rows, rows, entries, 1, 1, -1, CHOLMOD_REAL, &common);
  cholmod_dense* const rhs = cholmod_allocate_dense(rows, 1, rows, CHOLMOD_REAL, &common);
  std::copy(col_ptr, col_ptr + n + 1, static_cast<std::int32_t*>(A->p));
  std::copy(row, row + entries, static_cast<std::int32_t*>(A->i));
  std::copy(val, val + entries, static_cast<double*>(A->x));
  std::copy(b, b + n, static_cast<double*>(rhs->x));
  const auto start = std::chrono::steady_clock::now();
  cholmod_factor* L = cholmod_analyze(A, &common);
  cholmod_factorize(A, L, &common);
  cholmod_dense* solution = cholmod_solve(CHOLMOD_A, L, rhs, &common);
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool solved = solution != nullptr && common.status == CHOLMOD_OK;
  if (solved) std::copy_n(static_cast<const double*>(solution->x), n, x);
  cholmod_dense* right = rhs;
  cholmod_sparse* matrix = A;
  cholmod_free_dense(&solution, &common);
  cholmod_free_dense(&right, &common);
  cholmod_free_sparse(&matrix, &common);
  cholmod_free_factor(&L, &common);
  cholmod_finish(&common);
  return solved ? 0 : 1;
}
