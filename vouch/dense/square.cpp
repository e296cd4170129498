// Products with a square dense matrix at the speed of memory, its entries kept as numbers S, sums in numbers T.
//
// By rows, four rows are read side by side and share the loads of d; by columns, a tile of rows stays in the
// first-level cache while four columns at a time go by. load_as(lanes of T, const S*) is found beside S.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/dense/rounded_square.hpp>
#include <vouch/dense/square.hpp>

namespace vouch::detail::square_bodies {

template <real T>
VOUCH_SIMD_INLINE void load_as(lanes<T>& v, const T* from) {
  load<T>(v, from);
}

inline constexpr std::int64_t panel = 128;  // columns summed apart
inline constexpr std::int64_t tile = 1024;  // rows whose sums stay in cache

// Inner products of Rows rows with d. Two vectors of lanes a row; what is left over goes to a sum of its own.
template <class S, real T, int Rows>
VOUCH_SIMD_INLINE void dot_rows(const S* a, std::int64_t ld, const T* d, std::int64_t n, T* result) {
  constexpr std::int64_t width = simd<T>::width;
  lanes<T> even[Rows]{}, odd[Rows]{};
  std::int64_t j = 0;
  for (; j + 2 * width <= n; j += 2 * width) {
    lanes<T> d0, d1;
    load<T>(d0, d + j);
    load<T>(d1, d + j + width);
    for (int k = 0; k < Rows; ++k) {
      lanes<T> a0, a1;
      load_as(a0, a + k * ld + j);
      load_as(a1, a + k * ld + j + width);
      even[k] += a0 * d0;
      odd[k] += a1 * d1;
    }
  }
  for (int k = 0; k < Rows; ++k) {
    double rest = 0;
    for (std::int64_t l = j; l < n; ++l) rest += static_cast<double>(static_cast<T>(a[k * ld + l]) * d[l]);
    even[k] += odd[k];
    result[k] = static_cast<T>(total<T>(even[k]) + rest);
  }
}

// s -= A d for these rows and n columns from a.
template <class S, real T>
VOUCH_SIMD_INLINE void rows_body(const S* a, std::int64_t ld, std::int64_t n, const T* d, T* s,
                                 std::int64_t first, std::int64_t last) {
  T sums[4];
  std::int64_t i = first;
  for (; i + 4 <= last; i += 4) {
    dot_rows<S, T, 4>(a + i * ld, ld, d, n, sums);
    for (int k = 0; k < 4; ++k) s[i + k] -= sums[k];
  }
  for (; i < last; ++i) {
    dot_rows<S, T, 1>(a + i * ld, ld, d, n, sums);
    s[i] -= sums[0];
  }
}

// s -= A d for `rows` (at most a tile) rows and `count` columns from a.
template <class S, real T>
VOUCH_SIMD_INLINE void panel_body(const S* a, std::int64_t ld, std::int64_t count, const T* d, T* s,
                                  std::int64_t rows) {
  T sum[tile];
  std::fill(sum, sum + rows, T{});
  std::int64_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const S *a0 = a + j * ld, *a1 = a0 + ld, *a2 = a1 + ld, *a3 = a2 + ld;
    const T d0 = d[j], d1 = d[j + 1], d2 = d[j + 2], d3 = d[j + 3];
#pragma omp simd
    for (std::int64_t i = 0; i < rows; ++i)
      sum[i] = ((sum[i] + static_cast<T>(a0[i]) * d0) + static_cast<T>(a1[i]) * d1) +
               (static_cast<T>(a2[i]) * d2 + static_cast<T>(a3[i]) * d3);
  }
  for (; j < count; ++j) {
    const S* a0 = a + j * ld;
    const T d0 = d[j];
#pragma omp simd
    for (std::int64_t i = 0; i < rows; ++i) sum[i] += static_cast<T>(a0[i]) * d0;
  }
#pragma omp simd
  for (std::int64_t i = 0; i < rows; ++i) s[i] -= sum[i];
}

}  // namespace vouch::detail::square_bodies

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

namespace vouch::detail {

VOUCH_SIMD_INLINE void load_as(lanes<float>& v, const bfloat16* from) {
  typedef std::uint16_t halves __attribute__((vector_size(32)));
  typedef std::uint32_t words __attribute__((vector_size(64)));
  halves some;
  std::memcpy(&some, from, sizeof some);
  const words whole = __builtin_convertvector(some, words) << 16;
  std::memcpy(&v, &whole, sizeof v);
}

namespace {

using namespace square_bodies;

VOUCH_SIMD_CLONES void rows_kernel(const bfloat16* a, std::int64_t ld, std::int64_t n, const float* d, float* s,
                                   std::int64_t first, std::int64_t last) {
  rows_body<bfloat16, float>(a, ld, n, d, s, first, last);
}
VOUCH_SIMD_CLONES void panel_kernel(const bfloat16* a, std::int64_t ld, std::int64_t count, const float* d,
                                    float* s, std::int64_t rows) {
  panel_body<bfloat16, float>(a, ld, count, d, s, rows);
}

}  // namespace

rounded_square round_square(const device& cpu, const square_matrix<double>& A) {
  rounded_square rounded{array<bfloat16>(cpu, A.n * A.n), array<float>(cpu, A.n), A.n, A.by_rows};
#pragma omp parallel for firstprivate(ieee) num_threads(cpu.threads()) schedule(static) if (A.n >= 512)
  for (std::int64_t line = 0; line < A.n; ++line) {
    const double* const from = A.data + line * A.ld;
    bfloat16* const to = rounded.values.data() + line * A.n;
    for (std::int64_t k = 0; k < A.n; ++k) to[k] = bfloat16::nearest(static_cast<float>(from[k]));
    to[line] = {};
    rounded.diagonal[line] = static_cast<float>(from[line]);
  }
  return rounded;
}

void residual_rows(const rounded_square& A, const float* d, const float* r, float* s, std::int64_t first,
                   std::int64_t last) {
  const bfloat16* const a = A.values.data();
  std::copy(r + first, r + last, s + first);
  if (A.by_rows)
    rows_kernel(a, A.n, A.n, d, s, first, last);
  else
    for (std::int64_t i = first; i < last; i += tile)
      for (std::int64_t j = 0; j < A.n; j += panel)
        panel_kernel(a + i + j * A.n, A.n, std::min(panel, A.n - j), d + j, s + i, std::min(tile, last - i));
  for (std::int64_t i = first; i < last; ++i) s[i] -= A.diagonal[i] * d[i];
}

}  // namespace vouch::detail
