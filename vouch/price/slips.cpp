#include <vouch/price/slips.hpp>

#include <algorithm>

#include <vouch/text/number.hpp>

namespace vouch {

std::vector<std::string> slips_of(const contract& c) {
  std::vector<std::string> slips;
  const plain_option& o = c.plain;
  double highest = c.volatilities.empty() && c.local_volatility.empty() ? o.volatility : 0;
  for (const curve_step& step : c.volatilities) highest = std::max(highest, step.value);
  for (const double v : c.local_volatility.values) highest = std::max(highest, v);
  if (highest > unlikely_volatility)
    slips.push_back("the volatility " + number_text(highest) + " is " + number_text(100 * highest) +
                    " % a year: 0.2 is 20 %");
  if (o.barrier != barrier_kind::none && barrier_is_hit(o))
    slips.push_back("the barrier " + number_text(o.barrier_level) + " is touched already: the spot is " +
                    number_text(o.spot));
  return slips;
}

}  // namespace vouch
