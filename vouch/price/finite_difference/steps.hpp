// vouch/price/finite_difference/steps.hpp -- one step in time: with a tridiagonal matrix that is factored once, by any
// tridiagonal solver, and under early exercise of any shape; private.
//
// The unknowns are cut into 16 pieces of equal length that lie interleaved: row j of all pieces is one group of
// 16 numbers. Elimination runs down all pieces at once; what a piece's first rows owe to the piece before
// follows from products of multipliers (spikes), kept only as far as they are not lost in rounding. That is
// exact elimination in another order, for any matrix; where the spikes decay over a part of a piece it costs
// little more.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/band/solve.hpp>
#include <vouch/core/types.hpp>

namespace vouch {

/// dV/dtau = a_i (V_{i-1} - V_i) + c_i (V_{i+1} - V_i) - rate V_i at the inner nodes; the first and the last
/// node have given values.
struct fd_operator {
  std::vector<double> lower, upper;  // a, c; the ends are not read
  double rate = 0;
};

/// The values V at all nodes, advanced by (I - implicit L) D = L V * length, V += D.
///
/// Types   Solve is the precision of the elimination; values are double. In single precision the errors are
///         relative to the change of a step, not to V.
/// Result  The same bits on every processor.
template <real Solve>
class fd_steps {
 public:
  static constexpr int pieces = 16;

  /// n >= 3 nodes.
  explicit fd_steps(std::int64_t n);

  /// Factors I - implicit * L.
  void factor(const fd_operator& L, double implicit);
  /// V.
  void load(const double* values);
  void store(double* values) const;
  /// That of one node.
  double value(std::int64_t node) const {
    return node == 0 ? values_[0] : values_[static_cast<std::size_t>(place(node - 1) + pieces)];
  }
  /// What V may not fall below at inner nodes: exercise pays it. From now on steps respect it by Brennan and
  /// Schwartz: exact where the nodes that are exercised are the last ones. nullptr: no longer.
  void set_obstacle(const double* obstacle);
  /// One step; the first and the last value grow by first and last.
  void advance(double length, double first, double last);

 private:
  template <bool American>
  void step(double length, double first, double last);
  std::int64_t place(std::int64_t row) const { return row % rows_ * pieces + row / rows_; }

  std::int64_t n_, rows_;                    // rows of a piece
  std::int64_t forward_ = 0, backward_ = 0;  // rows that spikes reach
  double rate_ = 0, implicit_ = 0;
  bool american_ = false;
  std::vector<double> values_;             // a group before and one behind the pieces repeat their neighbours
  std::vector<double> curvature_, slope_;  // of L: c + a and c - a, halved
  std::vector<double> obstacle_;
  std::vector<Solve> inverse_, lower_, upper_;  // 1/pivot and multipliers
  std::vector<Solve> from_before_, from_behind_, change_;
};

/// As fd_steps<double>, but for obstacles, by solve() on one core: what factoring once saves can be measured
/// against it.
class fd_solver_steps {
 public:
  fd_solver_steps(std::int64_t n, tridiagonal_method method);

  void factor(const fd_operator& L, double implicit);
  void load(const double* values);
  void store(double* values) const;
  double value(std::int64_t node) const { return values_[static_cast<std::size_t>(node)]; }
  /// Throws  value_error  there is one
  void set_obstacle(const double* obstacle);
  void advance(double length, double first, double last);

 private:
  std::int64_t n_;
  tridiagonal_method method_;
  double implicit_ = 0;
  std::vector<double> lower_, centre_, upper_, values_, rhs_, solution_;
};

/// One step of fd_steps::advance with V >= obstacle at inner nodes: the linear complementarity problem, solved
/// exactly in finitely many tridiagonal solves.
///
/// Source  Reisinger, Witte, SIAM J. Financial Math. 3 (2012).
void policy_step(const fd_operator& L, double length, double implicit, const std::vector<double>& obstacle,
                 double first, double last, std::vector<double>& values);

}  // namespace vouch
