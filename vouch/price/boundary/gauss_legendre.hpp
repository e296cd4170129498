// vouch/price/boundary/gauss_legendre.hpp -- points and weights for integrals of smooth functions; private.
#pragma once
#include <cmath>

namespace vouch::detail {

/// Calls take(k, x, w) for the `count` points x in (-1, 1) and weights w, by Newton's iteration on the Legendre
/// polynomial.
template <class Take>
void gauss_legendre(int count, Take take) {
  constexpr double pi = 3.14159265358979323846;
  for (int k = 0; k < count; ++k) {
    double y = std::cos(pi * (k + 0.75) / (count + 0.5)), slope = 1;
    for (int iteration = 0; iteration < 20; ++iteration) {
      double before = 1, now = y;
      for (int n = 2; n <= count; ++n) {
        const double next = ((2 * n - 1) * y * now - (n - 1) * before) / n;
        before = now;
        now = next;
      }
      slope = count * (y * now - before) / (y * y - 1);
      y -= now / slope;
    }
    take(k, y, 2 / ((1 - y * y) * slope * slope));
  }
}

}  // namespace vouch::detail
