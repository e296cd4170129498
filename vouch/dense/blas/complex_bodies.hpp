// vouch/dense/blas/complex_bodies.hpp -- complex operands as the real routines see them, without copies; private.
#pragma once
#include <cstdint>
#include <type_traits>

#include <vouch/core/view.hpp>
#include <vouch/dense/blas/columns.hpp>
#include <vouch/dense/gemm/block_product.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/interval/complex_interval.hpp>

namespace vouch::detail {

template <real T, class Complex>
using part_like = std::conditional_t<std::is_const_v<Complex>, const interval<T>, interval<T>>;

/// The real (which = 0) or the imaginary parts of a vector where they are: that is how they lie.
template <real T, class Complex>
view<part_like<T, Complex>> part_of(view<Complex> z, int which) {
  static_assert(sizeof(Complex) == 2 * sizeof(interval<T>));
  return {reinterpret_cast<part_like<T, Complex>*>(z.data()) + which, z.size(), 2 * z.stride()};
}

/// The matrix with twice the rows, real and imaginary parts in turns, that the memory of A is.
template <real T, class Complex>
columns<part_like<T, Complex>> rows_in_turns(columns<Complex> A) {
  return {reinterpret_cast<part_like<T, Complex>*>(A.data),
          2 * A.rows,
          A.cols,
          2 * A.shift,
          2 * A.step,
          2 * A.growth,
          A.above,
          A.below,
          2};
}

}  // namespace vouch::detail

// what is done to one element of complex vectors and matrices around the
// products of their parts, for CPU and GPU.

namespace vouch::detail {

/// How the stored entries of a complex matrix make a matrix.
enum class complex_shape { general, symmetric, hermitian, triangular };

/// op(A) for a stored A, entry by entry; the other half of a triangle is 0.
template <real T>
struct complex_factor {
  matrix_view<const complex_interval<T>> A;
  transpose trans = transpose::no;
  complex_shape form = complex_shape::general;
  triangle stored = triangle::lower;
  diagonal unit = diagonal::general;

  VOUCH_HOST_DEVICE std::int64_t rows() const { return trans == transpose::no ? A.rows : A.cols; }
  VOUCH_HOST_DEVICE std::int64_t cols() const { return trans == transpose::no ? A.cols : A.rows; }

  VOUCH_HOST_DEVICE complex_interval<T> operator()(std::int64_t i, std::int64_t j) const {
    if (trans == transpose::no) return entry(i, j);
    return trans == transpose::yes ? entry(j, i) : conj(entry(j, i));
  }

 private:
  VOUCH_HOST_DEVICE complex_interval<T> entry(std::int64_t i, std::int64_t j) const {
    if (form == complex_shape::general) return A(i, j);
    if (i == j && form == complex_shape::hermitian) return A(i, i).real();
    if (i == j && unit == diagonal::unit) return interval<T>(T{1});
    if (i == j || (stored == triangle::lower) == (i > j)) return A(i, j);
    if (form == complex_shape::triangular) return complex_interval<T>{};
    return form == complex_shape::hermitian ? conj(A(j, i)) : A(j, i);
  }
};

/// The real and the imaginary parts of a factor, in matrices of its shape.
template <real T>
struct parts_of_factor {
  complex_factor<T> from;
  matrix_view<interval<T>> real, imag;
  VOUCH_HOST_DEVICE void operator()(std::int64_t e) const {
    const std::int64_t i = e % real.rows, j = e / real.rows;
    const complex_interval<T> z = from(i, j);
    real(i, j) = z.real();
    imag(i, j) = z.imag();
  }
};

template <real T>
struct negatives {
  const interval<T>* x;
  interval<T>* to;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { to[i] = -x[i]; }
};

/// product + beta c, where beta = 0 overwrites.
template <real T>
VOUCH_HOST_DEVICE complex_interval<T> finished(complex_interval<T> product, complex_interval<T> beta,
                                               const complex_interval<T>& c) {
  return beta == complex_interval<T>{} ? product : product + beta * c;
}

template <real T>
VOUCH_HOST_DEVICE complex_interval<T> scaled_by(complex_interval<T> alpha, complex_interval<T> z) {
  return alpha == complex_interval<T>(interval<T>(T{1})) ? z : alpha * z;
}

/// C := alpha (real + i imag) + beta C
template <real T>
struct sums_of_parts {
  complex_interval<T> alpha, beta;
  matrix_view<const interval<T>> real, imag;
  matrix_view<complex_interval<T>> C;
  VOUCH_HOST_DEVICE void operator()(std::int64_t e) const {
    const std::int64_t i = e % C.rows, j = e / C.rows;
    C(i, j) = finished<T>(scaled_by<T>(alpha, {real(i, j), imag(i, j)}), beta, C(i, j));
  }
};

/// One triangle of C := alpha P + beta C, or with both of alpha P + (alpha P)^H + beta C, for P = real + i
/// imag; the diagonal is real, and so is what stood there.
template <real T>
struct hermitian_sums {
  complex_interval<T> alpha;
  interval<T> beta;
  bool both;
  triangle stored;
  matrix_view<const interval<T>> real, imag;
  matrix_view<complex_interval<T>> C;

