// exp(T L) V by a contour integral: each of its points is one complex tridiagonal solve, and all points are
// solved side by side.
#include <array>
#include <cmath>

#include <vouch/price/finite_difference/talbot.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>

namespace vouch {
namespace {

// One complex number for every point.
struct values {
  std::array<double, talbot_points> re{}, im{};
};

// One row of elimination: pivot, multiplier and right-hand side.
void eliminate(const talbot_contour& z, double centre, double a, double c, double rhs,
               const values& upper_before, const values& y_before, values& upper, values& y) {
  for (std::size_t k = 0; k < talbot_points; ++k) {
    const double pr = z.re[k] + centre - a * upper_before.re[k], pi = z.im[k] - a * upper_before.im[k];
    const double scale = 1 / (pr * pr + pi * pi), ir = pr * scale, ii = -pi * scale;
    upper.re[k] = c * ir;
    upper.im[k] = c * ii;
    const double rr = rhs + a * y_before.re[k], ri = a * y_before.im[k];
    y.re[k] = rr * ir - ri * ii;
    y.im[k] = rr * ii + ri * ir;
  }
}

void substitute(const values& upper, const values& y, values& x) {
  for (std::size_t k = 0; k < talbot_points; ++k) {
    const double re = y.re[k] + upper.re[k] * x.re[k] - upper.im[k] * x.im[k];
    x.im[k] = y.im[k] + upper.re[k] * x.im[k] + upper.im[k] * x.re[k];
    x.re[k] = re;
  }
}

double integral(const talbot_contour& z, const values& x) {
  double sum = 0;
  for (std::size_t k = 0; k < talbot_points; ++k)
    sum -= 2 * (z.weight_re[k] * x.re[k] - z.weight_im[k] * x.im[k]);
  return sum;
}

// The Laplace transform, at every point, of boundary values that are a sum of exponentials.
values transform(const talbot_contour& z, const boundary_exponentials& b) {
  values v;
  for (std::size_t k = 0; k < talbot_points; ++k)
    for (std::size_t term = 0; term < b.size(); ++term) {
      const double re = z.re[k] + b[term].decay, im = z.im[k];
      const double scale = b[term].amount / (re * re + im * im);
      v.re[k] += re * scale;
      v.im[k] -= im * scale;
    }
  return v;
}

}  // namespace

std::vector<double> march_by_contour(const contract& c, const fd_grid& grid, const fd_payment& payment) {
  const double expiry = c.plain.expiry;
  const fd_operator L = make_operator(c, grid, 0);
  const talbot_contour z = make_talbot_contour();
  const std::size_t n = grid.spot.size();
  std::vector<values> upper(n), y(n);
  const auto first = boundary_terms(c, payment, grid.spot.front(), false);
  const auto last = boundary_terms(c, payment, grid.spot.back(), true);
  y[0] = transform(z, first);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double a = expiry * L.lower[i], b = expiry * L.upper[i];
    // Row: (z + a + b + r T) x_i - a x_{i-1} - b x_{i+1} = V_i.
    eliminate(z, a + b + L.rate * expiry, a, b, payoff_at(c.plain, grid.spot[i]) - payment.less, upper[i - 1],
              y[i - 1], upper[i], y[i]);
  }
  std::vector<double> result(n);
  values x = transform(z, last);
  result[n - 1] = integral(z, x);
  for (std::size_t i = n - 1; i-- > 0;) {
    i == 0 ? void(x = y[0]) : substitute(upper[i], y[i], x);
    result[i] = integral(z, x);
  }
  return result;
}

}  // namespace vouch
