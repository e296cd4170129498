// vouch/price/finite_difference/enclosed_exponential.hpp -- proved bounds of what the exponential scheme computes; private.
#pragma once
#include <cstddef>
#include <vector>

#include <vouch/interval/interval.hpp>
#include <vouch/price/finite_difference/steps.hpp>
#include <vouch/price/finite_difference/talbot.hpp>

namespace vouch {

/// dV/dtau = L V at the inner nodes, from V = start on; the ends are sums of amount * exp(-decay tau / time).
struct exponential_problem {
  fd_operator L;
  double time = 0;
  std::vector<double> start;
  boundary_exponentials first, last;
};

/// The values after `time` at the nodes [from, from + count), for the exact numbers of the problem: exp(time L)
/// by a sum of Chebyshev polynomials in double_double precision, whose truncation and rounding are bounded.
///
/// Result  Entire where nothing is proved. The same bits on every run.
/// Cost    About 10 ns a node and polynomial; of these nine times the root of time * max(lower + upper).
/// Throws  error  a growing solution or a node at an end, in a build without MPFR
/// Source  docs/rigor.md, "The exponential scheme".
std::vector<interval<double>> enclose_exponential(const exponential_problem& p, std::size_t from,
                                                  std::size_t count);

}  // namespace vouch
