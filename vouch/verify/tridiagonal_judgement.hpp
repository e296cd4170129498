// vouch/verify/tridiagonal_judgement.hpp -- what is proved of one row of a batch of tridiagonal systems, or of
// as many rows as a vector has lanes; private, CPU and GPU.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/verify/outward.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch::detail {

/// What neighbouring lanes of a vector hold: rows of one system, or one row of neighbouring systems.
enum class lanes_hold { rows, systems };

template <class V>
using mask_of = decltype(V{} < V{});

/// How far elements of two lanes are apart; vectors can be had where it is 0 or 1.
VOUCH_HOST_DEVICE inline std::int64_t lane_step(const batch_shape& shape, lanes_hold held) {
  return held == lanes_hold::rows ? shape.row_stride : shape.system_stride;
}

/// The element of row i of system s, and those of the lanes behind it.
template <class V>
VOUCH_OUTWARD_INLINE V element(const double* from, const batch_shape& shape, std::int64_t s, std::int64_t i,
                               lanes_hold held) {
  const double* const at = from + shape.at(s, i);
#if defined(__CUDA_ARCH__)
  return __ldg(at);  // nothing that a pass reads does it write
#else
  if constexpr (std::is_same_v<V, double>) {
    return *at;
  } else {
    V v;
    if (lane_step(shape, held) == 0)
      v = outward::spread<V>(*at);
    else
      std::memcpy(&v, at, sizeof v);
    return v;
  }
#endif
}

template <class V>
VOUCH_OUTWARD_INLINE void set_element(double* to, const batch_shape& shape, std::int64_t s, std::int64_t i,
                                      const V& v) {
  std::memcpy(to + shape.at(s, i), &v, sizeof v);
}

template <class V>
VOUCH_OUTWARD_INLINE mask_of<V> finite(const V& v) {
  return outward::magnitude(v) <= outward::spread<V>(std::numeric_limits<double>::max());
}

/// b less the products a x of one row, and how far rounding can have moved it.
///
/// Result  The errors of up to 12 operations, which error-free transformations give exactly, are each at most
///         u (|b| + the sum of the magnitudes of the products), but for 12 u of that, and so are their partial
///         sums but for a factor of 12: adding them loses at most 2^-98 of it. An overflow anywhere gives a
///         size that is not finite.
/// Source  Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005).
template <class V>
struct row_residual {
  V rhs, high, errors{}, products{};

  VOUCH_OUTWARD_INLINE explicit row_residual(const V& b) : rhs(b), high(b) {}

  VOUCH_OUTWARD_INLINE void subtract(const V& a, const V& x) {
    const outward::pair_of<V> product = outward::exact_product(a, x);
    const outward::pair_of<V> sum = outward::exact_sum<V>(high, -product.hi);
    high = sum.hi;
    errors = (errors + sum.lo) - product.lo;
    products += outward::magnitude(product.hi);
  }
  VOUCH_OUTWARD_INLINE V middle() const { return high + errors; }
  /// At least the magnitude of the exact residual, whatever underflowed.
  VOUCH_OUTWARD_INLINE V size() const {
    const V lost = (products + outward::magnitude(rhs)) * 0x1p-97 + 16 * outward::tiny;
    return outward::sum_above<V>(outward::magnitude<V>(middle()) * outward::wider, lost);
  }
  /// At least the sum of the magnitudes of the products.
  VOUCH_OUTWARD_INLINE V products_above() const { return products * (1 + 0x1p-48) + 16 * outward::tiny; }
};

/// What is known of a row.
template <class V>
struct judged_row {
  V ratio;                   // at least |residual| / u; infinite where nothing is proved
  V weight, v, u;            // about the size of the row, v and (<A> v)_i
  mask_of<V> other, proves;  // the row is not that of its comparison matrix; v proves something
};

