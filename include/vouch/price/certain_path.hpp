// vouch/price/certain_path.hpp -- any option on a share that follows one path, as nothing is random.
#pragma once
#include <vouch/price/contract.hpp>

namespace vouch {

/// The limit without volatility: the largest discounted payment on the share's path over the times at which it
/// may be exercised, while a barrier lets it be; the rebate where that is paid.
///
/// Types   As check(c) leaves it; volatility, spot or expiry is 0, and its barrier is not hit already.
/// Result  Rounding: best moments and hits of a barrier are solved for, not searched on a grid. What ends at a
///         barrier pays the larger of its rebate and, if American, exercise then; a share that falls by a
///         dividend may be exercised just before. Vega and rho are 0.
/// Throws  value_error  a digital option whose share is at the strike at a date, or stays there
valuation certain_path_price(const contract& c);

}  // namespace vouch
