// vouch/solve/precond/amg/near_nullspace.hpp -- what the near-nullspace of a matrix is where nobody says; private.
#pragma once
#include <cstdint>
#include <initializer_list>

#include <vouch/core/array.hpp>
#include <vouch/solve/precond/amg.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch::multigrid {

inline constexpr std::int64_t most_vectors = 12;

/// The most unknowns, of 2 to 6, such that the rows of a node, taken as they come, all have the same pattern; 1 where
/// there are none. `on` as in aggregation.hpp.
template <class On, real T>
std::int64_t find_unknowns(const On& on, csr_view<const T> A) {
  array<std::int32_t> differing(on.where(), 1);
  std::int32_t* const differs = differing.data();
  for (const std::int64_t size : {6, 5, 4, 3, 2}) {
    if (A.rows % size != 0 || A.nonzeros % size != 0 || A.rows == 0) continue;
    on.set(differs, 0);
    on.for_each("compare_rows", A.rows, [=] VOUCH_HOST_DEVICE(std::int64_t i) {
      const std::int64_t begin = A.row_ptr[i - i % size], length = A.row_ptr[i - i % size + 1] - begin;
      const std::int64_t own = A.row_ptr[i];
      bool same = A.row_ptr[i + 1] - own == length && length % size == 0;
      for (std::int64_t k = 0; same && k < length; ++k) {
        const std::int32_t j = A.col[own + k];
        same = j == A.col[begin + k] && j % size == k % size;
      }
      if (!same) On::raise(differs);
    });
    if (on.get(differs) == 0) return size;
  }
  return 1;
}

/// Throws  shape_error, value_error  as make_amg
void require_usable(const near_nullspace& near, std::int64_t rows);

/// The elements of its vectors in a row side by side, those of row i times factor[i].
array<double> scaled_rows(const near_nullspace& near, const array<double>& factor);

/// A vector for each of a node's unknowns, 1 there and 0 elsewhere.
near_nullspace translations(std::int64_t rows, std::int64_t unknowns);

}  // namespace vouch::multigrid
