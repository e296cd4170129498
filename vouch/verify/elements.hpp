// vouch/verify/elements.hpp -- what the verification does with single elements of vectors; private, CPU and
// GPU.
//
// Bodies with value(i) are looked through for their largest value, which is never negative; NaN counts as the
// largest of all.
#pragma once
#include <cmath>

#include <vouch/core/double_double.hpp>
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

/// minus := about -r, rest := at least r + minus
struct split_body {
  const interval<double>* r;
  double* minus;
  interval<double>* rest;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    minus[i] = -(r[i].lo() / 2 + r[i].hi() / 2);
    rest[i] = interval<double>::unchecked(add_down(r[i].lo(), minus[i]), add_up(r[i].hi(), minus[i]));
  }
};

/// points := s
struct point_body {
  const double* s;
  interval<double>* points;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    points[i] = interval<double>::unchecked(s[i], s[i]);
  }
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

/// The larger |bound| of r over image, at least; 0 for r = 0.
struct interval_quotient_body {
  const interval<double>* r;
  const double* image;
  VOUCH_HOST_DEVICE double value(std::int64_t i) const {
    const double lo = std::fabs(r[i].lo()), hi = std::fabs(r[i].hi()), c = lo > hi ? lo : hi;
    return c == 0 ? 0 : div_up(c, image[i]);
  }
};

/// radius := at least sum + factor v; sum is nullptr, meaning zero, or has elements.
struct radius_body {
  const double* sum;
  const double* v;
  double factor;
  double* radius;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const double part = mul_up(factor, v[i]);
    radius[i] = sum != nullptr ? add_up(sum[i], part) : part;
  }
};

/// 1 where v and image do not prove: not positive, or not finite.
struct refutes_body {
  const double* v;
  const double* image;
  VOUCH_HOST_DEVICE double value(std::int64_t i) const {
    return v[i] > 0 && rounding::finite(v[i]) && image[i] > 0 && rounding::finite(image[i]) ? 0 : 1;
  }
};

/// v := about factor scale z
struct unscale_body {
  const double* scale;
  const float* z;
  double factor;
  double* v;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { v[i] = factor * (scale[i] * z[i]); }
};

/// scaled := about scale times the midpoint of r; the value is its size.
struct scale_residual_body {
  const interval<double>* r;
  const double* scale;
  double* scaled;
  VOUCH_HOST_DEVICE double value(std::int64_t i) const {
    return std::fabs(scaled[i] = scale[i] * (r[i].lo() / 2 + r[i].hi() / 2));
  }
};

/// r := factor scaled, z := alpha r
struct first_step_body {
  const double* scaled;
  double factor;
  float alpha;
  float* r;
  float* z;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    r[i] = static_cast<float>(factor * scaled[i]);
    z[i] = alpha * r[i];
  }
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
    const double_double<double> sum = double_double<double>{x[i], lo[i]} + d[i];
    x[i] = sum.hi;
    lo[i] = sum.lo;
  }
};

/// lo := about lo + d
struct absorb_body {
  const double* d;
  double* lo;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { lo[i] += d[i]; }
};

/// radius := at least radius + |lo|, which is the value; lo is nullptr, meaning zero, or has elements.
struct widen_body {
  const double* lo;
  double* radius;
  VOUCH_HOST_DEVICE double value(std::int64_t i) const {
    return lo != nullptr ? radius[i] = add_up(radius[i], std::fabs(lo[i])) : radius[i];
  }
};

/// The same for radius = factor v.
struct widen_multiple_body {
  const double* lo;
  const double* v;
  double factor;
  double* radius;
  VOUCH_HOST_DEVICE double value(std::int64_t i) const {
    const double part = mul_up(factor, v[i]);
    return radius[i] = lo != nullptr ? add_up(std::fabs(lo[i]), part) : part;
  }
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

/// Entry k of C, whole columns of an n-by-n matrix of intervals, which begin with entry `first` of it: out := the smallest
/// magnitude of C on the diagonal, the largest off it, NaN where there is one.
struct compare_entry_body {
  const interval<double>* C;
  std::int64_t n;
  double* out;
  std::int64_t first = 0;  // entry of the whole matrix
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const double lo = C[k].lo(), hi = C[k].hi(), low_size = std::fabs(lo), high_size = std::fabs(hi);
    const double most = low_size > high_size || low_size != low_size ? low_size : high_size;
    out[k] = (first + k) % (n + 1) != 0 ? most : lo > 0 ? lo : hi < 0 ? -hi : 0;
  }
};

/// The diagonal of an n-by-n matrix := 1, M being its columns from the given one on.
struct unit_diagonal_body {
  std::int64_t n;
  double* M;
  std::int64_t first = 0;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { M[first + i * (n + 1)] = 1; }
};

/// wide[k] := the numbers within radius |A_k| of A_k, for an n-by-n A of leading dimension ld.
struct widen_entry_body {
  const double* A;
  std::int64_t n, ld;
  double radius;
  interval<double>* wide;
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const double a = A[k % n + k / n * ld], r = mul_up(std::fabs(a), radius);
    wide[k] = interval<double>::unchecked(sub_down(a, r), add_up(a, r));
  }
};

/// exponent[j] := as row_exponent_body has it, for column j of an n-by-n matrix.
struct column_exponent_body {
  const double* M;
  std::int64_t n;
  int* exponent;
  VOUCH_HOST_DEVICE void operator()(std::int64_t j) const {
    double most = 0;
    for (std::int64_t k = j * n; k < (j + 1) * n; ++k)
      if (std::fabs(M[k]) > most) most = std::fabs(M[k]);
    exponent[j] = most > 0 && rounding::finite(most) ? -std::ilogb(most) : 0;
  }
};

/// Entry k of an n-by-n matrix := about 2^(rows_i + columns_j + all) times what it was; nullptr stands for 0.
struct times_powers_body {
  double* M;
  std::int64_t n;
  const int* rows;
  const int* columns;
  int all;
  VOUCH_HOST_DEVICE void operator()(std::int64_t k) const {
    const int row = rows != nullptr ? rows[k % n] : 0, column = columns != nullptr ? columns[k / n] : 0;
    M[k] = std::ldexp(M[k], row + column + all);
  }
};

/// The entries of row i of a sparse matrix go to their places in a dense one of n rows.
struct scatter_body {
  const std::int64_t* row_ptr;
  const std::int32_t* col;
  const double* val;
  std::int64_t n;
  double* M;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const {
    for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) M[i + col[k] * n] = val[k];
  }
};

/// v := about (1 + stretch others) / d
struct jacobi_weight_body {
  const double* others;
  const double* d;
  double stretch;
  double* v;
  VOUCH_HOST_DEVICE void operator()(std::int64_t i) const { v[i] = (1 + stretch * others[i]) / d[i]; }
};

}  // namespace vouch::detail
