// vouch/solve/pattern_batch.hpp -- sparse systems whose matrices have one pattern, as time loops and Newton's method make them.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/solve/options.hpp>
#include <vouch/solve/result.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// Systems count from 0. Whoever makes it keeps the arrays.
struct pattern_batch {
  std::int64_t systems = 0, rows = 0, nonzeros = 0;
  const std::int64_t* row_ptr = nullptr;
  const std::int32_t* col = nullptr;
  const double* values = nullptr;  // system after system, or those of one matrix for all
  bool one_matrix = false;
  const double* b = nullptr;  // likewise
  bool one_rhs = false;

  csr_view<const double> matrix(std::int64_t s) const {
    return {rows, rows, nonzeros, row_ptr, col, values + (one_matrix ? 0 : s * nonzeros)};
  }
  view<const double> rhs(std::int64_t s) const { return {b + (one_rhs ? 0 : s * rows), rows}; }
};

/// Solves every system by one solver, which takes the values of one after another (solver::renew()): a factorisation by
/// a library orders and analyses the pattern once.
///
/// Shapes  Square matrices; x has the solutions system after system.
/// Memory  Everything lives on cpu; x overlaps nothing, what it held does not count.
/// Result  The numerical contract of docs/contract.md for every system; the report is of the worst, and batch says which
///         were missed. One that is singular, or whose numbers are refused, is missed, with NaN for an x where there is
///         none, and the others go on. With options.proof, bounds of all errors; infinite radii where nothing is proved.
/// Throws  shape_error  x of another length
///         value_error  the pattern is none of a matrix; all systems are refused
///         out_of_memory
solve_result solve(const device& cpu, const pattern_batch& batch, view<double> x,
                   const solve_options& options = {});

}  // namespace vouch
