#include <vouch/verify/pass.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/verify/outward.hpp>
#include <vouch/verify/pass_bodies.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t chunk = 4096;

template <class T, class Body>
VOUCH_SIMD_INLINE void rows_of_chunk(const csr_view<const T>& A, const Body& body, std::int64_t begin,
                                     std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    typename Body::state row = body.begin();
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) body.add(row, i, k, A.val[k], A.col[k]);
    body.finish(row, i, A.row_ptr[i + 1] - A.row_ptr[i]);
  }
}

template <class T, class Body>
VOUCH_SIMD_INLINE void rows_of_chunk(const dia_layout<T>& A, const Body& body, std::int64_t begin,
                                     std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    typename Body::state row = body.begin();
    for (int k = 0; k < A.count; ++k) {
      const std::int64_t j = i + A.offset[k];
      if (j >= 0 && j < A.cols) body.add(row, i, k, A.val[A.start[k] + i], static_cast<std::int32_t>(j));
    }
    body.finish(row, i, A.count);
  }
}

// Some rows side by side, since columns are what lies together.
template <class Body>
VOUCH_SIMD_INLINE void rows_of_chunk(const matrix_view<const double>& A, const Body& body, std::int64_t begin,
                                     std::int64_t end) {
  constexpr std::int64_t together = 64;
  for (std::int64_t first = begin; first < end; first += together) {
    const std::int64_t rows = std::min(together, end - first);
    std::array<typename Body::state, together> state;
    state.fill(body.begin());
    for (std::int64_t j = 0; j < A.cols; ++j)
      for (std::int64_t i = 0; i < rows; ++i)
        body.add(state[static_cast<std::size_t>(i)], first + i, j, A(first + i, j),
                 static_cast<std::int32_t>(j));
    for (std::int64_t i = 0; i < rows; ++i) body.finish(state[static_cast<std::size_t>(i)], first + i, A.cols);
  }
}

// One function for each pass, since a template cannot have clones.
#define VOUCH_PASS(Matrix, Body)                                                                             \
  VOUCH_SIMD_CLONES void run_rows(const Matrix& A, const Body& body, std::int64_t begin, std::int64_t end) { \
    rows_of_chunk(A, body, begin, end);                                                                      \
  }
VOUCH_VERIFY_ROW_PASSES(VOUCH_PASS)
#undef VOUCH_PASS

// Rows that a thread takes at a time: about as many entries whatever the matrix.
template <class T>
std::int64_t rows_at_a_time(const csr_view<const T>&) {
  return chunk;
}
template <class T>
std::int64_t rows_at_a_time(const dia_layout<T>&) {
  return chunk;
}
std::int64_t rows_at_a_time(const matrix_view<const double>&) { return 64; }

template <class Body>
double largest_of_chunk(const Body& body, std::int64_t begin, std::int64_t end) {
  double most = 0;
  for (std::int64_t i = begin; i < end; ++i) most = outward::larger_or_nan(most, body.value(i));
  return most;
}

}  // namespace

template <class Matrix, class Body>
void for_rows(const device& dev, const Matrix& A, const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return for_rows_cuda(dev, A, body);
  const std::int64_t step = rows_at_a_time(A), chunks = ceil_div(A.rows, step);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (chunks > 1)
  for (std::int64_t c = 0; c < chunks; ++c) run_rows(A, body, c * step, std::min((c + 1) * step, A.rows));
}

template <class Body>
void for_elements(const device& dev, std::int64_t n, const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return for_elements_cuda(dev, n, body);
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (n > chunk)
  for (std::int64_t i = 0; i < n; ++i) body(i);
}

template <class Body>
double largest(const device& dev, std::int64_t n, const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return largest_cuda(dev, n, body);
  const std::int64_t chunks = ceil_div(n, chunk);
  std::vector<double> partial(static_cast<std::size_t>(chunks));
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) if (chunks > 1)
  for (std::int64_t c = 0; c < chunks; ++c)
    partial[static_cast<std::size_t>(c)] = largest_of_chunk(body, c * chunk, std::min((c + 1) * chunk, n));
  double most = 0;
  for (const double value : partial) most = outward::larger_or_nan(most, value);
  return most;
}

#define VOUCH_PASS(Matrix, Body) template void for_rows(const device&, const Matrix&, const Body&);
VOUCH_VERIFY_ROW_PASSES(VOUCH_PASS)
#undef VOUCH_PASS
#define VOUCH_PASS(Body) template void for_elements(const device&, std::int64_t, const Body&);
VOUCH_VERIFY_ELEMENT_PASSES(VOUCH_PASS)
#undef VOUCH_PASS
#define VOUCH_PASS(Body) template double largest(const device&, std::int64_t, const Body&);
VOUCH_VERIFY_LARGEST(VOUCH_PASS)
#undef VOUCH_PASS

}  // namespace vouch::detail
