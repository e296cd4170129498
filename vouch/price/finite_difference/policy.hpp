// vouch/price/finite_difference/policy.hpp -- early exercise of any shape by policy iteration; private.
#pragma once
#include <vector>

#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference/steps.hpp>

namespace vouch {

/// Whether the spots at which an American option is exercised may not be those beyond one boundary: rates below
/// 0, a rebate worth waiting for, or a payoff that is not vanilla.
bool needs_policy(const contract& c);

/// One step of fd_steps::advance with V >= obstacle at inner nodes: the linear complementarity problem, solved
/// exactly in finitely many tridiagonal solves.
///
/// Source  Reisinger, Witte, SIAM J. Financial Math. 3 (2012).
void policy_step(const fd_operator& L, double length, double implicit, const std::vector<double>& obstacle,
                 double first, double last, std::vector<double>& values);

}  // namespace vouch
