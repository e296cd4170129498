#include <vector>

#include <vouch/dense/blas1.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/block_product.hpp>
#include <vouch/dense/checks.hpp>
#include <vouch/dense/complex_blas.hpp>
#include <vouch/dense/vectors.hpp>

namespace vouch {
namespace {

using namespace detail;

// The real or the imaginary parts of a vector where they are: real, then imaginary part is how they lie.
template <real T, class Complex>
auto part_of(view<Complex> z, int which) {
  using part = std::conditional_t<std::is_const_v<Complex>, const interval<T>, interval<T>>;
  static_assert(sizeof(Complex) == 2 * sizeof(part));
  return view<part>(reinterpret_cast<part*>(z.data()) + which, z.size(), 2 * z.stride());
}

// A matrix in two; the imaginary part with its sign changed on demand.
template <real T>
struct two_parts {
  matrix<interval<T>> real, imag;
};

template <real T, class Entry>
two_parts<T> parts_from(const device& dev, std::int64_t rows, std::int64_t cols, const Entry& entry) {
  two_parts<T> parts{{device::cpu(1), rows, cols}, {device::cpu(1), rows, cols}};
#pragma omp parallel for num_threads(dev.threads()) schedule(static)
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const complex_interval<T> z = entry(i, j);
      parts.real(i, j) = z.real();
      parts.imag(i, j) = z.imag();
    }
  return parts;
}

// op(A)
template <real T>
two_parts<T> parts_of_factor(const device& dev, matrix_view<const complex_interval<T>> A, transpose trans) {
  if (trans == transpose::no)
    return parts_from<T>(dev, A.rows, A.cols, [A](std::int64_t i, std::int64_t j) { return A(i, j); });
  return parts_from<T>(dev, A.cols, A.rows, [A, trans](std::int64_t i, std::int64_t j) {
    return trans == transpose::conjugate ? conj(A(j, i)) : A(j, i);
  });
}

template <real T>
two_parts<T> parts_of_hermitian(const device& dev, matrix_view<const complex_interval<T>> A, triangle stored) {
  return parts_from<T>(dev, A.rows, A.cols, [A, stored](std::int64_t i, std::int64_t j) {
    if (i == j) return complex_interval<T>(A(i, i).real());
    return (stored == triangle::lower) == (i > j) ? A(i, j) : conj(A(j, i));
  });
}

template <real T>
void negate(matrix<interval<T>>& A) {
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) A(i, j) = -A(i, j);
}

template <real T>
factor<interval<T>> general(const matrix<interval<T>>& A, bool transposed = false) {
  return {A.all(), transposed};
}

// sum := first second + third fourth
template <real T>
void add_two(const device& dev, const matrix<interval<T>>& first, const matrix<interval<T>>& second,
             const matrix<interval<T>>& third, const matrix<interval<T>>& fourth, matrix<interval<T>>& sum) {
  using I = interval<T>;
  add_products<I, I, I>(dev, I(T{1}), {{general(first), general(second)}, {general(third), general(fourth)}},
                        I{}, sum.all(), region::all);
}

// C := alpha A B + beta C
template <real T>
void add_parts(const device& dev, complex_interval<T> alpha, const two_parts<T>& A, two_parts<T> B,
               complex_interval<T> beta, matrix_view<complex_interval<T>> C) {
  matrix<interval<T>> real(device::cpu(1), C.rows, C.cols), imag(device::cpu(1), C.rows, C.cols);
  add_two(dev, A.real, B.imag, A.imag, B.real, imag);
  negate(B.imag);
  add_two(dev, A.real, B.real, A.imag, B.imag, real);
  const complex_interval<T> one(interval<T>(T{1})), zero;
  for (std::int64_t j = 0; j < C.cols; ++j)
    for (std::int64_t i = 0; i < C.rows; ++i) {
      const complex_interval<T> product(real(i, j), imag(i, j));
      const complex_interval<T> scaled = alpha == one ? product : alpha * product;
      C(i, j) = beta == zero ? scaled : scaled + beta * C(i, j);
    }
}

template <real T>
complex_interval<T> dot_with(const device& dev, view<const complex_interval<T>> x,
                             view<const complex_interval<T>> y, bool conjugate) {
  const auto sum = [&](int a, int b) { return dot(dev, part_of<T>(x, a), part_of<T>(y, b)); };
  const interval<T> both_imaginary = sum(1, 1), crossed = sum(1, 0);
  return {sum(0, 0) + (conjugate ? both_imaginary : -both_imaginary),
          sum(0, 1) + (conjugate ? -crossed : crossed)};
}

}  // namespace

