// vouch/price/finite_difference/task.hpp -- what is solved on a grid for an option; private.
#pragma once
#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>
#include <vouch/price/types.hpp>

namespace vouch {

/// A European option that begins at a barrier is one without barrier less one that ends there.
struct fd_task {
  contract knocked_out;
  fd_payment payment;
  bool in = false;
  valuation without_barrier;  // of the option that begins there
  double error = 0;           // of its price
};

/// Throws  value_error  an option that begins at a barrier, may be exercised early and has cash dividends
fd_task make_task(const contract& c, const fd_options& options);

/// One that begins at a barrier and may be exercised early is stepped with the values that it has there then.
bool is_stepped_to_begin(const contract& c);

/// Everything constant by `amount` higher.
contract with_more_volatility(contract c, double amount);
contract with_more_rate(contract c, double amount);

}  // namespace vouch
