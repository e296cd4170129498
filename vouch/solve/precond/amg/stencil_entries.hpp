// vouch/solve/precond/amg/stencil_entries.hpp -- a row of a matrix on the diagonals of a stencil; private, CPU and GPU.
#pragma once
#include <cstdint>

#include <vouch/core/types.hpp>
#include <vouch/solve/precond/amg/stencil.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::multigrid {

/// Of one row, by ascending columns.
template <real T>
struct row_entries {
  const std::int32_t* col;
  const T* val;
  std::int64_t count;
};

/// Entries times factor, by the diagonals of values.
template <real T>
struct stencil_filling {
  csr_view<const T> A;
  double factor;
  coupling_list ways;  // all the couplings that rows may have
  step_view<double> values;

  VOUCH_HOST_DEVICE row_entries<T> row(std::int64_t i) const {
    return {A.col + A.row_ptr[i], A.val + A.row_ptr[i], A.row_ptr[i + 1] - A.row_ptr[i]};
  }

  /// Puts the entries of row i on and above the diagonal in their places, where there are zeros; in_box(w): whether the
  /// row's point has the neighbour ways[w]. False where an entry other than zero leaves the box. above_less_below
  /// grows by the entries other than zero above the diagonal less those below.
  template <class InBox>
  VOUCH_HOST_DEVICE bool put_upper(std::int64_t i, const row_entries<T>& row, const InBox& in_box,
                                   std::int64_t& above_less_below) const {
    bool good = true;
    std::size_t w = 0;
    for (std::int64_t k = 0; k < row.count; ++k) {
      const std::int64_t distance = row.col[k] - i;
      const double value = static_cast<double>(row.val[k]);
      if (distance == 0) {
        values.of(0)[i] = factor * value;
        continue;
      }
      while (ways[w].distance < distance) ++w;
      if (value != 0) {
        good = good && in_box(w);
        above_less_below += distance > 0 ? 1 : -1;
      }
      if (distance > 0) values.of(ways[w].diagonal)[i] = factor * value;
    }
    return good;
  }

  /// Whether the entries of row i below the diagonal are those above it.
  VOUCH_HOST_DEVICE bool mirrors_upper(std::int64_t i, const row_entries<T>& row) const {
    bool good = true;
    std::size_t w = 0;
    for (std::int64_t k = 0; k < row.count && row.col[k] < i; ++k) {
      while (ways[w].distance < row.col[k] - i) ++w;
      good = good && values.of(ways[w].diagonal)[i + ways[w].shift] == factor * static_cast<double>(row.val[k]);
    }
    return good;
  }
};

}  // namespace vouch::multigrid
