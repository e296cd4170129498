// The formula of Black, Scholes and Merton in lanes. exp and log by reduction to a short interval and a polynomial; the
// normal distribution by a polynomial of Shepherd and Laframboise's form for exp(x^2) erfc(x), Mathematics of Computation
// 36 (1981), whose coefficients are those of Chebyshev interpolation in 50 digits.
#include <vouch/price/formula/european_lanes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/price/batch.hpp>
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
  double price[width], delta[width], gamma[width], theta[width], vega[width], rho[width];
  double error[width];           // of the price, at most
  std::uint64_t unusual[width];  // its highest bit: an intermediate result overflows or loses bits
};

// Sets the highest bit where x lies outside [least, most]; NaN is not seen.
VOUCH_SIMD_INLINE void require(const vec& x, double least, double most, bits& unusual) {
  unusual |= (bits)(x - least) | (bits)(most - x);
}

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
  bits unusual{};
  require(spot, 1e-60, 1e60, unusual);
  require(strike, 1e-60, 1e60, unusual);
  require(volatility, 1e-6, 1e3, unusual);
  require(expiry, 1e-9, 1e6, unusual);
  require(rate * expiry, -100, 100, unusual);
  require(dividend * expiry, -100, 100, unusual);
  constexpr double farthest = 35;  // where exp(-d^2 / 2) is still a normal number
  require(d1, -farthest, farthest, unusual);
  require(d2, -farthest, farthest, unusual);
  const vec all = (spot + strike) + (rate + dividend) + (volatility + expiry);
  unusual |= (bits)(all - all) << 1;  // bits of a NaN where one is not finite
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
  constexpr double sixteen_roundings = 0x1p-49;
  const vec one = vec{} + 1;
  vec grown_spot, grown_strike, error;
  where_negative(yield - one, one, yield, grown_spot);
  where_negative(discount - one, one, discount, grown_strike);
  where_negative(sign, strike * grown_strike, spot * grown_spot, error);
  store<double>(out.error, sixteen_roundings * error);
  std::memcpy(out.unusual, &unusual, sizeof unusual);
}

bool is_usual(const outputs& out, std::int64_t lane) { return out.unusual[lane] >> 63 == 0; }

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
  for (int l = 0; l < count_; ++l)
    *values_[l] = is_usual(out, l) ? valuation{out.price[l], out.delta[l], out.gamma[l],
                                               out.theta[l], out.vega[l],  out.rho[l]}
                                   : european_price(*options_[l]);
  count_ = 0;
}

}  // namespace vouch::detail

namespace vouch {
namespace {

using detail::width;

// Lanes without an option do what the first does.
template <class T, class Number>
void gather(const view<const T>& from, std::int64_t first, std::int64_t count, Number (&to)[width]) {
  for (std::int64_t l = 0; l < width; ++l) to[l] = static_cast<Number>(from[first + (l < count ? l : 0)]);
}

plain_option option_of(const detail::inputs& in, std::int64_t lane) {
  plain_option o;
  o.type = in.sign[lane] > 0 ? option_type::call : option_type::put;
  o.spot = in.spot[lane];
  o.strike = in.strike[lane];
  o.rate = in.rate[lane];
  o.dividend = in.dividend[lane];
  o.volatility = in.volatility[lane];
  o.expiry = in.expiry[lane];
  return o;
}

bool is_acceptable(const plain_option& o) {
  const auto is_positive = [](double x) { return x > 0 && std::isfinite(x); };
  return is_positive(o.spot) && is_positive(o.strike) && is_positive(o.volatility) && is_positive(o.expiry) &&
         std::isfinite(o.rate) && std::isfinite(o.dividend);
}

void price_scalar(const plain_option& o, std::int64_t lane, detail::outputs& out) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const bool good = is_acceptable(o);
  const valuation v = good ? european_price(o) : valuation{none, none, none, none, none, none};
  out.price[lane] = v.price;
  out.delta[lane] = v.delta;
  out.gamma[lane] = v.gamma;
  out.theta[lane] = v.theta;
  out.vega[lane] = v.vega;
  out.rho[lane] = v.rho;
  out.error[lane] = good ? batch_error({o, exercise_style::european}, 0) : none;
}

// Of the options [first, first + count), at most as many as there are lanes.
void price_lanes(const european_columns& options, std::int64_t first, std::int64_t count,
                 const valuation_columns& to) {
  detail::inputs in;
  gather(options.type, first, count, in.sign);
  for (double& sign : in.sign) sign = 1 - 2 * sign;
  gather(options.spot, first, count, in.spot);
  gather(options.strike, first, count, in.strike);
  gather(options.rate, first, count, in.rate);
  gather(options.dividend, first, count, in.dividend);
  gather(options.volatility, first, count, in.volatility);
  gather(options.expiry, first, count, in.expiry);
  for (int l = 0; l < width; ++l) in.root[l] = std::sqrt(in.expiry[l]);
  detail::outputs out;
  detail::formula(in, out);
  std::uint64_t any = 0;
  for (const std::uint64_t one : out.unusual) any |= one;
  for (std::int64_t l = 0; any >> 63 != 0 && l < count; ++l)
    if (!detail::is_usual(out, l)) price_scalar(option_of(in, l), l, out);
  const auto put = [&](const double(&from)[width], std::span<double> column) {
    std::copy_n(from, count, column.begin() + first);
  };
  put(out.price, to.price);
  put(out.delta, to.delta);
  put(out.gamma, to.gamma);
  put(out.theta, to.theta);
  put(out.vega, to.vega);
  put(out.rho, to.rho);
  put(out.error, to.error);
}

}  // namespace

void price_european(const device& cpu, const european_columns& options, const valuation_columns& to) {
  const ieee_environment here;
  const std::int64_t count = options.type.size();
  for (const view<const double>& column :
       {options.spot, options.strike, options.rate, options.dividend, options.volatility, options.expiry})
    if (column.size() != count) throw shape_error("price_european: columns of different lengths");
  for (const std::span<double>& column : {to.price, to.delta, to.gamma, to.theta, to.vega, to.rho, to.error})
    if (static_cast<std::int64_t>(column.size()) != count)
      throw shape_error("price_european: as many values as options are needed");
  const cancellation_probe stop;
  constexpr std::int64_t block = 4096;
#pragma omp parallel for firstprivate(ieee) num_threads(cpu.threads()) schedule(static) if (count > block)
  for (std::int64_t first = 0; first < count; first += block) {
    if (stop.requested()) continue;
    const std::int64_t end = std::min(first + block, count);
    for (std::int64_t i = first; i < end; i += width)
      price_lanes(options, i, std::min<std::int64_t>(width, end - i), to);
  }
  stop.check();
}

}  // namespace vouch