  VOUCH_HOST_DEVICE void operator()(std::int64_t e) const {
    const std::int64_t i = e % C.rows, j = e / C.rows;
    if (stored == triangle::lower ? i < j : i > j) return;
    const complex_interval<T> sum = both ? product(i, j) + conj(product(j, i)) : product(i, j);
    C(i, j) = i == j ? finished<T>(sum.real(), beta, C(i, i).real()) : finished<T>(sum, beta, C(i, j));
  }

 private:
  VOUCH_HOST_DEVICE complex_interval<T> product(std::int64_t i, std::int64_t j) const {
    return scaled_by<T>(alpha, {real(i, j), i == j && !both ? interval<T>{} : imag(i, j)});
  }
};

/// One triangle of C := alpha P + beta C, or with both of alpha P + (alpha P)^T + beta C, for P = real + i
/// imag.
template <real T>
struct symmetric_sums {
  complex_interval<T> alpha, beta;
  bool both;
  triangle stored;
  matrix_view<const interval<T>> real, imag;
  matrix_view<complex_interval<T>> C;

  VOUCH_HOST_DEVICE void operator()(std::int64_t e) const {
    const std::int64_t i = e % C.rows, j = e / C.rows;
    if (stored == triangle::lower ? i < j : i > j) return;
    C(i, j) = finished<T>(both ? product(i, j) + product(j, i) : product(i, j), beta, C(i, j));
  }

 private:
  VOUCH_HOST_DEVICE complex_interval<T> product(std::int64_t i, std::int64_t j) const {
    return scaled_by<T>(alpha, {real(i, j), imag(i, j)});
  }
};

/// Substitution with the triangle op(A) of a factor: the columns of X := op(A)^-1 X, or the rows of
/// X := X op(A)^-1, one for each call. As in level 2, the products with the real and with the imaginary parts
/// of what is found are chains of their own.
template <real T>
struct small_solutions {
  complex_factor<T> A;
  side where;
  matrix_view<complex_interval<T>> X;

  VOUCH_HOST_DEVICE void operator()(std::int64_t line) const {
    const std::int64_t n = A.rows();
    const bool left = where == side::left;
    // On the right the equations are those of the transposed triangle.
    const bool downwards = ((A.stored == triangle::lower) == (A.trans == transpose::no)) == left;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t j = downwards ? k : n - 1 - k;
      const complex_interval<T> b = at(line, j);
      interval<T> real = b.real(), imag = b.imag(), crossed_real{}, crossed_imag{};
      for (std::int64_t l = 0; l < k; ++l) {
        const std::int64_t i = downwards ? l : n - 1 - l;
        const complex_interval<T> a = left ? A(j, i) : A(i, j), x = -at(line, i);
        real = multiply_add(a.real(), x.real(), real);
        imag = multiply_add(a.imag(), x.real(), imag);
        crossed_real = multiply_add(a.real(), x.imag(), crossed_real);
        crossed_imag = multiply_add(a.imag(), x.imag(), crossed_imag);
      }
      const complex_interval<T> sum{real - crossed_imag, imag + crossed_real};
      at(line, j) = A.unit == diagonal::unit ? sum : sum / A(j, j);
    }
  }

 private:
  VOUCH_HOST_DEVICE complex_interval<T>& at(std::int64_t line, std::int64_t i) const {
    return where == side::left ? X(i, line) : X(line, i);
  }
};