/// |b - A (x + x_lo)| / u, at least, where u is at most (<A> v)_i. In systems with a margin, u is margin times
/// the weight of the row.
struct tridiagonal_ratio_body {
  tridiagonal_view<const double> A;
  batch_shape vectors;  // of b, x, x_lo and middle
  batch_shape weights;  // of v
  const double* b;
  const double* x;
  const double* x_lo;    // nullptr: zero
  const double* v;       // nullptr: ones, which serve where d is at most `slack` times u
  const double* margin;  // of each system that v has, margin_step apart; 0: none; nullptr: none has one
  std::int64_t margin_step;
  uncertainty within;
  double* middle;      // of the residual; nullptr: not wanted
  bool until_refuted;  // the rest is not wanted once v proves nothing of a row

  static constexpr double slack = 16;

  VOUCH_HOST_DEVICE bool vectors_can_hold(lanes_hold held) const {
    const auto fits = [held](const batch_shape& shape) {
      const std::int64_t step = lane_step(shape, held);
      return step == 1 || (step == 0 && shape.offsets == nullptr);
    };
    return fits(A.shape) && fits(weights) && lane_step(vectors, held) == 1;
  }

  template <class V>
  VOUCH_OUTWARD_INLINE judged_row<V> judge(std::int64_t s, std::int64_t i, lanes_hold held) const {
    const std::int64_t last = vectors.rows(s) - 1;
    const bool below = i > 0 || A.periodic, above = i < last || A.periodic;
    const std::int64_t lower = i > 0 ? i - 1 : last, upper = i < last ? i + 1 : 0;
    const V zero{}, one = outward::spread<V>(1), infinite = outward::spread<V>(HUGE_VAL);
    const V l = below ? element<V>(A.dl, A.shape, s, i, held) : zero, d = element<V>(A.d, A.shape, s, i, held),
            u = above ? element<V>(A.du, A.shape, s, i, held) : zero;
    judged_row<V> row;
    row.weight = outward::magnitude(d) + (outward::magnitude(l) + outward::magnitude(u));
    row.other = (d < zero) | (l > zero) | (u > zero);
    row.v = v != nullptr ? element<V>(v, weights, s, i, held) : one;
    V others = zero;
    if (below)
      others = outward::product_above(outward::magnitude(l),
                                      v != nullptr ? element<V>(v, weights, s, lower, held) : one);
    if (above)
      others = outward::sum_above(
          others, outward::product_above(outward::magnitude(u),
                                         v != nullptr ? element<V>(v, weights, s, upper, held) : one));
    row.u = image(outward::magnitude(d), others, row.v);
    if (margin != nullptr) {
      const V part = element<V>(margin, {1, vectors.systems, 0, margin_step, nullptr}, s, 0, held);
      row.u = part > zero ? outward::product_below(part, row.weight) : row.u;
    }
    const V size = residual<V>(s, i, held, {l, d, u}, {below ? lower : i, i, above ? upper : i});
    row.proves = (row.u > zero) & finite(row.u);
    row.ratio = size == zero ? zero : outward::quotient_above<V>(size, row.proves ? row.u : one);
    row.ratio = row.proves & finite(size) ? row.ratio : infinite;
    return row;
  }

 private:
  // At most (<A> v)_i; NaN or negative where v proves nothing.
  template <class V>
  VOUCH_OUTWARD_INLINE V image(V size, V others, const V& weight) const {
    if (within.matrix > 0) {
      size = outward::product_below(size, outward::spread<V>(1 - within.matrix) * outward::narrower);
      others = outward::product_above(others, outward::spread<V>(1 + within.matrix) * outward::wider);
    }
    if (v == nullptr) {
      const V u = outward::difference_below(size, others);
      return size <= slack * u ? u : outward::spread<V>(-1);
    }
    const V u = outward::difference_below(outward::product_below(size, weight), others);
    return weight > V{} ? u : outward::spread<V>(-1);
  }

  template <class V>
  struct row_entries {
    V at[3];
  };
  struct row_places {
    std::int64_t at[3];
  };

