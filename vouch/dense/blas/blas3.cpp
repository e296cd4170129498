#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas/pieces.hpp>
#include <vouch/dense/blas/vectors.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/gemm/block_product.hpp>
#include <vouch/dense/gemm/gemm.hpp>

namespace vouch {
namespace {

using namespace detail;

template <scalar T>
factor<T> general(matrix_view<const T> A, bool transposed) {
  return {A, transposed};
}

// The GPU's fast product takes points for alpha and beta; other intervals are applied to its result.
template <scalar TA, scalar TB, scalar TC>
void gemm_fast_on_gpu(const device& dev, const factor<TA>& left, const factor<TB>& right, TC alpha, TC beta,
                      matrix_view<TC> C) {
  const auto op = [](bool transposed) { return transposed ? transpose::yes : transpose::no; };
  const transpose ta = op(left.transposed), tb = op(right.transposed);
  if (lower(alpha) == upper(alpha) && lower(beta) == upper(beta))
    return gemm_fast_cuda(dev, ta, tb, lower(alpha), left.A, right.A, lower(beta), C);
  matrix<TC> sums(dev, C.rows, C.cols);
  gemm_fast_cuda(dev, ta, tb, bound_of<TC>{1}, left.A, right.A, bound_of<TC>{0}, sums.all());
  combine_cuda<TC>(dev, alpha, sums.read(), beta, C, region::all);
}

template <scalar TA, scalar TB, scalar TC>
void gemm_in_mode(const device& dev, const factor<TA>& left, const factor<TB>& right, TC alpha, TC beta,
                  matrix_view<TC> C, gemm_mode mode) {
  if (mode == gemm_mode::tight || is_zero(alpha) || left.cols() == 0)
    return add_products<TC, TA, TB>(dev, alpha, {{left, right}}, beta, C, region::all);
  if (mode == gemm_mode::exact) {
    if constexpr (built_with_cuda)
      if (dev.is_cuda()) return gemm_exact_cuda<TA, TB>(dev, alpha, left, right, beta, C);
    return gemm_exact_cpu(dev, alpha, left, right, beta, C);
  }
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return gemm_fast_on_gpu(dev, left, right, alpha, beta, C);
  gemm_fast_cpu(dev, alpha, left, right, beta, C);
}

template <scalar TA, scalar TB, scalar TC>
void require_product(const factor<TA>& left, const factor<TB>& right, matrix_view<TC> C) {
  require_matrix("gemm", "A", left.A);
  require_matrix("gemm", "B", right.A);
  if (left.cols() != right.rows())
    throw shape_error("gemm: op(A) is " + shape_text(left.rows(), left.cols()) + " and op(B) is " +
                      shape_text(right.rows(), right.cols()));
  require_shape("gemm", "C", C, left.rows(), right.cols());
  require_apart("gemm", "C", C, "A", left.A);
  require_apart("gemm", "C", C, "B", right.A);
}

// Element i of op(A)'s rows side by side, squared and summed.
template <scalar TC, scalar TA>
TC sum_of_row_squares(matrix_view<const TA> A, bool transposed, std::int64_t i) {
  const view<const TA> row = transposed ? A.column(i) : A.row(i);
  std::vector<TC> elements(static_cast<std::size_t>(row.size()));
  for (std::int64_t k = 0; k < row.size(); ++k) elements[static_cast<std::size_t>(k)] = TC{row[k]};
  return squares_piece(row.size(), static_cast<const TC*>(elements.data()));
}

template <scalar TA, scalar TC>
void square_diagonal(const device& dev, bool transposed, TC alpha, matrix_view<const TA> A, TC beta,
                     view<const TC> old, matrix_view<TC> C) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return square_diagonal_cuda(dev, transposed, alpha, A, beta, old, C);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static)
  for (std::int64_t i = 0; i < C.rows; ++i) {
    TC& entry = C(i, i) = old[i];
    scale_column(beta, 1, &entry);
    if (!is_zero(alpha)) entry = multiply_add(alpha, sum_of_row_squares<TC>(A, transposed, i), entry);
  }
}

