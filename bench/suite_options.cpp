#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include <vouch/core/random.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/price/batch.hpp>
#include <vouch/price/book.hpp>
#include <vouch/price/fd_batch.hpp>
#include <vouch/price/implied.hpp>
#include <vouch/text/file.hpp>

#include "options_peer.hpp"
#include "price_plots.hpp"
#include "suites.hpp"

namespace vouch::bench {
namespace {

// Issue rate of one H200's FP64 units on the 9 operations that a row takes a step; scaled by multiprocessors.
constexpr double fp64_operations_a_processor = 1.755e9 * 64, operations_a_row = 9;

batch_option random_option(std::int64_t i, exercise_style exercise) {
  const auto u = [&](std::uint64_t stream) { return random_unit(stream, static_cast<std::uint64_t>(i)); };
  batch_option b;
  b.exercise = exercise;
  b.option.type = u(1) < 0.5 ? option_type::call : option_type::put;
  b.option.spot = 80 + 40 * u(2);
  b.option.strike = 90 + 20 * u(3);
  b.option.rate = 0.01 + 0.07 * u(4);
  b.option.dividend = 0.08 * u(5);
  b.option.volatility = 0.12 + 0.4 * u(6);
  b.option.expiry = 0.1 + 2 * u(7);
  return b;
}

std::vector<batch_option> random_options(std::int64_t count, exercise_style exercise) {
  std::vector<batch_option> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(random_option(i, exercise));
  return all;
}

// The largest distance to the exact price, of the first so many.
double largest_error(const std::vector<batch_option>& options, const std::vector<valuation>& values,
                     std::size_t count) {
  double worst = 0;
  for (std::size_t i = 0; i < std::min(count, options.size()); ++i) {
    const batch_option& b = options[i];
    const double exact = b.exercise == exercise_style::american
                             ? american_core(b.option, finest_boundary()).price
                             : closed_form(b.option).price;
    if (std::isfinite(exact) && std::isfinite(values[i].price))
      worst = std::max(worst, std::abs(values[i].price - exact));
  }
  return worst;
}

// The name without the grid.
std::string method_of(const std::string& name) { return name.substr(0, name.find_first_of("0123456789")); }

class runner {
 public:
  runner(const suite_options& options, suite_results& results) : options_(options), results_(results) {}

  template <class Body>
  void run(const bench_device& d, const std::string& name, const std::vector<batch_option>& options,
           double floor, double bar, Body body) {
    if (options_.stop()) return;
    options_.say(fmt::format("{} on {}", name, d.label));
    std::vector<valuation> values(options.size());
    double best = std::numeric_limits<double>::infinity();
    const std::int64_t times = options_.repeat > 0 ? options_.repeat : 3;
    for (std::int64_t k = 0; k < times && !options_.stop(); ++k) {
      const stopwatch lap;
      body(options, values);
      best = std::min(best, lap.seconds());
    }
    const double rate = static_cast<double>(options.size()) / best, error = largest_error(options, values, 500);
    table.add({name, d.label, fmt::format("{}", options.size()), seconds_text(best),
               fmt::format("{:.3g}", rate), small_text(error)});
    points.push_back({fmt::format("{} on {}", method_of(name), d.label), rate, error});
    bench_row row{name, d.label, "double", "options_per_second", rate, "1/s", {}, {}, {}, {}, {}};
    if (floor > 0) {
      row.floor = floor;
      row.ratio = rate / floor;
    }
    if (bar > 0) {
      row.bar = bar;
      row.pass = rate >= bar;
    }
    results_.rows.push_back(std::move(row));
    results_.rows.push_back({name, d.label, "double", "largest_error", error, "1", {}, {}, {}, {}, {}});
  }

  std::vector<price_point> points;
  text_table table{
      "Options a second",
      {{"method", true}, {"device", true}, {"options"}, {"time"}, {"options a second"}, {"largest error"}}};

