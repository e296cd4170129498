#include <vouch/price/batch.hpp>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>

namespace vouch {

bool fits_batch(const batch_option& b) {
  const plain_option& o = b.option;
  if (b.exercise == exercise_style::european) return true;
  return b.exercise == exercise_style::american && o.payoff == payoff_kind::vanilla &&
         o.barrier == barrier_kind::none && early_exercise_of(o) != early_exercise::two_boundaries;
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
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(dynamic, 64)
  for (std::int64_t i = 0; i < count; ++i) {
    if (stop.requested()) continue;
    const auto at = static_cast<std::size_t>(i);
    values[at] = price_in_batch(options[at], schemes, greeks, tolerance);
  }
  stop.check();
}

}  // namespace vouch
