// vouch/price/finite_difference/solver_steps.hpp -- steps in time by a chosen tridiagonal solver, anew in every step; private.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/band/solve.hpp>
#include <vouch/price/finite_difference/steps.hpp>

namespace vouch {

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

}  // namespace vouch
