#include <utility>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas/complex_bodies.hpp>
#include <vouch/dense/blas/each_element.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/complex_blas.hpp>
#include <vouch/dense/gemm/block_product.hpp>

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

// C := alpha A B + beta C, or alpha B A + beta C, for an A of which one triangle is read.
template <real T>
void add_product_with(const device& dev, const char* routine, side where, const complex_factor<T>& A,
                      complex_interval<T> alpha, matrix_view<const complex_interval<T>> B,
                      complex_interval<T> beta, matrix_view<complex_interval<T>> C) {
  require_reachable(dev, routine, A.A, B, C);
  require_matrix(routine, "C", C);
  const std::int64_t n = where == side::left ? C.rows : C.cols;
  require_shape(routine, "A", A.A, n, n);
  require_shape(routine, "B", B, C.rows, C.cols);
  require_apart(routine, "C", C, "A", A.A);
  require_apart(routine, "C", C, "B", B);
  const complex_factor<T> other{B};
  if (where == side::left)
    add_product<T>(dev, alpha, A, other, beta, C);
  else
    add_product<T>(dev, alpha, other, A, beta, C);
}

void require_plain_transpose(const char* routine, transpose trans) {
  if (trans == transpose::conjugate)
    throw value_error(std::string(routine) + ": the transpose with conjugation",
                      "use transpose::no or transpose::yes");
}

void require_no_plain_transpose(const char* routine, transpose trans) {
  if (trans == transpose::yes)
    throw value_error(std::string(routine) + ": the transpose without conjugation",
                      "use transpose::no or transpose::conjugate");
}

constexpr transpose adjoint_of(transpose trans) {
  return trans == transpose::no ? transpose::conjugate : transpose::no;
}

// One line, a column or a row, after the other; some work each.
template <class Body>
void each_line(const device& dev, const char* name, std::int64_t lines, const Body& body) {
  if (dev.is_cuda()) return each_element(dev, name, lines, body);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (lines > 1)
  for (std::int64_t line = 0; line < lines; ++line) body(line);
}

// The rows and columns given of op(A), as a factor of this form.
template <real T>
complex_factor<T> part_of(const complex_factor<T>& f, range rows, range cols, complex_shape form) {
  const auto A = f.trans == transpose::no ? f.A.block(rows.first, cols.first, rows.size(), cols.size())
                                          : f.A.block(cols.first, rows.first, cols.size(), rows.size());
  return {A, f.trans, form, f.stored, f.unit};
}

// The rows given of X := op(A)^-1 X, or the columns of X := X op(A)^-1, by halves.
template <real T>
void solve_range(const device& dev, const complex_factor<T>& f, side where, matrix_view<complex_interval<T>> X,
                 range which) {
  using Z = complex_interval<T>;
  constexpr std::int64_t smallest = 32;
  const std::int64_t n = which.size(), lines = where == side::left ? X.cols : X.rows;
  const auto lines_of = [&](range r) {
    return where == side::left ? X.block(r.first, 0, r.size(), lines) : X.block(0, r.first, lines, r.size());
  };
  if (n <= smallest)
    return each_line(
        dev, "small_solutions", lines,
        small_solutions<T>{part_of(f, which, which, complex_shape::triangular), where, lines_of(which)});
  const std::int64_t middle = which.first + ceil_div(n, 2 * smallest) * smallest;
  const range low{which.first, middle}, high{middle, which.last};
  const bool lower = (f.stored == triangle::lower) == (f.trans == transpose::no);
  const bool downwards = lower == (where == side::left);
  const range known = downwards ? low : high, sought = downwards ? high : low;
  solve_range(dev, f, where, X, known);
  const Z minus_one(interval<T>(T{-1})), one(interval<T>(T{1}));
  const complex_factor<T> solved{lines_of(known)};
  if (where == side::left)
    add_product<T>(dev, minus_one, part_of(f, sought, known, complex_shape::general), solved, one,
                   lines_of(sought));
  else
    add_product<T>(dev, minus_one, solved, part_of(f, known, sought, complex_shape::general), one,
                   lines_of(sought));
  solve_range(dev, f, where, X, sought);
}

}  // namespace

template <real T>
void gemm(const device& dev, transpose trans_a, transpose trans_b,
          std::type_identity_t<complex_interval<T>> alpha, matrix_view<const complex_interval<T>> A,
          matrix_view<const complex_interval<T>> B, std::type_identity_t<complex_interval<T>> beta,
          matrix_view<complex_interval<T>> C) {
  const ieee_environment here;
  require_reachable(dev, "gemm", A, B, C);
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
  const ieee_environment here;
  add_product_with<T>(dev, "hemm", where, {A, transpose::no, complex_shape::hermitian, stored}, alpha, B, beta,
                      C);
}

template <real T>
void symm(const device& dev, side where, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, matrix_view<const complex_interval<T>> B,
          std::type_identity_t<complex_interval<T>> beta, matrix_view<complex_interval<T>> C) {
  const ieee_environment here;
  add_product_with<T>(dev, "symm", where, {A, transpose::no, complex_shape::symmetric, stored}, alpha, B, beta,
                      C);
}

template <real T>
void syrk(const device& dev, triangle stored, transpose trans, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, std::type_identity_t<complex_interval<T>> beta,
          matrix_view<complex_interval<T>> C) {
  const ieee_environment here;
  using I = interval<T>;
  require_reachable(dev, "syrk", A, C);
  require_matrix("syrk", "A", A);
  require_plain_transpose("syrk", trans);
  const complex_factor<T> left{A, trans};
  const std::int64_t n = left.rows();
  require_shape("syrk", "C", C, n, n);
  require_apart("syrk", "C", C, "A", A);
  const two_parts<T> parts = parts_of<T>(dev, left);
  // (R + iS)(R + iS)^T = R R^T - S S^T + i (R S^T + S R^T)
  matrix<I> real(dev, n, n), imag(dev, n, n);
  const I one(T{1});
  syrk<I, I>(dev, stored, transpose::no, one, parts.real.read(), I{}, real.all());
  syrk<I, I>(dev, stored, transpose::no, -one, parts.imag.read(), one, real.all());
  syr2k<I, I>(dev, stored, transpose::no, one, parts.real.read(), parts.imag.read(), I{}, imag.all());
  each_element(dev, "symmetric_sums", n * n,
               symmetric_sums<T>{alpha, beta, false, stored, real.all(), imag.all(), C});
}

template <real T>
void syr2k(const device& dev, triangle stored, transpose trans, std::type_identity_t<complex_interval<T>> alpha,
           matrix_view<const complex_interval<T>> A, matrix_view<const complex_interval<T>> B,
           std::type_identity_t<complex_interval<T>> beta, matrix_view<complex_interval<T>> C) {
  const ieee_environment here;
  require_reachable(dev, "syr2k", A, B, C);
  require_matrix("syr2k", "A", A);
  require_shape("syr2k", "B", B, A.rows, A.cols);
  require_plain_transpose("syr2k", trans);
  const complex_factor<T> left{A, trans}, right{B, trans == transpose::no ? transpose::yes : transpose::no};
  const std::int64_t n = left.rows();
  require_shape("syr2k", "C", C, n, n);
  require_apart("syr2k", "C", C, "A", A);
  require_apart("syr2k", "C", C, "B", B);
  const two_parts<T> first = parts_of<T>(dev, left);
  two_parts<T> second = parts_of<T>(dev, right);
  const auto [real, imag] = product_parts<T>(dev, first, second);
  each_element(dev, "symmetric_sums", n * n,
               symmetric_sums<T>{alpha, beta, true, stored, real.all(), imag.all(), C});
}

