// vouch/solve/krylov/cg_system.hpp -- a stored system as the residual-checked solve takes it; private.
#pragma once
#include <cstdint>
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/solve/loop/operator.hpp>
#include <vouch/solve/loop/report.hpp>
#include <vouch/solve/loop/residual_checked_solve.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Throws shape_error where these lengths do not make a square system.
void check_cg_shapes(std::int64_t rows, std::int64_t cols, std::int64_t b, std::int64_t x);

/// Throws value_error for a rule that conjugate gradients do not watch, or more than one.
void check_cg_stopping(const stopping_criterion& goal);

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
checked_problem<T> stored_problem(const device& dev, csr_view<const T> A, view<const T> b,
                                  const preconditioner<T>* M, bool constants_in_null_space);

/// A report with the names of the method and the precision, and a warning where A is singular.
template <real T>
solve_report new_cg_report(const preconditioner<T>* M, bool constants_in_null_space);

/// The engine and what must live as long as it.
template <real T>
struct cg_assembly {
  std::unique_ptr<spmv_plan<T>> plan;
  std::unique_ptr<linear_operator<T>> as_operator;
  std::unique_ptr<inner_solver<T>> engine;
};

/// On a GPU the resident kernel where the system fits, else the looping graph; on the CPU the fused loop; the
/// general loops where M is more than a diagonal. A layout wanted by name rules out the resident kernel. A and
/// M must outlive the assembly.
template <real T>
cg_assembly<T> assemble_cg(const device& dev, csr_view<const T> A, const preconditioner<T>* M,
                           layout wanted = layout::automatic);

/// The verified solve of a stored, checked matrix by any engine, which has this M; setup is what the clock has
/// counted.
template <real T>
solve_report cg_with_engine(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                            const cg_options& options, inner_solver<T>& engine, const preconditioner<T>* M,
                            const stopwatch& clock);

}  // namespace vouch