template <scalar T>
matrix<T> copy_of(const device& dev, matrix_view<const T> A) {
  matrix<T> all(dev, A.rows, A.cols);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      copy_matrix_cuda<T>(dev, A, all);
      return all;
    }
  for (std::int64_t j = 0; j < A.cols && A.rows > 0; ++j) std::copy_n(&A(0, j), A.rows, &all(0, j));
  return all;
}

}  // namespace

template <scalar TA, scalar TB, scalar TC>
requires accumulates<TC, TA, TB>
void gemm(const device& dev, transpose trans_a, transpose trans_b, std::type_identity_t<TC> alpha,
          matrix_view<const TA> A, matrix_view<const TB> B, std::type_identity_t<TC> beta, matrix_view<TC> C) {
  const ieee_environment here;
  const factor<TA> left = general(A, trans_a != transpose::no);
  const factor<TB> right = general(B, trans_b != transpose::no);
  require_product(left, right, C);
  require_reachable(dev, "gemm", A, B, C);
  add_products<TC, TA, TB>(dev, alpha, {{left, right}}, beta, C, region::all);
}

template <scalar TA, scalar TB, scalar TC>
requires accumulates<TC, TA, TB> && is_interval<TC>
void gemm(const device& dev, transpose trans_a, transpose trans_b, std::type_identity_t<TC> alpha,
          matrix_view<const TA> A, matrix_view<const TB> B, std::type_identity_t<TC> beta, matrix_view<TC> C,
          gemm_mode mode) {
  const ieee_environment here;
  const factor<TA> left = general(A, trans_a != transpose::no);
  const factor<TB> right = general(B, trans_b != transpose::no);
  require_product(left, right, C);
  require_reachable(dev, "gemm", A, B, C);
  gemm_in_mode<TA, TB, TC>(dev, left, right, alpha, beta, C, mode);
}

template <scalar TA, scalar TB, scalar TC>
requires accumulates<TC, TA, TB>
void symm(const device& dev, side where, triangle stored, std::type_identity_t<TC> alpha,
          matrix_view<const TA> A, matrix_view<const TB> B, std::type_identity_t<TC> beta, matrix_view<TC> C) {
  const ieee_environment here;
  require_reachable(dev, "symm", A, B, C);
  require_matrix("symm", "C", C);
  const std::int64_t n = where == side::left ? C.rows : C.cols;
  require_shape("symm", "A", A, n, n);
  require_shape("symm", "B", B, C.rows, C.cols);
  require_apart("symm", "C", C, "A", A);
  require_apart("symm", "C", C, "B", B);
  const factor<TA> symmetric{A, false, shape::symmetric, stored};
  if (where == side::left)
    add_products<TC, TA, TB>(dev, alpha, {{symmetric, general(B, false)}}, beta, C, region::all);
  else
    add_products<TC, TB, TA>(dev, alpha, {{general(B, false), symmetric}}, beta, C, region::all);
}

template <scalar TA, scalar TC>
requires accumulates<TC, TA>
void syrk(const device& dev, triangle stored, transpose trans, std::type_identity_t<TC> alpha,
          matrix_view<const TA> A, std::type_identity_t<TC> beta, matrix_view<TC> C) {
  const ieee_environment here;
  require_reachable(dev, "syrk", A, C);
  require_matrix("syrk", "A", A);
  const bool transposed = trans != transpose::no;
  const factor<TA> left = general(A, transposed), right = general(A, !transposed);
  require_shape("syrk", "C", C, left.rows(), left.rows());
  require_apart("syrk", "C", C, "A", A);
  array<TC> old(dev, is_interval<TA> ? C.rows : 0);
  if constexpr (is_interval<TA>) copy<TC, TC>(dev, C.diagonal(), old.all());
  add_products<TC, TA, TA>(dev, alpha, {{left, right}}, beta, C,
                           stored == triangle::lower ? region::lower : region::upper);
  if constexpr (is_interval<TA>) square_diagonal<TA, TC>(dev, transposed, alpha, A, beta, old.all(), C);
}

