#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/price/batch.hpp>

namespace vouch {
namespace {

constexpr unsigned block = 128;

// One thread an option. Bound by the FP64 units for American options, by the copies for European ones. Nothing
// is shared, so the bits are always the same.
__global__ void __launch_bounds__(block)
    price_options(const batch_option* options, std::int64_t count,
                  const __grid_constant__ batch_schemes schemes, bool greeks, valuation* values) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i < count) values[i] = price_in_batch(options[i], schemes, greeks);
}

}  // namespace

void detail::price_batch_cuda(const device& dev, std::span<const batch_option> options,
                              const batch_schemes& schemes, bool greeks, std::span<valuation> values) {
  const auto count = static_cast<std::int64_t>(options.size());
  const auto on_device = array<batch_option>::from(dev, options);
  array<valuation> result(dev, count);
  launch(dev, "price_options", {ceil_div<std::int64_t>(count, block), block}, price_options, on_device.data(),
         count, schemes, greeks, result.data());
  copy_bytes(values.data(), device::cpu(1), result.data(), dev, values.size_bytes());
}

}  // namespace vouch
