// vouch/solve/mixed_sweeps.hpp -- sweeps in single precision inside, a double-precision answer outside;
// private.
#pragma once
#include <memory>

#include <vouch/core/device.hpp>
#include <vouch/dense/matrix.hpp>
#include <vouch/dense/types.hpp>
#include <vouch/solve/cg_engine.hpp>
#include <vouch/solve/sweeper.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// The loop of exact's sweeps, exact being A, with a copy of A rounded to single precision. A run reduces the
/// residual by what that precision holds; the verified loop then forms the residual anew from A itself. A run
/// that started no better than a hundredth of the one before, or that overflowed, has shown that single
/// precision does not help: sweeps in double take over.
///
/// Memory  A lives on dev; it and exact must outlive the engine. Half of A's bytes besides, and what the engine
///         in double takes where it has to.
std::unique_ptr<cg_engine<double>> mixed_sweeps(const device& dev, csr_view<const double> A,
                                                const sweepable_matrix<double>& exact, const sweep_rule& rule,
                                                const acceleration& accelerate);
std::unique_ptr<cg_engine<double>> mixed_sweeps(const device& dev, transpose op, matrix_view<const double> A,
                                                const sweepable_matrix<double>& exact, const sweep_rule& rule,
                                                const acceleration& accelerate);

}  // namespace vouch
