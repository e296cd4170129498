// vouch/solve/sparse_jacobi.hpp -- Jacobi's sweeps over sparse matrices that do not stay on a GPU's chip;
// private.
#pragma once
#include <memory>

#include <vouch/core/array.hpp>
#include <vouch/solve/cg_engine.hpp>
#include <vouch/solve/sweeper.hpp>

namespace vouch {

/// factor is omega over the diagonal. A and all else live on dev; A must outlive the result.
template <real T>
std::unique_ptr<cg_engine<T>> make_jacobi_graph(const device& dev, csr_view<const T> A, array<T> factor,
                                                const sweep_rule& rule, bool by_residual, bool chebyshev);

}  // namespace vouch
