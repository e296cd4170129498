#include <vouch/sparse/csr32.hpp>

#include <vouch/core/config.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/core/loop_threads.hpp>
#include <vouch/core/require.hpp>
#include <vouch/sparse/csr32_cuda.hpp>

namespace vouch {

array<std::int64_t> widened(const device& dev, const std::int32_t* offsets, std::int64_t count) {
  const ieee_environment here;
  detail::require_data("widened", "row_ptr", offsets, count);
  array<std::int64_t> wide(dev, count);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) {
      detail::widen_cuda(dev, offsets, count, wide.data());
      return wide;
    }
#pragma omp parallel for firstprivate(ieee) num_threads(loop_threads(dev, count)) schedule(static)
  for (std::int64_t i = 0; i < count; ++i) wide[i] = offsets[i];
  return wide;
}

}  // namespace vouch
