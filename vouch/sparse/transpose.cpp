#include <vouch/sparse/transpose.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/trusted.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

// Consecutive rows of A that one thread handles, and for the columns that they reach a counter each: first the
// number of entries, then the place in the row of A^T for the next one.
struct part {
  std::int64_t first = 0, last = 0;
  std::int64_t first_col = 0, end_col = 0;
  array<std::int32_t> counter;

  std::int64_t width() const { return end_col - first_col; }
  bool reaches(std::int64_t col) const { return col >= first_col && col < end_col; }
};

// Rows in `count` parts of about as many entries; columns ascend, so that the ends of a row bound its columns.
template <class T>
std::vector<part> split(csr_view<const T> A, int count) {
  std::vector<part> parts(static_cast<std::size_t>(count));
#pragma omp parallel for firstprivate(ieee) num_threads(count) schedule(static, 1)
  for (int p = 0; p < count; ++p) {
    const auto row_at = [&](std::int64_t share) {
      return std::lower_bound(A.row_ptr, A.row_ptr + A.rows, A.nonzeros / count * share) - A.row_ptr;
    };
    part& own = parts[static_cast<std::size_t>(p)];
    own.first = p == 0 ? 0 : row_at(p);
    own.last = p + 1 == count ? A.rows : row_at(p + 1);
    std::int64_t least = A.cols, most = -1;
    for (std::int64_t i = own.first; i < own.last; ++i) {
      if (A.row_ptr[i] == A.row_ptr[i + 1]) continue;
      least = std::min<std::int64_t>(least, A.col[A.row_ptr[i]]);
      most = std::max<std::int64_t>(most, A.col[A.row_ptr[i + 1] - 1]);
    }
    own.first_col = most < 0 ? 0 : least;
    own.end_col = most + 1;
  }
  return parts;
}

// As many parts as there are threads, or fewer where their counters would outweigh the matrix.
template <class T>
std::vector<part> affordable_parts(const device& dev, csr_view<const T> A) {
  for (int count = loop_threads(dev, A.nonzeros);; count /= 2) {
    std::vector<part> parts = split(A, count);
    std::int64_t counters = 0;
    for (const part& p : parts) counters += p.width();
    if (count > 1 && counters > std::max(A.nonzeros, A.cols)) continue;
    for (part& p : parts) p.counter = array<std::int32_t>::zeros(device::cpu(1), p.width());
    return parts;
  }
}

// Gives every column its row of A^T, and every part its places in there, behind those of the parts before it.
void place(const device& dev, std::vector<part>& parts, array<std::int64_t>& row_ptr) {
  const std::int64_t cols = row_ptr.size() - 1;
  row_ptr[0] = 0;
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, cols)) schedule(static)
  for (std::int64_t j = 0; j < cols; ++j) {
    std::int32_t sum = 0;
    for (part& p : parts)
      if (p.reaches(j)) sum += std::exchange(p.counter[j - p.first_col], sum);
    row_ptr[j + 1] = sum;
  }
  std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
}

template <class T>
csr<T> transpose_cpu(const device& dev, csr_view<const T> A) {
  csr<T> B{A.cols, A.rows, array<std::int64_t>(dev, A.cols + 1), array<std::int32_t>(dev, A.nonzeros),
           array<T>(dev, A.nonzeros)};
  std::vector<part> parts = affordable_parts(dev, A);
  const auto count = static_cast<int>(parts.size());
#pragma omp parallel for firstprivate(ieee) num_threads(count) schedule(static, 1)
  for (int p = 0; p < count; ++p) {
    part& own = parts[static_cast<std::size_t>(p)];
    for (std::int64_t k = A.row_ptr[own.first]; k < A.row_ptr[own.last]; ++k)
      ++own.counter[A.col[k] - own.first_col];
  }
  place(dev, parts, B.row_ptr);
#pragma omp parallel for firstprivate(ieee) num_threads(count) schedule(static, 1)
  for (int p = 0; p < count; ++p) {
    part& own = parts[static_cast<std::size_t>(p)];
    for (std::int64_t i = own.first; i < own.last; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const std::int64_t to = B.row_ptr[A.col[k]] + own.counter[A.col[k] - own.first_col]++;
        B.col[to] = static_cast<std::int32_t>(i);
        B.val[to] = A.val[k];
      }
  }
  return B;
}

}  // namespace

namespace detail {

template <real T>
csr<T> transpose_trusted(const device& dev, csr_view<const T> A) {
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return transpose_cuda(dev, A);
  return transpose_cpu(dev, A);
}

}  // namespace detail

namespace {

void check_rows(std::int64_t rows) {
  if (rows > std::numeric_limits<std::int32_t>::max())
    throw value_error("transpose: " + std::to_string(rows) + " rows do not fit in 32-bit columns");
}

}  // namespace

csr<std::complex<double>> transpose(const device& cpu, csr_view<const std::complex<double>> A) {
  const ieee_environment here;
  const valid_csr valid("transpose", cpu, A);
  if (cpu.is_cuda()) throw value_error("transpose: complex matrices are for CPUs");
  check_rows(A.rows);
  return transpose_cpu(cpu, A);
}

template <real T>
csr<T> transpose(const device& dev, csr_view<const T> A) {
  const ieee_environment here;
  const valid_csr valid("transpose", dev, A);
  check_rows(A.rows);
  return detail::transpose_trusted(dev, A);
}

#define VOUCH_INSTANTIATE(T)                                                   \
  template csr<T> detail::transpose_trusted(const device&, csr_view<const T>); \
  template VOUCH_PUBLIC csr<T> transpose(const device&, csr_view<const T>);
VOUCH_INSTANTIATE(float)
VOUCH_INSTANTIATE(double)
#undef VOUCH_INSTANTIATE

}  // namespace vouch
