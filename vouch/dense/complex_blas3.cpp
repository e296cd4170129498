#include <utility>

#include <vouch/dense/blas3.hpp>
#include <vouch/dense/block_product.hpp>
#include <vouch/dense/checks.hpp>
#include <vouch/dense/complex_blas3.hpp>
#include <vouch/dense/complex_bodies.hpp>
#include <vouch/dense/each_element.hpp>

namespace vouch {

using namespace detail;

namespace {

// A factor as two real matrices of the same form.
template <real T>
struct two_parts {
  matrix<interval<T>> real, imag;
  shape form;
  triangle stored;

  factor<interval<T>> real_factor(bool transposed = false) const {
    return {real.all(), transposed, form, stored};
  }
  factor<interval<T>> imag_factor(bool transposed = false) const {
    return {imag.all(), transposed, form, stored};
  }
};

template <real T>
two_parts<T> parts_of(const device& dev, const complex_factor<T>& f) {
  const std::int64_t rows = f.rows(), cols = f.cols();
  const bool lower = (f.stored == triangle::lower) == (f.trans == transpose::no);
  two_parts<T> parts{{dev, rows, cols},
                     {dev, rows, cols},
                     f.form == complex_shape::triangular ? shape::triangular : shape::general,
                     lower ? triangle::lower : triangle::upper};
  each_element(dev, "parts_of_factor", rows * cols, parts_of_factor<T>{f, parts.real.all(), parts.imag.all()});
  return parts;
}

template <real T>
void negate(const device& dev, matrix<interval<T>>& A) {
  each_element(dev, "negate", A.rows() * A.cols(), negatives<T>{A.data(), A.data()});
}

// sum := first second + third fourth
template <real T>
void add_two(const device& dev, const factor<interval<T>>& first, const factor<interval<T>>& second,
             const factor<interval<T>>& third, const factor<interval<T>>& fourth, matrix<interval<T>>& sum,
             region written = region::all) {
  using I = interval<T>;
  add_products<I, I, I>(dev, I(T{1}), {{first, second}, {third, fourth}}, I{}, sum.all(), written);
}

// The parts of A B. B is used up.
template <real T>
std::pair<matrix<interval<T>>, matrix<interval<T>>> product_parts(const device& dev, const two_parts<T>& A,
                                                                  two_parts<T>& B) {
  const std::int64_t m = A.real.rows(), n = B.real.cols();
  matrix<interval<T>> real(dev, m, n), imag(dev, m, n);
  add_two<T>(dev, A.real_factor(), B.imag_factor(), A.imag_factor(), B.real_factor(), imag);
  negate<T>(dev, B.imag);
  add_two<T>(dev, A.real_factor(), B.real_factor(), A.imag_factor(), B.imag_factor(), real);
  return {std::move(real), std::move(imag)};
}

// C := alpha A B + beta C
template <real T>
void add_product(const device& dev, complex_interval<T> alpha, const complex_factor<T>& A,
                 const complex_factor<T>& B, complex_interval<T> beta, matrix_view<complex_interval<T>> C) {
  const two_parts<T> left = parts_of<T>(dev, A);
  two_parts<T> right = parts_of<T>(dev, B);
  const auto [real, imag] = product_parts<T>(dev, left, right);
  each_element(dev, "sums_of_parts", C.rows * C.cols, sums_of_parts<T>{alpha, beta, real.all(), imag.all(), C});
}

void require_no_plain_transpose(const char* routine, transpose trans) {
  if (trans == transpose::yes)
    throw value_error(std::string(routine) + ": the transpose without conjugation",
                      "use transpose::no or transpose::conjugate");
}

constexpr transpose adjoint_of(transpose trans) {
  return trans == transpose::no ? transpose::conjugate : transpose::no;
}

}  // namespace

template <real T>
void gemm(const device& dev, transpose trans_a, transpose trans_b,
          std::type_identity_t<complex_interval<T>> alpha, matrix_view<const complex_interval<T>> A,
          matrix_view<const complex_interval<T>> B, std::type_identity_t<complex_interval<T>> beta,
          matrix_view<complex_interval<T>> C) {
  require_environment(dev, "gemm", A, B, C);
  require_matrix("gemm", "A", A);
  require_matrix("gemm", "B", B);
  const complex_factor<T> left{A, trans_a}, right{B, trans_b};
  if (left.cols() != right.rows())
    throw shape_error("gemm: op(A) is " + shape_text(left.rows(), left.cols()) + " and op(B) is " +
                      shape_text(right.rows(), right.cols()));
  require_shape("gemm", "C", C, left.rows(), right.cols());
  require_apart("gemm", "C", C, "A", A);
  require_apart("gemm", "C", C, "B", B);
  add_product<T>(dev, alpha, left, right, beta, C);
}

template <real T>
void hemm(const device& dev, side where, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, matrix_view<const complex_interval<T>> B,
          std::type_identity_t<complex_interval<T>> beta, matrix_view<complex_interval<T>> C) {
  require_environment(dev, "hemm", A, B, C);
  require_matrix("hemm", "C", C);
  const std::int64_t n = where == side::left ? C.rows : C.cols;
  require_shape("hemm", "A", A, n, n);
  require_shape("hemm", "B", B, C.rows, C.cols);
  require_apart("hemm", "C", C, "A", A);
  require_apart("hemm", "C", C, "B", B);
  const complex_factor<T> hermitian{A, transpose::no, complex_shape::hermitian, stored}, other{B};
  if (where == side::left)
    add_product<T>(dev, alpha, hermitian, other, beta, C);
  else
    add_product<T>(dev, alpha, other, hermitian, beta, C);
}

template <real T>
void herk(const device& dev, triangle stored, transpose trans, std::type_identity_t<interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, std::type_identity_t<interval<T>> beta,
          matrix_view<complex_interval<T>> C) {
  using I = interval<T>;
  require_environment(dev, "herk", A, C);
  require_matrix("herk", "A", A);
  require_no_plain_transpose("herk", trans);
  const complex_factor<T> left{A, trans};
  const std::int64_t n = left.rows();
  require_shape("herk", "C", C, n, n);
  require_apart("herk", "C", C, "A", A);
  two_parts<T> parts = parts_of<T>(dev, left);
  // (R + iS)(R + iS)^H = R R^T + S S^T + i (S R^T - R S^T)
  matrix<I> real(dev, n, n), imag(dev, n, n);
  const I one(T{1});
  syrk<I, I>(dev, stored, transpose::no, one, parts.real.read(), I{}, real.all());
  syrk<I, I>(dev, stored, transpose::no, one, parts.imag.read(), one, real.all());
  matrix<I> negative(dev, n, parts.real.cols());
  each_element(dev, "negate", n * negative.cols(), negatives<T>{parts.real.data(), negative.data()});
  add_two<T>(dev, parts.imag_factor(), parts.real_factor(true), {negative.all()}, parts.imag_factor(true), imag,
             stored == triangle::lower ? region::lower : region::upper);
  each_element(dev, "hermitian_sums", n * n,
               hermitian_sums<T>{alpha, beta, false, stored, real.all(), imag.all(), C});
}

template <real T>
void her2k(const device& dev, triangle stored, transpose trans, std::type_identity_t<complex_interval<T>> alpha,
           matrix_view<const complex_interval<T>> A, matrix_view<const complex_interval<T>> B,
           std::type_identity_t<interval<T>> beta, matrix_view<complex_interval<T>> C) {
  require_environment(dev, "her2k", A, B, C);
  require_matrix("her2k", "A", A);
  require_shape("her2k", "B", B, A.rows, A.cols);
  require_no_plain_transpose("her2k", trans);
  const complex_factor<T> left{A, trans}, right{B, adjoint_of(trans)};
  const std::int64_t n = left.rows();
  require_shape("her2k", "C", C, n, n);
  require_apart("her2k", "C", C, "A", A);
  require_apart("her2k", "C", C, "B", B);
  const two_parts<T> first = parts_of<T>(dev, left);
  two_parts<T> second = parts_of<T>(dev, right);
  const auto [real, imag] = product_parts<T>(dev, first, second);
  each_element(dev, "hermitian_sums", n * n,
               hermitian_sums<T>{alpha, beta, true, stored, real.all(), imag.all(), C});
}

template <real T>
void trmm(const device& dev, side where, triangle stored, transpose trans, diagonal unit,
          std::type_identity_t<complex_interval<T>> alpha, matrix_view<const complex_interval<T>> A,
          matrix_view<complex_interval<T>> B) {
  require_environment(dev, "trmm", A, B);
  require_matrix("trmm", "B", B);
  const std::int64_t n = where == side::left ? B.rows : B.cols;
  require_shape("trmm", "A", A, n, n);
  require_apart("trmm", "B", B, "A", A);
  const complex_factor<T> triangular{A, trans, complex_shape::triangular, stored, unit}, other{B};
  if (where == side::left)
    add_product<T>(dev, alpha, triangular, other, {}, B);
  else
    add_product<T>(dev, alpha, other, triangular, {}, B);
}

#define VOUCH_PRECISION(T)                                                                                    \
  template void gemm(const device&, transpose, transpose, complex_interval<T>,                                \
                     matrix_view<const complex_interval<T>>, matrix_view<const complex_interval<T>>,          \
                     complex_interval<T>, matrix_view<complex_interval<T>>);                                  \
  template void hemm(const device&, side, triangle, complex_interval<T>,                                      \
                     matrix_view<const complex_interval<T>>, matrix_view<const complex_interval<T>>,          \
                     complex_interval<T>, matrix_view<complex_interval<T>>);                                  \
  template void herk(const device&, triangle, transpose, interval<T>, matrix_view<const complex_interval<T>>, \
                     interval<T>, matrix_view<complex_interval<T>>);                                          \
  template void her2k(const device&, triangle, transpose, complex_interval<T>,                                \
                      matrix_view<const complex_interval<T>>, matrix_view<const complex_interval<T>>,         \
                      interval<T>, matrix_view<complex_interval<T>>);                                         \
  template void trmm(const device&, side, triangle, transpose, diagonal, complex_interval<T>,                 \
                     matrix_view<const complex_interval<T>>, matrix_view<complex_interval<T>>);

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch
