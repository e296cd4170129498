// vouch/dense/factor/approximate_factors.hpp -- LU factors and inverses rounded to nearest, which prove nothing by
// themselves; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/dense/matrix.hpp>

namespace vouch::detail {

/// P A = L U with partial pivoting, in double: row k of P A is row rows[k] of A.
struct approximate_lu {
  bool singular = false;  // a pivot was 0 or not finite
  matrix<double> factors;
  std::vector<std::int64_t> rows;
  bool odd = false;  // P is an odd permutation
};
approximate_lu factorise(const device& dev, matrix<double> A);

/// Near the inverse of L (unit diagonal) or of U, the other triangle 0.
matrix<double> inverse_of_lower(const device& dev, const approximate_lu& lu);
matrix<double> inverse_of_upper(const device& dev, const approximate_lu& lu);

}  // namespace vouch::detail
