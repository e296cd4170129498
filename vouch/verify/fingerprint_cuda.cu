#include <algorithm>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/verify/fingerprint_sums.hpp>

namespace vouch::detail {
namespace {

constexpr unsigned block = 256;

// Whole numbers are added by atomics in any order. Bound by memory: the elements once.
template <class Elements>
__global__ void __launch_bounds__(block)
    add_mixed(std::int64_t n, Elements elements, unsigned long long* result) {
  unsigned long long sum = 0;
  for (std::int64_t k = std::int64_t{blockIdx.x} * block + threadIdx.x; k < n;
       k += std::int64_t{gridDim.x} * block)
    sum += mixed(bits_of(elements[k]), k);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(result, sum);
}

}  // namespace

template <class Elements>
std::uint64_t sum_mixed_cuda(const device& dev, std::int64_t n, const Elements& elements) {
  auto result = array<unsigned long long>::zeros(dev, 1);
  const std::int64_t blocks = std::min<std::int64_t>(ceil_div<std::int64_t>(n, block), 8 * dev.processors());
  launch(dev, "verify_fingerprint", {blocks, block}, add_mixed<Elements>, n, elements, result.data());
  unsigned long long sum;
  copy_bytes(&sum, device::cpu(1), result.data(), dev, sizeof sum);
  return sum;
}

#define VOUCH_SUM(Elements) template std::uint64_t sum_mixed_cuda(const device&, std::int64_t, const Elements&);
VOUCH_FINGERPRINT_ELEMENTS(VOUCH_SUM)
#undef VOUCH_SUM

}  // namespace vouch::detail