/// X := alpha X
template <real T>
struct matrix_multiples {
  complex_interval<T> alpha;
  matrix_view<complex_interval<T>> X;
  VOUCH_HOST_DEVICE void operator()(std::int64_t e) const {
    complex_interval<T>& x = X(e % X.rows, e / X.rows);
    x = alpha == complex_interval<T>{} ? complex_interval<T>{} : alpha * x;
  }
};

/// |real| + |imaginary| at its largest or its smallest, to nearest; NaN for the empty set.
template <real T>
struct complex_sizes {
  view<const complex_interval<T>> x;
  bool largest;
  T* to;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    to[i] = largest ? mag(x[i].real()) + mag(x[i].imag()) : mig(x[i].real()) + mig(x[i].imag());
  }
};

/// x := alpha x
template <real T>
struct complex_multiples {
  complex_interval<T> alpha;
  view<complex_interval<T>> x;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { x[i] = alpha * x[i]; }
};

/// Vectors of real numbers whose inner products with a column, real and imaginary parts in turns, are the real
/// and the imaginary part of the column's inner product with x: for entries a, or for conj(a).
template <real T>
struct turned_parts {
  view<const complex_interval<T>> x;
  bool conjugate;
  interval<T>* for_real;
  interval<T>* for_imag;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const interval<T> re = x[i].real(), im = x[i].imag();
    for_real[2 * i] = re;
    for_real[2 * i + 1] = conjugate ? im : -im;
    for_imag[2 * i] = im;
    for_imag[2 * i + 1] = conjugate ? -re : re;
  }
};

/// y := alpha (direct + turned + D x) + beta y, where direct comes from the products of columns in turns with
/// the real and the imaginary part of x, turned from inner products, D is a real diagonal or the identity. Null
/// pointers stand for nothing.
template <real T>
struct product_from_parts {
  complex_interval<T> alpha, beta;
  const interval<T>* with_real;
  const interval<T>* with_imag;
  const interval<T>* real;
  const interval<T>* imag;
  bool identity;
  columns<const complex_interval<T>> real_diagonal;
  view<const complex_interval<T>> x;
  view<complex_interval<T>> y;

  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    complex_interval<T> sum;
    if (with_real != nullptr)
      sum +=
          complex_interval<T>(with_real[2 * i] - with_imag[2 * i + 1], with_real[2 * i + 1] + with_imag[2 * i]);
    if (real != nullptr) sum += complex_interval<T>(real[i], imag[i]);
    if (identity) sum += x[i];
    if (real_diagonal.data != nullptr) sum += real_diagonal(i, i).real() * x[i];
    y[i] = finished<T>(scaled_by<T>(alpha, sum), beta, y[i]);
  }
};

/// The factors c_j = alpha y_j, or alpha conj(y_j), of an update's columns: Re c_j and -Im c_j.
template <real T>
struct column_factors {
  complex_interval<T> alpha;
  view<const complex_interval<T>> y;
  bool conjugate;
  interval<T>* real;
  interval<T>* negative_imag;
  VOUCH_HOST_DEVICE void operator()(std::int64_t j) const {
    const complex_interval<T> c = alpha * (conjugate ? conj(y[j]) : y[j]);
    real[j] = c.real();
    negative_imag[j] = -c.imag();
  }
};

/// The diagonal of A := alpha x x^H + A, which is real, and formed of squares.
template <real T>
struct square_diagonal_entries {
  interval<T> alpha;
  view<const complex_interval<T>> x;
  columns<complex_interval<T>> A;
  VOUCH_HOST_DEVICE void operator()(std::int64_t j) const {
    A(j, j) = A(j, j).real() + alpha * (sqr(x[j].real()) + sqr(x[j].imag()));
  }
};

/// The diagonal of A := alpha x y^H + (alpha x y^H)^H + A.
template <real T>
struct mixed_diagonal_entries {
  complex_interval<T> alpha;
  view<const complex_interval<T>> x, y;
  columns<complex_interval<T>> A;
  VOUCH_HOST_DEVICE void operator()(std::int64_t j) const {
    A(j, j) = A(j, j).real() + T{2} * (alpha * x[j] * conj(y[j])).real();
  }
};

}  // namespace vouch::detail
