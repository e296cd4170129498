// vouch/band/gpu/partition_boundaries.cuh -- runs of a long system's rows whose ends hardly depend on each
// other, and the unknowns at the partition boundaries between them; private.
//
// The reduced block of a run is two rows in x_{f-1}, x_f, x_l, x_{l+1}. Where the inverse decays within the
// run one of them says nothing of the last two and the other nothing of the first two, but for entries that
// are less than the rounding of the others: without these, the unknowns on both sides of a partition
// boundary follow from one row of either run. Entries of reduced rows are dropped, not unknowns: that
// perturbs the matrix as rounding does, however large the unknowns far away are. Both runs at a partition
// boundary find the same bits.
#pragma once
#include <vouch/band/gpu/segment.cuh>

namespace vouch::detail {

/// before x_l + behind x_f = rhs, x_l and x_f being the unknowns on both sides of a partition boundary.
template <real T>
struct boundary_row {
  T before, behind, rhs;
};

/// A reduced block parted into a row for the partition boundary at its begin and one for that at its end.
template <real T>
struct split_block {
  boundary_row<T> at_begin, at_end;
  bool sound;  // what was dropped is at most `bound` times the largest entry of its row

  __device__ split_block(reduced_block<T> of, T bound) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const T power = power_against<T>(max(max(leading_bits(of.left[k]), leading_bits(of.first[k])),
                                           max(leading_bits(of.last[k]), leading_bits(of.right[k]))));
      of.left[k] *= power, of.first[k] *= power, of.last[k] *= power, of.right[k] *= power, of.rhs[k] *= power;
    }
    // Row 1 is to be that of the end. Each rids the other of its part there; multipliers of 1/2 at most keep
    // that steady.
    const bool exchange = max(leading_bits(of.last[0]), leading_bits(of.right[0])) >
                          max(leading_bits(of.last[1]), leading_bits(of.right[1]));
    swap_where(exchange, of.left[0], of.left[1]);
    swap_where(exchange, of.first[0], of.first[1]);
    swap_where(exchange, of.last[0], of.last[1]);
    swap_where(exchange, of.right[0], of.right[1]);
    swap_where(exchange, of.rhs[0], of.rhs[1]);
    const bool by_last = magnitude_of(of.last[1]) >= magnitude_of(of.right[1]),
               by_first = magnitude_of(of.first[0]) >= magnitude_of(of.left[0]);
    const T up = (by_last ? of.last[0] : of.right[0]) * inverse_of(by_last ? of.last[1] : of.right[1]);
    const T down = (by_first ? of.first[1] : of.left[1]) * inverse_of(by_first ? of.first[0] : of.left[0]);
    const T rest_up = by_last ? of.right[0] - up * of.right[1] : of.last[0] - up * of.last[1];
    const T rest_down = by_first ? of.left[1] - down * of.left[0] : of.first[1] - down * of.first[0];
    at_begin = {of.left[0] - up * of.left[1], of.first[0] - up * of.first[1], of.rhs[0] - up * of.rhs[1]};
    at_end = {of.last[1] - down * of.last[0], of.right[1] - down * of.right[0], of.rhs[1] - down * of.rhs[0]};
    sound = magnitude_of(up) <= T(0.5) && magnitude_of(down) <= T(0.5) && magnitude_of(rest_up) <= bound &&
            magnitude_of(rest_down) <= bound;
  }
};

/// The unknowns on both sides of a partition boundary from the row of the run before it and that of the run
/// behind it; no numbers where the rows do not determine them.
template <real T>
__device__ void solve_partition_boundary(boundary_row<T> of_before, boundary_row<T> of_behind, T& x_before,
                                         T& x_behind) {
  const bool exchange = magnitude_of(of_behind.before) > magnitude_of(of_before.before);
  swap_where(exchange, of_before.before, of_behind.before);
  swap_where(exchange, of_before.behind, of_behind.behind);
  swap_where(exchange, of_before.rhs, of_behind.rhs);
  const T inverse = inverse_of(of_before.before), m = of_behind.before * inverse;
  x_behind = (of_behind.rhs - m * of_before.rhs) * inverse_of(of_behind.behind - m * of_before.behind);
  x_before = (of_before.rhs - of_before.behind * x_behind) * inverse;
}

}  // namespace vouch::detail
