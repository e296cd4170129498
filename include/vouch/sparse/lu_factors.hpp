// vouch/sparse/lu_factors.hpp -- a sparse matrix factorised by elimination with exchanges.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// L U about P S A Q: L with a unit diagonal, S powers of two that bring the largest entry of each row near 1.
template <real T>
struct lu_factors {
  /// Columns of a triangle without its diagonal, by place of the pivots.
  struct triangle {
    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> row;
    std::vector<T> value;
  };

  std::int64_t rows = 0;
  triangle lower, upper;
  std::vector<T> pivots;
  std::vector<std::int32_t> row_order;     // place k has row row_order[k] of A
  std::vector<std::int32_t> column_order;  // and column column_order[k]
  std::vector<T> scale;                    // of the rows of A, the diagonal of S
  std::int64_t failed = 0;                 // 0, or the pivot (from 1) that is zero: then there are no factors
  bool too_large = false;                  // likewise: more entries than allowed
  double inverse_norm = 0;                 // about ||A^-1||_inf

  /// Stored entries of both triangles.
  std::int64_t entries() const { return lower.start.back() + upper.start.back() + rows; }
  /// x := A^-1 x, about.
  ///
  /// Memory  x lives on the CPU and has rows elements.
  /// Cost    2 entries() flops, one thread.
  void solve(T* x) const;
  /// x := A^-T x, likewise.
  void solve_transposed(T* x) const;
};

/// Factorises A, columns in an order of small degree: that of A + A^T, with pivots on the diagonal where they
/// are at least a tenth of the largest, for a matrix whose pattern is nearly symmetric; else that of A^T A,
/// with the largest entry as the pivot.
///
/// Shapes  A is n-by-n; n may be 0.
/// Memory  A lives on the CPU; 12 bytes an entry of the factors (8 for float).
/// Result  Nothing is proved of the factors. Ends as too_large where they have more than most_entries. Same
///         bits on every run, for any number of threads.
/// Cost    One thread; flops as the factors need, each entry found by a depth-first search.
/// Throws  shape_error  A is not square
///         value_error  dev is a GPU
/// Source  Gilbert, Peierls, SIAM J. Sci. Stat. Comput. 9 (1988); Eisenstat, Liu, SIMAX 13 (1992) for the
///         search.
template <real T>
lu_factors<T> factorise(const device& dev, csr_view<const T> A,
                        std::int64_t most_entries = std::numeric_limits<std::int64_t>::max());

}  // namespace vouch
