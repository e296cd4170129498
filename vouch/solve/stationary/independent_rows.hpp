// vouch/solve/stationary/independent_rows.hpp -- which rows of a sparse matrix a sweep may take side by side; private, on
// the CPU.
#pragma once
#include <cstdint>
#include <vector>

#include <vouch/core/device.hpp>
#include <vouch/sparse/csr.hpp>

namespace vouch {

/// Sets of rows that do not refer to each other: row rows[start[k]] to rows[start[k+1]-1] are set k, ascending.
struct independent_rows {
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> rows;

  std::int64_t count() const { return static_cast<std::int64_t>(start.size()) - 1; }
};

/// Every row stands after all rows before it, and before all rows after it, that it refers to or that refer to
/// it: a sweep set after set computes what a sweep row after row computes.
template <class T>
independent_rows find_independent_rows(csr_view<const T> A);

/// Each row takes the first colour that the rows before it which it refers to, or which refer to it, leave
/// free.
///
/// Result  At most 1 + (most neighbours of a row) colours. Depends on the pattern alone.
template <real T>
independent_rows colour_rows(const device& cpu, csr_view<const T> A);

}  // namespace vouch