template <real T>
void scal(const device& dev, std::type_identity_t<interval<T>> alpha, view<complex_interval<T>> x) {
  for (const int part : {0, 1}) scal<interval<T>>(dev, alpha, part_of<T>(x, part));
}

template <real T>
void axpy(const device& dev, std::type_identity_t<complex_interval<T>> alpha, view<const complex_interval<T>> x,
          view<complex_interval<T>> y) {
  using I = interval<T>;
  axpy<I, I>(dev, alpha.real(), part_of<T>(x, 0), part_of<T>(y, 0));
  axpy<I, I>(dev, -alpha.imag(), part_of<T>(x, 1), part_of<T>(y, 0));
  axpy<I, I>(dev, alpha.real(), part_of<T>(x, 1), part_of<T>(y, 1));
  axpy<I, I>(dev, alpha.imag(), part_of<T>(x, 0), part_of<T>(y, 1));
}

template <real T>
complex_interval<T> dotu(const device& dev, view<const complex_interval<T>> x,
                         view<const complex_interval<T>> y) {
  return dot_with<T>(dev, x, y, false);
}

template <real T>
complex_interval<T> dotc(const device& dev, view<const complex_interval<T>> x,
                         view<const complex_interval<T>> y) {
  return dot_with<T>(dev, x, y, true);
}

template <real T>
interval<T> nrm2(const device& dev, view<const complex_interval<T>> x) {
  const std::vector<interval<T>> parts{nrm2<interval<T>>(dev, part_of<T>(x, 0)),
                                       nrm2<interval<T>>(dev, part_of<T>(x, 1))};
  return nrm2<interval<T>>(device::cpu(1), view<const interval<T>>(parts.data(), 2));
}

template <real T>
interval<T> asum(const device& dev, view<const complex_interval<T>> x) {
  return asum<interval<T>>(dev, part_of<T>(x, 0)) + asum<interval<T>>(dev, part_of<T>(x, 1));
}

template <real T>
void gemv(const device& dev, transpose trans, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, view<const complex_interval<T>> x,
          std::type_identity_t<complex_interval<T>> beta, view<complex_interval<T>> y) {
  require_cpu(dev, "gemv");
  require_matrix("gemv", "A", A);
  const bool plain = trans == transpose::no;
  require_size("gemv", "x", x.size(), plain ? A.cols : A.rows);
  require_size("gemv", "y", y.size(), plain ? A.rows : A.cols);
  require_apart("gemv", "y", y, "x", x);
  require_apart("gemv", "y", y, "A", A);
  auto result = whole(y);
  add_parts<T>(dev, alpha, parts_of_factor<T>(dev, A, trans),
               parts_from<T>(dev, x.size(), 1, [x](std::int64_t i, std::int64_t) { return x[i]; }), beta,
               {result.data(), y.size(), 1, std::max<std::int64_t>(1, y.size())});
  result.scatter();
}

template <real T>
void gemm(const device& dev, transpose trans_a, transpose trans_b,
          std::type_identity_t<complex_interval<T>> alpha, matrix_view<const complex_interval<T>> A,
          matrix_view<const complex_interval<T>> B, std::type_identity_t<complex_interval<T>> beta,
          matrix_view<complex_interval<T>> C) {
  require_cpu(dev, "gemm");
  require_matrix("gemm", "A", A);
  require_matrix("gemm", "B", B);
  const bool plain_a = trans_a == transpose::no, plain_b = trans_b == transpose::no;
  const std::int64_t m = plain_a ? A.rows : A.cols, k = plain_a ? A.cols : A.rows;
  const std::int64_t n = plain_b ? B.cols : B.rows, k_of_b = plain_b ? B.rows : B.cols;
  if (k != k_of_b)
    throw shape_error("gemm: op(A) is " + shape_text(m, k) + " and op(B) is " + shape_text(k_of_b, n));
  require_shape("gemm", "C", C, m, n);
  require_apart("gemm", "C", C, "A", A);
  require_apart("gemm", "C", C, "B", B);
  add_parts<T>(dev, alpha, parts_of_factor<T>(dev, A, trans_a), parts_of_factor<T>(dev, B, trans_b), beta, C);
}

