// vouch/dense/blas/pieces.hpp -- the loops over contiguous elements that BLAS 1 and 2 are made of, for the processor
// at hand; private.
#pragma once
#include <vouch/dense/blas/pieces_avx512.hpp>
#include <vouch/dense/blas/pieces_portable.hpp>

namespace vouch::detail {

#if VOUCH_HAS_AVX512
#define VOUCH_PIECE(call) return avx512::available() ? avx512::call : portable::call
#else
#define VOUCH_PIECE(call) return portable::call
#endif

/// y := alpha x + y for so many columns x, each with its alpha, one after the other. Columns that are so many
/// elements ahead of them will be asked for next.
template <int Columns, scalar R, scalar X>
void axpy_columns_piece(std::int64_t n, const R* alpha, const X* const* x, std::int64_t ahead, R* y) {
#if VOUCH_HAS_AVX512
  if (avx512::available()) return avx512::axpy_columns<Columns, true>(n, alpha, x, ahead, y);
#endif
  portable::axpy_columns<Columns, true>(n, alpha, x, 0, y);
}
/// y := alpha x + y
template <scalar R, scalar X>
void axpy_piece(std::int64_t n, R alpha, const X* x, R* y) {
  axpy_columns_piece<1>(n, &alpha, &x, 0, y);
}
/// y := alpha x; y may be x.
template <scalar R, scalar X>
void scaled_piece(std::int64_t n, R alpha, const X* x, R* y) {
#if VOUCH_HAS_AVX512
  if (avx512::available()) return avx512::axpy_columns<1, false>(n, &alpha, &x, 0, y);
#endif
  portable::axpy_columns<1, false>(n, &alpha, &x, 0, y);
}
template <scalar R, scalar A, scalar B>
R dot_piece(std::int64_t n, const A* a, const B* b) {
  VOUCH_PIECE(dot<R>(n, a, b));
}
/// to[c] := the inner product of column c and x, with the bits of dot_piece.
template <int Columns, scalar R, scalar A, scalar X>
void dot_columns_piece(std::int64_t n, const A* const* a, const X* x, R* to) {
#if VOUCH_HAS_AVX512
  if (avx512::available()) return avx512::dot_columns<Columns>(n, a, x, to);
#endif
  for (int c = 0; c < Columns; ++c) to[c] = portable::dot<R>(n, a[c], x);
}
template <scalar R>
R magnitudes_piece(std::int64_t n, const R* x) {
  VOUCH_PIECE(sum_of_magnitudes(n, x));
}
template <scalar R>
R squares_piece(std::int64_t n, const R* x) {
  VOUCH_PIECE(sum_of_squares(n, x));
}

#undef VOUCH_PIECE

}  // namespace vouch::detail
