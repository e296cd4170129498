#include <vouch/price/finite_difference/talbot.hpp>

#include <cmath>
#include <complex>

#include <vouch/price/finite_difference/boundary_condition.hpp>

namespace vouch {

talbot_contour make_talbot_contour() {
  constexpr double pi = 3.14159265358979323846;
  const auto n = static_cast<double>(2 * talbot_points);
  talbot_contour contour{};
  for (std::size_t k = 0; k < talbot_points; ++k) {
    const double theta = pi * static_cast<double>(2 * k + 1) / n, turned = 0.6407 * theta,
                 sine = std::sin(turned);
    const double cotangent = std::cos(turned) / sine;
    const std::complex<double> z(n * (0.5017 * theta * cotangent - 0.6122), n * 0.2645 * theta);
    const std::complex<double> slope(n * (0.5017 * cotangent - 0.5017 * turned / (sine * sine)), n * 0.2645);
    const std::complex<double> weight = std::complex<double>(0, 1 / n) * std::exp(z) * slope;
    contour.re[k] = z.real();
    contour.im[k] = z.imag();
    contour.weight_re[k] = weight.real();
    contour.weight_im[k] = weight.imag();
  }
  return contour;
}

boundary_exponentials boundary_terms(const contract& c, const fd_payment& payment, double spot, bool high) {
  const plain_option& o = c.plain;
  const double rate = o.rate * o.expiry, yield = o.dividend * o.expiry;
  if (o.barrier != barrier_kind::none && is_up(o.barrier) == high) return {{{payment.at_barrier, 0}, {}}};
  const linear far = far_payoff(o, spot);
  return {{{far.slope * spot, yield}, {far.constant - payment.less, rate}}};
}

}  // namespace vouch
