// bench/cholmod_peer.hpp -- sparse Cholesky by CHOLMOD on the same systems, in the same run.
#pragma once
#include <optional>
#include <span>

#include <vouch/sparse/csr.hpp>

namespace vouch::bench {

/// Seconds in which CHOLMOD orders, factorises and solves with its defaults, the best of three runs.
///
/// Memory  A, symmetric, and b live on the CPU.
/// Result  Nothing where the module vouch_peers_cholmod is missing or A is not positive definite.
std::optional<double> cholmod_seconds(csr_view<const double> A, std::span<const double> b);

}  // namespace vouch::bench
