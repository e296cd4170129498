// vouch/solve/precond/sliced.hpp -- sparse rows, a triangle or a whole matrix, laid out for warps: every load
// of a warp is one piece of memory; private, built on the CPU.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/types.hpp>
#include <vouch/solve/precond/elimination.hpp>

namespace vouch {

/// Rows first_row to end_row-1, which can be solved side by side: one warp a slice of 32/lanes rows.
struct sweep_set {
  std::int64_t first_slice = 0;
  std::int32_t first_row = 0;
  std::int32_t end_row = 0;
  std::int32_t lanes = 1;  // of a warp for one row; a power of two, 32 at most

  VOUCH_HOST_DEVICE std::int64_t slices() const {
    return ceil_div<std::int64_t>(end_row - first_row, 32 / lanes);
  }
};

/// Slice s is the entries slice_ptr[s] to slice_ptr[s+1]-1, a multiple of 32 of them. Entry e of row q of a
/// slice stands at 32 (e / lanes) + lanes q + e % lanes; places left over hold column -1.
template <real T>
struct sliced_triangle {
  std::vector<sweep_set> sets;
  std::vector<std::int64_t> slice_ptr{0};
  std::vector<std::int32_t> col;
  std::vector<T> val;
};

/// Lays out L, whose set s is the rows start[s] to start[s+1]-1.
///
/// Result  lanes of a set: enough that `threads` threads have work and none more than about 8 entries, fewer
///         than the longest row has entries; where padding would exceed half of the entries, as many as pad
///         least.
template <real T>
sliced_triangle<T> make_sliced(const sparse_rows& L, const std::vector<std::int64_t>& start,
                               std::int64_t threads);

}  // namespace vouch
