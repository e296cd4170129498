#include <atomic>

#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/sparse/structure.hpp>
#include <vouch/sparse/valid_csr.hpp>

namespace vouch {
namespace {

constexpr std::int64_t chunk = 4096;  // rows that a thread takes at a time

using parent = std::atomic_ref<std::int32_t>;

// The root of i's tree; each node passed is hung one step higher, which never changes the sets.
std::int32_t root(std::int32_t* parents, std::int32_t i) {
  for (;;) {
    std::int32_t up = parent(parents[i]).load(std::memory_order_relaxed);
    const std::int32_t upper = parent(parents[up]).load(std::memory_order_relaxed);
    if (up == upper) return up;
    parent(parents[i]).compare_exchange_weak(up, upper, std::memory_order_relaxed);
    i = upper;
  }
}

// Hangs the larger root under the smaller one, so that trees never close to a cycle.
void unite(std::int32_t* parents, std::int32_t a, std::int32_t b) {
  for (;;) {
    a = root(parents, a);
    b = root(parents, b);
    if (a == b) return;
    if (a < b) std::swap(a, b);
    std::int32_t expected = a;
    if (parent(parents[a]).compare_exchange_strong(expected, b, std::memory_order_relaxed)) return;
  }
}

}  // namespace

template <real T>
std::int64_t connected_components(const device& dev, csr_view<const T> A) {
  if (dev.is_cuda()) throw value_error("connected_components: runs on the CPU, the device is a GPU");
  const valid_csr valid("connected_components", dev, A);
  if (A.rows != A.cols) throw shape_error("connected_components: the matrix is not square");
  array<std::int32_t> parents(dev, A.rows);
  std::int64_t roots = 0;
#pragma omp parallel firstprivate(ieee) num_threads(loop_threads(dev, A.nonzeros))
  {
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < A.rows; ++i) parents[i] = static_cast<std::int32_t>(i);
#pragma omp for schedule(dynamic, chunk)
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (A.col[k] != i) unite(parents.data(), static_cast<std::int32_t>(i), A.col[k]);
#pragma omp for schedule(static) reduction(+ : roots)
    for (std::int64_t i = 0; i < A.rows; ++i) roots += parents[i] == i;
  }
  return roots;
}

template std::int64_t connected_components(const device&, csr_view<const float>);
template std::int64_t connected_components(const device&, csr_view<const double>);

}  // namespace vouch
