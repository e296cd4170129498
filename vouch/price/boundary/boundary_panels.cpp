#include <vouch/price/boundary/boundary_panels.hpp>

#include <algorithm>
#include <cmath>

namespace vouch::detail {
namespace {

constexpr double pi = 3.14159265358979323846;

// x with A x = b, for a small matrix by rows; b becomes x. False where A is singular.
bool solve_small(std::vector<double>& A, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(A[i * n + k]) > std::abs(A[pivot * n + k])) pivot = i;
    if (!(std::abs(A[pivot * n + k]) > 0)) return false;
    std::swap_ranges(&A[k * n], &A[k * n] + n, &A[pivot * n]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = A[i * n + k] / A[k * n + k];
      for (std::size_t j = k + 1; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= A[k * n + j] * b[j];
    b[k] /= A[k * n + k];
  }
  return true;
}

}  // namespace

panelled_boundary::panelled_boundary(const put_problem& put, const panel_scheme& scheme)
    : put_(put), scheme_(scheme), log_limit_(log_limit_of(put)) {
  ends_.push_back(0);
  for (int p = 1; p <= scheme.panels; ++p)
    ends_.push_back(std::ldexp(std::sqrt(put.expiry), p - scheme.panels));
  for (int p = 0; p < scheme.panels; ++p)
    for (int k = 0; k <= scheme.degree; ++k)
      nodes_.push_back(k == scheme.degree ? end_of(p + 1)
                                          : end_of(p) + 0.5 * (end_of(p + 1) - end_of(p)) *
                                                            (1 - std::cos(pi * k / scheme.degree)));
  squared_.assign(nodes_.size(), 0.0);
  gauss_legendre(scheme.points, [&](int, double x, double weight) {
    abscissae_.push_back(0.5 * (1 + x));
    weights_.push_back(0.5 * weight);
  });
  begin();
  for (int panel = 1; panel < scheme.panels && converged_; ++panel) {
    seed(panel);
    converged_ = solve(panel);
  }
}

int panelled_boundary::panel_at(double root) const {
  int panel = scheme_.panels - 1;
  while (panel > 0 && root <= end_of(panel)) --panel;
  return panel;
}

// The polynomials that are 1 at one node and 0 at the others, by the barycentric formula.
void panelled_boundary::fill_basis(int panel, double root, double* basis) const {
  double sum = 0;
  for (int k = 0; k <= scheme_.degree; ++k) {
    const double distance = root - node_at(panel, k);
    if (distance == 0) {
      std::fill(basis, basis + scheme_.degree + 1, 0.0);
      basis[k] = 1;
      return;
    }
    const double weight = (k % 2 == 0 ? 1.0 : -1.0) * (k == 0 || k == scheme_.degree ? 0.5 : 1.0);
    sum += basis[k] = weight / distance;
  }
  for (int k = 0; k <= scheme_.degree; ++k) basis[k] /= sum;
}

double panelled_boundary::squared_at(int panel, double root) const {
  double basis[panel_scheme::most_degree + 1];
  fill_basis(panel, root, basis);
  double sum = 0;
  for (int k = 0; k <= scheme_.degree; ++k) sum += basis[k] * values_of(panel)[k];
  return std::max(sum, 0.0);
}

double panelled_boundary::log_at(double root_of_time) const {
  return log_limit_ - std::sqrt(squared_at(panel_at(root_of_time), root_of_time));
}

// From 0 to a time: between ends of panels, and ever shorter towards the time.
std::vector<panelled_boundary::piece> panelled_boundary::pieces_to(double time, int halvings) const {
  std::vector<double> at{0, time};
  for (const double end : ends_)
    if (end > 0 && end * end < time * (1 - 1e-12)) at.push_back(end * end);
  double left = 0.5 * time;
  for (int k = 0; k < halvings; ++k) {
    at.push_back(time - left);
    left *= k < 3 ? 0.5 : 0.25;
  }
  std::sort(at.begin(), at.end());
  std::vector<piece> pieces;
  for (std::size_t k = 1; k < at.size(); ++k)
    if (at[k] - at[k - 1] > 1e-14 * time) pieces.push_back({at[k - 1], at[k]});
  return pieces;
}

// add(s, u, weight) for the points of a piece: s to expiry, u to the time that the integral goes to. The
// integrand has square roots at both its ends.
template <class Function>
void panelled_boundary::integrate(const piece& p, double time, Function add) const {
  const double length = p.to - p.from;
  for (std::size_t k = 0; k < abscissae_.size(); ++k) {
    const double x = abscissae_[k], weight = length * weights_[k];
    if (p.to == time) {
      const double left = length * x * x;
      add(time - left, left, 2 * x * weight);
    } else if (p.from == 0) {
      const double s = length * x * x;
      add(s, time - s, 2 * x * weight);
    } else {
      const double s = p.from + length * x;
      add(s, time - s, weight);
    }
  }
}

panelled_boundary::node panelled_boundary::make_node(int panel, int k) const {
  const double root = node_at(panel, k), time = root * root, carry = put_.rate - put_.dividend;
  node at;
  at.root = root;
  at.deviation = put_.volatility * root;
  at.drift = carry * time / at.deviation - 0.5 * at.deviation;
  at.interest = std::exp(-put_.rate * time);
  at.yield = std::exp(-put_.dividend * time);
  const std::vector<piece> pieces = pieces_to(time, scheme_.halvings);
  const auto width = static_cast<std::size_t>(scheme_.degree + 1);
  at.bases.reserve(pieces.size() * abscissae_.size() * width);  // samples point into it
  const double begin = end_of(panel) * end_of(panel);
  for (const piece& p : pieces) {
    const bool earlier = 0.5 * (p.from + p.to) < begin;
    integrate(p, time, [&](double s, double left, double weight) {
      sample now;
      now.deviation = put_.volatility * std::sqrt(left);
      now.drift = carry * left / now.deviation - 0.5 * now.deviation;
      now.interest = weight * put_.rate * std::exp(-put_.rate * left);
      now.yield = weight * put_.dividend * std::exp(-put_.dividend * left);
      now.log_boundary = earlier ? log_at(std::sqrt(s)) : 0;
      if (!earlier) {
        at.bases.resize(at.bases.size() + width);
        double* basis = at.bases.data() + at.bases.size() - width;
        fill_basis(panel, std::sqrt(s), basis);
        now.basis = basis;
      }
      at.samples.push_back(now);
    });
  }
  return at;
}

// By how much log B that follows from the boundary up to this node (see exercise_boundary) exceeds its own
// value; `h` are square roots of H in this panel, `own` that of the node. slopes[j] becomes the derivative by
// h[j], but for the own value's direct share, which is added to slopes[degree + 1].
double panelled_boundary::residual(const node& at, const std::vector<double>& h, double own,
                                   double* slopes) const {
  const auto width = static_cast<std::size_t>(scheme_.degree + 1);
  const double log_own = log_limit_ - own;
  const double d = (log_own - std::log(put_.strike)) / at.deviation + at.drift, d_plus = d + at.deviation;
  double above = at.interest * normal::density(d) / at.deviation;
  double below = at.yield * (normal::cumulative(d_plus) + normal::density(d_plus) / at.deviation);
  double above_slope = -above * d / at.deviation;  // by log_own
  double below_slope = at.yield * normal::density(d_plus) * (1 - d_plus / at.deviation) / at.deviation;
  double above_by[panel_scheme::most_degree + 1] = {}, below_by[panel_scheme::most_degree + 1] = {};
  for (const sample& s : at.samples) {
    double log_boundary = s.log_boundary, root = 0;
    if (s.basis != nullptr) {
      double squared = 0;
      for (std::size_t j = 0; j < width; ++j) squared += s.basis[j] * h[j] * h[j];
      root = std::sqrt(std::max(squared, 0.0));
      log_boundary = log_limit_ - root;
    }
    const double e = (log_own - log_boundary) / s.deviation + s.drift, e_plus = e + s.deviation;
    const double interest = s.interest * normal::density(e) / s.deviation, density = normal::density(e_plus);
    const double interest_slope = -interest * e / s.deviation,
                 yield_slope = s.yield * density * (1 - e_plus / s.deviation) / s.deviation;
    above += interest;
    below += s.yield * (normal::cumulative(e_plus) + density / s.deviation);
    above_slope += interest_slope;
    below_slope += yield_slope;
    if (!(root > 0)) continue;
    for (std::size_t j = 0; j < width; ++j) {
      const double share = s.basis[j] * h[j] / root;
      above_by[j] += interest_slope * share;
      below_by[j] += yield_slope * share;
    }
  }
  for (std::size_t j = 0; j < width; ++j) slopes[j] = above_by[j] / above - below_by[j] / below;
  slopes[width] = -(above_slope / above - below_slope / below) + 1;
  return std::log(put_.strike) + std::log(above / below) - log_own;
}

// On the first panel H is linear in time: it is so short that no more is needed.
void panelled_boundary::begin() {
  const node end = make_node(0, scheme_.degree);
  const auto width = static_cast<std::size_t>(scheme_.degree + 1);
  std::vector<double> h(width), slopes(width + 1);
  double last = std::max(seed_of(put_, log_limit_, end.root), 1e-12);
  for (int sweep = 0; sweep < 20; ++sweep) {
    for (int k = 0; k <= scheme_.degree; ++k) h[static_cast<std::size_t>(k)] = last * node_at(0, k) / end.root;
    const double wanted = last - residual(end, h, last, slopes.data());
    last = wanted > 0 ? 0.5 * (last + wanted) : 0.5 * last;
  }
  for (int k = 0; k <= scheme_.degree; ++k) {
    const double value = last * node_at(0, k) / end.root;
    values_of(0)[k] = value * value;
  }
}

// A start: it moves on as the seed does.
void panelled_boundary::seed(int panel) {
  double* values = values_of(panel);
  values[0] = values_of(panel - 1)[scheme_.degree];
  const double first = seed_of(put_, log_limit_, end_of(panel));
  for (int k = 1; k <= scheme_.degree; ++k) {
    const double growth = first > 0 ? seed_of(put_, log_limit_, node_at(panel, k)) / first : 1;
    values[k] = values[0] * std::max(growth * growth, 1.0);
  }
}

// Newton's iteration; a step that does not bring the solution nearer is halved.
bool panelled_boundary::solve(int panel) {
  constexpr int most_iterations = 50;
  constexpr double solved = 1e-11, shortest = 1.0 / 64;
  const auto count = static_cast<std::size_t>(scheme_.degree), width = count + 1;
  std::vector<node> nodes;
  for (int k = 1; k <= scheme_.degree; ++k) nodes.push_back(make_node(panel, k));
  std::vector<double> h(width), start, step(count), matrix(count * count), slopes(width + 1);
  for (std::size_t k = 0; k < width; ++k) h[k] = std::sqrt(values_of(panel)[k]);
  double left = 0, before = INFINITY, taken = 0;
  const auto go = [&](double length) {  // no further than by a factor of 2
    taken = length;
    for (std::size_t i = 1; i < width; ++i)
      h[i] = std::clamp(start[i] - length * step[i - 1], 0.5 * start[i], 2 * start[i]);
  };
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    left = 0;
    std::vector<double> residuals(count);
    for (std::size_t i = 0; i < count; ++i) {
      residuals[i] = residual(nodes[i], h, h[i + 1], slopes.data());
      left = std::isfinite(residuals[i]) ? std::max(left, std::abs(residuals[i])) : INFINITY;
      std::copy(slopes.begin() + 1, slopes.begin() + static_cast<std::ptrdiff_t>(width), &matrix[i * count]);
      matrix[i * count + i] += slopes[width];
    }
    if (left < solved) break;
    if (!(left < before) && taken > shortest) {
      go(0.5 * taken);
      continue;
    }
    before = left;
    start = h;
    step = residuals;
    if (!std::isfinite(left) || !solve_small(matrix, step)) break;
    go(1);
  }
  for (std::size_t k = 1; k < width; ++k) values_of(panel)[k] = h[k] * h[k];
  // What is wrong only close to expiry has no weight in the price.
  constexpr double enough = 1e-8;
  const double share = end_of(panel + 1) / ends_.back();
  return left * share * share < enough;
}

