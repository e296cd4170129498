#include <vouch/core/parallel_for.cuh>
#include <vouch/sparse/csr32_cuda.hpp>

namespace vouch::detail {

void widen_cuda(const device& dev, const std::int32_t* from, std::int64_t count, std::int64_t* to) {
  parallel_for(dev, "widen", count, [=] __device__(std::int64_t i) { to[i] = from[i]; });
}

}  // namespace vouch::detail
