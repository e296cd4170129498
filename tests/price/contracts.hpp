// tests/price/contracts.hpp -- options that several tests price.
#pragma once
#include <vector>

#include <vouch/price/contract.hpp>

namespace vouch::testing {

/// A European call struck at the price of the underlying, for a year.
inline contract call_at_the_money() {
  contract c;
  c.plain.spot = c.plain.strike = 100;
  c.plain.rate = 0.05;
  c.plain.volatility = 0.2;
  c.plain.expiry = 1;
  return c;
}

/// One in the money, of an underlying with a yield.
inline contract call_with_yield() {
  contract c = call_at_the_money();
  c.plain.spot = 103;
  c.plain.dividend = 0.02;
  return c;
}

/// That call, the put, two digital options and two with barriers.
inline std::vector<contract> european_products() {
  std::vector<contract> all(6, call_with_yield());
  all[1].plain.type = option_type::put;
  all[2].plain.payoff = payoff_kind::cash_digital;
  all[3].plain.payoff = payoff_kind::asset_digital;
  all[3].plain.type = option_type::put;
  all[4].plain.barrier = barrier_kind::up_and_out;
  all[4].plain.barrier_level = 130;
  all[4].plain.rebate = 3;
  all[5].plain.barrier = barrier_kind::down_and_out;
  all[5].plain.barrier_level = 90;
  return all;
}

}  // namespace vouch::testing
