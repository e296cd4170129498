#include <algorithm>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/dense/square.hpp>
#include <vouch/dense/square_bodies.hpp>

namespace vouch::detail {
namespace {

using namespace square_bodies;

#define VOUCH_SQUARE_KERNELS(T)                                                                          \
  VOUCH_SIMD_CLONES void rows_kernel(const T* a, std::int64_t ld, std::int64_t n, const T* d, T* s,      \
                                     std::int64_t first, std::int64_t last) {                            \
    rows_body<T, T>(a, ld, n, d, s, first, last);                                                        \
  }                                                                                                      \
  VOUCH_SIMD_CLONES void panel_kernel(const T* a, std::int64_t ld, std::int64_t count, const T* d, T* s, \
                                      std::int64_t rows) {                                               \
    panel_body<T, T>(a, ld, count, d, s, rows);                                                          \
  }
VOUCH_SQUARE_KERNELS(float)
VOUCH_SQUARE_KERNELS(double)
#undef VOUCH_SQUARE_KERNELS

}  // namespace

template <real T>
square_matrix<T> make_square(transpose op, matrix_view<const T> A) {
  if (A.rows != A.cols)
    throw shape_error("a stationary iteration needs a square matrix, this one is " +
                      shape_text(A.rows, A.cols));
  if (A.ld < std::max<std::int64_t>(1, A.rows))
    throw shape_error("the leading dimension " + std::to_string(A.ld) + " is below the " +
                      std::to_string(A.rows) + " rows");
  return {A.data, A.rows, A.ld, op != transpose::no};
}

template <real T>
void subtract_columns(const square_matrix<T>& A, std::int64_t begin, std::int64_t end, const T* d, T* s,
                      std::int64_t first, std::int64_t last) {
  if (A.by_rows) return rows_kernel(A.at(0, begin), A.ld, end - begin, d + begin, s, first, last);
  for (std::int64_t i = first; i < last; i += tile)
    for (std::int64_t j = begin; j < end; j += panel)
      panel_kernel(A.at(i, j), A.ld, std::min(panel, end - j), d + j, s + i, std::min(tile, last - i));
}

template <real T>
void residual_rows(const square_matrix<T>& A, const T* d, const T* r, T* s, std::int64_t first,
                   std::int64_t last) {
  std::copy(r + first, r + last, s + first);
  subtract_columns(A, 0, A.n, d, s, first, last);
}

std::int64_t rows_of_a_thread(std::int64_t n, int threads) {
  constexpr std::int64_t whole = 32;
  return std::max(whole, ceil_div(ceil_div(n, std::int64_t{threads}), whole) * whole);
}

#define VOUCH_INSTANTIATE(T)                                                                                \
  template square_matrix<T> make_square(transpose, matrix_view<const T>);                                   \
  template void residual_rows(const square_matrix<T>&, const T*, const T*, T*, std::int64_t, std::int64_t); \
  template void subtract_columns(const square_matrix<T>&, std::int64_t, std::int64_t, const T*, T*,         \
                                 std::int64_t, std::int64_t);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch::detail
