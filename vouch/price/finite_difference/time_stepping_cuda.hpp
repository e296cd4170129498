// vouch/price/finite_difference/time_stepping_cuda.hpp -- steps in time on a GPU; private, defined only in CUDA builds.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/price/batch.hpp>
#include <vouch/price/contract.hpp>
#include <vouch/price/finite_difference/grid.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>

namespace vouch {

/// A boundary value over steps of one length: slope * slope_factor^k + constant * constant_factor^k, or
/// `least`.
struct stepping_end {
  double slope = 0, constant = 0;
  double slope_factor = 1, constant_factor = 1;
  double least = -1e300;
};

/// (I - implicit L) W = V by elimination from both ends at once: with p_i = V_i + lower_i p_{i-1} and q_i = V_i
/// + upper_i q_{i+1}, W_i = inverse_i (p_i + q_i - V_i). The first and the last row keep their right-hand side.
/// No lower or upper is negative, so nothing cancels in the sum.
/// Under American exercise, with a floor, elimination goes upwards alone: P_i = inverse_i V_i + lower_i
/// P_{i-1}, W_i = max(P_i + upper_i W_{i+1}, what keeps V from falling below its floor).
struct stepping_factors {
  std::vector<double> lower, inverse, upper;
  std::vector<double> floor;  // empty: no early exercise
};
stepping_factors factor_for_stepping(const fd_operator& L, double implicit);
stepping_factors factor_for_exercised_stepping(const fd_operator& L, double implicit,
                                               std::vector<double> floor);

inline constexpr int stepping_rows_a_thread = 8;

/// What a matrix allows: blocks of the kernel go on alone for some steps with rows to spare on both sides.
struct stepping_plan {
  int blocks = 0;
  int threads = 0;         // of a block, 128 or 256
  std::int64_t own = 0;    // rows whose result a block keeps
  std::int64_t halo = 0;   // rows on each side that it computes and drops
  std::int64_t alone = 0;  // steps between two exchanges
  int team = 0;            // threads whose rows are coupled by shuffles, 4 or 8
  int reach = 0;           // teams over whose rows eliminations are coupled, by shared memory
};
/// Nothing where the inverse decays too slowly for one block's window. Neglected couplings are below 1e-13 of
/// V.
std::optional<stepping_plan> plan_stepping(const fd_operator& L, const stepping_factors& factors,
                                           double implicit, int processors);

/// Steps of twice the implicit part of a matrix, or of that alone where damped.
struct stepping_run {
  std::int64_t steps = 0;
  bool damped = false;
  stepping_end first, last;
};

/// values advanced by the steps of all runs, at least one each, in a kernel for each run.
///
/// Memory  values on the host, n of them.
void step_in_time_cuda(const device& gpu, const stepping_factors& factors, const stepping_plan& plan,
                       std::span<const stepping_run> runs, std::span<double> values);

/// step_in_time() on a GPU, its steps there and what happens between them on the host; nothing where the contract does
/// not fit, the grid has fewer than 64 nodes, or a plan does not exist.
std::optional<std::vector<double>> step_in_time_on_gpu(const device& gpu, const contract& c,
                                                       const fd_grid& grid, const fd_payment& payment,
                                                       const std::vector<fd_segment>& segments,
                                                       const stepping_method& how);

}  // namespace vouch
