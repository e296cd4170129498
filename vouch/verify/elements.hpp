// vouch/verify/elements.hpp -- what the verification does with single elements of vectors; private, CPU and
// GPU.
//
// Bodies with value(i) are looked through for their largest value, which is never negative; NaN counts as the
// largest of all.
#pragma once
#include <cmath>

#include <vouch/core/twofold.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch::detail {

/// c := at least |r|
struct magnitude_body {
  const interval<double>* r;
  double* c;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const double lo = std::fabs(r[i].lo()), hi = std::fabs(r[i].hi());
    c[i] = lo > hi ? lo : hi;
  }
};

/// middle := about the midpoint of r
struct middle_body {
  const interval<double>* r;
  double* middle;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { middle[i] = r[i].lo() / 2 + r[i].hi() / 2; }
};

/// t := at least c / d, sum := at least sum + t
struct jacobi_body {
  const double* c;
  const double* d;
  double* t;
  double* sum;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    t[i] = c[i] == 0 ? 0 : div_up(c[i], d[i]);
    sum[i] = add_up(sum[i], t[i]);
  }
};

/// c / image, at least; 0 for c = 0.
struct quotient_body {
  const double* c;
  const double* image;
  VOUCH_HOST_DEVICE double value(std::int64_t i) const { return c[i] == 0 ? 0 : div_up(c[i], image[i]); }
};

/// radius := at least sum + factor v
struct radius_body {
  const double* sum;
  const double* v;
  double factor;
  double* radius;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { radius[i] = add_up(sum[i], mul_up(factor, v[i])); }
};

/// 1 where v and image do not prove: not positive, or not finite.
struct refutes_body {
  const double* v;
  const double* image;
  VOUCH_HOST_DEVICE double value(std::int64_t i) const {
    return v[i] > 0 && rounding::finite(v[i]) && image[i] > 0 && rounding::finite(image[i]) ? 0 : 1;
  }
};

/// v := about scale * z
struct unscale_body {
  const double* scale;
  const float* z;
  double* v;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { v[i] = scale[i] * z[i]; }
};

/// out := value
template <class T>
struct fill_body {
  T value;
  T* out;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { out[i] = value; }
};

/// |v|, NaN as it is.
struct size_body {
  const double* v;
  VOUCH_HOST_DEVICE double value(std::int64_t i) const { return std::fabs(v[i]); }
};

/// x + lo := x + lo + d about, with |lo| at most half an ulp of x.
struct improve_body {
  const double* d;
  double* x;
  double* lo;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const twofold<double> sum = twofold<double>{x[i], lo[i]} + d[i];
    x[i] = sum.hi;
    lo[i] = sum.lo;
  }
};

/// radius := at least radius + |lo|
struct widen_body {
  const double* lo;
  double* radius;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { radius[i] = add_up(radius[i], std::fabs(lo[i])); }
};

/// At least |x - x*| / |x*| for all x* within radius of x: infinite where x* may be 0 and x* = x is not proved.
struct relative_body {
  const double* x;
  const double* radius;
  double* out;  // may be nullptr
  VOUCH_HOST_DEVICE double value(std::int64_t i) const {
    if (radius[i] == 0) return 0;
    const double least = sub_down(std::fabs(x[i]), radius[i]);
    return least > 0 ? div_up(radius[i], least) : rounding::infinity<double>;
  }
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { out[i] = value(i); }
};

}  // namespace vouch::detail
