#include <vouch/price/fd_batch.hpp>

#include <cmath>

#include <vouch/core/cancellation.hpp>
#include <vouch/core/config.hpp>
#include <vouch/core/error.hpp>
#include <vouch/core/ieee_environment.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>
#include <vouch/price/value_blocks.hpp>

namespace vouch {
namespace {

bool is_taken(const batch_option& b) {
  const plain_option& o = b.option;
  return b.exercise != exercise_style::bermudan && o.payoff == payoff_kind::vanilla &&
         o.barrier == barrier_kind::none && o.spot > 0 && o.strike > 0 && o.volatility > 0 && o.expiry > 0 &&
         std::isfinite(o.spot + o.strike + o.volatility + o.expiry + o.rate + o.dividend) &&
         (b.exercise == exercise_style::european || early_exercise_of(o) != early_exercise::two_boundaries);
}

valuation on_one_grid(const batch_option& b, std::int64_t nodes, std::int64_t steps) {
  contract c;
  c.plain = b.option;
  c.exercise = b.exercise;
  return value_on_grid(c, nodes, steps);
}

void check(std::span<const batch_option> options, std::int64_t nodes, std::int64_t steps,
           std::span<valuation> values) {
  if (options.size() != values.size())
    throw shape_error("finite_difference_batch: as many values as options are needed");
  if (nodes < 16 || steps < 4)
    throw value_error("finite_difference_batch: at least 16 nodes and 4 steps are needed");
  for (std::size_t i = 0; i < options.size(); ++i)
    if (!is_taken(options[i]))
      throw value_error("finite_difference_batch: option " + std::to_string(i) + " is not one that it takes");
}

}  // namespace

detail::batch_pieces detail::pieces_of(bool american, std::int64_t steps) {
  contract unit;
  unit.plain.expiry = 1;
  if (american) unit.exercise = exercise_style::american;
  batch_pieces pieces;
  for (const fd_segment& s : make_segments(unit, steps))
    pieces.piece[pieces.count++] = {(s.to - s.from) / static_cast<double>(s.steps), s.steps, s.smooths};
  return pieces;
}

void finite_difference_batch(const device& dev, std::span<const batch_option> options, std::int64_t nodes,
                             std::int64_t steps, std::span<valuation> values) {
  const ieee_environment here;
  check(options, nodes, steps, values);
  if constexpr (built_with_cuda)
    if (dev.is_cuda()) return detail::finite_difference_batch_cuda(dev, options, nodes, steps, values);
  const auto count = static_cast<std::int64_t>(options.size());
  const cancellation_probe stop;
  const cancellation never;  // the options of one thread must not end by an exception
#pragma omp parallel for firstprivate(ieee) num_threads(dev.threads()) schedule(dynamic, 4)
  for (std::int64_t i = 0; i < count; ++i) {
    if (stop.requested()) continue;
    const cancellation_scope whole(never);
    values[static_cast<std::size_t>(i)] = on_one_grid(options[static_cast<std::size_t>(i)], nodes, steps);
  }
  stop.check();
}

void finite_difference_batch(const device_group& devices, std::span<const batch_option> options,
                             std::int64_t nodes, std::int64_t steps, std::span<valuation> values) {
  const ieee_environment here;
  check(options, nodes, steps, values);  // names the option that is not taken by its number in all
  detail::value_blocks(
      devices, options, values, 1 << 12,
      [&](const device& dev, std::span<const batch_option> some, std::span<valuation> of_them) {
        finite_difference_batch(dev, some, nodes, steps, of_them);
      });
}

}  // namespace vouch
