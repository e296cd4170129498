#include "options_peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <vouch/core/random.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/price/batch.hpp>
#include <vouch/price/fd_batch.hpp>

#include "peer_module.hpp"
#include "peers/quantlib.hpp"

namespace vouch::bench {
namespace {
using grid_size = std::pair<std::int64_t, std::int64_t>;  // nodes and steps

// Options that end on whole days, and their prices by the exercise boundary.
struct sample {
  std::vector<batch_option> options;
  std::vector<vouch_peer_option> for_peer;
  std::vector<double> exact;
};

sample make_sample(std::size_t count) {
  sample all;
  for (std::uint64_t i = 0; all.options.size() < count; ++i) {
    const auto u = [&](std::uint64_t stream) { return random_unit(stream, i); };
    vouch_peer_option p{80 + 40 * u(2), 90 + 20 * u(3),    0.01 + 0.07 * u(4),
                        0.08 * u(5),    0.12 + 0.4 * u(6), std::lround(36 + 730 * u(7)),
                        u(1) < 0.5};
    batch_option b;
    b.exercise = exercise_style::american;
    plain_option& o = b.option;
    o.type = p.call ? option_type::call : option_type::put;
    o.spot = p.spot;
    o.strike = p.strike;
    o.rate = p.rate;
    o.dividend = p.dividend;
    o.volatility = p.volatility;
    o.expiry = static_cast<double>(p.days) / 365;
    const double exact = american_core(o, finest_boundary()).price;
    if (!std::isfinite(exact)) continue;
    all.options.push_back(b);
    all.for_peer.push_back(p);
    all.exact.push_back(exact);
  }
  return all;
}

template <class Price>
double mean_square_error(const sample& s, Price price) {
  double sum = 0;
  for (std::size_t i = 0; i < s.exact.size(); ++i) sum += std::pow(price(i) - s.exact[i], 2);
  return std::sqrt(sum / static_cast<double>(s.exact.size()));
}

struct timed_price {
  grid_size grid;
  double error = 0, seconds = 0;  // an option
};

std::optional<timed_price> by_quantlib(const sample& s, grid_size grid, std::string& why) {
  const auto price = reinterpret_cast<vouch_quantlib_american_function*>(
      quantlib_peer_function("vouch_quantlib_american", why));
  if (price == nullptr) return std::nullopt;
  std::vector<double> prices(s.options.size());
  double seconds = 0;
  const auto count = static_cast<long>(s.options.size());
  if (price(s.for_peer.data(), count, grid.first, grid.second, prices.data(), &seconds) != 0) {
    why = "QuantLib failed";
    return std::nullopt;
  }
  return timed_price{grid, mean_square_error(s, [&](std::size_t i) { return prices[i]; }),
                     seconds / static_cast<double>(count)};
}

// On the smallest grid with no larger an error; a GPU gets the sample many times over.
std::optional<timed_price> by_vouch(const bench_device& d, const sample& s, double error) {
  const std::vector<std::int64_t> sizes =
      d.dev.is_cuda() ? std::vector<std::int64_t>{256, 512, 1024}
                      : std::vector<std::int64_t>{64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048};
  const std::size_t copies = d.label == "cpu1" ? 1 : d.dev.is_cuda() ? 250 : 16;
  std::vector<batch_option> options;
  for (std::size_t k = 0; k < copies; ++k) options.insert(options.end(), s.options.begin(), s.options.end());
  std::vector<valuation> values(options.size());
  for (const std::int64_t nodes : sizes) {
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; ++k) {
      const stopwatch lap;
      finite_difference_batch(d.dev, options, nodes, nodes / 2, values);
      best = std::min(best, lap.seconds());
    }
    const double reached = mean_square_error(s, [&](std::size_t i) { return values[i].price; });
    if (reached <= error)
      return timed_price{{nodes, nodes / 2}, reached, best / static_cast<double>(options.size())};
  }
  return std::nullopt;
}

std::string grid_text(grid_size g) { return fmt::format("{} x {}", g.first, g.second); }

}  // namespace

text_table compare_with_quantlib(const std::vector<bench_device>& devices, const suite_options& options,
                                 suite_results& results) {
  text_table table("American options against QuantLib's finite differences on one core, at equal error",
                   {{"QuantLib's grid", true},
                    {"error"},
                    {"an option"},
                    {"device", true},
                    {"grid"},
                    {"error"},
                    {"an option"},
                    {"times as fast"}});
  const sample s = make_sample(options.quick ? 10 : 40);
  std::string why;
  for (const grid_size& grid : {grid_size{512, 256}, {1024, 1024}}) {
    if (options.stop()) break;
    options.say(fmt::format("QuantLib, {}", grid_text(grid)));
    const std::optional<timed_price> peer = by_quantlib(s, grid, why);
    if (!peer) {
      table.note("QuantLib: " + why + ".");
      break;
    }
    for (const bench_device& d : devices) {
      const std::optional<timed_price> own = by_vouch(d, s, peer->error);
      if (!own) continue;
      const double ratio = peer->seconds / own->seconds;
      table.add({grid_text(grid), small_text(peer->error), seconds_text(peer->seconds), d.label,
                 grid_text(own->grid), small_text(own->error), seconds_text(own->seconds),
                 fmt::format("{:.3g}", ratio)});
      const std::string name = "American, at the error of QuantLib's " + grid_text(grid);
      results.rows.push_back(
          {name, d.label, "double", "time_per_option", own->seconds, "s", {}, peer->seconds, ratio, {}, {}});
      bench_row row{name, d.label, "double", "times_as_fast", ratio, "1", {}, {}, {}, {}, {}};
      if (d.label != "cpu") {
        row.bar = d.label == "gpu" ? 5000 : 50;
        row.pass = ratio >= *row.bar;
      }
      results.rows.push_back(std::move(row));
    }
  }
  table.note(
      "errors: root mean square over the options, against the exercise boundary; bars are on the ratio.");
  return table;
}

}  // namespace vouch::bench
