// bench/amgcl_peer.hpp -- the same systems by AMGCL, in the same run.
#pragma once
#include <cstdint>
#include <optional>

#include <vouch/core/view.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::bench {

/// Smoothed aggregation in conjugate gradients or BiCGStab, or ILU(0) in BiCGStab; all else AMGCL's defaults.
enum class amgcl_kind { cg_amg, bicgstab_amg, bicgstab_ilu0 };

struct amgcl_times {
  double setup = 0, solve = 0;
  std::int64_t iterations = 0;
  bool converged = false;  // the residual, recomputed here, is at most twice the 1e-8 of b that was asked for
};

/// Memory  A and b live on the CPU.
/// Result  Nothing where the module vouch_peers_amgcl is missing or AMGCL throws.
std::optional<amgcl_times> amgcl_solve(csr_view<const double> A, view<const double> b, amgcl_kind kind,
                                       int threads);

}  // namespace vouch::bench
