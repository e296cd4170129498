// vouch/solve/cg_assembly.hpp -- the engine that suits a stored matrix, and what it stands on; private.
#pragma once
#include <memory>

#include <vouch/core/stopwatch.hpp>
#include <vouch/solve/cg.hpp>
#include <vouch/solve/cg_engine.hpp>

namespace vouch {

/// The engine and what must live as long as it.
template <real T>
struct cg_assembly {
  std::unique_ptr<spmv_plan<T>> plan;
  std::unique_ptr<linear_operator<T>> as_operator;
  std::unique_ptr<cg_engine<T>> engine;
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
                            const cg_options& options, cg_engine<T>& engine, const preconditioner<T>* M,
                            const stopwatch& clock);

}  // namespace vouch
