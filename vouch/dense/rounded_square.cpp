#include <algorithm>
#include <cstring>

#include <vouch/core/ieee_environment.hpp>
#include <vouch/dense/rounded_square.hpp>
#include <vouch/dense/square_bodies.hpp>

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
