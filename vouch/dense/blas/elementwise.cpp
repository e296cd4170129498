#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/blas/checks.hpp>
#include <vouch/dense/blas/each_element.hpp>
#include <vouch/dense/blas/elementwise_bodies.hpp>
#include <vouch/dense/blas/vectors.hpp>
#include <vouch/dense/elementwise.hpp>

namespace vouch {

using namespace detail;

template <real T>
void hull(const device& dev, view<const interval<T>> x, view<const interval<T>> y, view<interval<T>> z) {
  const ieee_environment here;
  require_size("hull", "y", y.size(), x.size());
  require_size("hull", "z", z.size(), x.size());
  require_reachable(dev, "hull", x, y, z);
  each_element(dev, "hull", x.size(), hulls<T>{x, y, z});
}

template <real T>
void intersection(const device& dev, view<const interval<T>> x, view<const interval<T>> y,
                  view<interval<T>> z) {
  const ieee_environment here;
  require_size("intersection", "y", y.size(), x.size());
  require_size("intersection", "z", z.size(), x.size());
  require_reachable(dev, "intersection", x, y, z);
  each_element(dev, "intersection", x.size(), intersections<T>{x, y, z});
}

template <real T>
void mid(const device& dev, view<const interval<T>> x, view<T> m) {
  const ieee_environment here;
  require_size("mid", "m", m.size(), x.size());
  require_reachable(dev, "mid", x, m);
  each_element(dev, "mid", x.size(), midpoints<T>{x, m});
}

template <real T>
void rad(const device& dev, view<const interval<T>> x, view<T> r) {
  const ieee_environment here;
  require_size("rad", "r", r.size(), x.size());
  require_reachable(dev, "rad", x, r);
  each_element(dev, "rad", x.size(), radii<T>{x, r});
}

template <real T>
void enclose(const device& dev, view<const T> m, view<const T> r, view<interval<T>> x) {
  const ieee_environment here;
  require_size("enclose", "r", r.size(), m.size());
  require_size("enclose", "x", x.size(), m.size());
  require_reachable(dev, "enclose", m, r, x);
  each_element(dev, "enclose", m.size(), ball_hulls<T>{m, r, x});
}

#define VOUCH_ELEMENTWISE(T)                                                                               \
  template VOUCH_PUBLIC void hull(const device&, view<const interval<T>>, view<const interval<T>>,         \
                                  view<interval<T>>);                                                      \
  template VOUCH_PUBLIC void intersection(const device&, view<const interval<T>>, view<const interval<T>>, \
                                          view<interval<T>>);                                              \
  template VOUCH_PUBLIC void mid(const device&, view<const interval<T>>, view<T>);                         \
  template VOUCH_PUBLIC void rad(const device&, view<const interval<T>>, view<T>);                         \
  template VOUCH_PUBLIC void enclose(const device&, view<const T>, view<const T>, view<interval<T>>);

VOUCH_ELEMENTWISE(float)
VOUCH_ELEMENTWISE(double)

}  // namespace vouch
