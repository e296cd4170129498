// vouch/verify/tridiagonal_rows.hpp -- what the verification does with one row of a batch of tridiagonal
// systems; private, CPU and GPU.
//
// Bodies get the system s and the row i.
#pragma once
#include <cmath>
#include <cstdint>

#include <vouch/band/tridiagonal.hpp>
#include <vouch/core/double_double.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/verify/uncertainty.hpp>

namespace vouch::detail {

/// A row with the places of its unknowns; a neighbour that is not there has the coefficient 0 and this row's
/// place.
struct tridiagonal_row {
  double l, d, u, weight;
  std::int64_t lower, here, upper;

  VOUCH_HOST_DEVICE tridiagonal_row(const tridiagonal_view<const double>& A, const batch_shape& vectors,
                                    std::int64_t s, std::int64_t i) {
    const std::int64_t last = vectors.rows(s) - 1, at = A.shape.at(s, i);
    here = vectors.at(s, i);
    const bool below = i > 0 || A.periodic, above = i < last || A.periodic;
    lower = below ? vectors.at(s, i > 0 ? i - 1 : last) : here;
    upper = above ? vectors.at(s, i < last ? i + 1 : 0) : here;
    l = below ? A.dl[at] : 0;
    d = A.d[at];
    u = above ? A.du[at] : 0;
    weight = std::fabs(d) + (std::fabs(l) + std::fabs(u));
  }
};

/// Any positive number will do, as long as it is always the same: about the size of the row.
VOUCH_HOST_DEVICE inline double row_weight(const tridiagonal_row& row) { return row.weight; }

/// The comparison matrix, stored as the vectors are.
struct tridiagonal_comparison_body {
  tridiagonal_view<const double> A;
  batch_shape vectors;
  double* dl;
  double* d;
  double* du;
  VOUCH_HOST_DEVICE void operator()(std::int64_t s, std::int64_t i) const {
    const tridiagonal_row row(A, vectors, s, i);
    dl[row.here] = -std::fabs(row.l);
    d[row.here] = std::fabs(row.d);
    du[row.here] = -std::fabs(row.u);
  }
};

/// x + lo := x + lo + step about.
struct batch_improve_body {
  batch_shape vectors;
  const double* step;
  double* x;
  double* lo;
  VOUCH_HOST_DEVICE void operator()(std::int64_t s, std::int64_t i) const {
    const std::int64_t at = vectors.at(s, i);
    const double_double<double> sum = double_double<double>{x[at], lo[at]} + step[at];
    x[at] = sum.hi;
    lo[at] = sum.lo;
  }
};

}  // namespace vouch::detail
