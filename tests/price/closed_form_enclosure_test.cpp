// Enclosed prices and Greeks against the formula with 300 bits, and against the formula in doubles.
#include <vouch/price/closed_form_enclosure.hpp>

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <limits>

#include <vouch/core/error.hpp>
#include <vouch/core/random.hpp>
#include <vouch/price/closed_form.hpp>

namespace vouch {
namespace {

// A number with 300 bits.
class big {
 public:
  big(double x = 0) {
    mpfr_init2(value_, 300);
    mpfr_set_d(value_, x, MPFR_RNDN);
  }
  big(const big& other) : big() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  big& operator=(const big& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~big() { mpfr_clear(value_); }

  static big of(int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), const big& a) {
    big result;
    function(result.value_, a.value_, MPFR_RNDN);
    return result;
  }
  static big of(int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t), const big& a, const big& b) {
    big result;
    function(result.value_, a.value_, b.value_, MPFR_RNDN);
    return result;
  }
  bool within(interval<double> x) const {
    return mpfr_cmp_d(value_, x.lo()) >= 0 && mpfr_cmp_d(value_, x.hi()) <= 0;
  }

 private:
  mpfr_t value_;
};

big operator+(const big& a, const big& b) { return big::of(mpfr_add, a, b); }
big operator-(const big& a, const big& b) { return big::of(mpfr_sub, a, b); }
big operator*(const big& a, const big& b) { return big::of(mpfr_mul, a, b); }
big operator/(const big& a, const big& b) { return big::of(mpfr_div, a, b); }
big exp(const big& a) { return big::of(mpfr_exp, a); }
big log(const big& a) { return big::of(mpfr_log, a); }
big sqrt(const big& a) { return big::of(mpfr_sqrt, a); }
big cumulative(const big& a) { return big::of(mpfr_erfc, big(0) - a / sqrt(big(2))) / 2; }
big density(const big& a) {
  big pi = big::of(mpfr_atan, big(1)) * 4;
  return exp(big(0) - a * a / 2) / sqrt(big(2) * pi);
}

plain_option random_option(std::uint64_t k) {
  const auto unit = [&](std::uint64_t which) { return random_unit(33, 8 * k + which); };
  plain_option o;
  o.type = k % 2 == 0 ? option_type::call : option_type::put;
  o.spot = 100 * std::exp(2 * unit(0) - 1);
  o.strike = k % 7 == 0 ? o.spot : o.spot * std::exp((k % 3 == 0 ? 8 : 0.6) * (unit(1) - 0.5));
  o.rate = 0.2 * unit(2) - 0.05;
  o.dividend = k % 4 == 0 ? 0 : 0.1 * unit(3);
  o.volatility = k % 5 == 0 ? 0.01 : 0.05 + unit(4);
  o.expiry = k % 11 == 0 ? 1e-4 : 3 * unit(5) + 0.01;
  return o;
}

double width(interval<double> x) { return x.hi() - x.lo(); }

TEST(closed_form_enclosure, contains_the_formula_with_300_bits) {
  for (std::uint64_t k = 0; k < 3000; ++k) {
    const plain_option o = random_option(k);
    const enclosed_valuation v = enclose_european_price(o);
    const big sign = sign_of(o.type), spot = o.spot, strike = o.strike, rate = o.rate, dividend = o.dividend,
              volatility = o.volatility, expiry = o.expiry;
    const big deviation = volatility * sqrt(expiry);
    const big d1 = (log(spot / strike) + (rate - dividend + volatility * volatility / 2) * expiry) / deviation;
    const big d2 = d1 - deviation;
    const big growth = exp(big(0) - dividend * expiry), underlying = spot * growth,
              bond = strike * exp(big(0) - rate * expiry);
    const big nd1 = cumulative(sign * d1), nd2 = cumulative(sign * d2);
    ASSERT_TRUE((sign * (underlying * nd1 - bond * nd2)).within(v.price)) << k;
    ASSERT_TRUE((sign * growth * nd1).within(v.delta)) << k;
    ASSERT_TRUE((growth * density(d1) / (spot * deviation)).within(v.gamma)) << k;
    ASSERT_TRUE((underlying * density(d1) * sqrt(expiry)).within(v.vega)) << k;
    ASSERT_TRUE((sign * expiry * bond * nd2).within(v.rho)) << k;
    ASSERT_TRUE((sign * (dividend * underlying * nd1 - rate * bond * nd2) -
                 underlying * density(d1) * volatility / (big(2) * sqrt(expiry)))
                    .within(v.theta))
        << k;
    ASSERT_LE(width(v.price), 1e-13 * (o.spot + o.strike)) << k;
    ASSERT_GE(v.price.lo(), 0) << k;
  }
}

TEST(closed_form_enclosure, is_about_the_formula_in_doubles) {
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const plain_option o = random_option(k);
    const enclosed_valuation v = enclose_european_price(o);
    const valuation plain = european_price(o);
    const auto near = [&](double value, interval<double> x, double scale) {
      return value >= x.lo() - 1e-11 * scale && value <= x.hi() + 1e-11 * scale;
    };
    ASSERT_TRUE(near(plain.price, v.price, o.spot + o.strike)) << k;
    ASSERT_TRUE(near(plain.delta, v.delta, 1)) << k;
    ASSERT_TRUE(near(plain.gamma, v.gamma, plain.gamma + 1 / o.spot)) << k;
    ASSERT_TRUE(near(plain.theta, v.theta, std::fabs(plain.theta) + o.spot)) << k;
    ASSERT_TRUE(near(plain.vega, v.vega, o.spot)) << k;
    ASSERT_TRUE(near(plain.rho, v.rho, o.strike * (1 + o.expiry))) << k;
  }
}

TEST(closed_form_enclosure, survives_extreme_numbers) {
  plain_option o;
  for (const double size : {1e-300, 1e300})
    for (const double spread : {1e-290, 1.0, 1e5}) {
      o.spot = size;
      o.strike = size < 1 ? size / spread : size * std::fmin(spread, 1);
      o.volatility = spread;
      o.expiry = 1e-5;
      o.rate = 3;
      if (!std::isfinite(o.strike)) continue;
      const enclosed_valuation v = enclose_european_price(o);
      EXPECT_LE(v.price.lo(), v.price.hi());
      EXPECT_GE(v.price.lo(), 0);
      EXPECT_LE(v.delta.lo(), v.delta.hi());
    }
}

TEST(closed_form_enclosure, refuses_what_it_cannot_enclose) {
  plain_option good = random_option(1);
  EXPECT_NO_THROW(enclose_european_price(good));
  for (double plain_option::*number :
       {&plain_option::spot, &plain_option::strike, &plain_option::volatility, &plain_option::expiry})
    for (const double value : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
      plain_option bad = good;
      bad.*number = value;
      EXPECT_THROW(enclose_european_price(bad), value_error);
    }
  plain_option digital = good;
  digital.payoff = payoff_kind::cash_digital;
  EXPECT_THROW(enclose_european_price(digital), value_error);
  plain_option barrier = good;
  barrier.barrier = barrier_kind::up_and_out;
  EXPECT_THROW(enclose_european_price(barrier), value_error);
}

}  // namespace
}  // namespace vouch
