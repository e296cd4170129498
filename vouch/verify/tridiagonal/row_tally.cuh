// vouch/verify/tridiagonal/row_tally.cuh -- what threads keep of the rows of a batch that they have seen, and how it
// comes together; private.
//
// Maxima of integers and ors of bits: in any order the same.
#pragma once
#include <bit>
#include <type_traits>

#include <vouch/verify/tridiagonal/row_passes.hpp>

namespace vouch::detail {

// Non-negative doubles are ordered as their bits are, NaN above infinity. Signs are cut off as bits, which
// leaves the units for doubles to others.
using bits_type = unsigned long long;
__device__ inline bits_type bits_of(double value) {
  return static_cast<bits_type>(__double_as_longlong(value)) & ~(bits_type{1} << 63);
}
__device__ inline double number_of(bits_type bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}
// Nearly so, and in half the space.
__device__ inline unsigned about(double value) {
  return static_cast<unsigned>(__double2hiint(value)) & 0x7fffffffu;
}

/// Zero at the start.
struct totals_memory {
  bits_type most[2];
  unsigned about[3];  // weight, v, ~u
  unsigned flags;     // 1: some row is not that of its comparison matrix, 2: some row refutes v
};

__device__ inline bits_type largest_in_warp(bits_type bits) {
  for (int d = 16; d > 0; d /= 2) {
    const bits_type other = __shfl_xor_sync(~0u, bits, d);
    bits = other > bits ? other : bits;
  }
  return bits;
}

/// What a thread keeps of its rows.
struct ratio_tally {
  static constexpr int exact = 1;
  bits_type most[1] = {0};
  unsigned about[3] = {0, 0, 0}, flags = 0;

  __device__ void add(const certified_row<double>& row) {
    most[0] = ::max(most[0], bits_of(row.ratio));
    about[0] = ::max(about[0], detail::about(row.weight));
    about[1] = ::max(about[1], detail::about(row.v));
    about[2] = ::max(about[2], ~detail::about(row.proves ? row.u : 0.0));
    flags |= (row.other ? 1u : 0u) | (row.proves ? 0u : 2u);
  }
  /// The approximate numbers of a row of which something is proved.
  __device__ void add_proved(const certified_row<double>& row) {
    about[0] = ::max(about[0], detail::about(row.weight));
    about[1] = ::max(about[1], detail::about(row.v));
    about[2] = ::max(about[2], ~detail::about(row.u));
  }
  __device__ void add(const ratio_tally& other) {
    most[0] = ::max(most[0], other.most[0]);
    for (int k = 0; k < 3; ++k) about[k] = ::max(about[k], other.about[k]);
    flags |= other.flags;
  }
};
struct radius_tally {
  static constexpr int exact = 2;
  bits_type most[2] = {0, 0};

  __device__ void add(const certified_element<double>& at) {
    most[0] = ::max(most[0], bits_of(at.relative));
    most[1] = ::max(most[1], bits_of(at.absolute));
  }
  __device__ void add(const radius_tally& other) {
    for (int k = 0; k < 2; ++k) most[k] = ::max(most[k], other.most[k]);
  }
};
__device__ inline ratio_tally tally_of(const tridiagonal_ratio_body&) { return {}; }
__device__ inline radius_tally tally_of(const tridiagonal_radius_body&) { return {}; }

template <class T>
__device__ void raise(T* to, T value) {
  if (value > *static_cast<volatile T*>(to)) atomicMax(to, value);  // most blocks raise nothing
}

/// Joins the tallies of a block to those of all. Returns the block's first number to thread 0. All threads of
/// the block come here.
template <unsigned Warps, class Tally>
__device__ bits_type join_block(Tally mine, totals_memory* all) {
  constexpr bool of_ratios = std::is_same_v<Tally, ratio_tally>;
  for (int k = 0; k < Tally::exact; ++k) mine.most[k] = largest_in_warp(mine.most[k]);
  if constexpr (of_ratios) {
    for (unsigned& number : mine.about) number = __reduce_max_sync(~0u, number);
    mine.flags = __reduce_or_sync(~0u, mine.flags);
  }
  if constexpr (Warps > 1) {
    __shared__ Tally parts[Warps];
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    for (unsigned w = 1; w < Warps && threadIdx.x == 0; ++w) mine.add(parts[w]);
  }
  if (threadIdx.x != 0) return 0;
  for (int k = 0; k < Tally::exact; ++k) raise(all->most + k, mine.most[k]);
  if constexpr (of_ratios) {
    for (int k = 0; k < 3; ++k) raise(all->about + k, mine.about[k]);
    if ((mine.flags & ~*static_cast<volatile unsigned*>(&all->flags)) != 0) atomicOr(&all->flags, mine.flags);
  }
  return mine.most[0];
}

// ---- on the host

inline double number(bits_type bits) { return std::bit_cast<double>(bits); }
inline double number(unsigned about) { return number(bits_type{about} << 32); }

inline ratio_totals as_ratios(const totals_memory& found) {
  return {number(found.most[0]),   number(found.about[0]),  number(found.about[1]),
          number(~found.about[2]), (found.flags & 1u) != 0, (found.flags & 2u) == 0};
}

}  // namespace vouch::detail
