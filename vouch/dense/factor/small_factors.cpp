#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/small_systems.hpp>

namespace vouch {
namespace {

using namespace detail;

template <real T>
matrix<interval<T>> copy_of(const device& dev, matrix_view<const interval<T>> A) {
  matrix<interval<T>> copy(dev, A.rows, A.cols);
  for (std::int64_t j = 0; j < A.cols; ++j)
    for (std::int64_t i = 0; i < A.rows; ++i) copy(i, j) = A(i, j);
  return copy;
}

// The row from k on whose entry in column k is farthest from 0; -1 where all hold 0 or are empty.
template <real T>
std::int64_t pivot_row(const matrix<interval<T>>& A, std::int64_t k) {
  std::int64_t best = -1;
  T most = 0;
  for (std::int64_t i = k; i < A.rows(); ++i)
    if (const T size = mig(A(i, k)); size > most) {
      most = size;
      best = i;
    }
  return best;
}

template <real T>
void swap_rows(matrix<interval<T>>& A, std::int64_t a, std::int64_t b) {
  for (std::int64_t j = 0; j < A.cols(); ++j) std::swap(A(a, j), A(b, j));
}

template <real T>
void eliminate(matrix<interval<T>>& A, std::int64_t k) {
  for (std::int64_t i = k + 1; i < A.rows(); ++i) A(i, k) /= A(k, k);
  for (std::int64_t j = k + 1; j < A.cols(); ++j)
    for (std::int64_t i = k + 1; i < A.rows(); ++i) A(i, j) = fma(-A(i, k), A(k, j), A(i, j));
}

// The diagonal entry as a sum of squares shows it: no square is below 0.
template <real T>
interval<T> reduced_pivot(const matrix<interval<T>>& L, interval<T> a, std::int64_t k) {
  for (std::int64_t j = 0; j < k; ++j) a -= sqr(L(k, j));
  return a;
}

}  // namespace

template <real T>
interval_lu<T> lu(const device& dev, matrix_view<const interval<T>> A) {
  const ieee_environment here;
  require_cpu(dev, "lu");
  require_square("lu", "A", A);
  interval_lu<T> result;
  result.factors = copy_of(dev, A);
  for (std::int64_t i = 0; i < A.rows; ++i) result.rows.push_back(i);
  for (std::int64_t k = 0; k < A.rows; ++k) {
    const std::int64_t row = pivot_row(result.factors, k);
    if (row < 0) {
      result.failed = k;
      return result;
    }
    swap_rows(result.factors, k, row);
    std::swap(result.rows[static_cast<std::size_t>(k)], result.rows[static_cast<std::size_t>(row)]);
    eliminate(result.factors, k);
  }
  result.complete = true;
  return result;
}

template <real T>
interval_cholesky<T> cholesky(const device& dev, matrix_view<const interval<T>> A) {
  const ieee_environment here;
  require_cpu(dev, "cholesky");
  require_square("cholesky", "A", A);
  interval_cholesky<T> result;
  result.factor = matrix<interval<T>>::zeros(dev, A.rows, A.rows);
  auto& L = result.factor;
  for (std::int64_t k = 0; k < A.rows; ++k) {
    const interval<T> pivot = reduced_pivot(L, A(k, k), k);
    if (!(pivot.lo() > 0)) {
      result.failed = k;
      return result;
    }
    L(k, k) = sqrt(pivot);
    for (std::int64_t i = k + 1; i < A.rows; ++i) {
      interval<T> sum = A(i, k);
      for (std::int64_t j = 0; j < k; ++j) sum = fma(-L(i, j), L(k, j), sum);
      L(i, k) = sum / L(k, k);
    }
  }
  result.complete = true;
  return result;
}

template <real T>
matrix<interval<T>> substitute(const device& dev, const interval_lu<T>& lu, matrix_view<const interval<T>> B) {
  const ieee_environment here;
  using set = interval<T>;
  if (!lu.complete) throw value_error("substitute: the factors are not complete");
  const std::int64_t n = lu.factors.rows();
  require_shape("substitute", "B", B, n, B.cols);
  matrix<set> X(dev, n, B.cols);
  for (std::int64_t j = 0; j < B.cols; ++j)
    for (std::int64_t i = 0; i < n; ++i) X(i, j) = B(lu.rows[static_cast<std::size_t>(i)], j);
  trsm<set, set>(dev, side::left, triangle::lower, transpose::no, diagonal::unit, T{1}, lu.factors, X);
  trsm<set, set>(dev, side::left, triangle::upper, transpose::no, diagonal::general, T{1}, lu.factors, X);
  return X;
}

template <real T>
matrix<interval<T>> substitute(const device& dev, const interval_cholesky<T>& cholesky,
                               matrix_view<const interval<T>> B) {
  const ieee_environment here;
  using set = interval<T>;
  if (!cholesky.complete) throw value_error("substitute: the factor is not complete");
  require_shape("substitute", "B", B, cholesky.factor.rows(), B.cols);
  matrix<set> X = copy_of(dev, B);
  trsm<set, set>(dev, side::left, triangle::lower, transpose::no, diagonal::general, T{1}, cholesky.factor, X);
  trsm<set, set>(dev, side::left, triangle::lower, transpose::yes, diagonal::general, T{1}, cholesky.factor, X);
  return X;
}

#define VOUCH_SMALL_FACTORS(T)                                                                        \
  template VOUCH_PUBLIC interval_lu<T> lu(const device&, matrix_view<const interval<T>>);             \
  template VOUCH_PUBLIC interval_cholesky<T> cholesky(const device&, matrix_view<const interval<T>>); \
  template VOUCH_PUBLIC matrix<interval<T>> substitute(const device&, const interval_lu<T>&,          \
                                                       matrix_view<const interval<T>>);               \
  template VOUCH_PUBLIC matrix<interval<T>> substitute(const device&, const interval_cholesky<T>&,    \
                                                       matrix_view<const interval<T>>);

VOUCH_SMALL_FACTORS(float)
VOUCH_SMALL_FACTORS(double)

}  // namespace vouch
