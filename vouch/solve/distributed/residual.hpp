// vouch/solve/distributed/residual.hpp -- r = b - A x in twice the working precision, of a matrix that stands on several ranks; private.
#pragma once
#include <vouch/core/device.hpp>
#include <vouch/distributed/row_matrix.hpp>
#include <vouch/solve/distributed/block_sums.hpp>
#include <vouch/sparse/residual.hpp>

namespace vouch {

/// r := b - A (x + x_lo), as residual() of sparse/residual.hpp.
///
/// Shapes  b and r have A.rows() elements, x and x_lo A.length(); x_lo may be nullptr.
/// Memory  r may be b. The halos of x and x_lo are fetched.
/// Result  The same bits on every rank, for any number of ranks and threads.
/// Cost    One pass over A and a reduction.
residual_facts residual(const device& cpu, const row_matrix& A, block_sums& sums, const double* b, double* x,
                        double* x_lo, double* r);

}  // namespace vouch
