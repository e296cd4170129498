// vouch/price/finite_difference/enclosed_steps.hpp -- steps in time whose distance to exact ones is bounded; private.
//
// The values are held as V + E, two doubles a node. V is stepped in double precision; the residual of each step
// is found in double-double precision, E makes up for it by a step of its own, and what is then left, some 10^-16 of
// E, is what the bounds grow by. They are kept in two norms, as docs/rigor.md explains. Where early exercise
// keeps the values above a floor, a step solves a linear complementarity problem.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <vouch/core/double_double.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/price/finite_difference/steps.hpp>

namespace vouch {

// Arithmetic of pairs of doubles: u = 2^-53; a sum of pairs errs by at most 3 u^2 of itself. Source  Joldes, Muller,
// Popescu, ACM TOMS 44 (2017).
namespace fd {

using pair = double_double<double>;

// Errs by at most 8 u^2 of the product.
VOUCH_SIMD_INLINE pair product(const pair& a, const pair& b) {
  const pair p = two_prod(a.hi, b.hi);
  return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

VOUCH_SIMD_INLINE pair difference(const pair& a, const pair& b) { return a + pair{-b.hi, -b.lo}; }

}  // namespace fd

/// The norm in which the operator of a grid is symmetric: with the squares of weights growing from node to node by
/// upper_i / lower_{i+1}, D L D^-1 is symmetric, so that functions of L are as large in the norm |D x| as they are at
/// the eigenvalues.
struct fd_weights {
  std::vector<double> up, down;     // bounds of the weight of each inner node
  double lightest = 0, of_all = 0;  // at most the least weight; at least the norm of ones

  /// Else the weights differ by more than doubles hold, or there are none.
  bool exist() const { return !up.empty(); }
  /// At least the norm of the inner nodes' sizes >= 0; infinite where one is beyond 1e140 or NaN.
  double norm(const std::vector<double>& sizes) const;
};

/// Those of L, 1 at an inner node; bounds rounded outwards.
fd_weights make_weights(const fd_operator& L, std::size_t near);

/// A weight: a number and an enclosure of what is missing.
struct enclosed_weight {
  double near = 0;
  interval<double> rest;
};

/// A new value: the sum of weight[k] times value first + k, or, for count = 0, a given one.
struct mixture {
  double given = 0;
  std::size_t first = 0;
  int count = 0;
  enclosed_weight weight[4];
};

// One step seen from the inner rows 1 to n-2. The products implicit * L are exact pairs.
struct step_rows {
  std::size_t n;
  const double *lower_hi, *lower_lo, *upper_hi, *upper_lo;
  double_double<double> discount;
  const double *value, *next_value, *rest, *next_rest;
  const char* exercised;  // where steps are above a floor
};

/// By how much the values at the ends may be off, at most.
struct end_offs {
  double first = 0, last = 0;
};

class enclosed_steps {
 public:
  /// Exact values to begin with, at least 3; bounds are to be sharp near a node. With a floor that outlives
  /// this, whose numbers may change, every step respects it at inner nodes: of A V' - right >= 0 and V' >=
  /// floor one is an equation in each row.
  enclosed_steps(std::vector<double> values, std::size_t near, const std::vector<double>* floor = nullptr);

  /// From now on steps are those of L, whose lower and upper are not negative, with this implicit part.
  void factor(const fd_operator& L, double implicit);
  /// (I - implicit L) V' = V, or (I + implicit L) V where `balanced` (Crank and Nicolson). first and last are
  /// V' at the ends, up to off.
  void advance(bool balanced, double first, double last, const end_offs& off = {});
  /// V at the ends, up to off, as what follows begins at other values there.
  void set_ends(double first, double last, const end_offs& off);
  /// V' = max(V, floor) at inner nodes; first and last at the ends.
  void exercise(const std::vector<double>& floor, double first, double last);
  /// V' at inner nodes as rows say, one for each node; first and last at the ends.
  void mix(const std::vector<mixture>& rows, double first, double last);

  /// Contains the exact value; entire where nothing is proved.
  interval<double> at(std::size_t node) const;

 private:
  struct twice {
    std::vector<double> hi, lo;
  };
  struct norms {
    double in_max, in_weighted;
  };
  void solve(std::vector<double>& x) const;
  void take_ends(bool balanced, double first, double last);
  step_rows rows() const;
  void find_residual_of_values(bool balanced);
  void find_residual_of_rest(bool balanced);
  void miss_at_ends(bool balanced, const end_offs& off);
  void step_above(bool balanced, double first, double last);
  void solve_between(std::vector<double>& x);
  bool revise_exercise(bool balanced);
  double floor_of_mean(bool balanced, std::size_t i) const;
  void correct_between(bool balanced);
  bool lift();
  void grow(bool balanced);
  void exchange();
  void lose();
  norms norms_of_loss() const;
  static bool are_moderate(const std::vector<double>& v);
  static double scaled(double bound, double growth);
  double heavier(const fd_weights& weights) const;
  double energy_growth(const fd_operator& L, double implicit, const fd_weights& weights) const;
  void enter_energy();
  void leave_energy();
  double plain_weighted() const;
  double energy_of_plain() const;

  std::size_t n_, near_;
  const std::vector<double>* floor_;
  fd_operator L_;
  double implicit_ = 0, largest_ = 0;  // of implicit * (lower + upper), at least
  double inverse_norm_ = 1;            // at least 1 / (1 + implicit * rate)
  std::vector<double> value_, rest_, next_value_, next_rest_;
  std::vector<double> right_, loss_;  // of the correcting step; what is left behind it, at least
  twice lower_, upper_;               // implicit times those of L, exactly
  double_double<double> discount_;
  std::vector<double> inverse_, forth_, back_;
  fd_weights weights_;                   // of the second norm
  double in_max_ = 0, in_weighted_ = 0;  // bounds of the distance in either norm; with a floor the second is
                                         // the energy norm of A
  end_offs off_;                         // of value_
  std::vector<char> exercised_;          // nodes whose values are the floor's
  std::vector<double> share_;            // scratch of solve_between
};

}  // namespace vouch
