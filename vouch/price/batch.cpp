#include <vouch/price/batch.hpp>

#include <algorithm>
#include <cmath>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/price/formula/european_lanes.hpp>
#include <vouch/price/value_blocks.hpp>

namespace vouch {

namespace {

bool is_european_vanilla(const batch_option& b) {
  return b.exercise == exercise_style::european && b.option.payoff == payoff_kind::vanilla &&
         b.option.barrier == barrier_kind::none;
}

}  // namespace

bool fits_batch(const batch_option& b) {
  const plain_option& o = b.option;
  if (b.exercise == exercise_style::european) return true;
  return b.exercise == exercise_style::american && o.payoff == payoff_kind::vanilla &&
         o.barrier == barrier_kind::none && early_exercise_of(o) != early_exercise::two_boundaries;
}

double batch_error(const batch_option& b, double tolerance) {
  const plain_option& o = b.option;
  if (b.exercise == exercise_style::american && early_exercise_of(o) == early_exercise::one_boundary) {
    const int tier = std::min(detail::first_tier(o, tolerance), batch_schemes::count - 1);
    return detail::error_of_tier(o, tier);
  }
  const auto grown = [&](double rate) { return rate < 0 ? std::exp(-rate * o.expiry) : 1.0; };
  constexpr double sixteen_roundings = 0x1p-49;
  return sixteen_roundings *
         (o.type == option_type::call ? o.spot * grown(o.dividend) : o.strike * grown(o.rate));
}

void price_batch(const device& dev, std::span<const batch_option> options, bool greeks,
                 std::span<valuation> values, double tolerance) {
  const ieee_environment here;
  if (options.size() != values.size()) throw shape_error("price_batch: as many values as options are needed");
  static const batch_schemes schemes{{fast_boundary(), fine_boundary(), finest_boundary()}};
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return detail::price_batch_cuda(dev, options, schemes, greeks, tolerance, values);
  const auto count = static_cast<std::int64_t>(options.size());
  const cancellation_probe stop;
  constexpr std::int64_t block = 64;
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(dynamic) if (count > block)
  for (std::int64_t first = 0; first < count; first += block) {
    if (stop.requested()) continue;
    detail::european_lanes formula;
    const auto end = static_cast<std::size_t>(std::min(first + block, count));
    for (auto i = static_cast<std::size_t>(first); i < end; ++i) {
      if (is_european_vanilla(options[i]))
        formula.add(options[i].option, values[i]);
      else
        values[i] = price_in_batch(options[i], schemes, greeks, tolerance);
    }
  }
  stop.check();
}

void price_batch(const device_group& devices, std::span<const batch_option> options, bool greeks,
                 std::span<valuation> values, double tolerance) {
  const ieee_environment here;
  if (options.size() != values.size()) throw shape_error("price_batch: as many values as options are needed");
  detail::value_blocks(
      devices, options, values, 1 << 15,
      [&](const device& dev, std::span<const batch_option> some, std::span<valuation> of_them) {
        price_batch(dev, some, greeks, of_them, tolerance);
      });
}

}  // namespace vouch