template <real T>
void hemm(const device& dev, side where, triangle stored, std::type_identity_t<complex_interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, matrix_view<const complex_interval<T>> B,
          std::type_identity_t<complex_interval<T>> beta, matrix_view<complex_interval<T>> C) {
  require_cpu(dev, "hemm");
  require_matrix("hemm", "C", C);
  const std::int64_t n = where == side::left ? C.rows : C.cols;
  require_shape("hemm", "A", A, n, n);
  require_shape("hemm", "B", B, C.rows, C.cols);
  require_apart("hemm", "C", C, "A", A);
  require_apart("hemm", "C", C, "B", B);
  auto hermitian = parts_of_hermitian<T>(dev, A, stored);
  auto general_factor = parts_of_factor<T>(dev, B, transpose::no);
  if (where == side::left)
    add_parts<T>(dev, alpha, hermitian, std::move(general_factor), beta, C);
  else
    add_parts<T>(dev, alpha, general_factor, std::move(hermitian), beta, C);
}

template <real T>
void herk(const device& dev, triangle stored, transpose trans, std::type_identity_t<interval<T>> alpha,
          matrix_view<const complex_interval<T>> A, std::type_identity_t<interval<T>> beta,
          matrix_view<complex_interval<T>> C) {
  using I = interval<T>;
  require_cpu(dev, "herk");
  require_matrix("herk", "A", A);
  if (trans == transpose::yes)
    throw value_error("herk: the transpose without conjugation", "use transpose::no or transpose::conjugate");
  two_parts<T> parts = parts_of_factor<T>(dev, A, trans);
  const std::int64_t n = parts.real.rows();
  require_shape("herk", "C", C, n, n);
  require_apart("herk", "C", C, "A", A);
  // (R + iS)(R + iS)^H = R R^T + S S^T + i (S R^T - R S^T)
  matrix<I> real(device::cpu(1), n, n), imag(device::cpu(1), n, n);
  const I one(T{1});
  syrk<I, I>(dev, stored, transpose::no, one, parts.real.read(), I{}, real.all());
  syrk<I, I>(dev, stored, transpose::no, one, parts.imag.read(), one, real.all());
  matrix<I> negative = parts.real.to(device::cpu(1));
  negate(negative);
  add_products<I, I, I>(
      dev, one,
      {{general(parts.imag), general(parts.real, true)}, {general(negative), general(parts.imag, true)}}, I{},
      imag.all(), stored == triangle::lower ? region::lower : region::upper);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = stored == triangle::lower ? j : 0; i < (stored == triangle::lower ? n : j + 1); ++i) {
      complex_interval<T>& c = C(i, j);
      const complex_interval<T> product(real(i, j), i == j ? I{} : imag(i, j)),
          old = i == j ? complex_interval<T>(c.real()) : c;
      c = beta == I{} ? product * alpha : product * alpha + old * beta;
    }
}

#define VOUCH_PRECISION(T)                                                                                    \
  template void scal(const device&, interval<T>, view<complex_interval<T>>);                                  \
  template void axpy(const device&, complex_interval<T>, view<const complex_interval<T>>,                     \
                     view<complex_interval<T>>);                                                              \
  template complex_interval<T> dotu(const device&, view<const complex_interval<T>>,                           \
                                    view<const complex_interval<T>>);                                         \
  template complex_interval<T> dotc(const device&, view<const complex_interval<T>>,                           \
                                    view<const complex_interval<T>>);                                         \
  template interval<T> nrm2(const device&, view<const complex_interval<T>>);                                  \
  template interval<T> asum(const device&, view<const complex_interval<T>>);                                  \
  template void gemv(const device&, transpose, complex_interval<T>, matrix_view<const complex_interval<T>>,   \
                     view<const complex_interval<T>>, complex_interval<T>, view<complex_interval<T>>);        \
  template void gemm(const device&, transpose, transpose, complex_interval<T>,                                \
                     matrix_view<const complex_interval<T>>, matrix_view<const complex_interval<T>>,          \
                     complex_interval<T>, matrix_view<complex_interval<T>>);                                  \
  template void hemm(const device&, side, triangle, complex_interval<T>,                                      \
                     matrix_view<const complex_interval<T>>, matrix_view<const complex_interval<T>>,          \
                     complex_interval<T>, matrix_view<complex_interval<T>>);                                  \
  template void herk(const device&, triangle, transpose, interval<T>, matrix_view<const complex_interval<T>>, \
                     interval<T>, matrix_view<complex_interval<T>>);

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch
