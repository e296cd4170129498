// vouch/solve/cg_many_widths.hpp -- how many columns go through the loop together; private.
#pragma once
#include <cstdint>

#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {

/// What the choice depends on.
struct many_case {
  bool on_gpu = false;
  layout alone = layout::csr;  // how the matrix is kept for one column by itself
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  std::int64_t value_bytes = 8;
  std::int64_t alone_bytes = 0;  // of a product with the matrix kept so; 0 on a GPU: it stays on chip
};

/// Columns of the block that comes next where `columns` (from 1 to 8) are to be solved: 8, 4, 2 or 1, the last
/// meaning one by itself. A block may be wider than the columns left.
///
/// Result  The first of the widths whose iterations together take the least time by a stored model.
/// Source  On the CPU fitted to one core in cache: a block pays 0.4 ns an entry and 2 + 0.65 w ns a row; a
///         column by itself 0.13 and 0.6 (blocks, tiles), 0.1 and 0.4 (diagonals), 0.5 and 0.6 (csr). On a GPU
///         fitted to an H200: a column by itself 8 us and its bytes at 4 TB/s, or cg_iteration_model() on chip;
///         a block 9 us and its bytes at 1.9, 1.5 and, by 8 columns, 2.7 TB/s (1.7 where rows are long).
int many_width(const many_case& given, int columns);

}  // namespace vouch
