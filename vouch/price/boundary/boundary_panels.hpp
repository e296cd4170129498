// vouch/price/boundary/boundary_panels.hpp -- the exercise boundary of an American put, panel by panel in time; private.
#pragma once
#include <cmath>
#include <vector>

#include <vouch/price/boundary.hpp>
#include <vouch/price/types.hpp>

namespace vouch::detail {

/// Calls take(k, x, w) for the `count` points x in (-1, 1) and weights w, by Newton's iteration on the Legendre
/// polynomial.
template <class Take>
void gauss_legendre(int count, Take take) {
  constexpr double pi = 3.14159265358979323846;
  for (int k = 0; k < count; ++k) {
    double y = std::cos(pi * (k + 0.75) / (count + 0.5)), slope = 1;
    for (int iteration = 0; iteration < 20; ++iteration) {
      double before = 1, now = y;
      for (int n = 2; n <= count; ++n) {
        const double next = ((2 * n - 1) * y * now - (n - 1) * before) / n;
        before = now;
        now = next;
      }
      slope = count * (y * now - before) / (y * y - 1);
      y -= now / slope;
    }
    take(k, y, 2 / ((1 - y * y) * slope * slope));
  }
}

struct panel_scheme {
  static constexpr int most_degree = 12;
  int panels;    // the first ends at expiry / 4^(panels - 1)
  int degree;    // of the polynomials
  int points;    // of Gauss-Legendre on a piece of an integral
  int halvings;  // pieces towards the end where integrands have a square root
};

/// For errors of about 1e-6, 1e-7, 1e-8, 1e-9, 1e-11 and 1e-13 of the strike, whatever drift, volatility and
/// expiry.
inline constexpr panel_scheme panel_schemes[] = {{8, 6, 5, 6},     {10, 8, 6, 8},    {14, 10, 8, 8},
                                                 {16, 12, 10, 10}, {20, 12, 12, 12}, {24, 12, 14, 14}};

/// As exercise_boundary, with a polynomial for H on each of panels whose ends double in the square root of
/// time: they resolve the layer at expiry and what follows it, however much longer that lasts. The values of a
/// panel depend on no later ones, so that each panel is solved by itself, by Newton's iteration.
///
/// Cost  1 to 80 ms, as the scheme is.
class panelled_boundary {
 public:
  /// early_exercise::one_boundary.
  panelled_boundary(const put_problem& put, const panel_scheme& scheme);

  bool converged() const { return converged_; }
  /// log B, sqrt(tau) years before expiry.
  double log_at(double root_of_time) const;
  /// Adds what early exercise is worth to a European put, its delta and its gamma.
  void add_premium(valuation& v) const;

 private:
  // Where an integrand is known for one node of the panel that is being solved.
  struct sample {
    double deviation;               // volatility sqrt(u), u the time to the node
    double drift;                   // what log(S / B) = 0 leaves of d_minus
    double interest, yield;         // weights of the two integrals
    double log_boundary;            // of an earlier panel
    const double* basis = nullptr;  // in this panel: the node polynomials
  };
  struct node {
    double root, deviation, drift, interest, yield;  // of the European part
    std::vector<sample> samples;
    std::vector<double> bases;
  };
  struct piece {
    double from, to;  // times to expiry of the boundary
  };

  double end_of(int panel) const { return ends_[static_cast<std::size_t>(panel)]; }
  double* values_of(int panel) { return &squared_[static_cast<std::size_t>(panel * (scheme_.degree + 1))]; }
  const double* values_of(int panel) const {
    return &squared_[static_cast<std::size_t>(panel * (scheme_.degree + 1))];
  }
  double node_at(int panel, int k) const {
    return nodes_[static_cast<std::size_t>(panel * (scheme_.degree + 1) + k)];
  }
  int panel_at(double root) const;
  void fill_basis(int panel, double root, double* basis) const;
  double squared_at(int panel, double root) const;

  std::vector<piece> pieces_to(double time, int halvings) const;
  node make_node(int panel, int k) const;
  double residual(const node& at, const std::vector<double>& h, double own, double* slopes) const;
  void begin();
  void seed(int panel);
  bool solve(int panel);

  template <class Function>
  void integrate(const piece& p, double time, Function add) const;
  double d_minus(double log_spot, double from) const;
  void add_piece(const piece& p, double log_spot, int depth, valuation& v) const;

  put_problem put_;
  panel_scheme scheme_;
  double log_limit_;
  bool converged_ = true;
  std::vector<double> ends_;       // of panels, in the square root of time
  std::vector<double> nodes_;      // Chebyshev's, of all panels, in the square root of time
  std::vector<double> squared_;    // H there
  std::vector<double> abscissae_;  // of Gauss-Legendre on [0, 1]
  std::vector<double> weights_;
};

}  // namespace vouch::detail
