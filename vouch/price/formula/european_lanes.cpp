// The formula of Black, Scholes and Merton in lanes. exp and log by reduction to a short interval and a polynomial; the
// normal distribution by a polynomial of Shepherd and Laframboise's form for exp(x^2) erfc(x), Mathematics of Computation
// 36 (1981), whose coefficients are those of Chebyshev interpolation in 50 digits.
#include <vouch/price/formula/european_lanes.hpp>

#include <cmath>
#include <cstdint>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/normal.hpp>

namespace vouch::detail {
namespace {

using vec = lanes<double>;
// Comparisons of lanes are slow where vectors are shorter than 64 bytes.
using bits = std::uint64_t __attribute__((vector_size(64)));

constexpr int width = simd<double>::width;
constexpr double ln2_high = 6.93147180369123816490e-01;  // its products with exponents are exact
constexpr double ln2_low = 1.90821492927058770002e-10;
constexpr double shift = 0x1.8p52;  // numbers below 2^51 have their integer in the last bits of the sum

VOUCH_SIMD_INLINE void magnitude(const vec& x, vec& size) { size = (vec)((bits)x & ~(std::uint64_t{1} << 63)); }

// a where the sign of x is set, else b.
VOUCH_SIMD_INLINE void where_negative(const vec& x, const vec& a, const vec& b, vec& chosen) {
  const bits negative = -((bits)x >> 63);
  chosen = (vec)(((bits)a & negative) | ((bits)b & ~negative));
}

// Of degree N - 1, in four chains that run side by side: each has every fourth power.
template <int N>
VOUCH_SIMD_INLINE void polynomial(const double (&falling)[N], const vec& x, vec& sum) {
  const vec square = x * x, fourth = square * square;
  vec chain[4];  // by the power that is left of it
  for (int k = 0; k < 4; ++k) {
    vec& here = chain[(N - 1 - k) % 4];
    here = vec{} + falling[k];
    for (int next = k + 4; next < N; next += 4) here = here * fourth + falling[next];
  }
  sum = (chain[0] + chain[1] * x) + square * (chain[2] + chain[3] * x);
}

// x := exp(x) for |x| <= 700.
VOUCH_SIMD_INLINE void exponential(vec& x) {
  constexpr double one_over_ln2 = 1.4426950408889634;
  constexpr double series[] = {1.6059043836821613e-10,
                               2.08767569878681e-09,
                               2.505210838544172e-08,
                               2.755731922398589e-07,
                               2.7557319223985893e-06,
                               2.48015873015873e-05,
                               0.0001984126984126984,
                               0.001388888888888889,
                               0.008333333333333333,
                               0.041666666666666664,
                               0.16666666666666666,
                               0.5,
                               1.0,
                               1.0};
  const vec shifted = x * one_over_ln2 + shift;
  const vec power = shifted - shift;
  const vec rest = (x - power * ln2_high) - power * ln2_low;
  vec sum;
  polynomial(series, rest, sum);
  x = (vec)((bits)sum + ((bits)shifted << 52));
}

// log(a / b), as accurate where a is near b.
VOUCH_SIMD_INLINE void log_ratio(const vec& a, const vec& b, vec& log) {
  constexpr double series[] = {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                               1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcd, bias = 1023, shift_bits = 0x4338000000000000;
  const bits exponent = ((bits)(a / b) + ((bias << 52) - root_half)) >> 52;  // with the bias
  const vec scaled = b * (vec)(exponent << 52);
  const vec power = (vec)(exponent + (shift_bits - bias)) - shift;
  const vec f = (a - scaled) / (a + scaled), square = f * f;
  vec sum;
  polynomial(series, square, sum);
  log = power * ln2_high + (power * ln2_low + (2 * f + 2 * f * (square * sum)));
}

// N(-|d|) / exp(-d^2 / 2).
VOUCH_SIMD_INLINE void tail(const vec& d, vec& share) {
  constexpr double fitted[] = {
      -3.4514974850123366e-11, 8.393734858825995e-10, 1.201971943854707e-09,  -8.217595058789028e-09,
      -1.3906145791312952e-08, 4.106401366813483e-08, 1.0277997488207542e-07, -1.4047654315456411e-07,
      -6.175617678986161e-07,  3.557608668410601e-07, 3.4730241678411344e-06, -7.308281468785137e-07,
      -2.0100843094844553e-05, 4.949196649968406e-06, 0.00012509943557128115, -0.00010515971958448067,
      -0.0007798322884823084,  0.0018886903449991718, 0.0025293918180474668,  -0.02377051491717134,
      0.06830802734384515,     -0.11927366341538638,  0.12964515870276475,    -0.0475622943534492,
      -0.1356211061245812,     1.2530080582697296};
  vec x;
  magnitude(d, x);
  x *= normal::root_half;
  const vec t = (x - 3) / (x + 3);
  vec sum;
  polynomial(fitted, t, sum);
  share = sum / (2 + 4 * x);
}

struct alignas(64) inputs {
  double sign[width], spot[width], strike[width], rate[width], dividend[width], volatility[width],
      expiry[width],
      root[width];  // of expiry
};
struct alignas(64) outputs {
  double price[width], delta[width], gamma[width], theta[width], vega[width], rho[width], d1[width], d2[width];
};

VOUCH_SIMD_CLONES void formula(const inputs& in, outputs& out) {
  vec sign, spot, strike, rate, dividend, volatility, expiry, root, log_moneyness;
  load<double>(sign, in.sign);
  load<double>(spot, in.spot);
  load<double>(strike, in.strike);
  load<double>(rate, in.rate);
  load<double>(dividend, in.dividend);
  load<double>(volatility, in.volatility);
  load<double>(expiry, in.expiry);
  load<double>(root, in.root);
  log_ratio(spot, strike, log_moneyness);
  const vec deviation = volatility * root;
  const vec d1 = (log_moneyness + (rate - dividend) * expiry) / deviation + 0.5 * deviation,
            d2 = d1 - deviation;
  vec yield = -dividend * expiry, discount = -rate * expiry, peak1 = -0.5 * d1 * d1, peak2 = -0.5 * d2 * d2;
  exponential(yield);
  exponential(discount);
  exponential(peak1);
  exponential(peak2);
  vec tail1, tail2;
  tail(d1, tail1);
  tail(d2, tail2);
  tail1 *= peak1;
  tail2 *= peak2;
  vec within1, within2;
  where_negative(sign * d1, tail1, 1 - tail1, within1);
  where_negative(sign * d2, tail2, 1 - tail2, within2);
  const vec underlying = spot * yield, underlying_part = underlying * within1,
            bond_part = strike * discount * within2;
  const vec density = underlying * (normal::root_two_pi_inverse * peak1);
  const vec worth = sign * (underlying_part - bond_part);
  vec price;
  where_negative(worth, worth - worth, worth, price);
  store<double>(out.price, price);
  store<double>(out.delta, sign * underlying_part / spot);
  store<double>(out.gamma, density / (spot * spot * deviation));
  store<double>(out.theta,
                sign * (dividend * underlying_part - rate * bond_part) - density * volatility / (2 * root));
  store<double>(out.vega, density * root);
  store<double>(out.rho, sign * expiry * bond_part);
  store<double>(out.d1, d1);
  store<double>(out.d2, d2);
}

// What no intermediate result overflows or loses bits of.
bool is_usual(const plain_option& o) {
  const auto within = [](double x, double least, double most) { return x >= least && x <= most; };
  return within(o.spot, 1e-60, 1e60) && within(o.strike, 1e-60, 1e60) && within(o.volatility, 1e-6, 1e3) &&
         within(o.expiry, 1e-9, 1e6) && std::abs(o.rate * o.expiry) < 100 &&
         std::abs(o.dividend * o.expiry) < 100;
}

}  // namespace

void european_lanes::price() {
  const ieee_environment here;
  if (count_ == 0) return;
  inputs in;
  for (int l = 0; l < width; ++l) {
    // Lanes without an option do what the first does.
    const plain_option& o = *options_[l < count_ ? l : 0];
    in.sign[l] = sign_of(o.type);
    in.spot[l] = o.spot;
    in.strike[l] = o.strike;
    in.rate[l] = o.rate;
    in.dividend[l] = o.dividend;
    in.volatility[l] = o.volatility;
    in.expiry[l] = o.expiry;
    in.root[l] = std::sqrt(o.expiry);
  }
  outputs out;
  formula(in, out);
  constexpr double farthest = 35;  // where exp(-d^2 / 2) is still a normal number
  for (int l = 0; l < count_; ++l) {
    const bool usual =
        is_usual(*options_[l]) && std::abs(out.d1[l]) <= farthest && std::abs(out.d2[l]) <= farthest;
    *values_[l] =
        usual ? valuation{out.price[l], out.delta[l], out.gamma[l], out.theta[l], out.vega[l], out.rho[l]}
              : european_price(*options_[l]);
  }
  count_ = 0;
}

}  // namespace vouch::detail
