// American options by QuantLib's finite differences, one after another, as a module for the tool.
#include <ql/exercise.hpp>
#include <ql/instruments/vanillaoption.hpp>
#include <ql/pricingengines/vanilla/fdblackscholesvanillaengine.hpp>
#include <ql/processes/blackscholesprocess.hpp>
#include <ql/quotes/simplequote.hpp>
#include <ql/termstructures/volatility/equityfx/blackconstantvol.hpp>
#include <ql/termstructures/yield/flatforward.hpp>
#include <ql/time/calendars/nullcalendar.hpp>
#include <ql/time/daycounters/actual365fixed.hpp>

#include <chrono>
#include <exception>

#include "quantlib.hpp"

namespace {

using namespace QuantLib;

double price(const vouch_peer_option& o, long nodes, long steps) {
  const Date today = Date::todaysDate();  // what it takes for the day of evaluation by itself
  const DayCounter days = Actual365Fixed();
  const auto spot = ext::make_shared<SimpleQuote>(o.spot);
  const Handle<YieldTermStructure> rate(ext::make_shared<FlatForward>(today, o.rate, days)),
      dividend(ext::make_shared<FlatForward>(today, o.dividend, days));
  const Handle<BlackVolTermStructure> volatility(
      ext::make_shared<BlackConstantVol>(today, NullCalendar(), o.volatility, days));
  const auto process =
      ext::make_shared<BlackScholesMertonProcess>(Handle<Quote>(spot), dividend, rate, volatility);
  const auto payoff = ext::make_shared<PlainVanillaPayoff>(o.call ? Option::Call : Option::Put, o.strike);
  const auto exercise = ext::make_shared<AmericanExercise>(today, today + static_cast<Integer>(o.days));
  VanillaOption option(payoff, exercise);
  option.setPricingEngine(ext::make_shared<FdBlackScholesVanillaEngine>(process, static_cast<Size>(steps),
                                                                        static_cast<Size>(nodes), Size{2}));
  return option.NPV();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int vouch_quantlib_american(const vouch_peer_option* options,
                                                                              long count, long nodes,
                                                                              long steps, double* prices,
                                                                              double* seconds) {
  try {
    const auto start = std::chrono::steady_clock::now();
    for (long k = 0; k < count; ++k) prices[k] = price(options[k], nodes, steps);
    *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}
