// vouch/solve/krylov/cg_system.hpp -- a stored system for conjugate gradients, and the engine that suits it; private.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include <vouch/core/device.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/core/view.hpp>
#include <vouch/solve/krylov/cg.hpp>
#include <vouch/solve/krylov/krylov_system.hpp>
#include <vouch/solve/krylov/weak_parts.hpp>
#include <vouch/solve/loop/inner_solver.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// What is known of A whatever the right-hand side.
template <real T>
struct cg_matrix_facts {
  bool constants_in_null_space = false;  // to rounding: a pure Neumann problem
  double least_diagonal_entry = std::numeric_limits<double>::infinity();
  std::shared_ptr<const weak_parts<T>> parts;  // on the CPU, where the diagonal's range is wide
};
template <real T>
cg_matrix_facts<T> cg_facts_of(const device& dev, csr_view<const T> A);

/// The system for an engine with this M. A, b and M must outlive it.
template <real T>
checked_problem<T> cg_problem(const device& dev, csr_view<const T> A, view<const T> b,
                              const preconditioner<T>* M, const cg_matrix_facts<T>& facts);

/// A report with the name of the method.
template <real T>
solve_report new_cg_report(const preconditioner<T>* M);

/// The engine and what must live as long as it.
template <real T>
struct cg_assembly {
  std::unique_ptr<spmv_plan<T>> plan;
  std::unique_ptr<linear_operator<T>> as_operator;
  std::unique_ptr<inner_solver<T>> engine;
};

/// On a GPU the resident kernel where the system fits, else the looping graph; on the CPU the fused loop; the
/// general loops where M is more than a diagonal. A layout wanted by name rules out the resident kernel. On the GPUs
/// listed, where there are any. A and M must outlive the assembly.
///
/// Throws  value_error, no_cuda_error  see cg_options::gpus
template <real T>
cg_assembly<T> assemble_cg(const device& dev, csr_view<const T> A, const preconditioner<T>* M,
                           layout wanted = layout::automatic, std::span<const int> gpus = {});

/// Throws value_error where several GPUs are asked for, which cannot share this: "several right-hand sides".
void require_one_device(const char* what, const cg_options& options);

/// The residual-checked solve of a stored, checked matrix by any engine, which has this M; setup is what the clock has
/// counted.
template <real T>
solve_report cg_with_engine(const device& dev, csr_view<const T> A, view<const T> b, view<T> x,
                            const cg_options& options, inner_solver<T>& engine, const preconditioner<T>* M,
                            const stopwatch& clock);

}  // namespace vouch
