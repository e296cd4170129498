#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/core/parallel_for.cuh>
#include <vouch/sparse/valid_row.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;

// `lanes` threads a row, each every lanes-th entry. Bound by memory: offsets and columns once.
template <int lanes>
__global__ void __launch_bounds__(block) look_at_rows(csr_pattern A, unsigned long long* first) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * block + threadIdx.x) / lanes;
  if (i >= A.rows) return;
  bool valid = has_valid_offsets(A, i);
  if (valid) {
    const std::int64_t begin = A.row_ptr[i], end = A.row_ptr[i + 1];
    for (std::int64_t k = begin + threadIdx.x % lanes; k < end; k += lanes)
      valid &= has_valid_column(A, begin, k);
  }
  if (!valid) atomicMin(first, static_cast<unsigned long long>(i));
}

template <int lanes>
void look(const device& dev, const csr_pattern& A, unsigned long long* first) {
  launch(dev, "look_at_rows", {ceil_div<std::int64_t>(A.rows * lanes, block), block}, look_at_rows<lanes>, A,
         first);
}

}  // namespace

std::int64_t first_invalid_row_cuda(const device& dev, const csr_pattern& A) {
  auto first = array<unsigned long long>::from(dev, std::vector{static_cast<unsigned long long>(A.rows)});
  if (A.nonzeros <= 12 * A.rows)
    look<2>(dev, A, first.data());
  else if (A.nonzeros <= 96 * A.rows)
    look<8>(dev, A, first.data());
  else
    look<32>(dev, A, first.data());
  unsigned long long row;
  copy_bytes(&row, device::cpu(1), first.data(), dev, sizeof row);
  return static_cast<std::int64_t>(row);
}

template <real T>
std::int64_t first_not_finite_cuda(const device& dev, const T* values, std::int64_t count) {
  auto first = array<unsigned long long>::from(dev, std::vector{static_cast<unsigned long long>(count)});
  parallel_for(dev, "first_not_finite", count, [values, first = first.data()] __device__(std::int64_t k) {
    if (!isfinite(values[k])) atomicMin(first, static_cast<unsigned long long>(k));
  });
  unsigned long long found;
  copy_bytes(&found, device::cpu(1), first.data(), dev, sizeof found);
  return static_cast<std::int64_t>(found);
}

template std::int64_t first_not_finite_cuda(const device&, const float*, std::int64_t);
template std::int64_t first_not_finite_cuda(const device&, const double*, std::int64_t);

}  // namespace vouch::detail
