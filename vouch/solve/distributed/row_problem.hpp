// vouch/solve/distributed/row_problem.hpp -- what the residual-checked solve asks of distributed rows; private.
#pragma once
#include <vouch/core/array.hpp>
#include <vouch/core/view.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/solve/distributed/row_vectors.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>

namespace vouch::distributed {

/// Residuals of vectors that have no halo.
class row_residual_of {
 public:
  /// Memory  What is given outlives it.
  row_residual_of(const row_vectors& vectors, const row_matrix& A, view<const double> b);
  residual_facts operator()(const double* x, const double* low, double* r);

 private:
  const row_vectors& vectors_;
  const row_matrix& A_;
  view<const double> b_;
  array<double> x_, low_;
};

/// As cg_facts_of().
bool has_constants_in_null_space(const row_vectors& vectors, const row_matrix& A);

}  // namespace vouch::distributed
