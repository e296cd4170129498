// vouch/band/reduction_row.hpp -- one row of cyclic reduction, on CPUs and GPUs; private.
#pragma once
#include <cstdint>

#include <vouch/core/types.hpp>

namespace vouch::detail {

/// Rows of one system, contiguous.
template <real T>
struct reduction_view {
  T *a, *d, *c, *f;
};

/// Row i of `to` is row i of `from` without its neighbours at a distance of `step`.
template <real T>
VOUCH_HOST_DEVICE inline void reduce_row(const reduction_view<T>& from, const reduction_view<T>& to,
                                         std::int64_t i, std::int64_t step, std::int64_t n) {
  T a = 0, c = 0, d = from.d[i], f = from.f[i];
  if (i >= step) {
    const T alpha = from.a[i] / from.d[i - step];
    a = -alpha * from.a[i - step];
    d -= alpha * from.c[i - step];
    f -= alpha * from.f[i - step];
  }
  if (i + step < n) {
    const T gamma = from.c[i] / from.d[i + step];
    c = -gamma * from.c[i + step];
    d -= gamma * from.a[i + step];
    f -= gamma * from.f[i + step];
  }
  to.a[i] = a;
  to.c[i] = c;
  to.d[i] = d;
  to.f[i] = f;
}

/// The unknown of row i from those at a distance of `step`; x is strided.
template <real T>
VOUCH_HOST_DEVICE inline void substitute_row(const reduction_view<T>& rows, std::int64_t i, std::int64_t step,
                                             std::int64_t n, T* x, std::int64_t stride) {
  T f = rows.f[i];
  if (i >= step) f -= rows.a[i] * x[(i - step) * stride];
  if (i + step < n) f -= rows.c[i] * x[(i + step) * stride];
  x[i * stride] = f / rows.d[i];
}

}  // namespace vouch::detail
