// vouch/core/underflow.hpp -- what underflow may hide of a residual; private.
#pragma once
#include <cmath>
#include <limits>

namespace vouch {

/// By how much the computed ||b - A x||_2 of numbers with unit roundoff `unit` may lie below the true one, at most, because
/// products and differences underflow; 0 for x = 0, and where the computed one is 0 and that is below unit ||b||.
///
/// x_norm  Any norm of x.
/// terms   Entries and rows of A, together.
inline double lost_to_underflow(double unit, double computed, double x_norm, double rhs_norm, double terms) {
  if (x_norm == 0) return 0;
  // In double precision every product and every rounded element of r loses at most 2^-1074; in single precision, summed
  // in double, every element of r 2^-150.
  const double most =
      unit > std::numeric_limits<double>::epsilon() ? std::sqrt(terms) * 0x1p-150 : terms * 0x1p-1074;
  return computed > 0 || unit * rhs_norm < most ? most : 0;
}

}  // namespace vouch
