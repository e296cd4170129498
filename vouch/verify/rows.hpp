// vouch/verify/rows.hpp -- what the verification does with one row of a sparse matrix; private, CPU and GPU.
//
// A body says what a row gives: state is what one thread gathers of it, begin(i) makes it, add() takes entry k,
// merge() joins the parts of several threads and finish() rounds and stores. At most 32 parts meet in a row.
#pragma once
#include <vouch/sparse/csr.hpp>
#include <vouch/verify/enclosed_sum.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch::detail {

/// r[i] := an enclosure of (b - A (x + x_lo))_i for all data within the radii.
struct residual_body {
  const double* b;
  const double* x;
  const double* x_lo;  // may be nullptr
  interval<double>* r;
  uncertainty within;

  using state = enclosed_sum;
  VOUCH_HOST_DEVICE state begin() const { return {}; }
  VOUCH_HOST_DEVICE void add(state& s, std::int64_t, std::int64_t, double a, std::int32_t j) const {
    s.add_product(-a, x[j]);
    if (x_lo != nullptr) s.add_product(-a, x_lo[j]);
  }
  VOUCH_HOST_DEVICE void finish(state& s, std::int64_t i, std::int64_t entries) const {
    s.add(b[i]);
    const std::int64_t products = x_lo != nullptr ? 2 * entries : entries;
    double wider = 0;
    if (within.matrix > 0) wider = mul_up(within.matrix, s.magnitude_up(products));
    if (within.rhs > 0) wider = add_up(wider, mul_up(within.rhs, std::fabs(b[i])));
    r[i] = s.enclosure(products, wider);
  }
};

/// What gathers the comparison matrix <A> = D - E, with |a_ii| >= D_ii and |a_ij| <= E_ij.
struct comparison_state {
  double diagonal = 0;
  double others = 0;  // to nearest: sum of |a_ij| t_j
  int nonzero = 0;

  VOUCH_HOST_DEVICE void merge(const comparison_state& other) {
    diagonal += other.diagonal;  // one of them is 0
    others += other.others;
    nonzero |= other.nonzero;
  }
  VOUCH_HOST_DEVICE void add_other(double size, double t) {
    others += rounded_product(size, t);
    if (size != 0 && t != 0) nonzero = 1;
  }
  /// At least (E t)_i.
  VOUCH_HOST_DEVICE double others_up(std::int64_t entries, double radius) const {
    if (nonzero == 0) return others == 0 ? 0 : others;  // NaN and infinities stay
    const double sum = enclosed_sum::sum_up(others, enclosed_sum::term_bound(entries), true);
    return radius > 0 ? mul_up(sum, add_up(1.0, radius)) : sum;
  }
};

/// d[i] := at most D_ii, image[i] := at most (<A> v)_i.
struct comparison_body {
  const double* v;
  double* d;
  double* image;
  uncertainty within;

  using state = comparison_state;
  VOUCH_HOST_DEVICE state begin() const { return {}; }
  VOUCH_HOST_DEVICE void add(state& s, std::int64_t i, std::int64_t, double a, std::int32_t j) const {
    if (j == i)
      s.diagonal = std::fabs(a);
    else
      s.add_other(std::fabs(a), v[j]);
  }
  VOUCH_HOST_DEVICE void finish(state& s, std::int64_t i, std::int64_t entries) const {
    const double least = within.matrix > 0 ? mul_down(s.diagonal, sub_down(1.0, within.matrix)) : s.diagonal;
    d[i] = least;
    image[i] = sub_down(mul_down(least, v[i]), s.others_up(entries, within.matrix));
  }
};

/// c[i] := at least (E t)_i.
struct off_diagonal_body {
  const double* t;
  double* c;
  uncertainty within;

  using state = comparison_state;
  VOUCH_HOST_DEVICE state begin() const { return {}; }
  VOUCH_HOST_DEVICE void add(state& s, std::int64_t i, std::int64_t, double a, std::int32_t j) const {
    if (j != i) s.add_other(std::fabs(a), t[j]);
  }
  VOUCH_HOST_DEVICE void finish(state& s, std::int64_t i, std::int64_t entries) const {
    c[i] = s.others_up(entries, within.matrix);
  }
};

/// scale[i] := about 1/sqrt(|a_ii|), 0 where there is no diagonal.
struct scale_body {
  double* scale;

  using state = comparison_state;
  VOUCH_HOST_DEVICE state begin() const { return {}; }
  VOUCH_HOST_DEVICE void add(state& s, std::int64_t i, std::int64_t, double a, std::int32_t j) const {
    if (j == i) s.diagonal = std::fabs(a);
  }
  VOUCH_HOST_DEVICE void finish(state& s, std::int64_t i, std::int64_t) const {
    scale[i] = s.diagonal > 0 ? 1 / std::sqrt(s.diagonal) : 0;
  }
};

/// norm[i] := about the sum of |a_ij|.
struct row_norm_body {
  double* norm;

  using state = comparison_state;
  VOUCH_HOST_DEVICE state begin() const { return {}; }
  VOUCH_HOST_DEVICE void add(state& s, std::int64_t, std::int64_t, double a, std::int32_t) const {
    s.others += std::fabs(a);
  }
  VOUCH_HOST_DEVICE void finish(state& s, std::int64_t i, std::int64_t) const { norm[i] = s.others; }
};

/// exponent[i] := that of the power of two that brings the largest |a_ij| into [1, 2); 0 where there is none.
struct row_exponent_body {
  int* exponent;

  struct state {
    double most = 0;
    VOUCH_HOST_DEVICE void merge(const state& other) {
      if (other.most > most) most = other.most;
    }
  };
  VOUCH_HOST_DEVICE state begin() const { return {}; }
  VOUCH_HOST_DEVICE void add(state& s, std::int64_t, std::int64_t, double a, std::int32_t) const {
    s.merge({std::fabs(a)});
  }
  VOUCH_HOST_DEVICE void finish(state& s, std::int64_t i, std::int64_t) const {
    exponent[i] = s.most > 0 && rounding::finite(s.most) ? -std::ilogb(s.most) : 0;
  }
};

/// What bodies gather that look at entries alone.
struct no_state {
  VOUCH_HOST_DEVICE void merge(const no_state&) {}
};

/// out[k] := about the entry k of S A S: an approximation, no proof stands on it.
struct scaled_body {
  const double* scale;
  float* out;

  using state = no_state;
  VOUCH_HOST_DEVICE state begin() const { return {}; }
  VOUCH_HOST_DEVICE void add(state&, std::int64_t i, std::int64_t k, double a, std::int32_t j) const {
    out[k] = static_cast<float>(j == i ? std::copysign(1.0, a) : a * scale[i] * scale[j]);
  }
  VOUCH_HOST_DEVICE void finish(state&, std::int64_t, std::int64_t) const {}
};

/// next := z + alpha (r - B z) + beta (z - before) about, for a B of floats; next may be before.
struct smoothing_body {
  const float* z;
  const float* before;
  const float* r;
  float* next;
  float alpha, beta;

  struct state {
    float sum = 0;
    VOUCH_HOST_DEVICE void merge(const state& other) { sum += other.sum; }
  };
  VOUCH_HOST_DEVICE state begin() const { return {}; }
  VOUCH_HOST_DEVICE void add(state& s, std::int64_t, std::int64_t, float a, std::int32_t j) const {
    s.sum += a * z[j];
  }
  VOUCH_HOST_DEVICE void finish(state& s, std::int64_t i, std::int64_t) const {
    next[i] = z[i] + alpha * (r[i] - s.sum) + beta * (z[i] - before[i]);
  }
};

/// out[k] := about the entry k of S <A> S: an approximation, no proof stands on it.
struct scaled_comparison_body {
  const double* scale;
  float* out;

  using state = no_state;
  VOUCH_HOST_DEVICE state begin() const { return {}; }
  VOUCH_HOST_DEVICE void add(state&, std::int64_t i, std::int64_t k, double a, std::int32_t j) const {
    const double size = std::fabs(a) * scale[i] * scale[j];
    out[k] = static_cast<float>(j == i ? 1.0 : -size);
  }
  VOUCH_HOST_DEVICE void finish(state&, std::int64_t, std::int64_t) const {}
};

}  // namespace vouch::detail
