#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas/complex_bodies.hpp>
#include <vouch/dense/blas/each_element.hpp>
#include <vouch/dense/blas1.hpp>
#include <vouch/dense/complex_blas.hpp>

namespace vouch {

using namespace detail;

namespace {

template <real T>
complex_interval<T> dot_with(const device& dev, view<const complex_interval<T>> x,
                             view<const complex_interval<T>> y, bool conjugate) {
  const auto sum = [&](int a, int b) { return dot(dev, part_of<T>(x, a), part_of<T>(y, b)); };
  const interval<T> both_imaginary = sum(1, 1), crossed = sum(1, 0);
  return {sum(0, 0) + (conjugate ? both_imaginary : -both_imaginary),
          sum(0, 1) + (conjugate ? -crossed : crossed)};
}

template <real T>
array<T> sizes_of(const device& dev, const char* routine, view<const complex_interval<T>> x, bool largest) {
  require_reachable(dev, routine, x);
  array<T> sizes(dev, x.size());
  each_element(dev, routine, x.size(), complex_sizes<T>{x, largest, sizes.data()});
  return sizes;
}

}  // namespace

template <real T>
void copy(const device& dev, view<const complex_interval<T>> x, view<complex_interval<T>> y) {
  const ieee_environment here;
  for (const int part : {0, 1}) copy<interval<T>, interval<T>>(dev, part_of<T>(x, part), part_of<T>(y, part));
}

template <real T>
void swap(const device& dev, view<complex_interval<T>> x, view<complex_interval<T>> y) {
  const ieee_environment here;
  for (const int part : {0, 1}) swap<interval<T>>(dev, part_of<T>(x, part), part_of<T>(y, part));
}

template <real T>
void scal(const device& dev, std::type_identity_t<interval<T>> alpha, view<complex_interval<T>> x) {
  const ieee_environment here;
  for (const int part : {0, 1}) scal<interval<T>>(dev, alpha, part_of<T>(x, part));
}

template <real T>
void scal(const device& dev, std::type_identity_t<complex_interval<T>> alpha, view<complex_interval<T>> x) {
  const ieee_environment here;
  require_reachable(dev, "scal", x);
  each_element(dev, "scal", x.size(), complex_multiples<T>{alpha, x});
}

template <real T>
void axpy(const device& dev, std::type_identity_t<complex_interval<T>> alpha, view<const complex_interval<T>> x,
          view<complex_interval<T>> y) {
  const ieee_environment here;
  using I = interval<T>;
  axpy<I, I>(dev, alpha.real(), part_of<T>(x, 0), part_of<T>(y, 0));
  axpy<I, I>(dev, -alpha.imag(), part_of<T>(x, 1), part_of<T>(y, 0));
  axpy<I, I>(dev, alpha.real(), part_of<T>(x, 1), part_of<T>(y, 1));
  axpy<I, I>(dev, alpha.imag(), part_of<T>(x, 0), part_of<T>(y, 1));
}

template <real T>
complex_interval<T> dotu(const device& dev, view<const complex_interval<T>> x,
                         view<const complex_interval<T>> y) {
  const ieee_environment here;
  return dot_with<T>(dev, x, y, false);
}

template <real T>
complex_interval<T> dotc(const device& dev, view<const complex_interval<T>> x,
                         view<const complex_interval<T>> y) {
  const ieee_environment here;
  return dot_with<T>(dev, x, y, true);
}

template <real T>
interval<T> nrm2(const device& dev, view<const complex_interval<T>> x) {
  const ieee_environment here;
  const std::vector<interval<T>> parts{nrm2<interval<T>>(dev, part_of<T>(x, 0)),
                                       nrm2<interval<T>>(dev, part_of<T>(x, 1))};
  return nrm2<interval<T>>(device::cpu(1), view<const interval<T>>(parts.data(), 2));
}

template <real T>
interval<T> asum(const device& dev, view<const complex_interval<T>> x) {
  const ieee_environment here;
  return asum<interval<T>>(dev, part_of<T>(x, 0)) + asum<interval<T>>(dev, part_of<T>(x, 1));
}

template <real T>
std::int64_t iamax(const device& dev, view<const complex_interval<T>> x) {
  const ieee_environment here;
  const array<T> sizes = sizes_of<T>(dev, "iamax", x, true);
  return iamax<T>(dev, sizes.all());
}

template <real T>
std::int64_t iamin(const device& dev, view<const complex_interval<T>> x) {
  const ieee_environment here;
  const array<T> sizes = sizes_of<T>(dev, "iamin", x, false);
  return iamin<T>(dev, sizes.all());
}

template <real T>
void rot(const device& dev, view<complex_interval<T>> x, view<complex_interval<T>> y,
         std::type_identity_t<interval<T>> c, std::type_identity_t<interval<T>> s) {
  const ieee_environment here;
  for (const int part : {0, 1}) rot<interval<T>>(dev, part_of<T>(x, part), part_of<T>(y, part), c, s);
}

#define VOUCH_PRECISION(T)                                                                                    \
  template VOUCH_PUBLIC void copy(const device&, view<const complex_interval<T>>, view<complex_interval<T>>); \
  template VOUCH_PUBLIC void swap(const device&, view<complex_interval<T>>, view<complex_interval<T>>);       \
  template VOUCH_PUBLIC void scal(const device&, interval<T>, view<complex_interval<T>>);                     \
  template VOUCH_PUBLIC void scal(const device&, complex_interval<T>, view<complex_interval<T>>);             \
  template VOUCH_PUBLIC void axpy(const device&, complex_interval<T>, view<const complex_interval<T>>,        \
                                  view<complex_interval<T>>);                                                 \
  template VOUCH_PUBLIC complex_interval<T> dotu(const device&, view<const complex_interval<T>>,              \
                                                 view<const complex_interval<T>>);                            \
  template VOUCH_PUBLIC complex_interval<T> dotc(const device&, view<const complex_interval<T>>,              \
                                                 view<const complex_interval<T>>);                            \
  template VOUCH_PUBLIC interval<T> nrm2(const device&, view<const complex_interval<T>>);                     \
  template VOUCH_PUBLIC interval<T> asum(const device&, view<const complex_interval<T>>);                     \
  template VOUCH_PUBLIC std::int64_t iamax(const device&, view<const complex_interval<T>>);                   \
  template VOUCH_PUBLIC std::int64_t iamin(const device&, view<const complex_interval<T>>);                   \
  template VOUCH_PUBLIC void rot(const device&, view<complex_interval<T>>, view<complex_interval<T>>,         \
                                 interval<T>, interval<T>);

VOUCH_PRECISION(float)
VOUCH_PRECISION(double)

}  // namespace vouch