template <scalar TA, scalar TC>
requires accumulates<TC, TA>
void syr2k(const device& dev, triangle stored, transpose trans, std::type_identity_t<TC> alpha,
           matrix_view<const TA> A, matrix_view<const TA> B, std::type_identity_t<TC> beta, matrix_view<TC> C) {
  const ieee_environment here;
  require_reachable(dev, "syr2k", A, B, C);
  require_matrix("syr2k", "A", A);
  require_shape("syr2k", "B", B, A.rows, A.cols);
  const bool transposed = trans != transpose::no;
  const std::int64_t n = transposed ? A.cols : A.rows;
  require_shape("syr2k", "C", C, n, n);
  require_apart("syr2k", "C", C, "A", A);
  require_apart("syr2k", "C", C, "B", B);
  add_products<TC, TA, TA>(
      dev, alpha,
      {{general(A, transposed), general(B, !transposed)}, {general(B, transposed), general(A, !transposed)}},
      beta, C, stored == triangle::lower ? region::lower : region::upper);
}

template <scalar TA, scalar TB>
requires accumulates<TB, TA>
void trmm(const device& dev, side where, triangle stored, transpose trans, diagonal unit,
          std::type_identity_t<TB> alpha, matrix_view<const TA> A, matrix_view<TB> B) {
  const ieee_environment here;
  require_reachable(dev, "trmm", A, B);
  require_matrix("trmm", "B", B);
  const std::int64_t n = where == side::left ? B.rows : B.cols;
  require_shape("trmm", "A", A, n, n);
  require_apart("trmm", "B", B, "A", A);
  const factor<TA> triangular{A, trans != transpose::no, shape::triangular, stored, unit};
  const matrix<TB> old = copy_of<TB>(dev, B);
  if (where == side::left)
    add_products<TB, TA, TB>(dev, alpha, {{triangular, general(old.read(), false)}}, TB{}, B, region::all);
  else
    add_products<TB, TB, TA>(dev, alpha, {{general(old.read(), false), triangular}}, TB{}, B, region::all);
}

#define VOUCH_THREE(TA, TB, TC)                                                                           \
  template VOUCH_PUBLIC void gemm(const device&, transpose, transpose, std::type_identity_t<TC>,          \
                                  matrix_view<const TA>, matrix_view<const TB>, std::type_identity_t<TC>, \
                                  matrix_view<TC>);                                                       \
  template VOUCH_PUBLIC void symm(const device&, side, triangle, std::type_identity_t<TC>,                \
                                  matrix_view<const TA>, matrix_view<const TB>, std::type_identity_t<TC>, \
                                  matrix_view<TC>);
#define VOUCH_TWO(TA, TC)                                                                                  \
  template VOUCH_PUBLIC void syrk(const device&, triangle, transpose, std::type_identity_t<TC>,            \
                                  matrix_view<const TA>, std::type_identity_t<TC>, matrix_view<TC>);       \
  template VOUCH_PUBLIC void syr2k(const device&, triangle, transpose, std::type_identity_t<TC>,           \
                                   matrix_view<const TA>, matrix_view<const TA>, std::type_identity_t<TC>, \
                                   matrix_view<TC>);                                                       \
  template VOUCH_PUBLIC void trmm(const device&, side, triangle, transpose, diagonal,                      \
                                  std::type_identity_t<TC>, matrix_view<const TA>, matrix_view<TC>);
#define VOUCH_MODES(TA, TB, TC)                                                                           \
  template VOUCH_PUBLIC void gemm(const device&, transpose, transpose, std::type_identity_t<TC>,          \
                                  matrix_view<const TA>, matrix_view<const TB>, std::type_identity_t<TC>, \
                                  matrix_view<TC>, gemm_mode);
#define VOUCH_PRECISION(T)                           \
  VOUCH_MODES(T, T, interval<T>)                     \
  VOUCH_MODES(T, interval<T>, interval<T>)           \
  VOUCH_MODES(interval<T>, T, interval<T>)           \
  VOUCH_MODES(interval<T>, interval<T>, interval<T>) \
  VOUCH_THREE(T, T, T)                               \
  VOUCH_THREE(T, T, interval<T>)                     \
  VOUCH_THREE(T, interval<T>, interval<T>)           \
  VOUCH_THREE(interval<T>, T, interval<T>)           \
  VOUCH_THREE(interval<T>, interval<T>, interval<T>) \
  VOUCH_TWO(T, T)                                    \
  VOUCH_TWO(T, interval<T>)                          \
  VOUCH_TWO(interval<T>, interval<T>)

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch
