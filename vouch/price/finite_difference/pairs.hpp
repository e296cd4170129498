// vouch/price/finite_difference/pairs.hpp -- arithmetic of pairs of doubles in enclosed steps; private.
//
// u = 2^-53; a sum of pairs errs by at most 3 u^2 of itself. Source  Joldes, Muller, Popescu, ACM TOMS 44
// (2017).
#pragma once
#include <vouch/core/double_double.hpp>
#include <vouch/core/simd.hpp>

namespace vouch::fd {

using pair = double_double<double>;

// Errs by at most 8 u^2 of the product.
VOUCH_SIMD_INLINE pair product(const pair& a, const pair& b) {
  const pair p = two_prod(a.hi, b.hi);
  return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

VOUCH_SIMD_INLINE pair difference(const pair& a, const pair& b) { return a + pair{-b.hi, -b.lo}; }

}  // namespace vouch::fd
