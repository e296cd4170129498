#include <vouch/core/array.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas/columns_product.hpp>
#include <vouch/dense/blas/stored_columns.hpp>
#include <vouch/dense/blas/vectors.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/blas2.hpp>
#include <vouch/dense/factor/triangular_solve.hpp>

namespace vouch {
namespace {

using namespace detail;

template <scalar TA, scalar TX, scalar TY>
void product(const device& dev, const char* routine, columns<const TA> A, bool transposed, meaning means,
             TY alpha, view<const TX> x, TY beta, view<TY> y) {
  require_reachable(dev, routine, A, x, y);
  require_size(routine, "x", x.size(), transposed ? A.rows : A.cols);
  require_size(routine, "y", y.size(), transposed ? A.cols : A.rows);
  require_apart(routine, "y", y, "x", x);
  multiply_columns<TY, TA, TX>(dev, A, transposed, means, alpha, x, beta, y);
}

// x := op(A) x from a copy of x.
template <scalar TA, scalar TX>
void product_in_place(const device& dev, const char* routine, columns<const TA> A, transpose trans,
                      diagonal unit, view<TX> x) {
  require_reachable(dev, routine, A, x);
  require_size(routine, "x", x.size(), A.cols);
  array<TX> old(dev, x.size());
  copy<TX, TX>(dev, x, old.all());
  multiply_columns<TX, TA, TX>(dev, A, trans != transpose::no,
                               unit == diagonal::unit ? meaning::unit_diagonal : meaning::as_stored,
                               TX{bound_of<TX>{1}}, view<const TX>(old.all()), TX{}, x);
}

template <scalar TA, scalar TX>
void solution(const device& dev, const char* routine, columns<const TA> A, transpose trans, diagonal unit,
              view<TX> x) {
  require_reachable(dev, routine, A, x);
  require_size(routine, "x", x.size(), A.cols);
  if (unit == diagonal::general) require_divisors(dev, routine, A);
  solve_columns<TX, TA>(dev, A, trans, unit, x);
}

template <scalar TX, scalar TA>
void square_update(const device& dev, const char* routine, columns<TA> A, TA alpha, view<const TX> x) {
  require_reachable(dev, routine, A, x);
  require_size(routine, "x", x.size(), A.cols);
  update_columns<TA, TX>(dev, A, alpha, x);
}

template <scalar TX, scalar TA>
void symmetric_update(const device& dev, const char* routine, columns<TA> A, TA alpha, view<const TX> x,
                      view<const TX> y) {
  require_reachable(dev, routine, A, x, y);
  require_size(routine, "x", x.size(), A.cols);
  require_size(routine, "y", y.size(), A.cols);
  update_columns<TA, TX, TX>(dev, A, alpha, x, y);
  update_columns<TA, TX, TX>(dev, A, alpha, y, x);
}

}  // namespace

template <scalar TA, scalar TX, scalar TY>
requires accumulates<TY, TA, TX>
void gemv(const device& dev, transpose trans, std::type_identity_t<TY> alpha, matrix_view<const TA> A,
          view<const TX> x, std::type_identity_t<TY> beta, view<TY> y) {
  const ieee_environment here;
  require_apart("gemv", "y", y, "A", A);
  require_matrix("gemv", "A", A);
  product<TA, TX, TY>(dev, "gemv", general_columns(A), trans != transpose::no, meaning::as_stored, alpha, x,
                      beta, y);
}

template <scalar TA, scalar TX, scalar TY>
requires accumulates<TY, TA, TX>
void gbmv(const device& dev, transpose trans, std::int64_t rows, std::int64_t kl, std::int64_t ku,
          std::type_identity_t<TY> alpha, matrix_view<const TA> A, view<const TX> x,
          std::type_identity_t<TY> beta, view<TY> y) {
  const ieee_environment here;
  require_apart("gbmv", "y", y, "A", A);
  product<TA, TX, TY>(dev, "gbmv", checked_band("gbmv", rows, kl, ku, A), trans != transpose::no,
                      meaning::as_stored, alpha, x, beta, y);
}

template <scalar TA, scalar TX, scalar TY>
requires accumulates<TY, TA, TX>
void symv(const device& dev, triangle stored, std::type_identity_t<TY> alpha, matrix_view<const TA> A,
          view<const TX> x, std::type_identity_t<TY> beta, view<TY> y) {
  const ieee_environment here;
  require_apart("symv", "y", y, "A", A);
  product<TA, TX, TY>(dev, "symv", checked_triangle("symv", stored, A), false, meaning::mirrored, alpha, x,
                      beta, y);
}

template <scalar TA, scalar TX, scalar TY>
requires accumulates<TY, TA, TX>
void sbmv(const device& dev, triangle stored, std::int64_t k, std::type_identity_t<TY> alpha,
          matrix_view<const TA> A, view<const TX> x, std::type_identity_t<TY> beta, view<TY> y) {
  const ieee_environment here;
  require_apart("sbmv", "y", y, "A", A);
  product<TA, TX, TY>(dev, "sbmv", checked_triangle_band("sbmv", stored, k, A), false, meaning::mirrored, alpha,
                      x, beta, y);
}

template <scalar TA, scalar TX, scalar TY>
requires accumulates<TY, TA, TX>
void spmv(const device& dev, triangle stored, std::type_identity_t<TY> alpha, view<const TA> A,
          view<const TX> x, std::type_identity_t<TY> beta, view<TY> y) {
  const ieee_environment here;
  require_apart("spmv", "y", y, "A", A);
  product<TA, TX, TY>(dev, "spmv", checked_packed("spmv", stored, x.size(), A), false, meaning::mirrored, alpha,
                      x, beta, y);
}

template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void trmv(const device& dev, triangle stored, transpose trans, diagonal unit, matrix_view<const TA> A,
          view<TX> x) {
  const ieee_environment here;
  require_apart("trmv", "x", x, "A", A);
  product_in_place<TA, TX>(dev, "trmv", checked_triangle("trmv", stored, A), trans, unit, x);
}

template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void tbmv(const device& dev, triangle stored, transpose trans, diagonal unit, std::int64_t k,
          matrix_view<const TA> A, view<TX> x) {
  const ieee_environment here;
  require_apart("tbmv", "x", x, "A", A);
  product_in_place<TA, TX>(dev, "tbmv", checked_triangle_band("tbmv", stored, k, A), trans, unit, x);
}

template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void tpmv(const device& dev, triangle stored, transpose trans, diagonal unit, view<const TA> A, view<TX> x) {
  const ieee_environment here;
  require_apart("tpmv", "x", x, "A", A);
  product_in_place<TA, TX>(dev, "tpmv", checked_packed("tpmv", stored, x.size(), A), trans, unit, x);
}

template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void trsv(const device& dev, triangle stored, transpose trans, diagonal unit, matrix_view<const TA> A,
          view<TX> x) {
  const ieee_environment here;
  require_apart("trsv", "x", x, "A", A);
  solution<TA, TX>(dev, "trsv", checked_triangle("trsv", stored, A), trans, unit, x);
}

template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void tbsv(const device& dev, triangle stored, transpose trans, diagonal unit, std::int64_t k,
          matrix_view<const TA> A, view<TX> x) {
  const ieee_environment here;
  require_apart("tbsv", "x", x, "A", A);
  solution<TA, TX>(dev, "tbsv", checked_triangle_band("tbsv", stored, k, A), trans, unit, x);
}

template <scalar TA, scalar TX>
requires accumulates<TX, TA>
void tpsv(const device& dev, triangle stored, transpose trans, diagonal unit, view<const TA> A, view<TX> x) {
  const ieee_environment here;
  require_apart("tpsv", "x", x, "A", A);
  solution<TA, TX>(dev, "tpsv", checked_packed("tpsv", stored, x.size(), A), trans, unit, x);
}

template <scalar TX, scalar TY, scalar TA>
requires accumulates<TA, TX, TY>
void ger(const device& dev, std::type_identity_t<TA> alpha, view<const TX> x, view<const TY> y,
         matrix_view<TA> A) {
  const ieee_environment here;
  require_apart("ger", "A", A, "x", x);
  require_apart("ger", "A", A, "y", y);
  require_reachable(dev, "ger", A, x, y);
  require_shape("ger", "A", A, x.size(), y.size());
  update_columns<TA, TX, TY>(dev, general_columns(A), alpha, x, y);
}

template <scalar TX, scalar TA>
requires accumulates<TA, TX>
void syr(const device& dev, triangle stored, std::type_identity_t<TA> alpha, view<const TX> x,
         matrix_view<TA> A) {
  const ieee_environment here;
  require_apart("syr", "A", A, "x", x);
  square_update<TX, TA>(dev, "syr", checked_triangle("syr", stored, A), alpha, x);
}

template <scalar TX, scalar TA>
requires accumulates<TA, TX>
void spr(const device& dev, triangle stored, std::type_identity_t<TA> alpha, view<const TX> x, view<TA> A) {
  const ieee_environment here;
  require_apart("spr", "A", A, "x", x);
  square_update<TX, TA>(dev, "spr", checked_packed("spr", stored, x.size(), A), alpha, x);
}

template <scalar TX, scalar TA>
requires accumulates<TA, TX>
void syr2(const device& dev, triangle stored, std::type_identity_t<TA> alpha, view<const TX> x,
          view<const TX> y, matrix_view<TA> A) {
  const ieee_environment here;
  require_apart("syr2", "A", A, "x", x);
  require_apart("syr2", "A", A, "y", y);
  symmetric_update<TX, TA>(dev, "syr2", checked_triangle("syr2", stored, A), alpha, x, y);
}

template <scalar TX, scalar TA>
requires accumulates<TA, TX>
void spr2(const device& dev, triangle stored, std::type_identity_t<TA> alpha, view<const TX> x,
          view<const TX> y, view<TA> A) {
  const ieee_environment here;
  require_apart("spr2", "A", A, "x", x);
  require_apart("spr2", "A", A, "y", y);
  symmetric_update<TX, TA>(dev, "spr2", checked_packed("spr2", stored, x.size(), A), alpha, x, y);
}

#define VOUCH_VALUE(T) std::type_identity_t<T>
#define VOUCH_THREE(TA, TX, TY)                                                                             \
  template VOUCH_PUBLIC void gemv(const device&, transpose, VOUCH_VALUE(TY), matrix_view<const TA>,         \
                                  view<const TX>, VOUCH_VALUE(TY), view<TY>);                               \
  template VOUCH_PUBLIC void gbmv(const device&, transpose, std::int64_t, std::int64_t, std::int64_t,       \
                                  VOUCH_VALUE(TY), matrix_view<const TA>, view<const TX>, VOUCH_VALUE(TY),  \
                                  view<TY>);                                                                \
  template VOUCH_PUBLIC void symv(const device&, triangle, VOUCH_VALUE(TY), matrix_view<const TA>,          \
                                  view<const TX>, VOUCH_VALUE(TY), view<TY>);                               \
  template VOUCH_PUBLIC void sbmv(const device&, triangle, std::int64_t, VOUCH_VALUE(TY),                   \
                                  matrix_view<const TA>, view<const TX>, VOUCH_VALUE(TY), view<TY>);        \
  template VOUCH_PUBLIC void spmv(const device&, triangle, VOUCH_VALUE(TY), view<const TA>, view<const TX>, \
                                  VOUCH_VALUE(TY), view<TY>);                                               \
  template VOUCH_PUBLIC void ger(const device&, VOUCH_VALUE(TY), view<const TA>, view<const TX>,            \
                                 matrix_view<TY>);
#define VOUCH_TWO(TA, TX)                                                                                    \
  template VOUCH_PUBLIC void trmv(const device&, triangle, transpose, diagonal, matrix_view<const TA>,       \
                                  view<TX>);                                                                 \
  template VOUCH_PUBLIC void tbmv(const device&, triangle, transpose, diagonal, std::int64_t,                \
                                  matrix_view<const TA>, view<TX>);                                          \
  template VOUCH_PUBLIC void tpmv(const device&, triangle, transpose, diagonal, view<const TA>, view<TX>);   \
  template VOUCH_PUBLIC void trsv(const device&, triangle, transpose, diagonal, matrix_view<const TA>,       \
                                  view<TX>);                                                                 \
  template VOUCH_PUBLIC void tbsv(const device&, triangle, transpose, diagonal, std::int64_t,                \
                                  matrix_view<const TA>, view<TX>);                                          \
  template VOUCH_PUBLIC void tpsv(const device&, triangle, transpose, diagonal, view<const TA>, view<TX>);   \
  template VOUCH_PUBLIC void syr(const device&, triangle, VOUCH_VALUE(TX), view<const TA>, matrix_view<TX>); \
  template VOUCH_PUBLIC void spr(const device&, triangle, VOUCH_VALUE(TX), view<const TA>, view<TX>);        \
  template VOUCH_PUBLIC void syr2(const device&, triangle, VOUCH_VALUE(TX), view<const TA>, view<const TA>,  \
                                  matrix_view<TX>);                                                          \
  template VOUCH_PUBLIC void spr2(const device&, triangle, VOUCH_VALUE(TX), view<const TA>, view<const TA>,  \
                                  view<TX>);
#define VOUCH_PRECISION(T)                           \
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
