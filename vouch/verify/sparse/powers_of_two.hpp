// vouch/verify/sparse/powers_of_two.hpp -- matrices scaled exactly, so that their size is no concern of a proof;
// private.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <vouch/interval/interval.hpp>
#include <vouch/interval/rounding.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {
namespace detail {

/// Exponents: row i times 2^rows[i], column j times 2^columns[j].
struct powers_of_two {
  std::vector<int> rows, columns;
};

/// Steps, each of which halves the exponents of the largest magnitudes, and how small these are to be.
inline constexpr int equilibration_steps = 12, equilibrated_within = 3;

/// The exponents that bring the largest magnitude of each column near 1 and that of each row into [1, 2). 0 for
/// rows and columns without one. Both sides move in turn, or the rows first, whichever leaves the entries
/// nearer to 1: the one undoes a scaling alike from both sides, the other one of the rows.
///
/// Memory  A lives on the CPU.
/// Source  Ruiz, RAL-TR-2001-034.
powers_of_two equilibrating(csr_view<const double> A);

/// Multiplies the entries of A, on the CPU. False, and A of no use, where one of them would be rounded.
bool scale_exactly(csr<double>& A, const std::vector<int>& rows, const std::vector<int>& columns);

/// At least 2^exponent v, for v >= 0.
VOUCH_SIDE inline double times_power_up(double v, int exponent) {
  const double product = std::ldexp(v, exponent);
  return product < 0x1p-1000 && v > 0 ? add_up(product, 0x1p-1074) : product;
}

/// An interval with all of 2^exponent r; without bounds where r has none.
VOUCH_SIDE inline interval<double> times_power(const interval<double>& r, int exponent) {
  if (!std::isfinite(r.lo()) || !std::isfinite(r.hi())) return interval<double>::entire();
  constexpr double most = std::numeric_limits<double>::max();
  const double lo = std::ldexp(r.lo(), exponent), hi = std::ldexp(r.hi(), exponent);
  const auto is_rounded = [](double product, double v) { return std::fabs(product) < 0x1p-1000 && v != 0; };
  return interval<double>::unchecked(std::fmin(is_rounded(lo, r.lo()) ? sub_down(lo, 0x1p-1074) : lo, most),
                                     std::fmax(is_rounded(hi, r.hi()) ? add_up(hi, 0x1p-1074) : hi, -most));
}

}  // namespace detail
}  // namespace vouch
