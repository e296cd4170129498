// vouch/solve/cg_system.hpp -- a stored system as the verified solve takes it; private.
#pragma once
#include <cstdint>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/operator.hpp>
#include <vouch/solve/report.hpp>
#include <vouch/solve/verified_solve.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Throws shape_error where these lengths do not make a square system.
void check_cg_shapes(std::int64_t rows, std::int64_t cols, std::int64_t b, std::int64_t x);

/// Whether A * ones = 0 to rounding: a pure Neumann problem, singular with the constants as null space.
template <real T>
bool rows_sum_to_zero(const device& dev, csr_view<const T> A);

/// A x = b with contiguous b. A and b must outlive it.
template <real T>
verified_problem<T> stored_problem(const device& dev, csr_view<const T> A, view<const T> b,
                                   bool constants_in_null_space);

/// A report with the names of the method and the precision, and a warning where A is singular.
template <real T>
solve_report new_cg_report(const preconditioner<T>* M, bool constants_in_null_space);

}  // namespace vouch
