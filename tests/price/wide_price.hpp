// tests/price/wide_price.hpp -- the formulas of European options in as many digits as are wanted.
#pragma once
#include <mpfr.h>

#include <vouch/price/types.hpp>

namespace vouch::testing {

/// A number of so many bits.
class wide {
 public:
  explicit wide(mpfr_prec_t bits, double x = 0) {
    mpfr_init2(value_, bits);
    mpfr_set_d(value_, x, MPFR_RNDN);
  }
  wide(const wide&) = delete;
  wide& operator=(const wide&) = delete;
  ~wide() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }
  double rounded() const { return mpfr_get_d(value_, MPFR_RNDN); }

 private:
  mpfr_t value_;
};

/// What is added to an option's numbers.
struct shift {
  double spot = 0, volatility = 0, dividend = 0, expiry = 0;
};

/// price := that of the option so changed; vanilla or digital.
inline void black(const plain_option& o, const shift& by, wide& price) {
  const mpfr_prec_t bits = mpfr_get_prec(price.get());
  constexpr mpfr_rnd_t near = MPFR_RNDN;
  wide spot(bits, o.spot), volatility(bits, o.volatility), dividend(bits, o.dividend), expiry(bits, o.expiry);
  mpfr_add_d(spot.get(), spot.get(), by.spot, near);
  mpfr_add_d(volatility.get(), volatility.get(), by.volatility, near);
  mpfr_add_d(dividend.get(), dividend.get(), by.dividend, near);
  mpfr_add_d(expiry.get(), expiry.get(), by.expiry, near);
  wide half(bits), middle(bits), work(bits), d(bits);  // d1 and d2 are middle + half and middle - half
  mpfr_sqrt(work.get(), expiry.get(), near);
  mpfr_mul(work.get(), work.get(), volatility.get(), near);
  mpfr_div_d(middle.get(), spot.get(), o.strike, near);
  mpfr_log(middle.get(), middle.get(), near);
  mpfr_d_sub(d.get(), o.rate, dividend.get(), near);
  mpfr_mul(d.get(), d.get(), expiry.get(), near);
  mpfr_add(middle.get(), middle.get(), d.get(), near);
  mpfr_div(middle.get(), middle.get(), work.get(), near);
  mpfr_div_2ui(half.get(), work.get(), 1, near);
  const auto term = [&](bool asset, double cash, wide& out) {
    asset ? mpfr_add(d.get(), middle.get(), half.get(), near)
          : mpfr_sub(d.get(), middle.get(), half.get(), near);
    mpfr_sqrt_ui(work.get(), 2, near);
    mpfr_div(d.get(), d.get(), work.get(), near);
    if (o.type == option_type::call) mpfr_neg(d.get(), d.get(), near);
    mpfr_erfc(out.get(), d.get(), near);
    mpfr_div_2ui(out.get(), out.get(), 1, near);
    asset ? mpfr_neg(work.get(), dividend.get(), near) : mpfr_set_d(work.get(), -o.rate, near);
    mpfr_mul(work.get(), work.get(), expiry.get(), near);
    mpfr_exp(work.get(), work.get(), near);
    mpfr_mul(out.get(), out.get(), work.get(), near);
    asset ? mpfr_mul(out.get(), out.get(), spot.get(), near) : mpfr_mul_d(out.get(), out.get(), cash, near);
  };
  if (o.payoff == payoff_kind::cash_digital) return term(false, o.cash, price);
  term(true, 0, price);
  if (o.payoff == payoff_kind::asset_digital) return;
  wide bond(bits);
  term(false, o.strike, bond);
  mpfr_sub(price.get(), price.get(), bond.get(), near);
  if (o.type == option_type::put) mpfr_neg(price.get(), price.get(), near);
}

}  // namespace vouch::testing
