// vouch/verify/enclosed_sum.hpp -- a sum of products and how far rounding can have moved it; private, CPU and
// GPU.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/core/double_double.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/interval/interval.hpp>

namespace vouch::detail {

/// Sum of s, its rounding errors and those of the products, which error-free transformations give exactly: the
/// exact sum is sum + (all errors), and the errors are added to nearest.
///
/// Result  For m errors, (m - 1) u (their absolute sum) bounds what adding them loses, in any order; and so for
///         the absolute sum itself. An error-free product needs a product of at least 2^-969: smaller ones lose
///         at most 2^-1074 each and are noted. An overflow anywhere leaves a sum that is not finite.
/// Source  Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005); Jeannerod, Rump, SIMAX 34 (2013) for m - 1.
struct enclosed_sum {
  double sum = 0;
  double errors = 0;
  double error_magnitude = 0;
  double magnitude = 0;  // of the products
  int underflow = 0;

  VOUCH_HOST_DEVICE void add(double term) {
    const double_double<double> s = two_sum(sum, term);
    sum = s.hi;
    add_error(s.lo);
  }

  VOUCH_HOST_DEVICE void add_product(double a, double b) {
    const double_double<double> p = two_prod(a, b);
    const double size = std::fabs(p.hi);
    add(p.hi);
    add_error(p.lo);
    magnitude += size;
    if (!(size >= 0x1p-969) && a != 0 && b != 0) underflow = 1;
  }

  VOUCH_HOST_DEVICE void merge(const enclosed_sum& other) {
    add(other.sum);
    errors += other.errors;
    error_magnitude += other.error_magnitude;
    magnitude += other.magnitude;
    underflow |= other.underflow;
  }

  /// The sum as an interval that is `wider` larger on both sides. products: how many there were; merges at most
  /// 32.
  VOUCH_HOST_DEVICE interval<double> enclosure(std::int64_t products, double wider) const {
    if (!rounding::finite(sum) || !rounding::finite(errors) || !rounding::finite(error_magnitude))
      return interval<double>::entire();
    const double terms = term_bound(products);
    // (m - 1) u E / (1 - (m - 1) u) <= 2 m u E; the factor is exact.
    double radius = add_up(mul_up(terms * 0x1p-52, error_magnitude), wider);
    if (underflow != 0) radius = add_up(radius, terms * 0x1p-1074);
    return interval<double>::unchecked(add_down(sum, sub_down(errors, radius)),
                                       add_up(sum, add_up(errors, radius)));
  }

  /// At least the exact sum of the magnitudes of the products.
  VOUCH_HOST_DEVICE double magnitude_up(std::int64_t products) const {
    return sum_up(magnitude, term_bound(products), underflow != 0);
  }

  /// An upper bound of a sum of `terms`/4 - 9 or fewer non-negative products from what rounding to nearest made
  /// of it: for K products the sum is at most q / (1 - 2 K u) + 2 K 2^-1074 <= q (1 + 4 K u) + 4 K 2^-1074.
  VOUCH_HOST_DEVICE static double sum_up(double rounded, double terms, bool underflow) {
    const double sum = mul_up(rounded, add_up(1.0, terms * 0x1p-52));
    return underflow ? add_up(sum, terms * 0x1p-1074) : sum;
  }

  /// At least the number of errors of so many products and of joining partial sums; as a factor of u it is
  /// exact.
  VOUCH_HOST_DEVICE static double term_bound(std::int64_t products) {
    return static_cast<double>(4 * products + 40);
  }

 private:
  VOUCH_HOST_DEVICE void add_error(double e) {
    errors += e;
    error_magnitude += std::fabs(e);
  }
};

}  // namespace vouch::detail
