// vouch/solve/sparse_graphs.cuh -- sweeps over sparse matrices too large to stay on a GPU's chip: kernels in
// graphs that loop by themselves; private.
#pragma once
#include <memory>

#include <vouch/core/array.hpp>
#include <vouch/solve/cg_engine.hpp>
#include <vouch/solve/sliced_rows.cuh>
#include <vouch/solve/sweeper.hpp>

namespace vouch {

/// Jacobi's sweeps. factor is omega over the diagonal. A and all else live on dev; A must outlive the result.
template <real T>
std::unique_ptr<cg_engine<T>> make_jacobi_graph(const device& dev, csr_view<const T> A, array<T> factor,
                                                const sweep_rule& rule, bool by_residual, bool chebyshev);

/// Sweeps in place, forward or backward, over rows renumbered by sets; so is factor.
template <real T>
std::unique_ptr<cg_engine<T>> make_colours_graph(const device& dev, sliced_storage<T> rows, array<T> factor,
                                                 const sweep_rule& rule, bool by_residual);

}  // namespace vouch
