#include <vouch/price/finite_difference/chebyshev.hpp>

#include <cmath>

#include <vouch/interval/rounding.hpp>
#include <vouch/price/finite_difference/pairs.hpp>

namespace vouch {
namespace {

using fd::difference, fd::pair, fd::product;

constexpr double slack = 0x1p-100;  // of magnitudes: what three operations of pairs err by

// Where the coefficients, modified Bessel functions of `speed`, have fallen to exp(-75): the exponent is their
// bound by Chernoff. Only the length of the sum hangs on it.
std::size_t length_for(double speed) {
  const auto exponent = [&](double k) { return std::hypot(speed, k) - speed - k * std::asinh(k / speed); };
  double low = 0, high = 16;
  while (exponent(high) > -75) high *= 2;
  for (int halving = 0; halving < 30; ++halving) {
    const double middle = 0.5 * (low + high);
    (exponent(middle) > -75 ? low : high) = middle;
  }
  return static_cast<std::size_t>(high) + 2;
}

// 2 k / speed times b, speed = 2 time / scale; the quotient scale / time errs by 2^-104 of itself.
pair recurred(const pair& scale_by_time, std::size_t k, const pair& b) {
  return product(product(scale_by_time, {static_cast<double>(k), 0}), b);
}

// A bound of sum |D_k|, p' / speed - p = D_0 / 2 + sum D_k T_k: with b_k the coefficients (b_0 twice the first)
// and eps_k = b_{k-1} - b_{k+1} - (2 k / speed) b_k, D_{k-1} = D_{k+1} - eps_k, so that every eps_k counts at
// most (k + 1) / 2 times.
double defect(const std::vector<pair>& b, const pair& scale_by_time) {
  const auto at = [&](std::size_t k) { return k < b.size() ? b[k] : pair{}; };
  double sum = 0;
  for (std::size_t k = 1; k <= b.size(); ++k) {
    const pair turned = recurred(scale_by_time, k, at(k));
    const pair left = difference(difference(at(k - 1), at(k + 1)), turned);
    const double size = add_up(add_up(std::fabs(at(k - 1).hi), std::fabs(at(k + 1).hi)), std::fabs(turned.hi));
    const double eps = add_up(add_up(std::fabs(left.hi), std::fabs(left.lo)), mul_up(slack, size));
    sum = add_up(sum, mul_up(0.5 * static_cast<double>(k + 1), add_up(eps, 0x1p-900)));
  }
  return sum;
}

}  // namespace

enclosed_chebyshev enclose_chebyshev(double time, double scale) {
  const double quotient = scale / time;
  const pair scale_by_time = quick_two_sum(quotient, std::fma(-quotient, time, scale) / time);
  // Backward, where the recurrence is stable, to numbers in proportion.
  std::vector<pair> b(length_for(2 * time / scale));
  b.back() = {1, 0};
  for (std::size_t k = b.size() - 1; k > 0; --k)
    b[k - 1] = recurred(scale_by_time, k, b[k]) + (k + 1 < b.size() ? b[k + 1] : pair{});
  const auto total = [&] {
    pair sum{0.5 * b[0].hi, 0.5 * b[0].lo};
    for (std::size_t k = 1; k < b.size(); ++k) sum = sum + b[k];
    return sum;
  };
  // So that p(1) is near 1.
  const pair sum = total();
  const double first = 1 / sum.hi;
  const pair rest = difference({1, 0}, product({first, 0}, sum));
  const pair part = quick_two_sum(first, first * rest.hi);
  for (pair& x : b) x = product(x, part);

  enclosed_chebyshev c;
  const double d = defect(b, scale_by_time);
  const pair missed = difference(total(), {1, 0});
  b[0] = {0.5 * b[0].hi, 0.5 * b[0].lo};
  for (const pair& x : b) c.magnitudes = add_up(c.magnitudes, add_up(std::fabs(x.hi), std::fabs(x.lo)));
  const double summed = mul_up(mul_up(slack, static_cast<double>(b.size() + 1)), add_up(c.magnitudes, 1));
  c.off = add_up(d, add_up(add_up(std::fabs(missed.hi), std::fabs(missed.lo)), summed));
  c.slope_off = add_up(d, c.off);
  c.coefficient = std::move(b);
  return c;
}

}  // namespace vouch
