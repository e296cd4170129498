#include <algorithm>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/price/formula/implied_formula.hpp>
#include <vouch/price/implied.hpp>

namespace vouch {
namespace {

constexpr unsigned block = 128;

// One thread an option. Bound by the copies.
__global__ void __launch_bounds__(block) find_volatilities(const plain_option* options, const double* prices,
                                                           std::int64_t count, double* volatilities) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (i < count) volatilities[i] = detail::implied_volatility_or_nan(options[i], prices[i]);
}

}  // namespace

void detail::implied_volatilities_cuda(const device& dev, std::span<const plain_option> options,
                                       std::span<const double> prices, std::span<double> volatilities) {
  constexpr std::size_t most = 1 << 24;  // options at once: some gigabytes of the GPU's memory
  for (std::size_t from = 0; from < options.size(); from += most) {
    const std::size_t count = std::min(most, options.size() - from);
    const auto on_device = array<plain_option>::from(dev, options.subspan(from, count));
    const auto paid = array<double>::from(dev, prices.subspan(from, count));
    array<double> result(dev, static_cast<std::int64_t>(count));
    launch(dev, "find_volatilities", {ceil_div<std::int64_t>(static_cast<std::int64_t>(count), block), block},
           find_volatilities, on_device.data(), paid.data(), static_cast<std::int64_t>(count), result.data());
    copy_bytes(volatilities.data() + from, device::cpu(1), result.data(), dev, count * sizeof(double));
  }
}

}  // namespace vouch
