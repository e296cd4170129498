// vouch/solve/distributed/row_problem.hpp -- what the residual-checked solve asks of distributed rows; private.
#pragma once
#include <vouch/core/array.hpp>
#include <vouch/core/require.hpp>
#include <vouch/core/view.hpp>
#include <vouch/distributed/communicator.hpp>
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

/// Throws  shape_error  on every rank, where b or x of one of them does not have its rows, side by side
template <class X>
void require_rows(const char* routine, const row_matrix& A, view<const double> b, view<X> x) {
  agree(A.ranks(), [&] {
    detail::require_contiguous(routine, "b", b, A.rows());
    detail::require_contiguous(routine, "x", x, A.rows());
  });
}

/// As cg_facts_of().
bool has_constants_in_null_space(const row_vectors& vectors, const row_matrix& A);

}  // namespace vouch::distributed
