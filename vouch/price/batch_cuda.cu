#include <algorithm>
#include <optional>
#include <vector>

#include <vouch/core/array.hpp>
#include <vouch/core/launch.cuh>
#include <vouch/price/batch.hpp>
#include <vouch/price/formula/implied_formula.hpp>
#include <vouch/price/implied.hpp>

namespace vouch {
namespace {

constexpr unsigned block = 128;

// One thread an option, in an order, if there is one, in which neighbours take the same way. Bound by the FP64
// units for American options, by the copies for European ones. Nothing is shared, so the bits are always the
// same.
__global__ void __launch_bounds__(block)
    price_options(const batch_option* options, const std::int32_t* order, std::int32_t count,
                  const __grid_constant__ batch_schemes schemes, bool greeks, double tolerance,
                  valuation* values) {
  const std::int64_t k = std::int64_t{blockIdx.x} * block + threadIdx.x;
  if (k >= count) return;
  const std::int64_t i = order != nullptr ? order[k] : k;
  values[i] = price_in_batch(options[i], schemes, greeks, tolerance);
}

// American options by the scheme that they begin with, then European ones: those that take longest first.
std::vector<std::int32_t> order_of(std::span<const batch_option> options, double tolerance) {
  constexpr int kinds = batch_schemes::count + 1;
  std::vector<std::int32_t> by_kind[kinds], order;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const batch_option& b = options[i];
    const bool iterates =
        b.exercise != exercise_style::european && early_exercise_of(b.option) == early_exercise::one_boundary;
    const int tier = iterates ? detail::first_tier(b.option, tolerance) : kinds - 1;
    by_kind[kinds - 1 - tier].push_back(static_cast<std::int32_t>(i));
  }
  for (int k = 1; k <= kinds; ++k) {
    const auto& some = by_kind[k % kinds];
    order.insert(order.end(), some.begin(), some.end());
  }
  return order;
}

void price_some(const device& dev, std::span<const batch_option> options, const batch_schemes& schemes,
                bool greeks, double tolerance, std::span<valuation> values) {
  const auto count = static_cast<std::int32_t>(options.size());
  // Ordering takes one core longer than the GPU saves by it where there are very many.
  constexpr std::int32_t worth_ordering = 1 << 17;
  const auto on_device = array<batch_option>::from(dev, options);
  std::optional<array<std::int32_t>> order;
  if (count <= worth_ordering) {
    const std::vector<std::int32_t> indices = order_of(options, tolerance);
    order = array<std::int32_t>::from(dev, std::span<const std::int32_t>(indices));
  }
  array<valuation> result(dev, count);
  launch(dev, "price_options", {ceil_div<std::int32_t>(count, block), block}, price_options, on_device.data(),
         order ? order->data() : nullptr, count, schemes, greeks, tolerance, result.data());
  copy_bytes(values.data(), device::cpu(1), result.data(), dev, values.size_bytes());
}

}  // namespace

void detail::price_batch_cuda(const device& dev, std::span<const batch_option> options,
                              const batch_schemes& schemes, bool greeks, double tolerance,
                              std::span<valuation> values) {
  constexpr std::size_t most = 1 << 24;  // options at once: some gigabytes of the GPU's memory
  for (std::size_t from = 0; from < options.size(); from += most) {
    const std::size_t count = std::min(most, options.size() - from);
    price_some(dev, options.subspan(from, count), schemes, greeks, tolerance, values.subspan(from, count));
  }
}

namespace {

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
