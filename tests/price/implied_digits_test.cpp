// Implied volatilities against Black's formula in hundreds of digits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <vouch/core/random.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/implied.hpp>

#include "campaign.hpp"
#include "wide_price.hpp"

namespace vouch {
namespace {

using testing::black;
using testing::wide;

constexpr double unit = 0.5 * std::numeric_limits<double>::epsilon();

// How far the volatility found may be off: what a few units in the last place of the option's numbers make.
double attainable(const plain_option& o, double price) {
  const double s = o.volatility * std::sqrt(o.expiry), log_moneyness = std::log(o.spot / o.strike),
               carry = (o.rate - o.dividend) * o.expiry, a = std::abs(log_moneyness + carry) / s, t = 0.5 * s;
  const double scale =
      std::sqrt(o.spot) * std::sqrt(o.strike) * std::exp(-0.5 * (o.rate + o.dividend) * o.expiry);
  // Over s times the derivative by s: the price, and the derivative by the logarithm of the moneyness.
  const double weight = std::exp(-0.5 * (a * a + t * t)) * normal::root_two_pi_inverse;
  const double by_price = weight > 0 ? price / scale / (s * weight) : 0;
  const auto mills = [](double y) { return normal::cumulative(-y) / normal::density(y); };
  double by_moneyness = a + t < 30 ? 0.5 * (mills(a - t) + mills(a + t)) / s : 1 / (a * s);
  const bool in_the_money = sign_of(o.type) * (log_moneyness + carry) > 0;
  if (in_the_money && weight > 0) by_moneyness += 1 / (s * weight);
  const double rates = (std::abs(o.rate) + std::abs(o.dividend)) * o.expiry;
  return 8 * unit * ((1 + rates) * (1 + by_price) + (std::abs(log_moneyness) + std::abs(carry)) * by_moneyness);
}

// Whether the exact volatility lies within so much of what was found: the price rises with it.
void expect_found(plain_option o, double price, mpfr_prec_t bits) {
  o.volatility = implied_volatility(o, price);
  const double error = attainable(o, price);
  if (!(error < 1e-3)) return;  // the price does not say
  wide below(bits), above(bits);
  black(o, {.volatility = -error * o.volatility}, below);
  black(o, {.volatility = error * o.volatility}, above);
  const bool inside = mpfr_cmp_d(below.get(), price) <= 0 && mpfr_cmp_d(above.get(), price) >= 0;
  EXPECT_TRUE(inside) << (o.type == option_type::call ? "call " : "put ") << ::testing::PrintToString(o.spot)
                      << ' ' << ::testing::PrintToString(o.strike) << ' ' << ::testing::PrintToString(o.rate)
                      << ' ' << ::testing::PrintToString(o.dividend) << ' '
                      << ::testing::PrintToString(o.expiry) << ' ' << ::testing::PrintToString(price)
                      << " found " << ::testing::PrintToString(o.volatility) << " error " << error;
}

class dice {
 public:
  explicit dice(std::uint64_t stream) : stream_(stream) {}
  double uniform(double from, double to) { return from + (to - from) * random_unit(stream_, next_++); }
  double by_size(double from, double to) { return std::exp(uniform(std::log(from), std::log(to))); }
  bool coin() { return uniform(0, 1) < 0.5; }

 private:
  std::uint64_t stream_, next_ = 0;
};

plain_option of_a_market(dice& roll) {
  plain_option o;
  o.type = roll.coin() ? option_type::call : option_type::put;
  o.spot = roll.uniform(80, 120);
  o.strike = roll.uniform(60, 160);
  o.rate = roll.uniform(-0.02, 0.1);
  o.dividend = roll.uniform(0, 0.08);
  o.volatility = roll.uniform(0.03, 1);
  o.expiry = roll.uniform(0.005, 5);
  return o;
}

// Every ratio of spot and strike, volatility and expiry that there may be.
plain_option of_a_hostile_user(dice& roll) {
  plain_option o = of_a_market(roll);
  o.spot = roll.by_size(1e-30, 1e30);
  o.strike = o.spot * std::exp((roll.coin() ? 1 : -1) * roll.by_size(1e-13, 100));
  if (roll.coin()) o.rate = o.dividend = 0;
  o.expiry = roll.by_size(1e-8, 50);
  o.volatility = roll.by_size(1e-9, 15) / std::sqrt(o.expiry);
  return o;
}

void run(int count, std::uint64_t stream, plain_option (*draw)(dice&)) {
  dice roll(stream);
  constexpr mpfr_prec_t bits = 400;
  int tried = 0;
  for (int k = 0; k < count; ++k) {
    const plain_option o = draw(roll);
    wide price(bits);
    black(o, {}, price);
    const double paid = price.rounded(), underlying = o.spot * std::exp(-o.dividend * o.expiry),
                 bond = o.strike * std::exp(-o.rate * o.expiry), sign = sign_of(o.type);
    const double least = std::fmax(sign * (underlying - bond), 0.0), most = sign > 0 ? underlying : bond;
    constexpr double rounding = 1e-14;
    if (!(paid > 1e-75 * most && paid - least > rounding * least && most - paid > rounding * most)) continue;
    expect_found(o, paid, bits);
    ++tried;
  }
  EXPECT_GT(tried, count / 4);
}

TEST(implied_digits, of_market_prices) { run(testing::campaign(50000), 1, of_a_market); }
TEST(implied_digits, of_hostile_prices) { run(testing::campaign(50000), 2, of_a_hostile_user); }

// At the money and, where x is of the size of the price, beside it; 1e-300 and the smallest numbers there are.
TEST(implied_digits, of_tiny_prices) {
  for (const double price : {1e-8, 1e-300, 4.9406564584124654e-324}) {
    const mpfr_prec_t bits = 160 - std::ilogb(price);
    plain_option o;
    o.spot = o.strike = 100;
    o.expiry = 1e-6;
    expect_found(o, price, bits);
    o.expiry = 1;
    expect_found(o, price, bits);
    o.dividend = o.rate = 0.03;
    expect_found(o, price, bits);
    o.dividend = 0;
    for (const double beside : {1e-290, 1e-20}) {
      o.rate = beside;
      o.type = option_type::call;
      expect_found(o, price, bits);
      o.type = option_type::put;
      expect_found(o, price, bits);
    }
    o.rate = 0;
    o.strike = 30;
    expect_found(o, price, bits);
  }
}

}  // namespace
}  // namespace vouch
