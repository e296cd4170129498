// vouch/solve/cg_system.hpp -- a stored system as the verified solve takes it; private.
#pragma once
#include <cstdint>
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/operator.hpp>
#include <vouch/solve/report.hpp>
#include <vouch/solve/verified_solve.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Throws shape_error where these lengths do not make a square system.
void check_cg_shapes(std::int64_t rows, std::int64_t cols, std::int64_t b, std::int64_t x);

/// What stands in for no preconditioner where products of A's vectors would leave the range of T, as its first
/// entry says: a power of two times the identity, which brings M A near 1 and changes no iterate. nullptr where
/// there is no need.
template <real T>
std::unique_ptr<preconditioner<T>> power_for_size(const device& dev, csr_view<const T> A);

/// Throws shape_error where M is for systems of another size.
template <real T>
void check_preconditioner(const preconditioner<T>* M, std::int64_t rows);

/// Whether A * ones = 0 to rounding: a pure Neumann problem, singular with the constants as null space.
template <real T>
bool rows_sum_to_zero(const device& dev, csr_view<const T> A);

/// A x = b with contiguous b, for an engine with this M. A, b and M must outlive it.
template <real T>
verified_problem<T> stored_problem(const device& dev, csr_view<const T> A, view<const T> b,
                                   const preconditioner<T>* M, bool constants_in_null_space);

/// A report with the names of the method and the precision, and a warning where A is singular.
template <real T>
solve_report new_cg_report(const preconditioner<T>* M, bool constants_in_null_space);

}  // namespace vouch
