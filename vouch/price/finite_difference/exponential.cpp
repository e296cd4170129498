#include <vouch/price/finite_difference/exponential.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include <vouch/core/simd.hpp>
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

namespace {

// exp(T L) V by a contour integral: each of its points is one complex tridiagonal solve, and all points are
// solved side by side.

// One complex number for every point.
struct contour_values {
  std::array<double, talbot_points> re{}, im{};
};

// One row of elimination: pivot, multiplier and right-hand side.
void eliminate(const talbot_contour& z, double centre, double a, double c, double rhs,
               const contour_values& upper_before, const contour_values& y_before, contour_values& upper,
               contour_values& y) {
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

void substitute(const contour_values& upper, const contour_values& y, contour_values& x) {
  for (std::size_t k = 0; k < talbot_points; ++k) {
    const double re = y.re[k] + upper.re[k] * x.re[k] - upper.im[k] * x.im[k];
    x.im[k] = y.im[k] + upper.re[k] * x.im[k] + upper.im[k] * x.re[k];
    x.re[k] = re;
  }
}

double integral(const talbot_contour& z, const contour_values& x) {
  double sum = 0;
  for (std::size_t k = 0; k < talbot_points; ++k)
    sum -= 2 * (z.weight_re[k] * x.re[k] - z.weight_im[k] * x.im[k]);
  return sum;
}

// The Laplace transform, at every point, of boundary values that are a sum of exponentials.
contour_values transform(const talbot_contour& z, const boundary_exponentials& b) {
  contour_values v;
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

std::vector<double> exponential_by_contour(const contract& c, const fd_grid& grid, const fd_payment& payment) {
  const double expiry = c.plain.expiry;
  const fd_operator L = make_operator(c, grid, 0);
  const talbot_contour z = make_talbot_contour();
  const std::size_t n = grid.spot.size();
  std::vector<contour_values> upper(n), y(n);
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
  contour_values x = transform(z, last);
  result[n - 1] = integral(z, x);
  for (std::size_t i = n - 1; i-- > 0;) {
    i == 0 ? void(x = y[0]) : substitute(upper[i], y[i], x);
    result[i] = integral(z, x);
  }
  return result;
}

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double lost = 52;             // modes below exp(-52) of the slowest are lost in rounding
constexpr double most_unsymmetric = 7;  // log of the largest ratio of weights: what they cost in accuracy
constexpr std::size_t most_modes = 400;

// The operator and its modes, in numbers that do not cancel.
struct symmetric_operator {
  double root, spread, rate;  // sqrt(a c), (sqrt(a) - sqrt(c))^2, r

  // Minus the eigenvalue of a mode.
  double speed(double angle) const {
    const double half = std::sin(0.5 * angle);
    return rate + spread + 4 * root * half * half;
  }
};

// Of (L + decay) w = 0: cosh of the rate, or cos, is 1 + this.
double curvature(const symmetric_operator& S, double decay) {
  return 0.5 * (S.spread + S.rate - decay) / S.root;
}

std::optional<sine_lift> make_lift(const symmetric_operator& S, const exponential_term& term, double expiry,
                                   std::int64_t cells, bool at_last) {
  sine_lift lift;
  lift.amount = term.amount * std::exp(-term.decay);
  lift.at_last = at_last;
  if (term.amount == 0) return lift;
  const double curved = curvature(S, term.decay / expiry);
  lift.oscillates = curved < 0;
  if (lift.oscillates && !(curved > -1)) return std::nullopt;
  lift.rate =
      lift.oscillates ? 2 * std::asin(std::sqrt(-0.5 * curved)) : 2 * std::asinh(std::sqrt(0.5 * curved));
  // Near half a wave between the ends the boundary values would meet a mode that passes as slowly.
  if (lift.oscillates && lift.rate * static_cast<double>(cells) > 1.5) return std::nullopt;
  lift.rate = std::max(lift.rate, 1e-30);
  return lift;
}

// Sums of eight nodes at a time over modes: the sines of k theta follow from those of theta.
using group = lanes<double>;

VOUCH_SIMD_INLINE void add_modes(const double* start, const double* sines, const double* cosines,
                                 std::int64_t groups, std::int64_t modes, double* sums) {
  for (std::int64_t g = 0; g < groups; ++g) {
    group value, sine, twice;
    load<double>(value, start + 8 * g);
    bool any = false;
    for (int l = 0; l < 8; ++l) any |= value[l] != 0;
    if (!any) continue;
    load<double>(sine, sines + 8 * g);
    load<double>(twice, cosines + 8 * g);
    twice = twice + twice;
    group before = value * 0.0;
    sine = value * sine;
    for (std::int64_t k = 0; k < modes; ++k) {
      group sum;
      load<double>(sum, sums + 8 * k);
      store<double>(sums + 8 * k, sum + sine);
      const group next = twice * sine - before;
      before = sine;
      sine = next;
    }
  }
}
VOUCH_SIMD_CLONES void run_add_modes(const double* start, const double* sines, const double* cosines,
                                     std::int64_t groups, std::int64_t modes, double* sums) {
  add_modes(start, sines, cosines, groups, modes, sums);
}

// sin and cos of pi i / cells by the addition theorem, padded to whole groups.
void angles(std::int64_t cells, std::vector<double>& sines, std::vector<double>& cosines) {
  constexpr std::int64_t stride = 64;
  double near_sine[stride], near_cosine[stride];
  const double unit = pi / static_cast<double>(cells);
  for (std::int64_t k = 0; k < stride; ++k) {
    near_sine[k] = std::sin(unit * static_cast<double>(k));
    near_cosine[k] = std::cos(unit * static_cast<double>(k));
  }
  const std::int64_t padded = (cells + 1 + stride - 1) / stride * stride;
  sines.resize(static_cast<std::size_t>(padded));
  cosines.resize(static_cast<std::size_t>(padded));
  for (std::int64_t i = 0; i < padded; i += stride) {
    const double s = std::sin(unit * static_cast<double>(i)), c = std::cos(unit * static_cast<double>(i));
    for (std::int64_t k = 0; k < stride; ++k) {
      sines[static_cast<std::size_t>(i + k)] = s * near_cosine[k] + c * near_sine[k];
      cosines[static_cast<std::size_t>(i + k)] = c * near_cosine[k] - s * near_sine[k];
    }
  }
}

}  // namespace

std::optional<sine_plan> plan_sine(const contract& c, const fd_grid& grid, const fd_payment& payment) {
  const std::int64_t n = grid.size();
  if (!(grid.spacing > 0) || n < 8 || !c.is_plain() || c.exercise != exercise_style::european)
    return std::nullopt;
  const fd_operator L = make_operator(c, grid, 0);
  const double a = L.lower[1], b = L.upper[1], expiry = c.plain.expiry;
  if (!(a > 0 && b > 0)) return std::nullopt;
  sine_plan plan;
  plan.cells = n - 1;
  plan.log_ratio = 0.5 * std::log(a / b);
  const auto cells = static_cast<double>(plan.cells);
  if (std::abs(plan.log_ratio) * cells > most_unsymmetric) return std::nullopt;
  const double apart = (a - b) / (std::sqrt(a) + std::sqrt(b));
  const symmetric_operator S{std::sqrt(a * b), apart * apart, L.rate};

  const auto first = boundary_terms(c, payment, grid.spot.front(), false);
  const auto last = boundary_terms(c, payment, grid.spot.back(), true);
  for (std::size_t k = 0; k < 4; ++k) {
    const auto lift = make_lift(S, k < 2 ? first[k] : last[k - 2], expiry, plan.cells, k >= 2);
    if (!lift) return std::nullopt;
    plan.lifts[k] = *lift;
  }
  const double slowest = S.speed(pi / cells);
  for (std::int64_t k = 1; k < plan.cells; ++k) {
    const double angle = pi * static_cast<double>(k) / cells, speed = S.speed(angle);
    if ((speed - slowest) * expiry > lost) break;
    if (plan.decay.size() == most_modes) return std::nullopt;
    // What the lifts hold of the mode: they solve a linear system whose right-hand side is at the ends.
    double held = 0;
    for (std::size_t t = 0; t < 4; ++t) {
      const exponential_term& term = t < 2 ? first[t] : last[t - 2];
      if (term.amount == 0) continue;
      const double end =
          t < 2 ? S.root * std::sin(angle)
                : S.root * std::exp(-plan.log_ratio * cells) * std::sin(angle) * (k % 2 == 1 ? 1 : -1);
      held += term.amount * end / (speed - term.decay / expiry);
    }
    plan.decay.push_back(2 / cells * std::exp(-speed * expiry));
    plan.less.push_back(held);
  }
  plan.start.assign(static_cast<std::size_t>(n + 8), 0.0);
  for (std::int64_t i = 1; i + 1 < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double value = payoff_at(c.plain, grid.spot[at]) - payment.less;
    if (value != 0) plan.start[at] = value * std::exp(-plan.log_ratio * static_cast<double>(i));
  }
  return plan;
}

std::vector<double> exponential_by_sine(const sine_plan& plan, std::int64_t from, std::int64_t to) {
  const std::size_t modes = plan.decay.size();
  std::vector<double> sines, cosines;
  angles(plan.cells, sines, cosines);
  std::vector<double> sums(8 * modes, 0.0);  // of eight nodes side by side
  run_add_modes(plan.start.data(), sines.data(), cosines.data(), (plan.cells + 8) / 8,
                static_cast<std::int64_t>(modes), sums.data());
  std::vector<double> coefficient(modes);
  for (std::size_t k = 0; k < modes; ++k) {
    group sum;
    load<double>(sum, sums.data() + 8 * k);
    coefficient[k] = plan.decay[k] * (total<double>(sum) - plan.less[k]);
  }

  const auto cells = static_cast<double>(plan.cells);
  std::vector<double> values(static_cast<std::size_t>(plan.cells + 1), 0.0);
  for (std::int64_t i = from; i < to; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto node = static_cast<double>(i);
    double b1 = 0, b2 = 0;  // Clenshaw's recurrence
    for (std::size_t k = modes; k-- > 0;) {
      const double b0 = coefficient[k] + 2 * cosines[at] * b1 - b2;
      b2 = b1;
      b1 = b0;
    }
    double value = std::exp(plan.log_ratio * node) * b1 * sines[at];
    for (const sine_lift& lift : plan.lifts)
      if (lift.amount != 0) value += lift_at(lift, plan.log_ratio, cells, node);
    values[at] = value;
  }
  return values;
}

}  // namespace vouch
