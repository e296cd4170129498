// vouch/price/types.hpp -- what an option is, and what is said of its value.
#pragma once
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/core/visibility.hpp>

namespace VOUCH_PUBLIC vouch {

enum class option_type : std::uint8_t { call, put };
enum class exercise_style : std::uint8_t { european, american, bermudan };
/// Vanilla pays max(S - K, 0) or max(K - S, 0); the digital ones pay cash or the underlying where that is positive.
enum class payoff_kind : std::uint8_t { vanilla, cash_digital, asset_digital };
enum class barrier_kind : std::uint8_t { none, up_and_in, up_and_out, down_and_in, down_and_out };

/// An option on an underlying that follows geometric Brownian motion with constant coefficients.
///
/// Units  expiry in years; rate and dividend (a continuous yield) continuously compounded a year; volatility
///        for the square root of a year.
struct plain_option {
  option_type type = option_type::call;
  payoff_kind payoff = payoff_kind::vanilla;
  barrier_kind barrier = barrier_kind::none;
  double spot = 0, strike = 0, rate = 0, dividend = 0, volatility = 0, expiry = 0;
  double cash = 1;           // what a cash digital pays
  double barrier_level = 0;  // watched at every moment
  double rebate = 0;  // of an out barrier: paid when it is hit; of an in barrier: at expiry if it never was
};

/// Units  theta is dV/dt a year (t runs, the expiry stands); vega and rho are for a change by 1.0.
struct valuation {
  double price = 0, delta = 0, gamma = 0, theta = 0, vega = 0, rho = 0;
};

VOUCH_HOST_DEVICE constexpr double sign_of(option_type type) { return type == option_type::call ? 1.0 : -1.0; }
VOUCH_HOST_DEVICE constexpr bool is_in(barrier_kind b) {
  return b == barrier_kind::up_and_in || b == barrier_kind::down_and_in;
}
VOUCH_HOST_DEVICE constexpr bool is_up(barrier_kind b) {
  return b == barrier_kind::up_and_in || b == barrier_kind::up_and_out;
}

}  // namespace vouch
