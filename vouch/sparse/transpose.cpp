#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <vouch/core/error.hpp>
#include <vouch/sparse/transpose.hpp>

namespace vouch {
namespace {

constexpr std::int64_t chunk = 4096;  // rows that a thread takes at a time
constexpr std::int64_t short_row = 24;

// The old value of counter, which grows by one; atomic where threads share it.
std::int64_t take(std::int64_t& counter, bool shared) {
  return shared ? std::atomic_ref(counter).fetch_add(1, std::memory_order_relaxed) : counter++;
}

template <class T>
void insertion_sort(std::int32_t* col, T* val, std::int64_t size) {
  for (std::int64_t k = 1; k < size; ++k) {
    const std::int32_t c = col[k];
    const T v = val[k];
    std::int64_t place = k;
    for (; place > 0 && col[place - 1] > c; --place) {
      col[place] = col[place - 1];
      val[place] = val[place - 1];
    }
    col[place] = c;
    val[place] = v;
  }
}

// Columns of a row are distinct, so the sorted row does not depend on the order in which it was filled.
template <class T>
void sort_row(std::int32_t* col, T* val, std::int64_t size, std::vector<std::pair<std::int32_t, T>>& spare) {
  if (std::is_sorted(col, col + size)) return;
  if (size <= short_row) return insertion_sort(col, val, size);
  spare.resize(static_cast<std::size_t>(size));
  for (std::int64_t k = 0; k < size; ++k) spare[static_cast<std::size_t>(k)] = {col[k], val[k]};
  std::sort(spare.begin(), spare.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::int64_t k = 0; k < size; ++k) {
    col[k] = spare[static_cast<std::size_t>(k)].first;
    val[k] = spare[static_cast<std::size_t>(k)].second;
  }
}

}  // namespace

template <real T>
csr<T> transpose(const device& dev, csr_view<const T> A) {
  if (dev.is_cuda()) throw value_error("transpose: runs on the CPU, the device is a GPU");
  if (A.rows > std::numeric_limits<std::int32_t>::max())
    throw value_error("transpose: " + std::to_string(A.rows) + " rows do not fit in 32-bit columns");
  const int threads = dev.threads();
  const bool shared = threads > 1;
  csr<T> B{A.cols, A.rows, array<std::int64_t>::zeros(dev, A.cols + 1), array<std::int32_t>(dev, A.nonzeros),
           array<T>(dev, A.nonzeros)};
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t k = 0; k < A.nonzeros; ++k) take(B.row_ptr[A.col[k] + 1], shared);
  std::partial_sum(B.row_ptr.begin(), B.row_ptr.end(), B.row_ptr.begin());

  array<std::int64_t> next = B.row_ptr.to(dev);
#pragma omp parallel for num_threads(threads) schedule(dynamic, chunk)
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const std::int64_t place = take(next[A.col[k]], shared);
      B.col[place] = static_cast<std::int32_t>(i);
      B.val[place] = A.val[k];
    }
  if (!shared) return B;  // rows were met in order
#pragma omp parallel num_threads(threads)
  {
    std::vector<std::pair<std::int32_t, T>> spare;
#pragma omp for schedule(dynamic, chunk)
    for (std::int64_t i = 0; i < B.rows; ++i)
      sort_row(B.col.data() + B.row_ptr[i], B.val.data() + B.row_ptr[i], B.row_ptr[i + 1] - B.row_ptr[i],
               spare);
  }
  return B;
}

template csr<float> transpose(const device&, csr_view<const float>);
template csr<double> transpose(const device&, csr_view<const double>);

}  // namespace vouch
