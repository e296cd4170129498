// vouch/price/slips.hpp -- what an option may be and is seldom meant to be.
#pragma once
#include <string>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/contract.hpp>

namespace VOUCH_PUBLIC vouch {

/// The volatility from which a percentage is likely to have been given.
inline constexpr double unlikely_volatility = 5;

/// Whether slips_of() may have something to say of numbers that do not change.
inline bool may_be_a_slip(const plain_option& o) {
  return o.volatility > unlikely_volatility || (o.barrier != barrier_kind::none && barrier_is_hit(o));
}

/// Sentences: dates and dividends that lie outside the option's life, a bermudan option without dates in it, a volatility
/// above 5, a barrier that is touched already.
std::vector<std::string> slips_of(const contract& c);

}  // namespace vouch
