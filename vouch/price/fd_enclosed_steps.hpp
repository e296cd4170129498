// vouch/price/fd_enclosed_steps.hpp -- steps in time whose distance to exact ones is bounded; private.
//
// The values are held as V + E, two doubles a node. V is stepped in double precision; the residual of each step
// is found in twofold precision, E makes up for it by a step of its own, and what is then left, some 10^-16 of
// E, is what the bounds grow by. They are kept in two norms, as docs/rigor.md explains.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/twofold.hpp>
#include <vouch/interval/interval.hpp>
#include <vouch/price/fd_steps.hpp>

namespace vouch {

class enclosed_steps {
 public:
  /// Exact values to begin with, at least 3; bounds are to be sharp near a node.
  enclosed_steps(std::vector<double> values, std::size_t near);

  /// From now on steps are those of L, whose lower and upper are not negative, with this implicit part.
  void factor(const fd_operator& L, double implicit);
  /// (I - implicit L) V' = V, or (I + implicit L) V where `balanced` (Crank and Nicolson). first and last are
  /// V' at the ends.
  void advance(bool balanced, double first, double last);
  /// V' = max(V, floor) at inner nodes; first and last at the ends.
  void exercise(const std::vector<double>& floor, double first, double last);

  /// Contains the exact value; entire where nothing is proved.
  interval<double> at(std::size_t node) const;

 private:
  struct twice {
    std::vector<double> hi, lo;
  };
  struct norms {
    double in_max, in_weighted;
  };
  void set_weights(const fd_operator& L);
  void solve(std::vector<double>& x) const;
  void grow(bool balanced);
  void exchange();
  void lose();
  norms norms_of_loss() const;

  std::size_t n_, near_;
  fd_operator L_;
  double implicit_ = 0, largest_ = 0;  // of implicit * (lower + upper), at least
  std::vector<double> value_, rest_, next_value_, next_rest_;
  std::vector<double> right_, loss_;  // of the correcting step; what is left behind it, at least
  twice lower_, upper_;               // implicit times those of L, exactly
  twofold<double> discount_;
  std::vector<double> inverse_, forth_, back_;
  std::vector<double> weight_up_, weight_down_;  // of the second norm, between bounds; empty: there is none
  double lightest_ = 0, all_weights_ = 0;        // at most the least weight; at least the norm of ones
  double in_max_ = 0, in_weighted_ = 0;          // bounds of the distance in either norm
};

}  // namespace vouch
