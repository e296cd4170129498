// vouch/sparse/matching.hpp -- an entry in every row and column, so that their product is largest, and scales that
// show it.
#pragma once
#include <cstdint>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/core/visibility.hpp>
#include <vouch/sparse/csr.hpp>

namespace VOUCH_PUBLIC vouch {

/// How the scales of a matching are rounded.
enum class matching_scales { nearest, powers_of_two };

struct product_matching {
  array<std::int32_t> row_of;  // entry (row_of[j], j) is the one of column j
  array<double> row_scale;
  array<double> column_scale;
  std::int64_t rank = 0;            // columns with an entry of their own: the structural rank
  std::int64_t deficient_row = -1;  // a row that finds none, from 0; -1 where rank is that of a regular matrix
};

/// One entry of every row and column, those whose product is largest in magnitude: rows in the order row_of have them on
/// the diagonal.
///
/// Shapes  A is n-by-n; n may be 0.
/// Types   T is float or double; costs are logarithms in double.
/// Memory  A and the result live on the CPU; 8 nnz + 56 n bytes besides.
/// Result  With R and C the diagonal matrices of the scales every |R A C| is at most 1 and the matched ones are 1, to
///         1e-12, which proves the product largest; with powers of two at most 2, the matched ones in [1/2, 2], and the
///         scaling rounds nothing. Scales are kept within 2^-1022 and 2^1022. Where the rank is less than n they bound
///         nothing, and rows and columns left over are paired in ascending order. Stored zeros do not count. The same
///         bits on every run.
/// Cost    One thread: a shortest path for each row that finds no entry at once, O(n nnz log n) at worst; 0.04 s for a
///         million entries where the diagonal is best, some 2 s where values are random on a grid, 20 s where places are
///         random too.
/// Throws  shape_error  A is not square
///         value_error  dev is a GPU; an entry is NaN or infinite (the text names the row)
/// Source  Duff, Koster, SIAM J. Matrix Anal. Appl. 22 (2001), MC64's job 5; Jonker, Volgenant, Computing 38 (1987).
template <real T>
product_matching maximum_product_matching(const device& dev, csr_view<const T> A,
                                          matching_scales scales = matching_scales::nearest);

}  // namespace vouch
