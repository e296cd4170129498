// vouch/solve/sor.hpp -- successive over-relaxation, one-sided and symmetric.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/solve/report.hpp>
#include <vouch/solve/stationary_options.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

struct sor_options {
  solve_goal goal{};
  double omega = 1;                          // in (0, 2); outside of it SOR diverges for every matrix
  sweep_order order = sweep_order::forward;  // symmetric: SSOR
  acceleration accelerate{};
  sweep_ordering ordering = sweep_ordering::natural;  // of sparse matrices; a dense one knows only its own
};

/// Solves op(A) x = b from the given x: row after row, x_i moves omega times as far as Gauss-Seidel would move
/// it.
///
/// Shapes, Types, Memory, Result, Cost, Throws  As for gauss_seidel().
/// Source  Kahan 1958; Young, Iterative Solution of Large Linear Systems, 1971.
template <real T>
solve_report sor(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                 const sor_options& options = {});
template <real T>
solve_report sor(const device& dev, transpose op, matrix_view<const T> A, view<const T> b, view<T> x,
                 const sor_options& options = {});

}  // namespace vouch
