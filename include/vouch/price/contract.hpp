// vouch/price/contract.hpp -- everything that an option on one underlying can have.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <vouch/core/visibility.hpp>
#include <vouch/price/types.hpp>

namespace VOUCH_PUBLIC vouch {

/// An amount that the underlying pays, and loses, at a time in years from now.
struct cash_dividend {
  double time = 0, amount = 0;
};

/// piecewise: the underlying itself is random between its dividends and falls by each. escrowed: what is random is
/// the underlying less what the dividends before expiry are worth now.
enum class dividend_model : std::uint8_t { piecewise, escrowed };

/// A value that holds until a time in years from now; the last one holds for ever.
struct curve_step {
  double until = 0, value = 0;
};

/// Volatilities over spot (rising, columns) and time (rising, rows), linear between, constant outside.
struct volatility_table {
  std::vector<double> times, spots;
  std::vector<double> values;  // times.size() rows

  bool empty() const { return values.empty(); }
  double at(double time, double spot) const;
  /// The root mean square from now to expiry.
  double mean_at(double expiry, double spot) const;
};

/// Where the dividend, cash or yield, is written: in plain (a yield) and in dividends (cash).
struct contract {
  plain_option plain;
  exercise_style exercise = exercise_style::european;
  std::vector<double> exercise_dates;    // of a Bermudan option; its expiry is one by itself
  std::vector<cash_dividend> dividends;  // those outside (0, expiry) have no effect
  dividend_model model = dividend_model::piecewise;
  std::vector<curve_step> rates;         // replace plain.rate
  std::vector<curve_step> volatilities;  // replace plain.volatility
  volatility_table local_volatility;     // replaces both

  /// Whether rate and volatility are constant and dividends a yield.
  bool is_plain() const {
    return dividends.empty() && rates.empty() && volatilities.empty() && local_volatility.empty();
  }
  /// Whether cash dividends are escrowed.
  bool is_escrowed() const { return model == dividend_model::escrowed && !dividends.empty(); }
};

/// Checks everything and sorts dates and dividends by time.
///
/// Throws  value_error  naming the number: not finite, negative where it may not be, a table that does not
/// rise;
///                      escrowed dividends that are worth more than the underlying, or beside a barrier or a local
///                      volatility
void check(contract& c);

/// The value of a curve at a time; `constant` where it is empty.
double value_at(const std::vector<curve_step>& curve, double constant, double time);
/// Its integral from 0 to a time.
double integral_to(const std::vector<curve_step>& curve, double constant, double time);
/// The root mean square of the volatility until expiry; of a local one, at spot.
double typical_volatility(const contract& c);

/// What the dividends before expiry that are still to come at a time are worth then, in shares that reinvest
/// their yield; one at that time counts where `inclusive`. 0 unless they are escrowed.
double escrow(const contract& c, double time, bool inclusive = false);

/// What exercising, or expiry, pays at a spot.
double payoff_at(const plain_option& o, double spot);

/// The same on a grid; an American digital option at its strike pays all, as it is exercised when the underlying is
/// there on its way.
double payoff_on_grid(const contract& c, double spot);

}  // namespace vouch