 private:
  const suite_options& options_;
  suite_results& results_;
};

void measure(const bench_device& d, const suite_options& options, runner& run) {
  const bool gpu = d.dev.is_cuda();
  const std::int64_t many = options.quick ? 20000 : 1000000, few = options.quick                ? 200
                                                                   : gpu || d.dev.threads() > 4 ? 10000
                                                                                                : 1000;
  const auto direct = [&](const std::vector<batch_option>& o, std::vector<valuation>& v) {
    price_batch(d.dev, o, false, v);
  };
  run.run(d, "European, closed form", random_options(many, exercise_style::european), 0, 0, direct);
  run.run(d, "American, exercise boundary", random_options(gpu ? many : few, exercise_style::american), 0, 0,
          direct);
  for (const auto& [nodes, steps] : {std::pair{256, 128}, {512, 256}, {1024, 512}}) {
    const double floor =
        gpu ? fp64_operations_a_processor * d.dev.processors() / (operations_a_row * nodes * steps) : 0;
    run.run(d, fmt::format("American, finite differences {} x {}", nodes, steps),
            random_options(few, exercise_style::american), floor, gpu && nodes == 512 ? 4e6 : 0,
            [&, n = nodes, s = steps](const std::vector<batch_option>& o, std::vector<valuation>& v) {
              finite_difference_batch(d.dev, o, n, s, v);
            });
  }
}

// European prices to volatilities: the time of one, and the largest error, of those that a price decides.
void measure_implied(const bench_device& d, const suite_options& options, runner& run, suite_results& all) {
  const std::int64_t many = options.quick ? 20000 : 1000000;
  std::vector<plain_option> plain;
  std::vector<double> prices;
  for (const batch_option& b : random_options(many, exercise_style::european)) {
    plain.push_back(b.option);
    prices.push_back(european_price(b.option).price);
  }
  std::vector<double> found(plain.size());
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 3 && !options.stop(); ++k) {
    const stopwatch lap;
    implied_volatilities(d.dev, plain, prices, found);
    best = std::min(best, lap.seconds());
  }
  double worst = 0;
  for (std::size_t k = 0; k < plain.size(); ++k)
    if (european_price(plain[k]).vega > 1)
      worst = std::max(worst, std::abs(found[k] / plain[k].volatility - 1));
  const auto count = static_cast<double>(many);
  run.table.add({"European, implied volatility", d.label, fmt::format("{}", many), seconds_text(best),
                 fmt::format("{:.3g}", count / best), small_text(worst)});
  bench_row row{"implied volatility", d.label, "double", "time_of_one", best / count, "s", {}, {}, {}, {}, {}};
  if (d.label == "cpu1") {
    row.bar = 0.5e-6;
    row.pass = best / count <= 0.5e-6;
  }
  all.rows.push_back(std::move(row));
}

std::string book_text(std::int64_t lines) {
  std::string text = "type,exercise,spot,strike,rate,dividend,volatility,expiry\n";
  for (std::int64_t i = 0; i < lines; ++i) {
    const batch_option b = random_option(i, i % 2 ? exercise_style::american : exercise_style::european);
    const plain_option& o = b.option;
    fmt::format_to(std::back_inserter(text), "{},{},{:.4f},{:.2f},{:.4f},{:.4f},{:.4f},{:.4f}\n",
                   o.type == option_type::call ? "call" : "put", i % 2 ? "american" : "european", o.spot,
                   o.strike, o.rate, o.dividend, o.volatility, o.expiry);
  }
  return text;
}

text_table measure_book(const std::vector<bench_device>& devices, const suite_options& options,
                        suite_results& all) {
  text_table table("A book, CSV to CSV, half of it American",
                   {{"options"}, {"device", true}, {"time"}, {"options a second"}});
  const std::int64_t lines = options.quick ? 20000 : 1000000;
  const std::string base = std::filesystem::temp_directory_path() / fmt::format("vouch-book-{}", getpid());
  {
    atomic_file file(base + ".csv");
    file.write(book_text(lines));
    file.commit();
  }
  for (const bench_device& d : devices) {
    if (options.stop() || d.label == "cpu1") continue;
    options.say(fmt::format("a book on {}", d.label));
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 2; ++k) {
      const stopwatch lap;
      book_options how;
      how.dev = d.dev;
      how.threads = options.threads;
      price_book(base + ".csv", base + ".out", how);
      best = std::min(best, lap.seconds());
    }
    table.add({fmt::format("{}", lines), d.label, seconds_text(best),
               fmt::format("{:.3g}", static_cast<double>(lines) / best)});
    bench_row row{fmt::format("book of {}", lines), d.label, "double", "time", best, "s", {}, {}, {}, {}, {}};
    if (lines == 1000000) {
      row.bar = 2;
      row.pass = best <= 2;
    }
    all.rows.push_back(std::move(row));
  }
  std::error_code ignored;
  for (const char* suffix : {".csv", ".out"}) std::filesystem::remove(base + suffix, ignored);
  return table;
}

}  // namespace

suite_results run_options_suite(const suite_options& options) {
  suite_results all;
  all.suite = "options";
  all.title = "Options a second";
  const std::vector<bench_device> devices = open_devices(options);
  all.machine = measure_machine(options, devices);
  runner run(options, all);
  for (const bench_device& d : devices) {
    measure(d, options, run);
    if (!options.stop()) measure_implied(d, options, run, all);
  }
  run.table.note("largest error: of 500 prices, against the closed form or a finer boundary.");
  run.table.note("Of implied volatilities it is relative, where vega is above 1.");
  run.table.note("The floor of finite differences on a GPU is the issue rate of its FP64 units.");
  std::vector<text_table> tables{run.table};
  if (!options.stop()) tables.push_back(compare_with_quantlib(devices, options, all));
  if (!options.stop()) tables.push_back(measure_book(devices, options, all));
  all.sections.push_back(
      {"Many options",
       {},
       std::move(tables),
       {error_figure("Options a second against the largest error", "options a second", run.points)}});
  all.sections.push_back({"Bars", {bars_text(all.rows)}, {bars_table(all.rows)}, {}});
  all.interrupted = options.stop();
  return all;
}

}  // namespace vouch::bench
