// vouch/dense/blas/elementwise_bodies.hpp -- what is done to one element, for CPU and GPU; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/interval/ball.hpp>
#include <vouch/interval/functions.hpp>

namespace vouch::detail {

template <real T>
struct hulls {
  view<const interval<T>> x, y;
  view<interval<T>> z;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { z[i] = hull(x[i], y[i]); }
};

template <real T>
struct intersections {
  view<const interval<T>> x, y;
  view<interval<T>> z;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { z[i] = intersection(x[i], y[i]); }
};

template <real T>
struct midpoints {
  view<const interval<T>> x;
  view<T> to;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { to[i] = mid(x[i]); }
};

template <real T>
struct radii {
  view<const interval<T>> x;
  view<T> to;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { to[i] = rad(x[i]); }
};

template <real T>
struct ball_hulls {
  view<const T> m, r;
  view<interval<T>> to;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { to[i] = to_interval(ball<T>{m[i], r[i]}); }
};

/// body(i) for every i < n on a GPU; instantiated in elementwise_cuda.cu.
template <class Body>
void each_element_cuda(const device& dev, const char* name, std::int64_t n, const Body& body);

}  // namespace vouch::detail
