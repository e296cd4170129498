#include <vouch/verify/pass.hpp>

#include <algorithm>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/verify/elements.hpp>
#include <vouch/verify/rows.hpp>

namespace vouch::detail {
namespace {

constexpr std::int64_t chunk = 4096;

template <class Body>
VOUCH_SIMD_INLINE void rows_of_chunk(const csr_view<const double>& A, const Body& body, std::int64_t begin,
                                     std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    typename Body::state row = body.begin();
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) body.add(row, i, k, A.val[k], A.col[k]);
    body.finish(row, i, A.row_ptr[i + 1] - A.row_ptr[i]);
  }
}

// One function for each body, since a template cannot have clones.
VOUCH_SIMD_CLONES void run_rows(const csr_view<const double>& A, const residual_body& body, std::int64_t begin,
                                std::int64_t end) {
  rows_of_chunk(A, body, begin, end);
}
VOUCH_SIMD_CLONES void run_rows(const csr_view<const double>& A, const comparison_body& body,
                                std::int64_t begin, std::int64_t end) {
  rows_of_chunk(A, body, begin, end);
}
VOUCH_SIMD_CLONES void run_rows(const csr_view<const double>& A, const off_diagonal_body& body,
                                std::int64_t begin, std::int64_t end) {
  rows_of_chunk(A, body, begin, end);
}
void run_rows(const csr_view<const double>& A, const scale_body& body, std::int64_t begin, std::int64_t end) {
  rows_of_chunk(A, body, begin, end);
}
void run_rows(const csr_view<const double>& A, const scaled_comparison_body& body, std::int64_t begin,
              std::int64_t end) {
  rows_of_chunk(A, body, begin, end);
}

// The larger; NaN where either is NaN.
double larger_or_nan(double a, double b) { return b > a || b != b ? b : a; }

template <class Body>
double largest_of_chunk(const Body& body, std::int64_t begin, std::int64_t end) {
  double most = 0;
  for (std::int64_t i = begin; i < end; ++i) most = larger_or_nan(most, body.value(i));
  return most;
}

}  // namespace

template <class Body>
void for_rows(const device& dev, csr_view<const double> A, const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return for_rows_cuda(dev, A, body);
  const std::int64_t chunks = ceil_div(A.rows, chunk);
#pragma omp parallel for num_threads(dev.threads()) schedule(static) if (chunks > 1)
  for (std::int64_t c = 0; c < chunks; ++c) run_rows(A, body, c * chunk, std::min((c + 1) * chunk, A.rows));
}

template <class Body>
void for_elements(const device& dev, std::int64_t n, const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return for_elements_cuda(dev, n, body);
#pragma omp parallel for num_threads(dev.threads()) schedule(static) if (n > chunk)
  for (std::int64_t i = 0; i < n; ++i) body(i);
}

template <class Body>
double largest(const device& dev, std::int64_t n, const Body& body) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return largest_cuda(dev, n, body);
  const std::int64_t chunks = ceil_div(n, chunk);
  std::vector<double> partial(static_cast<std::size_t>(chunks));
#pragma omp parallel for num_threads(dev.threads()) schedule(static) if (chunks > 1)
  for (std::int64_t c = 0; c < chunks; ++c)
    partial[static_cast<std::size_t>(c)] = largest_of_chunk(body, c * chunk, std::min((c + 1) * chunk, n));
  double most = 0;
  for (const double value : partial) most = larger_or_nan(most, value);
  return most;
}

template void for_rows(const device&, csr_view<const double>, const residual_body&);
template void for_rows(const device&, csr_view<const double>, const comparison_body&);
template void for_rows(const device&, csr_view<const double>, const off_diagonal_body&);
template void for_rows(const device&, csr_view<const double>, const scale_body&);
template void for_rows(const device&, csr_view<const double>, const scaled_comparison_body&);
template void for_elements(const device&, std::int64_t, const magnitude_body&);
template void for_elements(const device&, std::int64_t, const middle_body&);
template void for_elements(const device&, std::int64_t, const jacobi_body&);
template void for_elements(const device&, std::int64_t, const radius_body&);
template void for_elements(const device&, std::int64_t, const unscale_body&);
template void for_elements(const device&, std::int64_t, const fill_body<double>&);
template void for_elements(const device&, std::int64_t, const fill_body<float>&);
template void for_elements(const device&, std::int64_t, const improve_body&);
template void for_elements(const device&, std::int64_t, const widen_body&);
template void for_elements(const device&, std::int64_t, const relative_body&);
template double largest(const device&, std::int64_t, const quotient_body&);
template double largest(const device&, std::int64_t, const refutes_body&);
template double largest(const device&, std::int64_t, const size_body&);
template double largest(const device&, std::int64_t, const relative_body&);

}  // namespace vouch::detail
