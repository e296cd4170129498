// vouch/dense/operators.hpp -- formulas with vectors and matrices, as one writes them in MATLAB or Octave.
//
// Vectors are array<E>, matrices matrix<E>; each expression makes a new one by the BLAS, on the device of its
// operands.
//
// Shapes  Operands of + - hull and intersection have the same shape; A*x and A*B fit as in algebra.
// Types   E is float, double, interval<float> or interval<double>, in one precision. Where points meet
//         intervals the result is one of intervals and the points are not widened.
// Memory  Operands of one expression live on one device; so does the result. == copies to the host.
// Result  Sums and products with a scalar: each bound rounded once. Products of matrices: as gemv and gemm.
// Throws  shape_error  shapes do not fit; the text has both
//         value_error  operands on different devices, and what the BLAS routine throws
#pragma once
#include <concepts>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/blas2.hpp>
#include <vouch/dense/blas3.hpp>
#include <vouch/dense/elementwise.hpp>
#include <vouch/dense/matrix.hpp>

namespace VOUCH_PUBLIC vouch {

namespace detail {

template <class C>
struct container_traits {};
template <scalar E>
struct container_traits<array<E>> {
  using element = E;
  template <class F>
  using of = array<F>;
};
template <scalar E>
struct container_traits<matrix<E>> {
  using element = E;
  template <class F>
  using of = matrix<F>;
};

template <class C>
using element_of = typename container_traits<C>::element;
template <class C, class E>
using container_of = typename container_traits<C>::template of<E>;

template <class C>
concept container = requires {
  typename container_traits<C>::element;
};
template <class A, class B>
concept like_containers =
    container<A> && container<B> && std::same_as<container_of<A, float>, container_of<B, float>> &&
    std::same_as<bound_of<element_of<A>>, bound_of<element_of<B>>>;

template <container C>
using bound_in = bound_of<element_of<C>>;

template <class E>
std::string shape_of(const array<E>& x) {
  return std::to_string(x.size());
}
template <class E>
std::string shape_of(const matrix<E>& A) {
  return shape_text(A.rows(), A.cols());
}

/// All elements, in memory's order.
template <class E>
view<const E> elements(const array<E>& x) {
  return x;
}
template <class E>
view<E> elements(array<E>& x) {
  return x;
}
template <class E>
view<const E> elements(const matrix<E>& A) {
  return {A.data(), A.rows() * A.cols()};
}
template <class E>
view<E> elements(matrix<E>& A) {
  return {A.data(), A.rows() * A.cols()};
}

template <class F, class E>
array<F> shaped_like(const array<E>& x) {
  return {x.where(), x.size()};
}
template <class F, class E>
matrix<F> shaped_like(const matrix<E>& A) {
  return {A.where(), A.rows(), A.cols()};
}

template <class A, class B>
void require_one_device(const char* what, const A& a, const B& b) {
  if (a.where().index() != b.where().index())
    throw value_error(std::string(what) + ": operands on different devices", "copy one of them: a.to(dev)");
}
template <class A, class B>
void require_like(const char* what, const A& a, const B& b) {
  if (shape_of(a) != shape_of(b))
    throw shape_error(std::string(what) + ": operands of the shapes " + shape_of(a) + " and " + shape_of(b));
  require_one_device(what, a, b);
}

template <class F, container C>
container_of<C, F> copied(const C& a) {
  auto to = shaped_like<F>(a);
  copy<element_of<C>, F>(a.where(), elements(a), elements(to));
  return to;
}

// a + sign b
template <class A, class B>
auto sum(const char* what, const A& a, const B& b, bound_in<A> sign) {
  using R = product_of<element_of<A>, element_of<B>>;
  require_like(what, a, b);
  auto all = copied<R>(a);
  axpy<element_of<B>, R>(a.where(), R{sign}, elements(b), elements(all));
  return all;
}

template <class R, container C>
auto multiple(R alpha, const C& a) {
  auto all = copied<R>(a);
  scal<R>(a.where(), alpha, elements(all));
  return all;
}

/// Factors: numbers and intervals of the elements' precision, and whole numbers.
template <class S, class C>
concept factor_of = container<C> &&(std::same_as<S, bound_in<C>> || std::same_as<S, interval<bound_in<C>>> ||
                                    (std::integral<S> && !std::same_as<S, bool>));
template <class S, class C>
using multiple_of = std::conditional_t<std::same_as<S, interval<bound_in<C>>>, S, element_of<C>>;

}  // namespace detail

/// The matrix with these rows, on dev.
/// Throws  shape_error  rows of different lengths
template <scalar E>
matrix<E> matrix_from_rows(const device& dev, std::initializer_list<std::initializer_list<E>> rows) {
  const auto m = static_cast<std::int64_t>(rows.size());
  const auto n = m == 0 ? 0 : static_cast<std::int64_t>(rows.begin()->size());
  std::vector<E> entries(static_cast<std::size_t>(m * n));
  std::int64_t i = 0;
  for (const auto& row : rows) {
    if (static_cast<std::int64_t>(row.size()) != n)
      throw shape_error("matrix_from_rows: row " + std::to_string(i) + " has " + std::to_string(row.size()) +
                        " entries, not " + std::to_string(n));
    std::int64_t j = 0;
    for (const E& e : row) entries[static_cast<std::size_t>(i + m * j++)] = e;
    ++i;
  }
  return matrix<E>::from(dev, m, n, entries);
}

/// The vector of these elements, on dev.
template <scalar E>
array<E> vector_from(const device& dev, std::initializer_list<E> elements) {
  return array<E>::from(dev, std::vector<E>(elements));
}

template <detail::container C>
C operator+(const C& a) {
  return detail::copied<detail::element_of<C>>(a);
}

template <detail::container C>
C operator-(const C& a) {
  using E = detail::element_of<C>;
  return detail::multiple(E{bound_of<E>{-1}}, a);
}

template <class A, class B>
requires detail::like_containers<A, B>
auto operator+(const A& a, const B& b) { return detail::sum("+", a, b, 1); }

template <class A, class B>
requires detail::like_containers<A, B>
auto operator-(const A& a, const B& b) { return detail::sum("-", a, b, -1); }

template <class S, class C>
requires detail::factor_of<S, C>
auto operator*(const S& alpha, const C& a) {
  using R = detail::multiple_of<S, C>;
  if constexpr (std::same_as<S, R>)
    return detail::multiple(alpha, a);
  else if constexpr (std::integral<S> && is_interval<R>)
    return detail::multiple(enclosing<detail::bound_in<C>>(alpha), a);
  else
    return detail::multiple(R{static_cast<detail::bound_in<C>>(alpha)}, a);
}
template <class S, class C>
requires detail::factor_of<S, C>
auto operator*(const C& a, const S& alpha) { return alpha * a; }

/// A x
template <scalar TA, scalar TX>
auto operator*(const matrix<TA>& A, const array<TX>& x) {
  using R = product_of<TA, TX>;
  detail::require_one_device("*", A, x);
  array<R> y(A.where(), A.rows());
  gemv<TA, TX, R>(A.where(), transpose::no, bound_of<R>{1}, A, x, bound_of<R>{0}, y);
  return y;
}

/// A B
template <scalar TA, scalar TB>
auto operator*(const matrix<TA>& A, const matrix<TB>& B) {
  using R = product_of<TA, TB>;
  detail::require_one_device("*", A, B);
  matrix<R> C(A.where(), A.rows(), B.cols());
  gemm<TA, TB, R>(A.where(), transpose::no, transpose::no, bound_of<R>{1}, A, B, bound_of<R>{0}, C);
  return C;
}

/// The same shape and, element by element, the same sets or numbers; NaN equals nothing.
template <detail::container C>
bool operator==(const C& a, const C& b) {
  return detail::shape_of(a) == detail::shape_of(b) && a.to_vector() == b.to_vector();
}

template <detail::container C>
requires is_interval<detail::element_of<C>> C hull(const C& a, const C& b) {
  detail::require_like("hull", a, b);
  auto all = detail::shaped_like<detail::element_of<C>>(a);
  hull<detail::bound_in<C>>(a.where(), detail::elements(a), detail::elements(b), detail::elements(all));
  return all;
}

template <detail::container C>
requires is_interval<detail::element_of<C>> C intersection(const C& a, const C& b) {
  detail::require_like("intersection", a, b);
  auto all = detail::shaped_like<detail::element_of<C>>(a);
  intersection<detail::bound_in<C>>(a.where(), detail::elements(a), detail::elements(b), detail::elements(all));
  return all;
}

template <detail::container C>
requires is_interval<detail::element_of<C>>
auto mid(const C& a) {
  auto m = detail::shaped_like<detail::bound_in<C>>(a);
  mid<detail::bound_in<C>>(a.where(), detail::elements(a), detail::elements(m));
  return m;
}

template <detail::container C>
requires is_interval<detail::element_of<C>>
auto rad(const C& a) {
  auto r = detail::shaped_like<detail::bound_in<C>>(a);
  rad<detail::bound_in<C>>(a.where(), detail::elements(a), detail::elements(r));
  return r;
}

}  // namespace vouch