// d_minus of an underlying at the boundary's time `from` before expiry.
double panelled_boundary::d_minus(double log_spot, double from) const {
  const double left = put_.expiry - from, deviation = put_.volatility * std::sqrt(left);
  return (log_spot - log_at(std::sqrt(from)) + (put_.rate - put_.dividend) * left) / deviation -
         0.5 * deviation;
}

// Pieces are halved where the probabilities change too much for a polynomial.
void panelled_boundary::add_piece(const piece& p, double log_spot, int depth, valuation& v) const {
  constexpr double certain = 9, gentle = 2;
  constexpr int deepest = 40;
  if (p.to < put_.expiry && depth < deepest) {
    const double middle = 0.5 * (p.from + p.to), d = d_minus(log_spot, middle);
    const double first = d_minus(log_spot, p.from), last = d_minus(log_spot, p.to);
    const bool decided = (std::min({first, d, last}) > certain) || (std::max({first, d, last}) < -certain);
    if (!decided && std::max(std::abs(first - d), std::abs(last - d)) > 0.5 * gentle) {
      add_piece({p.from, middle}, log_spot, depth + 1, v);
      add_piece({middle, p.to}, log_spot, depth + 1, v);
      return;
    }
  }
  integrate(p, put_.expiry, [&](double s, double left, double weight) {
    add_premium_point(put_, log_spot, std::sqrt(left), log_at(std::sqrt(s)), weight, v);
  });
}

void panelled_boundary::add_premium(valuation& v) const {
  const double log_spot = std::log(put_.spot);
  // Down to where the underlying is sure not to fall to the boundary.
  const double distance = log_spot - log_at(ends_.back());
  int halvings = scheme_.halvings;
  double left = put_.expiry * std::ldexp(1.0, -4 - 2 * std::max(halvings - 4, 0));
  for (; halvings < 24 && 9 * put_.volatility * std::sqrt(left) > distance; ++halvings) left *= 0.25;
  for (const piece& p : pieces_to(put_.expiry, halvings)) add_piece(p, log_spot, 0, v);
}

}  // namespace vouch::detail
