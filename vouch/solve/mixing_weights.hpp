// vouch/solve/mixing_weights.hpp -- the small least-squares problem of Anderson's mixing, one text for every
// device; private.
#pragma once
#include <cmath>

#include <vouch/core/types.hpp>

namespace vouch {

/// Earlier iterates that mixing keeps at most.
inline constexpr int most_mixed = 16;

/// On entry w[k] holds the product of difference k with the last change, on return the weights for which
/// |last change - sum w[k] difference k| is least. products[i*stride + j] are those of differences i and j.
///
/// Result  False where the differences are dependent to 10 digits, or a weight is no number: w is of no use.
VOUCH_HOST_DEVICE inline bool mixing_weights(const double* products, int stride, int count, double* w) {
  double L[most_mixed * most_mixed];
  for (int j = 0; j < count; ++j)
    for (int i = j; i < count; ++i) {
      double sum = products[i * stride + j];
      for (int l = 0; l < j; ++l) sum -= L[i * count + l] * L[j * count + l];
      if (i == j && !(sum > 1e-10 * products[i * stride + i])) return false;
      L[i * count + j] = i == j ? sqrt(sum) : sum / L[j * count + j];
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

}  // namespace vouch
