// vouch/solve/krylov/slab_matrix.hpp -- some rows of a matrix on one of several GPUs; private, for CUDA builds.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>
#include <vouch/sparse/spmv_plan.hpp>

namespace vouch {

/// Rows first to first + count - 1.
struct row_range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Rows of the whole matrix, kept as it is kept as a whole: of diagonals those places that the rows read, so that of a
/// symmetric matrix half is stored here too.
///
/// Result  Layout and bits depend on the matrix and the rows alone.
template <real T>
class slab_matrix {
 public:
  /// whole is a plan of A, both on home; nothing of them is needed afterwards.
  slab_matrix(const device& dev, const device& home, const spmv_plan<T>& whole, csr_view<const T> A,
              row_range rows);

  const row_range& rows() const { return rows_; }
  /// Blocks of the product's grid.
  unsigned blocks() const;
  /// Nothing where the layout is another than diagonals.
  const std::optional<detail::dia_layout<T>>& as_dia() const { return dia_; }
  const spmv_plan<T>& as_plan() const { return *plan_; }

 private:
  void cut_diagonals(const device& home, const detail::dia_layout<T>& whole);
  void cut_rows(const device& home, csr_view<const T> A, layout kept_as);

  device dev_;
  row_range rows_;
  std::optional<detail::dia_layout<T>> dia_;
  array<T> diagonals_;
  csr<T> own_;
  std::optional<spmv_plan<T>> plan_;
};

}  // namespace vouch
