// vouch/core/underflow.hpp -- what underflow may hide of a residual; private.
#pragma once
#include <limits>

namespace vouch {

/// By how much the computed ||b - A x||_2 of numbers with unit roundoff `unit` may lie below the true one because products
/// and differences underflow, at most, for x other than 0; 0 where that is below unit ||b||. A has fewer than 2^60
/// pairs of an entry and a place in the longest row.
constexpr double lost_to_underflow(double unit, double rhs_norm) {
  // Every product of double precision loses at most 2^-1074, and so does every row of the rounded r; of single precision,
  // summed in double, 2^-150 a row.
  const double most = unit > std::numeric_limits<double>::epsilon() ? 0x1p-130 : 0x1p-1044;
  return unit * rhs_norm < most ? most : 0;
}

}  // namespace vouch
