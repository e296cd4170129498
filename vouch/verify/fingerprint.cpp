#include <vouch/verify/fingerprint.hpp>

#include <algorithm>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/random.hpp>
#include <vouch/core/require.hpp>
#include <vouch/core/simd.hpp>
#include <vouch/dense/require_entries.hpp>
#include <vouch/verify/fingerprint_sums.hpp>

namespace vouch {
namespace {

using namespace detail;

constexpr std::int64_t chunk = 4096;

template <class T>
VOUCH_SIMD_INLINE std::uint64_t sum_of_chunk(const array_elements<T>& elements, std::int64_t begin,
                                             std::int64_t end) {
  std::uint64_t sum = 0;
  for (std::int64_t k = begin; k < end; ++k) sum += mixed(bits_of(elements[k]), k);
  return sum;
}

// Column by column.
VOUCH_SIMD_INLINE std::uint64_t sum_of_chunk(const dense_elements& elements, std::int64_t begin,
                                             std::int64_t end) {
  std::uint64_t sum = 0;
  for (std::int64_t k = begin; k < end;) {
    const double* const column = &elements[k];
    const std::int64_t rows = std::min(end - k, elements.rows - k % elements.rows);
    for (std::int64_t i = 0; i < rows; ++i) sum += mixed(bits_of(column[i]), k + i);
    k += rows;
  }
  return sum;
}

// One function for each kind, since a template cannot have clones.
#define VOUCH_SUM(Elements)                                                                                   \
  VOUCH_SIMD_CLONES std::uint64_t sum_chunk(const Elements& elements, std::int64_t begin, std::int64_t end) { \
    return sum_of_chunk(elements, begin, end);                                                                \
  }
VOUCH_FINGERPRINT_ELEMENTS(VOUCH_SUM)
#undef VOUCH_SUM

template <class Elements>
std::uint64_t sum_mixed(const device& dev, std::int64_t n, const Elements& elements) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return sum_mixed_cuda(dev, n, elements);
  const std::int64_t chunks = ceil_div(n, chunk);
  std::uint64_t sum = 0;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(static) reduction(+ : sum) \
    if (chunks > 1)
  for (std::int64_t c = 0; c < chunks; ++c) sum += sum_chunk(elements, c * chunk, std::min((c + 1) * chunk, n));
  return sum;
}

}  // namespace

matrix_fingerprint fingerprint_of(const device& dev, csr_view<const double> A) {
  constexpr const char* routine = "fingerprint_of";
  if (A.rows < 0 || A.cols < 0 || A.nonzeros < 0)
    throw shape_error(std::string(routine) + ": a size or the number of entries is negative");
  require_data(routine, "row_ptr", A.row_ptr, A.rows + 1);
  require_data(routine, "col", A.col, A.nonzeros);
  require_data(routine, "val", A.val, A.nonzeros);
  const std::uint64_t offsets = sum_mixed(dev, A.rows + 1, array_elements<std::int64_t>{A.row_ptr});
  const std::uint64_t columns = sum_mixed(dev, A.nonzeros, array_elements<std::int32_t>{A.col});
  return {A.rows, A.cols, A.nonzeros, random_bits(offsets, columns),
          sum_mixed(dev, A.nonzeros, array_elements<double>{A.val})};
}

matrix_fingerprint fingerprint_of(const device& dev, matrix_view<const double> A) {
  require_entries("fingerprint_of", A);
  const std::int64_t entries = A.rows * A.cols;
  return {A.rows, A.cols, entries, 0, sum_mixed(dev, entries, dense_elements{A.data, A.rows, A.ld})};
}

}  // namespace vouch
