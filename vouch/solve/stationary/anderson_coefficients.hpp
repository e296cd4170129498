// vouch/solve/stationary/anderson_coefficients.hpp -- the scalars of Anderson acceleration, one text for every device; private.
#pragma once
#include <cmath>

#include <vouch/core/types.hpp>

namespace vouch {

/// Earlier iterates that the method keeps at most.
inline constexpr int most_mixed = 16;

/// On entry w[k] holds the product of difference k with the last change, on return the weights for which
/// |last change - sum w[k] difference k| is least. products[i*stride + j] are those of differences i and j.
///
/// Result  False where the differences are dependent to 10 digits, or a weight is no number: w is of no use.
VOUCH_HOST_DEVICE inline bool anderson_coefficients(const double* products, int stride, int count, double* w) {
  double L[most_mixed * most_mixed];
  for (int j = 0; j < count; ++j)
    for (int i = j; i < count; ++i) {
      double sum = products[i * stride + j];
      for (int l = 0; l < j; ++l) sum -= L[i * count + l] * L[j * count + l];
      if (i == j && !(sum > 1e-10 * products[i * stride + i])) return false;
      L[i * count + j] = i == j ? std::sqrt(sum) : sum / L[j * count + j];
    }
  for (int i = 0; i < count; ++i) {
    for (int l = 0; l < i; ++l) w[i] -= L[i * count + l] * w[l];
    w[i] /= L[i * count + i];
  }
  for (int i = count; i-- > 0;) {
    for (int l = i + 1; l < count; ++l) w[i] -= L[l * count + i] * w[l];
    w[i] /= L[i * count + i];
  }
  for (int i = 0; i < count; ++i)
    if (!(w[i] - w[i] == 0)) return false;
  return true;
}

/// Where the acceleration in a kernel that sweeps by itself stands; the same on every block that sees the same
/// numbers. After each sweep, from an iterate d to g: the difference of its change g - d to that of the sweep
/// before goes to place `slot`, that of g likewise; then weigh() and advance().
struct anderson_course {
  int depth = 0;
  int kept = 0, slot = 0;  // differences there are; where the next goes
  bool has_last = false, accelerated = false;
  double accepted = 0;  // what the sweep before the mixed iterate met

  /// Differences there are with this sweep's.
  VOUCH_HOST_DEVICE int held() const { return !has_last ? kept : kept < depth ? kept + 1 : depth; }
  /// Whether the mixed iterate, of which a sweep met so much, is to give way to the plain one it replaced.
  VOUCH_HOST_DEVICE bool worse(double met) const { return accelerated && !(met <= accepted); }

  /// The weights of the differences, by their products: `total` holds those of the newest difference with all
  /// held(), then those of all with the last change. products is depth x depth and lasts from sweep to sweep.
  /// False: no acceleration this time.
  VOUCH_HOST_DEVICE bool weigh(const double* total, double* products, double* weight) const {
    const int count = held();
    if (has_last)
      for (int k = 0; k < count; ++k) products[slot * depth + k] = products[k * depth + slot] = total[k];
    for (int k = 0; k < count; ++k) weight[k] = total[count + k];
    return count > 0 && anderson_coefficients(products, depth, count, weight);
  }
  /// Goes back to the plain iterate and forgets all others, or on with what weigh() has said.
  VOUCH_HOST_DEVICE void advance(bool is_worse, double met, bool mixed) {
    if (is_worse) {
      kept = slot = 0;
    } else if (has_last) {
      kept = held();
      slot = (slot + 1) % depth;
    }
    has_last = !is_worse;
    accelerated = !is_worse && mixed;
    accepted = met;
  }
};

}  // namespace vouch
