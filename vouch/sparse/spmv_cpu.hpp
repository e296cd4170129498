// vouch/sparse/spmv_cpu.hpp -- rows of a product on one CPU thread, one function a layout; private.
#pragma once
#include <cstdint>

#include <vouch/sparse/spmv_layouts.hpp>

namespace vouch::detail {

/// y[i - row_begin] := (A x)_i for the rows of the range; entries of a row in ascending order of columns.
template <real T>
void csr_rows(const csr_view<const T>& A, const T* x, T* y, std::int64_t row_begin, std::int64_t row_end);
template <real T>
void dia_rows(const dia_layout<T>& A, const T* x, T* y, std::int64_t row_begin, std::int64_t row_end);

}  // namespace vouch::detail
