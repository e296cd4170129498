// vouch/sparse/spmv_cpu.hpp -- rows of a product on one CPU thread, one function a layout; private.
#pragma once
#include <cstdint>

#include <vouch/sparse/spmv_layouts.hpp>

namespace vouch::detail {

// sums[i - row_begin] := (A x)_i for the rows of the range. The order of summation of a row is written out, the
// same for every instruction set and for every partition into ranges.

void rows_of(const csr_view<const float>& A, const float* x, float* sums, std::int64_t row_begin,
             std::int64_t row_end);
void rows_of(const csr_view<const double>& A, const double* x, double* sums, std::int64_t row_begin,
             std::int64_t row_end);
void rows_of(const dia_layout<float>& A, const float* x, float* sums, std::int64_t row_begin,
             std::int64_t row_end);
void rows_of(const dia_layout<double>& A, const double* x, double* sums, std::int64_t row_begin,
             std::int64_t row_end);
void rows_of(const tile_layout<float>& A, const float* x, float* sums, std::int64_t row_begin,
             std::int64_t row_end);
void rows_of(const tile_layout<double>& A, const double* x, double* sums, std::int64_t row_begin,
             std::int64_t row_end);
void rows_of(const block_layout<float>& A, const float* x, float* sums, std::int64_t row_begin,
             std::int64_t row_end);
void rows_of(const block_layout<double>& A, const double* x, double* sums, std::int64_t row_begin,
             std::int64_t row_end);
void rows_of(const complex_layout<float>& A, const float* x, float* sums, std::int64_t row_begin,
             std::int64_t row_end);
void rows_of(const complex_layout<double>& A, const double* x, double* sums, std::int64_t row_begin,
             std::int64_t row_end);

}  // namespace vouch::detail
