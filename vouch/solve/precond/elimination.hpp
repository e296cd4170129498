// vouch/solve/precond/elimination.hpp -- orders of elimination, sparse triangles and their level sets; private,
// on the CPU.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <vouch/core/types.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Rows of entries, often a strict triangle.
template <class S>
struct rows_of {
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col;
  std::vector<S> val;

  std::int64_t rows() const { return static_cast<std::int64_t>(row_ptr.size()) - 1; }
  std::int64_t nonzeros() const { return row_ptr.back(); }
};
/// Values are kept in double whatever the matrix is.
using sparse_rows = rows_of<double>;

/// The parts L + D of P A P^T = L + D + L^T.
struct lower_part {
  sparse_rows lower;
  std::vector<double> diagonal;
};

/// Rows grouped so that a row of a lower triangle refers to rows of earlier groups only, one of an upper triangle to rows
/// of later groups: set s holds the rows rows[start[s]] to rows[start[s+1]-1], ascending.
struct level_sets {
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> rows;

  std::int64_t count() const { return static_cast<std::int64_t>(start.size()) - 1; }
};

/// An elimination order: order[k] is the row eliminated as k-th; empty stands for the order of the matrix.
struct elimination {
  std::vector<std::int32_t> order;
  std::int64_t colours = 0;  // 0 where the order is that of the matrix
};

/// Rows of one colour share no entry; each row takes the first colour that its neighbours before it left free,
/// colours are eliminated one after the other, rows of a colour in the order of the matrix.
///
/// Result  At most 1 + (most entries in a row) colours. Depends on the pattern alone.
/// Cost    One pass over the pattern, one thread.
template <real T>
elimination coloured(csr_view<const T> A);

/// The fewest level sets that L and L^T allow.
level_sets find_levels(const sparse_rows& L);
/// The fewest that serve both.
level_sets find_levels(const sparse_rows& L, const sparse_rows& U);

/// The order for a device on which a barrier costs far more than a row: coloured, unless the matrix's own
/// order, which makes the better factor, has at most twice as many level sets.
template <real T>
elimination order_for_gpu(csr_view<const T> A);

/// Throws  value_error  an entry that is NaN or infinite; `who` begins the text, which names the row
template <real T>
void require_finite_entries(csr_view<const T> A, int threads, const std::string& who);

/// Reads only the entries of P A P^T on and below the diagonal.
///
/// Throws  value_error  an entry that is NaN or infinite, a diagonal entry that is not positive; `who` begins
///                      the text, which names the row
template <real T>
lower_part take_lower(csr_view<const T> A, const elimination& order, int threads, const std::string& who);

/// The transpose: rows ascending in each column become columns ascending in each row.
sparse_rows transposed(const sparse_rows& L);

/// Row k of the result is row rows[k] of L with its columns renamed to name[column], in the order they had. An
/// empty rows or name changes nothing.
sparse_rows renumbered(const sparse_rows& L, std::span<const std::int32_t> rows,
                       std::span<const std::int32_t> name, int threads);

}  // namespace vouch
