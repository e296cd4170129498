// vouch/solve/stationary/dense_sweeps.hpp -- what sweeps over a dense matrix on the CPU share; private.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/types.hpp>
#include <vouch/dense/rounded_square.hpp>
#include <vouch/dense/square.hpp>
#include <vouch/solve/stationary/stationary_iteration.hpp>

namespace vouch::detail {

// Of both kinds of Matrix: square_matrix<T> and, for T float, rounded_square.
template <real T>
T diagonal_entry(const square_matrix<T>& A, std::int64_t i) {
  return *A.at(i, i);
}
inline float diagonal_entry(const rounded_square& A, std::int64_t i) { return A.diagonal[i]; }

/// omega over each diagonal entry.
template <real T, class Matrix>
std::vector<T> relaxation_factors(const Matrix& A, double omega) {
  std::vector<T> factors(static_cast<std::size_t>(A.n));
  for (std::int64_t i = 0; i < A.n; ++i)
    factors[static_cast<std::size_t>(i)] = static_cast<T>(omega / static_cast<double>(diagonal_entry(A, i)));
  return factors;
}

/// For the report.
template <class Matrix>
std::string threads_and_storage(int threads, const Matrix& A) {
  return std::to_string(threads) + (threads == 1 ? " thread, dense by " : " threads, dense by ") +
         (A.by_rows ? "rows" : "columns");
}

/// s := r - A d; its sum of squares.
template <real T, class Matrix>
double dense_residual(int threads, const Matrix& A, const T* d, const T* r, T* s) {
  const std::int64_t rows = rows_of_a_thread(A.n, threads);
#pragma omp parallel for firstprivate(ieee) num_threads(threads) schedule(static) if (threads > 1)
  for (std::int64_t first = 0; first < A.n; first += rows)
    residual_rows(A, d, r, s, first, std::min(A.n, first + rows));
  return sum_of_squares(threads, A.n, s);
}

/// Gauss-Seidel and SOR in the order of the unknowns.
template <real T>
std::unique_ptr<stationary_iteration<T>> make_dense_successive(const device& dev, const square_matrix<T>& A,
                                                               const sweep_rule& rule);

}  // namespace vouch::detail
