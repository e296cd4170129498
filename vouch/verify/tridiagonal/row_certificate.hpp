// vouch/verify/tridiagonal/row_certificate.hpp -- what is proved of one row of a batch of tridiagonal systems, or of as
// many rows as a vector has lanes; private, CPU and GPU.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/double_double.hpp>
#include <vouch/interval/rounding.hpp>
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

/// The element at a place, and those of the lanes behind it, step apart.
template <class V>
VOUCH_OUTWARD_INLINE V element(const double* from, std::int64_t place, std::int64_t step) {
#if defined(__CUDA_ARCH__)
  return __ldg(from + place);  // nothing that a pass reads does it write
#else
  if constexpr (std::is_same_v<V, double>) {
    return from[place];
  } else {
    V v;
    if (step == 0)
      v = outward::spread<V>(from[place]);
    else
      std::memcpy(&v, from + place, sizeof v);
    return v;
  }
#endif
}

/// The places of an element and of its neighbours; of one that is not there, of the element itself.
struct neighbours {
  std::int64_t lower, here, upper;

  VOUCH_HOST_DEVICE neighbours(const batch_shape& shape, std::int64_t s, std::int64_t i, std::int64_t last,
                               bool below, bool above)
      : here(shape.at(s, i)) {
    lower = !below ? here : i > 0 ? here - shape.row_stride : shape.at(s, last);
    upper = !above ? here : i < last ? here + shape.row_stride : shape.at(s, 0);
  }
};

template <class V>
VOUCH_OUTWARD_INLINE mask_of<V> finite(const V& v) {
#if defined(__CUDA_ARCH__)
  return (static_cast<unsigned>(__double2hiint(v)) & 0x7fffffffu) <
         0x7ff00000u;  // spares the units for doubles
#else
  return outward::magnitude(v) <= outward::spread<V>(std::numeric_limits<double>::max());
#endif
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

/// What is measured of a row by itself.
template <class V>
struct measured_row {
  V size, spread;         // at least |residual|, and what the radii add to it
  V weight, v, u;         // about the size of the row, v and, at most, (<A> v)_i
  mask_of<V> other;       // the row is not that of its comparison matrix
  mask_of<V> may_vanish;  // the residual may be zero exactly
};

/// What is known of a row.
template <class V>
struct certified_row : measured_row<V> {
  V ratio;            // at least |residual| / u; infinite where nothing is proved
  mask_of<V> proves;  // v proves something
};

/// A row, the unknowns and weights that it touches, and where they are.
template <class V>
struct row_data {
  V a[3], x[3], v[3], b;
  std::int64_t place[3], step;
};

/// |b - A (x + x_lo)| / u, at least, where u is at most (<A> v)_i, for a row that is at hand.
struct row_certificate {
  const double* x_lo;  // nullptr: zero
  double* middle;      // of the residual; nullptr: not wanted
  uncertainty within;

  static constexpr double slack = 16;

  /// x alone, and data as they are.
  bool is_plain() const {
    return x_lo == nullptr && middle == nullptr && !(within.matrix > 0) && !(within.rhs > 0);
  }

  /// With a part u is that times the weight of the row, where it is positive. ones: v is 1 everywhere, which
  /// serves where d is at most `slack` times u.
  template <class V>
  VOUCH_OUTWARD_INLINE certified_row<V> certify(const row_data<V>& data, const V* part, bool ones) const {
    measured_row<V> row = measure<V>(data, part, ones);
    if (outward::any(row.may_vanish)) row.size = (row.may_vanish & vanishes<V>(data)) ? V{} : row.size;
    return conclude<V>(row);
  }

  // The same in steps.

  /// Nothing here branches where there are no radii.
  template <class V>
  VOUCH_OUTWARD_INLINE measured_row<V> measure(const row_data<V>& data, const V* part, bool ones) const {
    const V zero{};
    const V l = outward::magnitude(data.a[0]), d = outward::magnitude(data.a[1]),
            u = outward::magnitude(data.a[2]);
    measured_row<V> row;
    row.weight = d + (l + u);
    row.other = (data.a[1] < zero) | (data.a[0] > zero) | (data.a[2] > zero);
    row.v = data.v[1];
    row.u = ones ? image_of_ones<V>(l, d, u) : image<V>(l, d, u, data.v);
    if (part != nullptr) row.u = *part > zero ? outward::product_below<V>(*part, row.weight) : row.u;
    measure_residual<V>(data, row);
    return row;
  }

  /// Whether the residual of a row that may vanish does, as the absence of any rounding error on the way shows.
  template <class V>
  VOUCH_OUTWARD_INLINE mask_of<V> vanishes(const row_data<V>& data) const {
    const V zero{};
    V high = data.b;
    mask_of<V> exact = zero == zero;
    for (int k = 0; k < 3; ++k) {
      const outward::pair_of<V> product = outward::exact_product<V>(data.a[k], data.x[k]);
      const outward::pair_of<V> sum = outward::exact_sum<V>(high, -product.hi);
      const mask_of<V> large =
          outward::magnitude(product.hi) >= outward::spread<V>(outward::least_exact_product);
      const mask_of<V> nothing = (data.a[k] == zero) | (data.x[k] == zero);
      high = sum.hi;
      exact = exact & (sum.lo == zero) & (product.lo == zero) & (large | nothing);
      if (x_lo != nullptr) exact = exact & (element<V>(x_lo, data.place[k], data.step) == zero);
    }
    return exact & (high == zero);
  }

  template <class V>
  VOUCH_OUTWARD_INLINE certified_row<V> conclude(const measured_row<V>& row) const {
    const V zero{}, one = outward::spread<V>(1), infinite = outward::spread<V>(HUGE_VAL);
    const bool radii = within.matrix > 0 || within.rhs > 0;
    const V size = radii ? outward::sum_above<V>(row.size, row.spread) : row.size;
    certified_row<V> certified{row, {}, {}};
    certified.proves = (row.u > zero) & finite(row.u);
    const V ratio = size == zero ? zero : outward::quotient_above<V>(size, certified.proves ? row.u : one);
    certified.ratio = (certified.proves & finite(size)) ? ratio : infinite;
    return certified;
  }

  /// At most (<A> e)_i for a row of these magnitudes; NaN or negative where e does not serve.
  template <class V>
  VOUCH_OUTWARD_INLINE V image_of_ones(const V& l, V d, const V& u) const {
    V others = outward::sum_above<V>(l, u);
    widen(d, others);
    const V least = outward::difference_below<V>(d, others);
    return d <= slack * least ? least : outward::spread<V>(-1);
  }

 private:
  // At most (<A> v)_i; NaN or negative where v proves nothing.
  template <class V>
  VOUCH_OUTWARD_INLINE V image(const V& l, V d, const V& u, const V (&v)[3]) const {
    V others = outward::sum_above<V>(outward::product_above<V>(l, v[0]), outward::product_above<V>(u, v[2]));
    widen(d, others);
    const V least = outward::difference_below(outward::product_below(d, v[1]), others);
    return v[1] > V{} ? least : outward::spread<V>(-1);
  }

  // The least diagonal and the largest rest within the radius.
  template <class V>
  VOUCH_OUTWARD_INLINE void widen(V& diagonal, V& others) const {
    if (!(within.matrix > 0)) return;
    diagonal = outward::product_below(diagonal, outward::spread<V>(1 - within.matrix) * outward::narrower);
    others = outward::product_above(others, outward::spread<V>(1 + within.matrix) * outward::wider);
  }

  template <class V>
  VOUCH_OUTWARD_INLINE void measure_residual(const row_data<V>& data, measured_row<V>& row) const {
    row_residual<V> sum(data.b);
    for (int k = 0; k < 3; ++k) sum.subtract(data.a[k], data.x[k]);
    for (int k = 0; k < 3 && x_lo != nullptr; ++k)
      sum.subtract(data.a[k], element<V>(x_lo, data.place[k], data.step));
    const V middle_of_row = sum.middle();
    if (middle != nullptr) std::memcpy(middle + data.place[1], &middle_of_row, sizeof middle_of_row);
    row.size = sum.size();
    row.may_vanish = middle_of_row == V{};
    row.spread = V{};
    if (within.matrix > 0)
      row.spread = outward::product_above<V>(outward::spread<V>(within.matrix), sum.products_above());
    if (within.rhs > 0)
      row.spread = outward::sum_above<V>(
          row.spread, outward::product_above<V>(outward::spread<V>(within.rhs), outward::magnitude(data.b)));
  }
};

/// The same for the rows of a batch.
struct tridiagonal_ratio_body : row_certificate {
  tridiagonal_view<const double> A;
  batch_shape vectors;  // of b, x, x_lo and middle
  batch_shape weights;  // of v
  const double* b;
  const double* x;
  const double* v;       // nullptr: ones
  const double* margin;  // of each system that v has, margin_step apart; 0: none; nullptr: none has one
  std::int64_t margin_step;
  bool until_refuted;  // the rest is not wanted once v proves nothing of a row

  VOUCH_HOST_DEVICE bool vectors_can_hold(lanes_hold held) const {
    const auto fits = [held](const batch_shape& shape) {
      const std::int64_t step = lane_step(shape, held);
      return step == 1 || (step == 0 && shape.offsets == nullptr);
    };
    return fits(A.shape) && fits(weights) && lane_step(vectors, held) == 1;
  }

  template <class V>
  VOUCH_OUTWARD_INLINE certified_row<V> certify(std::int64_t s, std::int64_t i, lanes_hold held) const {
    const row_data<V> data = gathered<V>(s, i, held);
    if (margin == nullptr) return row_certificate::certify<V>(data, nullptr, v == nullptr);
    const V part = element<V>(margin, s * margin_step, held == lanes_hold::rows ? 0 : margin_step);
    return row_certificate::certify<V>(data, &part, v == nullptr);
  }

 private:
  // All is asked of memory before anything is used, the unused entries of first and last rows not at all.
  template <class V>
  VOUCH_OUTWARD_INLINE row_data<V> gathered(std::int64_t s, std::int64_t i, lanes_hold held) const {
    const std::int64_t last = vectors.rows(s) - 1, row = A.shape.at(s, i), step_A = lane_step(A.shape, held);
    const bool below = i > 0 || A.periodic, above = i < last || A.periodic;
    const neighbours at(vectors, s, i, last, below, above);
    const V zero{};
    row_data<V> data;
    data.step = lane_step(vectors, held);
    data.place[0] = at.lower, data.place[1] = at.here, data.place[2] = at.upper;
    const V l = element<V>(below ? A.dl : A.d, row, step_A), u = element<V>(above ? A.du : A.d, row, step_A);
    data.a[1] = element<V>(A.d, row, step_A);
    data.b = element<V>(b, at.here, data.step);
    for (int k = 0; k < 3; ++k) data.x[k] = element<V>(x, data.place[k], data.step);
    if (v != nullptr) {
      const neighbours of_v(weights, s, i, last, below, above);
      const std::int64_t step = lane_step(weights, held);
      data.v[0] = element<V>(v, of_v.lower, step);
      data.v[1] = element<V>(v, of_v.here, step);
      data.v[2] = element<V>(v, of_v.upper, step);
    } else {
      data.v[0] = data.v[1] = data.v[2] = outward::spread<V>(1);
    }
    data.a[0] = below ? l : zero;
    data.a[2] = above ? u : zero;
    return data;
  }
};

/// What is known of the error of an element.
template <class V>
struct certified_element {
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
  VOUCH_OUTWARD_INLINE certified_element<V> certify(std::int64_t s, std::int64_t i, lanes_hold held) const {
    return certify<V>(element<V>(ratio, s, held == lanes_hold::rows ? 0 : 1), s, i, held);
  }
  /// With the ratio at hand.
  template <class V>
  VOUCH_OUTWARD_INLINE certified_element<V> certify(const V& ratio_of_system, std::int64_t s, std::int64_t i,
                                                    lanes_hold held) const {
    const std::int64_t at = vectors.at(s, i), step = lane_step(vectors, held);
    const V weight =
        v == nullptr ? outward::spread<V>(1) : element<V>(v, weights.at(s, i), lane_step(weights, held));
    const V low = x_lo == nullptr ? V{} : element<V>(x_lo, at, step);
    const certified_element<V> found = bounded<V>(ratio_of_system, weight, element<V>(x, at, step), low);
    std::memcpy(radius + at, &found.absolute, sizeof found.absolute);
    return found;
  }
  /// The same of an element that is at hand.
  template <class V>
  VOUCH_OUTWARD_INLINE static certified_element<V> bounded(const V& ratio, const V& weight, const V& value,
                                                           const V& low) {
    const V zero{}, infinite = outward::spread<V>(HUGE_VAL);
    V most = ratio == zero ? zero : finite(ratio) ? outward::product_above<V>(ratio, weight) : infinite;
    most = outward::any(low != zero) ? outward::sum_above<V>(most, outward::magnitude(low)) : most;
    const V least = outward::difference_below<V>(outward::magnitude(value), most);
    const V positive = least > zero ? least : outward::spread<V>(1);
    const V relative = outward::quotient_above<V>(most, positive);
    return {most == zero ? zero : least > zero ? relative : infinite, most};
  }
};

// ---- rows of factors and of the comparison matrix; bodies get the system s and the row i

/// A row with the places of its unknowns; a neighbour that is not there has the coefficient 0 and this row's
/// place.
struct tridiagonal_row {
  double l, d, u, weight;
  std::int64_t lower, here, upper;

  VOUCH_HOST_DEVICE tridiagonal_row(const tridiagonal_view<const double>& A, const batch_shape& vectors,
                                    std::int64_t s, std::int64_t i) {
    const std::int64_t last = vectors.rows(s) - 1, at = A.shape.at(s, i);
    here = vectors.at(s, i);
    const bool below = i > 0 || A.periodic, above = i < last || A.periodic;
    lower = below ? vectors.at(s, i > 0 ? i - 1 : last) : here;
    upper = above ? vectors.at(s, i < last ? i + 1 : 0) : here;
    l = below ? A.dl[at] : 0;
    d = A.d[at];
    u = above ? A.du[at] : 0;
    weight = std::fabs(d) + (std::fabs(l) + std::fabs(u));
  }
};

/// Any positive number will do, as long as it is always the same: about the size of the row.
VOUCH_HOST_DEVICE inline double row_weight(const tridiagonal_row& row) { return row.weight; }

/// The comparison matrix, stored as the vectors are.
struct tridiagonal_comparison_body {
  tridiagonal_view<const double> A;
  batch_shape vectors;
  double* dl;
  double* d;
  double* du;
  VOUCH_HOST_DEVICE void operator()(std::int64_t s, std::int64_t i) const {
    const tridiagonal_row row(A, vectors, s, i);
    dl[row.here] = -std::fabs(row.l);
    d[row.here] = std::fabs(row.d);
    du[row.here] = -std::fabs(row.u);
  }
};

/// x + lo := x + lo + step about.
struct batch_improve_body {
  batch_shape vectors;
  const double* step;
  double* x;
  double* lo;
  VOUCH_HOST_DEVICE void operator()(std::int64_t s, std::int64_t i) const {
    const std::int64_t at = vectors.at(s, i);
    const double_double<double> sum = double_double<double>{x[at], lo[at]} + step[at];
    x[at] = sum.hi;
    lo[at] = sum.lo;
  }
};

}  // namespace vouch::detail
