// vouch/verify/tridiagonal/refutation.cuh -- systems of which two neighbouring rows prove that they have no
// H-matrix; private.
//
// In an H-matrix |d d'| > |u l'| for neighbouring rows. Systems that need pivoting violate this early: testing
// the first rows of each spares the rest. The bits of what is found of a system do not depend on which test
// refuted it.
#pragma once
#include <cstdint>

#include <vouch/verify/tridiagonal/short_systems.cuh>

namespace vouch::detail {

/// Whether a row and the next one refute their system; the high words of their entries.
__device__ inline bool neighbours_refute(int d, int u, int next_l, int next_d) {
  constexpr int octave = 1 << 20;
  return std::int64_t{d} - u + next_d - next_l < -octave / 4;  // zeros: beyond 2^31
}

/// Whether the rows of a warp, one a lane, refute their system. All lanes call it.
__device__ inline bool refuted_by_neighbours(double l, double d, double u) {
  const int next_d = __shfl_down_sync(~0u, high_of(d), 1), next_l = __shfl_down_sync(~0u, high_of(l), 1);
  const bool refutes = neighbours_refute(high_of(d), high_of(u), next_l, next_d);
  return __any_sync(~0u, threadIdx.x % 32 < 31 && refutes) != 0;
}

/// Whether some of the first rows of a system, `parts` times eight, refute it.
__device__ inline bool refuted_by_first_rows(const short_systems& task, const located_system& of, int parts) {
  constexpr int together = 8;
  bool refuted = false;
  for (int first = 0; first < parts * together && !refuted; first += together) {
    double l[together + 1], d[together + 1], u[together];
#pragma unroll
    for (int k = 0; k <= together; ++k) {
      const int i = first + k;
      const std::int64_t at = of.in_A + i * task.A.shape.row_stride;
      l[k] = k > 0 && i < of.n ? __ldg(task.A.dl + at) : 0;
      d[k] = i < of.n ? __ldg(task.A.d + at) : 1;
      if (k < together) u[k] = i < of.n - 1 ? __ldg(task.A.du + at) : 0;
    }
#pragma unroll
    for (int k = 0; k < together; ++k)
      refuted |= neighbours_refute(high_of(d[k]), high_of(u[k]), high_of(l[k + 1]), high_of(d[k + 1]));
  }
  return refuted;
}

template <int Warps>
constexpr int most_refuted = 4 * Warps;

/// Defers the systems c, c + step and so on up to the first one below `count` that its first 32 rows do not
/// refute, and returns how many, most_refuted at most. All threads of the block call it, a barrier before and
/// behind; parts are scratch, one for a warp.
template <int Warps>
__device__ int defer_refuted(const short_systems& task, const worklists& lists, std::int64_t c,
                             std::int64_t step, std::int64_t count, bits_type* parts) {
  constexpr int of_warp = most_refuted<Warps> / Warps;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  double row[of_warp][3];
#pragma unroll
  for (int k = 0; k < of_warp; ++k) {
    const std::int64_t s = c + (warp * of_warp + k) * step;
    row[k][0] = row[k][2] = 0;
    row[k][1] = 1;
    if (s >= count) continue;
    const located_system of(task, s);
    if (lane >= of.n) continue;
    const std::int64_t at = of.in_A + lane * task.A.shape.row_stride;
    if (of.below(lane)) row[k][0] = __ldg(task.A.dl + at);
    row[k][1] = __ldg(task.A.d + at);
    if (of.above(lane)) row[k][2] = __ldg(task.A.du + at);
  }
  unsigned refuted = 0;
#pragma unroll
  for (int k = 0; k < of_warp; ++k)
    refuted |= refuted_by_neighbours(row[k][0], row[k][1], row[k][2]) ? 1u << k : 0u;
  if (lane == 0) parts[warp] = refuted;
  sync_threads<Warps>();
  int first = 0;
  while (first < most_refuted<Warps> && (parts[first / of_warp] >> first % of_warp & 1) != 0) ++first;
  static_assert(most_refuted<Warps> <= 32);
  if (warp == 0) defer_lanes(task, lists, c + lane * step, lane < first);
  sync_threads<Warps>();
  return first;
}

}  // namespace vouch::detail