template <real T>
void herk(const device& dev, triangle stored, transpose trans, std::type_identity_t<interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, std::type_identity_t<interval<T>> beta,
          matrix_view<complex_interval<T>> C) {
  const ieee_environment here;
  using I = interval<T>;
  require_reachable(dev, "herk", A, C);
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
  const ieee_environment here;
  require_reachable(dev, "her2k", A, B, C);
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
  const ieee_environment here;
  require_reachable(dev, "trmm", A, B);
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

template <real T>
void trsm(const device& dev, side where, triangle stored, transpose trans, diagonal unit,
          std::type_identity_t<complex_interval<T>> alpha, matrix_view<const complex_interval<T>> A,
          matrix_view<complex_interval<T>> B) {
  const ieee_environment here;
  require_reachable(dev, "trsm", A, B);
  require_matrix("trsm", "B", B);
  const std::int64_t n = where == side::left ? B.rows : B.cols;
  require_shape("trsm", "A", A, n, n);
  require_apart("trsm", "B", B, "A", A);
  if (unit == diagonal::general) require_divisors(dev, "trsm", triangle_columns(stored, A));
  if (B.rows == 0 || B.cols == 0) return;
  if (alpha != complex_interval<T>(interval<T>(T{1})))
    each_element(dev, "matrix_multiples", B.rows * B.cols, matrix_multiples<T>{alpha, B});
  solve_range<T>(dev, {A, trans, complex_shape::triangular, stored, unit}, where, B, {0, n});
}

#define VOUCH_PRECISION(T)                                                                                   \
  template VOUCH_PUBLIC void gemm(                                                                           \
      const device&, transpose, transpose, complex_interval<T>, matrix_view<const complex_interval<T>>,      \
      matrix_view<const complex_interval<T>>, complex_interval<T>, matrix_view<complex_interval<T>>);        \
  template VOUCH_PUBLIC void hemm(                                                                           \
      const device&, side, triangle, complex_interval<T>, matrix_view<const complex_interval<T>>,            \
      matrix_view<const complex_interval<T>>, complex_interval<T>, matrix_view<complex_interval<T>>);        \
  template VOUCH_PUBLIC void herk(const device&, triangle, transpose, interval<T>,                           \
                                  matrix_view<const complex_interval<T>>, interval<T>,                       \
                                  matrix_view<complex_interval<T>>);                                         \
  template VOUCH_PUBLIC void her2k(                                                                          \
      const device&, triangle, transpose, complex_interval<T>, matrix_view<const complex_interval<T>>,       \
      matrix_view<const complex_interval<T>>, interval<T>, matrix_view<complex_interval<T>>);                \
  template VOUCH_PUBLIC void trmm(const device&, side, triangle, transpose, diagonal, complex_interval<T>,   \
                                  matrix_view<const complex_interval<T>>, matrix_view<complex_interval<T>>); \
  template VOUCH_PUBLIC void trsm(const device&, side, triangle, transpose, diagonal, complex_interval<T>,   \
                                  matrix_view<const complex_interval<T>>, matrix_view<complex_interval<T>>); \
  template VOUCH_PUBLIC void symm(                                                                           \
      const device&, side, triangle, complex_interval<T>, matrix_view<const complex_interval<T>>,            \
      matrix_view<const complex_interval<T>>, complex_interval<T>, matrix_view<complex_interval<T>>);        \
  template VOUCH_PUBLIC void syrk(const device&, triangle, transpose, complex_interval<T>,                   \
                                  matrix_view<const complex_interval<T>>, complex_interval<T>,               \
                                  matrix_view<complex_interval<T>>);                                         \
  template VOUCH_PUBLIC void syr2k(                                                                          \
      const device&, triangle, transpose, complex_interval<T>, matrix_view<const complex_interval<T>>,       \
      matrix_view<const complex_interval<T>>, complex_interval<T>, matrix_view<complex_interval<T>>);

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch
