// vouch/sparse/residual_row.hpp -- one row of the residual and the running norms; private, CPU and GPU.
#pragma once
#include <cmath>

#include <vouch/core/double_double.hpp>
#include <vouch/core/types.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch::detail {

/// The larger one, or NaN where either is NaN.
VOUCH_HOST_DEVICE inline double max_or_nan(double a, double b) { return b > a || b != b ? b : a; }

/// A sum of squares that neither overflows nor underflows: values outside [2^-480, 2^480) are scaled by a power
/// of two and summed apart, so that up to 2^40 squares of each kind fit.
struct square_sum {
  double big = 0;
  double medium = 0;
  double small = 0;

  static constexpr double shrink = 0x1p-600;
  static constexpr double grow = 0x1p+600;

  VOUCH_HOST_DEVICE void add(double v) {
    const double a = v < 0 ? -v : v;
    if (a >= 0x1p+480)
      big += (a * shrink) * (a * shrink);
    else if (a < 0x1p-480)
      small += (a * grow) * (a * grow);
    else
      medium += a * a;  // a NaN, too
  }
  VOUCH_HOST_DEVICE void merge(const square_sum& other) {
    big += other.big;
    medium += other.medium;
    small += other.small;
  }
  double root() const {
    if (medium != medium || big != big) return medium + big;
    // Each kind is negligible beside the next larger one unless both are near the border.
    if (big > 0) return grow * std::sqrt(big + (medium * shrink) * shrink);
    if (medium > 0) return std::sqrt(medium + (small * shrink) * shrink);
    return shrink * std::sqrt(small);
  }
};

/// The norms while they grow; merge is done in a fixed order.
struct residual_norms {
  square_sum r, b, product;
  double r_max = 0, b_max = 0, matrix_max = 0, x_max = 0;

  VOUCH_HOST_DEVICE void add_row(double r_i, double b_i, double row_sum, double product_i) {
    r.add(r_i);
    b.add(b_i);
    product.add(product_i);
    r_max = max_or_nan(r_max, r_i < 0 ? -r_i : r_i);
    b_max = max_or_nan(b_max, b_i < 0 ? -b_i : b_i);
    matrix_max = max_or_nan(matrix_max, row_sum);
  }
  VOUCH_HOST_DEVICE void add_x(double x_j) { x_max = max_or_nan(x_max, x_j < 0 ? -x_j : x_j); }
  VOUCH_HOST_DEVICE void merge(const residual_norms& other) {
    r.merge(other.r);
    b.merge(other.b);
    product.merge(other.product);
    r_max = max_or_nan(r_max, other.r_max);
    b_max = max_or_nan(b_max, other.b_max);
    matrix_max = max_or_nan(matrix_max, other.matrix_max);
    x_max = max_or_nan(x_max, other.x_max);
  }
  /// terms: entries and rows of the matrix.
  residual_facts facts(double terms) const {
    return {r.root(), r_max, matrix_max, x_max, b_max, b.root(), product.root(), terms};
  }
};

/// What a row gives before it is rounded: b_i - A_i x, sum of |a_ij|, sum of |a_ij||x_j|; a partial one where
/// several lanes share the row.
template <real T>
struct row_residual;

template <>
struct row_residual<double> {
  double_double<double> sum;
  double magnitude = 0;
  double product = 0;

  VOUCH_HOST_DEVICE explicit row_residual(double b) : sum{b, 0} {}
  VOUCH_HOST_DEVICE void subtract(double a, double x_hi, double x_lo) {
    sum = add_product(sum, -a, x_hi);
    if (x_lo != 0) sum = add_product(sum, -a, x_lo);
    magnitude += std::fabs(a);
    product += std::fabs(rounded_product(a, x_hi));
  }
  VOUCH_HOST_DEVICE void merge(const row_residual& other) {
    sum = sum + other.sum;
    magnitude += other.magnitude;
    product += other.product;
  }
  VOUCH_HOST_DEVICE double rounded() const { return sum.hi; }  // lo is at most half an ulp of it
  double high() const { return sum.hi; }
  double low() const { return sum.lo; }
};

template <>
struct row_residual<float> {
  double sum;
  double magnitude = 0;
  double product = 0;

  VOUCH_HOST_DEVICE explicit row_residual(float b) : sum(b) {}
  VOUCH_HOST_DEVICE void subtract(float a, float x_hi, float x_lo) {
    const double wide = a;  // products of two floats are exact in double
    sum -= wide * x_hi;
    sum -= wide * x_lo;
    magnitude += std::fabs(wide);
    product += std::fabs(wide * x_hi);
  }
  VOUCH_HOST_DEVICE void merge(const row_residual& other) {
    sum += other.sum;
    magnitude += other.magnitude;
    product += other.product;
  }
  VOUCH_HOST_DEVICE float rounded() const { return static_cast<float>(sum); }
  double high() const { return sum; }
  double low() const { return 0; }
};

/// Rows (and elements of x) that one partial result covers; fixed, so that no bit depends on the threads.
constexpr std::int64_t residual_chunk = 512;

template <real T>
residual_norms residual_cuda(const device& dev, csr_view<const T> A, const T* b, const T* x_hi, const T* x_lo,
                             T* r);

}  // namespace vouch::detail