  // At least |b - A (x + x_lo)| of the row, for all data within the radii.
  template <class V>
  VOUCH_OUTWARD_INLINE V residual(std::int64_t s, std::int64_t i, lanes_hold held, const row_entries<V>& a,
                                  const row_places& place) const {
    const V rhs = element<V>(b, vectors, s, i, held), zero{};
    row_residual<V> sum(rhs);
    for (int k = 0; k < 3; ++k) sum.subtract(a.at[k], element<V>(x, vectors, s, place.at[k], held));
    for (int k = 0; k < 3 && x_lo != nullptr; ++k)
      sum.subtract(a.at[k], element<V>(x_lo, vectors, s, place.at[k], held));
    const V middle_of_row = sum.middle();
    if (middle != nullptr) set_element<V>(middle, vectors, s, i, middle_of_row);
    V size = sum.size();
    if (outward::any(middle_of_row == zero))
      size = (middle_of_row == zero) & vanishes<V>(s, held, rhs, a, place) ? zero : size;
    if (within.matrix > 0)
      size = outward::sum_above<V>(
          size, outward::product_above<V>(outward::spread<V>(within.matrix), sum.products_above()));
    if (within.rhs > 0)
      size = outward::sum_above<V>(
          size, outward::product_above<V>(outward::spread<V>(within.rhs), outward::magnitude(rhs)));
    return size;
  }

  // Whether the residual is exactly zero, as the absence of any rounding error on the way shows.
  template <class V>
  VOUCH_OUTWARD_INLINE mask_of<V> vanishes(std::int64_t s, lanes_hold held, const V& rhs,
                                           const row_entries<V>& a, const row_places& place) const {
    const V zero{};
    V high = rhs;
    mask_of<V> exact = zero == zero;
    for (int k = 0; k < 3; ++k) {
      const V value = element<V>(x, vectors, s, place.at[k], held);
      const outward::pair_of<V> product = outward::exact_product<V>(a.at[k], value);
      const outward::pair_of<V> sum = outward::exact_sum<V>(high, -product.hi);
      const mask_of<V> large =
          outward::magnitude(product.hi) >= outward::spread<V>(outward::least_exact_product);
      const mask_of<V> nothing = (a.at[k] == zero) | (value == zero);
      high = sum.hi;
      exact = exact & (sum.lo == zero) & (product.lo == zero) & (large | nothing);
      if (x_lo != nullptr) exact = exact & (element<V>(x_lo, vectors, s, place.at[k], held) == zero);
    }
    return exact & (high == zero);
  }
};

/// What is known of the error of an element.
template <class V>
struct judged_element {
  V relative;  // at least |x - x*| / |x*|; infinite where x* may be 0 and x* = x is not proved
  V absolute;  // the radius
};

/// radius := at least ratio v + |x_lo|.
struct tridiagonal_radius_body {
  batch_shape vectors, weights;  // of v: weights
  const double* ratio;           // of each system; infinite: nothing is proved of it
  const double* x;
  const double* x_lo;
  const double* v;
  double* radius;

  VOUCH_HOST_DEVICE bool vectors_can_hold(lanes_hold held) const {
    const std::int64_t step = lane_step(weights, held);
    return lane_step(vectors, held) == 1 && (step == 1 || (step == 0 && weights.offsets == nullptr));
  }

  template <class V>
  VOUCH_OUTWARD_INLINE judged_element<V> judge(std::int64_t s, std::int64_t i, lanes_hold held) const {
    const V zero{}, infinite = outward::spread<V>(HUGE_VAL);
    V most = element<V>(ratio, {1, vectors.systems, 0, 1, nullptr}, s, 0, held);
    if (v != nullptr) {
      const V product = outward::product_above<V>(most, element<V>(v, weights, s, i, held));
      most = most == zero ? zero : finite(most) ? product : infinite;
    }
    if (x_lo != nullptr)
      most = outward::sum_above<V>(most, outward::magnitude(element<V>(x_lo, vectors, s, i, held)));
    set_element<V>(radius, vectors, s, i, most);
    const V least = outward::difference_below<V>(outward::magnitude(element<V>(x, vectors, s, i, held)), most);
    const V positive = least > zero ? least : outward::spread<V>(1);
    const V relative = outward::quotient_above<V>(most, positive);
    return {most == zero ? zero : least > zero ? relative : infinite, most};
  }
};

}  // namespace vouch::detail
