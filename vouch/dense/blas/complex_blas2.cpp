#include <vouch/core/array.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas/columns_product.hpp>
#include <vouch/dense/blas/complex_bodies.hpp>
#include <vouch/dense/blas/each_element.hpp>
#include <vouch/dense/blas/stored_columns.hpp>
#include <vouch/dense/complex_blas.hpp>
#include <vouch/dense/factor/triangular_solve.hpp>

namespace vouch {

using namespace detail;

namespace {

// sum := op(S) v for parts S of a matrix in turns.
template <real T>
array<interval<T>> real_product(const device& dev, columns<const interval<T>> S, bool transposed,
                                view<const interval<T>> v) {
  using I = interval<T>;
  array<I> sum(dev, transposed ? S.cols : S.rows);
  multiply_columns<I, I, I>(dev, S, transposed, meaning::as_stored, I(T{1}), v, I{}, sum.all());
  return sum;
}

// Products of columns, in turns, with the parts of x; and inner products with columns.
template <real T>
struct two_products {
  array<interval<T>> with_real, with_imag;
};

template <real T>
two_products<T> times_parts(const device& dev, columns<const complex_interval<T>> A,
                            view<const complex_interval<T>> x) {
  const auto S = rows_in_turns<T>(A);
  return {real_product<T>(dev, S, false, part_of<T>(x, 0)), real_product<T>(dev, S, false, part_of<T>(x, 1))};
}

template <real T>
two_products<T> inner_products(const device& dev, columns<const complex_interval<T>> A, bool conjugate,
                               view<const complex_interval<T>> x) {
  const auto S = rows_in_turns<T>(A);
  array<interval<T>> for_real(dev, 2 * x.size()), for_imag(dev, 2 * x.size());
  each_element(dev, "turned_parts", x.size(), turned_parts<T>{x, conjugate, for_real.data(), for_imag.data()});
  return {real_product<T>(dev, S, true, for_real), real_product<T>(dev, S, true, for_imag)};
}

template <real T>
void add_up(const device& dev, complex_interval<T> alpha, const two_products<T>& direct,
            const two_products<T>& turned, bool identity, columns<const complex_interval<T>> real_diagonal,
            view<const complex_interval<T>> x, complex_interval<T> beta, view<complex_interval<T>> y) {
  each_element(
      dev, "product_from_parts", y.size(),
      product_from_parts<T>{alpha, beta, direct.with_real.data(), direct.with_imag.data(),
                            turned.with_real.data(), turned.with_imag.data(), identity, real_diagonal, x, y});
}

// y := alpha (op(A) + identity on demand) x + beta y
template <real T>
void product(const device& dev, columns<const complex_interval<T>> A, transpose trans, bool identity,
             complex_interval<T> alpha, view<const complex_interval<T>> x, complex_interval<T> beta,
             view<complex_interval<T>> y) {
  two_products<T> direct, turned;
  if (trans == transpose::no)
    direct = times_parts<T>(dev, A, x);
  else
    turned = inner_products<T>(dev, A, trans == transpose::conjugate, x);
  add_up<T>(dev, alpha, direct, turned, identity, {}, x, beta, y);
}

template <real T>
void checked_product(const device& dev, const char* routine, columns<const complex_interval<T>> A,
                     transpose trans, complex_interval<T> alpha, view<const complex_interval<T>> x,
                     complex_interval<T> beta, view<complex_interval<T>> y) {
  require_reachable(dev, routine, A, x, y);
  require_size(routine, "x", x.size(), trans == transpose::no ? A.cols : A.rows);
  require_size(routine, "y", y.size(), trans == transpose::no ? A.rows : A.cols);
  require_apart(routine, "y", y, "x", x);
  product<T>(dev, A, trans, false, alpha, x, beta, y);
}

// y := alpha A x + beta y for a Hermitian A.
template <real T>
void hermitian_product(const device& dev, const char* routine, columns<const complex_interval<T>> A,
                       complex_interval<T> alpha, view<const complex_interval<T>> x, complex_interval<T> beta,
                       view<complex_interval<T>> y) {
  require_reachable(dev, routine, A, x, y);
  require_size(routine, "x", x.size(), A.cols);
  require_size(routine, "y", y.size(), A.cols);
  require_apart(routine, "y", y, "x", x);
  const auto strict = A.without_diagonal();
  add_up<T>(dev, alpha, times_parts<T>(dev, strict, x), inner_products<T>(dev, strict, true, x), false, A, x,
            beta, y);
}

// x := op(A) x from a copy of x.
template <real T>
void product_in_place(const device& dev, const char* routine, columns<const complex_interval<T>> A,
                      transpose trans, diagonal unit, view<complex_interval<T>> x) {
  require_reachable(dev, routine, A, x);
  require_size(routine, "x", x.size(), A.cols);
  array<complex_interval<T>> old(dev, x.size());
  copy<T>(dev, x, old.all());
  const bool ones = unit == diagonal::unit;
  product<T>(dev, ones ? A.without_diagonal() : A, trans, ones, interval<T>(T{1}), old.all(), {}, x);
}

template <real T>
void solution(const device& dev, const char* routine, columns<const complex_interval<T>> A, transpose trans,
              diagonal unit, view<complex_interval<T>> x) {
  require_reachable(dev, routine, A, x);
  require_size(routine, "x", x.size(), A.cols);
  if (unit == diagonal::general) require_divisors(dev, routine, A);
  solve_columns(dev, A, trans, unit, x);
}

// A := alpha x op(y) + A for the stored entries.
template <real T>
void update(const device& dev, columns<complex_interval<T>> A, complex_interval<T> alpha,
            view<const complex_interval<T>> x, view<const complex_interval<T>> y, bool conjugate) {
  using I = interval<T>;
  const auto S = rows_in_turns<T>(A);
  array<I> in_turns(dev, 2 * x.size()), crossed(dev, 2 * x.size()), real(dev, y.size()),
      negative_imag(dev, y.size());
  each_element(dev, "turned_parts", x.size(), turned_parts<T>{x, true, in_turns.data(), crossed.data()});
  each_element(dev, "column_factors", y.size(),
               column_factors<T>{alpha, y, conjugate, real.data(), negative_imag.data()});
  // x c = (x_re, x_im) c_re + (x_im, -x_re) (-c_im), part by part.
  update_columns<I, I, I>(dev, S, I(T{1}), view<const I>(in_turns), view<const I>(real));
  update_columns<I, I, I>(dev, S, I(T{1}), view<const I>(crossed), view<const I>(negative_imag));
}

template <real T>
void general_update(const device& dev, const char* routine, complex_interval<T> alpha,
                    view<const complex_interval<T>> x, view<const complex_interval<T>> y, bool conjugate,
                    matrix_view<complex_interval<T>> A) {
  require_reachable(dev, routine, A, x, y);
  require_shape(routine, "A", A, x.size(), y.size());
  require_apart(routine, "A", A, "x", x);
  require_apart(routine, "A", A, "y", y);
  if (alpha == complex_interval<T>{}) return;
  update<T>(dev, general_columns(A), alpha, x, y, conjugate);
}

template <real T>
void hermitian_update(const device& dev, const char* routine, columns<complex_interval<T>> A, interval<T> alpha,
                      view<const complex_interval<T>> x) {
  require_reachable(dev, routine, A, x);
  require_size(routine, "x", x.size(), A.cols);
  if (alpha == interval<T>{}) return;
  update<T>(dev, A.without_diagonal(), alpha, x, x, true);
  each_element(dev, "square_diagonal", A.cols, square_diagonal_entries<T>{alpha, x, A});
}

template <real T>
void hermitian_update(const device& dev, const char* routine, columns<complex_interval<T>> A,
                      complex_interval<T> alpha, view<const complex_interval<T>> x,
                      view<const complex_interval<T>> y) {
  require_reachable(dev, routine, A, x, y);
  require_size(routine, "x", x.size(), A.cols);
  require_size(routine, "y", y.size(), A.cols);
  if (alpha == complex_interval<T>{}) return;
  update<T>(dev, A.without_diagonal(), alpha, x, y, true);
  update<T>(dev, A.without_diagonal(), conj(alpha), y, x, true);
  each_element(dev, "mixed_diagonal", A.cols, mixed_diagonal_entries<T>{alpha, x, y, A});
}

}  // namespace

template <real T>
void gemv(const device& dev, transpose trans, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, view<const complex_interval<T>> x,
          std::type_identity_t<complex_interval<T>> beta, view<complex_interval<T>> y) {
  const ieee_environment here;
  require_matrix("gemv", "A", A);
  require_apart("gemv", "y", y, "A", A);
  checked_product<T>(dev, "gemv", general_columns(A), trans, alpha, x, beta, y);
}

template <real T>
void gbmv(const device& dev, transpose trans, std::int64_t rows, std::int64_t kl, std::int64_t ku,
          std::type_identity_t<complex_interval<T>> alpha, matrix_view<const complex_interval<T>> A,
          view<const complex_interval<T>> x, std::type_identity_t<complex_interval<T>> beta,
          view<complex_interval<T>> y) {
  const ieee_environment here;
  require_apart("gbmv", "y", y, "A", A);
  checked_product<T>(dev, "gbmv", checked_band("gbmv", rows, kl, ku, A), trans, alpha, x, beta, y);
}

template <real T>
void hemv(const device& dev, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, view<const complex_interval<T>> x,
          std::type_identity_t<complex_interval<T>> beta, view<complex_interval<T>> y) {
  const ieee_environment here;
  require_apart("hemv", "y", y, "A", A);
  hermitian_product<T>(dev, "hemv", checked_triangle("hemv", stored, A), alpha, x, beta, y);
}

template <real T>
void hbmv(const device& dev, triangle stored, std::int64_t k, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, view<const complex_interval<T>> x,
          std::type_identity_t<complex_interval<T>> beta, view<complex_interval<T>> y) {
  const ieee_environment here;
  require_apart("hbmv", "y", y, "A", A);
  hermitian_product<T>(dev, "hbmv", checked_triangle_band("hbmv", stored, k, A), alpha, x, beta, y);
}

template <real T>
void hpmv(const device& dev, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          view<const complex_interval<T>> A, view<const complex_interval<T>> x,
          std::type_identity_t<complex_interval<T>> beta, view<complex_interval<T>> y) {
  const ieee_environment here;
  require_apart("hpmv", "y", y, "A", A);
  hermitian_product<T>(dev, "hpmv", checked_packed("hpmv", stored, x.size(), A), alpha, x, beta, y);
}

template <real T>
void trmv(const device& dev, triangle stored, transpose trans, diagonal unit,
          matrix_view<const complex_interval<T>> A, view<complex_interval<T>> x) {
  const ieee_environment here;
  require_apart("trmv", "x", x, "A", A);
  product_in_place<T>(dev, "trmv", checked_triangle("trmv", stored, A), trans, unit, x);
}

template <real T>
void tbmv(const device& dev, triangle stored, transpose trans, diagonal unit, std::int64_t k,
          matrix_view<const complex_interval<T>> A, view<complex_interval<T>> x) {
  const ieee_environment here;
  require_apart("tbmv", "x", x, "A", A);
  product_in_place<T>(dev, "tbmv", checked_triangle_band("tbmv", stored, k, A), trans, unit, x);
}

template <real T>
void tpmv(const device& dev, triangle stored, transpose trans, diagonal unit, view<const complex_interval<T>> A,
          view<complex_interval<T>> x) {
  const ieee_environment here;
  require_apart("tpmv", "x", x, "A", A);
  product_in_place<T>(dev, "tpmv", checked_packed("tpmv", stored, x.size(), A), trans, unit, x);
}

template <real T>
void trsv(const device& dev, triangle stored, transpose trans, diagonal unit,
          matrix_view<const complex_interval<T>> A, view<complex_interval<T>> x) {
  const ieee_environment here;
  require_apart("trsv", "x", x, "A", A);
  solution<T>(dev, "trsv", checked_triangle("trsv", stored, A), trans, unit, x);
}

template <real T>
void tbsv(const device& dev, triangle stored, transpose trans, diagonal unit, std::int64_t k,
          matrix_view<const complex_interval<T>> A, view<complex_interval<T>> x) {
  const ieee_environment here;
  require_apart("tbsv", "x", x, "A", A);
  solution<T>(dev, "tbsv", checked_triangle_band("tbsv", stored, k, A), trans, unit, x);
}

template <real T>
void tpsv(const device& dev, triangle stored, transpose trans, diagonal unit, view<const complex_interval<T>> A,
          view<complex_interval<T>> x) {
  const ieee_environment here;
  require_apart("tpsv", "x", x, "A", A);
  solution<T>(dev, "tpsv", checked_packed("tpsv", stored, x.size(), A), trans, unit, x);
}

template <real T>
void geru(const device& dev, std::type_identity_t<complex_interval<T>> alpha, view<const complex_interval<T>> x,
          view<const complex_interval<T>> y, matrix_view<complex_interval<T>> A) {
  const ieee_environment here;
  general_update<T>(dev, "geru", alpha, x, y, false, A);
}

template <real T>
void gerc(const device& dev, std::type_identity_t<complex_interval<T>> alpha, view<const complex_interval<T>> x,
          view<const complex_interval<T>> y, matrix_view<complex_interval<T>> A) {
  const ieee_environment here;
  general_update<T>(dev, "gerc", alpha, x, y, true, A);
}

template <real T>
void her(const device& dev, triangle stored, std::type_identity_t<interval<T>> alpha,
         view<const complex_interval<T>> x, matrix_view<complex_interval<T>> A) {
  const ieee_environment here;
  require_apart("her", "A", A, "x", x);
  hermitian_update<T>(dev, "her", checked_triangle("her", stored, A), alpha, x);
}

template <real T>
void hpr(const device& dev, triangle stored, std::type_identity_t<interval<T>> alpha,
         view<const complex_interval<T>> x, view<complex_interval<T>> A) {
  const ieee_environment here;
  require_apart("hpr", "A", A, "x", x);
  hermitian_update<T>(dev, "hpr", checked_packed("hpr", stored, x.size(), A), alpha, x);
}

template <real T>
void her2(const device& dev, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          view<const complex_interval<T>> x, view<const complex_interval<T>> y,
          matrix_view<complex_interval<T>> A) {
  const ieee_environment here;
  require_apart("her2", "A", A, "x", x);
  require_apart("her2", "A", A, "y", y);
  hermitian_update<T>(dev, "her2", checked_triangle("her2", stored, A), alpha, x, y);
}

template <real T>
void hpr2(const device& dev, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          view<const complex_interval<T>> x, view<const complex_interval<T>> y, view<complex_interval<T>> A) {
  const ieee_environment here;
  require_apart("hpr2", "A", A, "x", x);
  require_apart("hpr2", "A", A, "y", y);
  hermitian_update<T>(dev, "hpr2", checked_packed("hpr2", stored, x.size(), A), alpha, x, y);
}

#define VOUCH_PRECISION(T)                                                                                 \
  template VOUCH_PUBLIC void gemv(const device&, transpose, complex_interval<T>,                           \
                                  matrix_view<const complex_interval<T>>, view<const complex_interval<T>>, \
                                  complex_interval<T>, view<complex_interval<T>>);                         \
  template VOUCH_PUBLIC void gbmv(const device&, transpose, std::int64_t, std::int64_t, std::int64_t,      \
                                  complex_interval<T>, matrix_view<const complex_interval<T>>,             \
                                  view<const complex_interval<T>>, complex_interval<T>,                    \
                                  view<complex_interval<T>>);                                              \
  template VOUCH_PUBLIC void hemv(const device&, triangle, complex_interval<T>,                            \
                                  matrix_view<const complex_interval<T>>, view<const complex_interval<T>>, \
                                  complex_interval<T>, view<complex_interval<T>>);                         \
  template VOUCH_PUBLIC void hbmv(const device&, triangle, std::int64_t, complex_interval<T>,              \
                                  matrix_view<const complex_interval<T>>, view<const complex_interval<T>>, \
                                  complex_interval<T>, view<complex_interval<T>>);                         \
  template VOUCH_PUBLIC void hpmv(const device&, triangle, complex_interval<T>,                            \
                                  view<const complex_interval<T>>, view<const complex_interval<T>>,        \
                                  complex_interval<T>, view<complex_interval<T>>);                         \
  template VOUCH_PUBLIC void trmv(const device&, triangle, transpose, diagonal,                            \
                                  matrix_view<const complex_interval<T>>, view<complex_interval<T>>);      \
  template VOUCH_PUBLIC void tbmv(const device&, triangle, transpose, diagonal, std::int64_t,              \
                                  matrix_view<const complex_interval<T>>, view<complex_interval<T>>);      \
  template VOUCH_PUBLIC void tpmv(const device&, triangle, transpose, diagonal,                            \
                                  view<const complex_interval<T>>, view<complex_interval<T>>);             \
  template VOUCH_PUBLIC void tpsv(const device&, triangle, transpose, diagonal,                            \
                                  view<const complex_interval<T>>, view<complex_interval<T>>);             \
  template VOUCH_PUBLIC void trsv(const device&, triangle, transpose, diagonal,                            \
                                  matrix_view<const complex_interval<T>>, view<complex_interval<T>>);      \
  template VOUCH_PUBLIC void tbsv(const device&, triangle, transpose, diagonal, std::int64_t,              \
                                  matrix_view<const complex_interval<T>>, view<complex_interval<T>>);      \
  template VOUCH_PUBLIC void geru(const device&, complex_interval<T>, view<const complex_interval<T>>,     \
                                  view<const complex_interval<T>>, matrix_view<complex_interval<T>>);      \
  template VOUCH_PUBLIC void gerc(const device&, complex_interval<T>, view<const complex_interval<T>>,     \
                                  view<const complex_interval<T>>, matrix_view<complex_interval<T>>);      \
  template VOUCH_PUBLIC void her(const device&, triangle, interval<T>, view<const complex_interval<T>>,    \
                                 matrix_view<complex_interval<T>>);                                        \
  template VOUCH_PUBLIC void hpr(const device&, triangle, interval<T>, view<const complex_interval<T>>,    \
                                 view<complex_interval<T>>);                                               \
  template VOUCH_PUBLIC void her2(const device&, triangle, complex_interval<T>,                            \
                                  view<const complex_interval<T>>, view<const complex_interval<T>>,        \
                                  matrix_view<complex_interval<T>>);                                       \
  template VOUCH_PUBLIC void hpr2(const device&, triangle, complex_interval<T>,                            \
                                  view<const complex_interval<T>>, view<const complex_interval<T>>,        \
                                  view<complex_interval<T>>);

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch
