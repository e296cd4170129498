#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <vouch/core/config.hpp>
#include <vouch/core/cuda_devices.hpp>
#include <vouch/core/stopwatch.hpp>
#include <vouch/price/closed_form.hpp>
#include <vouch/price/finite_difference.hpp>
#include <vouch/price/finite_difference/exponential.hpp>
#include <vouch/price/finite_difference/time_stepping.hpp>
#include <vouch/price/finite_difference/time_stepping_cuda.hpp>

#include "plain_scheme.hpp"
#include "price_plots.hpp"

namespace vouch::bench {
namespace {

// A step cannot be shorter than its chain of dependent operations: two sweeps over 8 rows, 8 shuffles, 2
// barriers.
constexpr double gpu_step_floor = 5e-8;

struct grid_case {
  std::string name;
  contract option;
  grid_kind kind;
  std::int64_t nodes, steps;
  bool usual;                // the bars are for it
  double published_gpu = 0;  // seconds; 0: none
  double published_cpu = 0;
};

contract call(double spot, double strike, double rate, double volatility, double expiry) {
  contract c;
  c.plain.spot = spot;
  c.plain.strike = strike;
  c.plain.rate = rate;
  c.plain.volatility = volatility;
  c.plain.expiry = expiry;
  return c;
}

std::vector<grid_case> cases(bool quick) {
  const contract usual = call(100, 100, 0.05, 0.2, 1), published = call(5, 5, 0.8, 0.03, 0.25);
  std::vector<grid_case> all;
  for (const auto& [nodes, steps, gpu, cpu] :
       {std::tuple{std::int64_t{8192}, std::int64_t{16384}, 2.214, 8.928}, {16384, 32768, 3.231, 36.414}}) {
    if (quick && nodes > 8192) continue;
    const std::string size = fmt::format("{} x {}", nodes, steps);
    all.push_back(
        {"usual, logarithmic, " + size, usual, grid_kind::logarithmic, nodes, steps, nodes > 8192, gpu, cpu});
    all.push_back({"usual, uniform, " + size, usual, grid_kind::uniform, nodes, steps, false, gpu, cpu});
    all.push_back(
        {"published, uniform, " + size, published, grid_kind::uniform, nodes, steps, false, gpu, cpu});
  }
  return all;
}

struct cell {
  double seconds = 0, error = 0, gamma_error = 0;
};

class runner {
 public:
  runner(const suite_options& options, suite_results& results) : options_(options), results_(results) {}

  void run(const grid_case& g, const std::vector<bench_device>& devices) {
    const fd_grid grid = make_grid(g.option, g.kind, g.nodes);
    const auto segments = make_segments(g.option, g.steps);
    constexpr std::pair<time_scheme, const char*> schemes[] = {{time_scheme::rannacher, "rannacher"},
                                                               {time_scheme::crank_nicolson, "crank-nicolson"},
                                                               {time_scheme::implicit_euler, "implicit-euler"}};
    for (const bench_device& d : devices) {
      if (d.label == "cpu") continue;  // one option is one core's work
      if (d.dev.is_cuda()) add_layout(g, grid, d.dev);
      for (const auto& [scheme, name] : schemes) {
        if (options_.stop()) return;
        options_.say(fmt::format("{}: {} on {}", g.name, name, d.label));
        if (d.dev.is_cuda()) {
          add(g, d.label, "double", name, measure(g, grid, 3, [&, s = scheme] {
                const auto v = step_in_time_on_gpu(d.dev, g.option, grid, {}, segments, {s});
                return v.value_or(std::vector<double>());
              }));
          continue;
        }
        for (const solve_precision p : {solve_precision::double_, solve_precision::mixed})
          if (p == solve_precision::double_ || scheme == time_scheme::rannacher)
            add(g, d.label, p == solve_precision::mixed ? "mixed" : "double", name,
                measure(g, grid, g.usual ? 2 : 1, [&, s = scheme] {
                  return step_in_time(g.option, grid, {}, segments, {s, p});
                }));
      }
      exponential(g, grid, d);
      sine(g, grid, d);
    }
    plain<float>(g, grid, "single");
    if (g.nodes <= 8192) plain<double>(g, grid, "double");
  }

  // Each solver of tridiagonal systems, anew in every step, against the one that factors once.
  void run_solvers(grid_case g, const bench_device& d) {
    g.steps /= 16;
    g.published_gpu = g.published_cpu = 0;
    g.name = fmt::format("usual, logarithmic, {} x {}", g.nodes, g.steps);
    const fd_grid grid = make_grid(g.option, g.kind, g.nodes);
    const auto segments = make_segments(g.option, g.steps);
    for (const auto solver :
         {tridiagonal_method::automatic, tridiagonal_method::thomas, tridiagonal_method::cyclic_reduction,
          tridiagonal_method::pcr, tridiagonal_method::partition}) {
      if (options_.stop()) return;
      const stepping_method how{time_scheme::rannacher, solve_precision::double_, solver};
      add(g, d.label, "double", std::string("rannacher, ") + name(solver),
          measure(g, grid, 1, [&] { return step_in_time(g.option, grid, {}, segments, how); }));
    }
  }

  text_table table{"European call: every scheme, one option",
                   {{"case", true},
                    {"device", true},
                    {"scheme", true},
                    {"precision", true},
                    {"time"},
                    {"a step"},
                    {"error of the price"},
                    {"error of gamma"},
                    {"published CPU"},
                    {"published GPU"},
                    {"faster"}}};
  text_table layout{"The kernel of the steps on the GPU",
                    {{"case", true},
                     {"blocks"},
                     {"threads a block"},
                     {"occupancy"},
                     {"rows kept"},
                     {"rows computed"},
                     {"steps alone"}}};
  std::map<std::string, std::vector<price_point>> points;  // of each case
  text_table phases{"The published scheme, phase by phase, one core",
                    {{"case", true},
                     {"precision", true},
                     {"right-hand side"},
                     {"forward"},
                     {"backward"},
                     {"a step"},
                     {"error of the price"}}};

 private:
  template <class Body>
  cell measure(const grid_case& g, const fd_grid& grid, std::int64_t usual_times, Body body) {
    cell c;
    c.seconds = std::numeric_limits<double>::infinity();
    std::vector<double> values;
    const std::int64_t times = options_.repeat > 0 ? options_.repeat : usual_times;
    for (std::int64_t k = 0; k < times && !options_.stop(); ++k) {
      const stopwatch lap;
      values = body();
      c.seconds = std::min(c.seconds, lap.seconds());
    }
    if (values.empty()) return {std::nan(""), std::nan(""), std::nan("")};
    judge(g, grid, values, c);
    return c;
  }

  static void judge(const grid_case& g, const fd_grid& grid, const std::vector<double>& values, cell& c) {
    const valuation exact = european_price(g.option.plain);
    const fd_local local = evaluate(grid, values, g.option.plain.spot);
    c.error = std::abs(local.value - exact.price);
    c.gamma_error = std::abs(local.second - exact.gamma);
  }

  void add(const grid_case& g, const std::string& device, const std::string& precision,
           const std::string& scheme, const cell& c) {
    if (std::isnan(c.seconds)) return;
    const bool stepping = !scheme.starts_with("exponential");
    points[g.name].push_back({fmt::format("{}, {}, {}", scheme, precision, device), c.seconds, c.error});
    const auto published = [](double seconds) { return seconds > 0 ? seconds_text(seconds) : "-"; };
    table.add({g.name, device, scheme, precision, seconds_text(c.seconds),
               stepping ? seconds_text(c.seconds / static_cast<double>(g.steps)) : "-", small_text(c.error),
               small_text(c.gamma_error), published(g.published_cpu), published(g.published_gpu),
               g.published_gpu > 0 ? fmt::format("{:.3g}x", g.published_gpu / c.seconds) : "-"});
    bench_row time{g.name + ", " + scheme, device, precision, "time", c.seconds, "s", {}, {}, {}, {}, {}};
    if (device == "gpu" && stepping) {
      time.floor = gpu_step_floor * static_cast<double>(g.steps);
      time.ratio = *time.floor / c.seconds;
    }
    bench_row error{g.name + ", " + scheme, device, precision, "error", c.error, "1", {}, {}, {}, {}, {}};
    if (g.usual && scheme == "rannacher" && precision == "double") {
      time.bar = device == "gpu" ? 0.016 : 0.45;
      time.pass = c.seconds <= *time.bar;
      error.bar = 1e-6;
      error.pass = c.error <= 1e-6;
    }
    if (g.usual && !stepping && device == "gpu") {
      time.bar = 1e-4;
      time.pass = c.seconds <= *time.bar;
    }
    results_.rows.push_back(std::move(time));
    results_.rows.push_back(std::move(error));
  }

  // How the kernel divides the grid; one block a multiprocessor is all that it takes.
  void add_layout(const grid_case& g, const fd_grid& grid, const device& gpu) {
    const double implicit = 0.5 * g.option.plain.expiry / static_cast<double>(g.steps);
    const fd_operator L = make_operator(g.option, grid, 0.5 * g.option.plain.expiry);
    const auto plan = plan_stepping(L, factor_for_stepping(L, implicit), implicit, gpu.processors());
    if (!plan) return;
    constexpr double most_threads = 2048;  // that a multiprocessor holds
    layout.add({g.name, std::to_string(plan->blocks), std::to_string(plan->threads),
                fmt::format("{:.1f} %", 100 * plan->threads / most_threads), std::to_string(plan->own),
                std::to_string(plan->threads * stepping_rows_a_thread), std::to_string(plan->alone)});
  }

  // On a GPU the kernels alone: neither context nor transfer.
  void exponential(const grid_case& g, const fd_grid& grid, const bench_device& d) {
    if (options_.stop()) return;
    double kernels = std::numeric_limits<double>::infinity();
    cell c = measure(g, grid, 3, [&] {
      if constexpr (built_with_cuda)
        if (d.dev.is_cuda()) {
          double seconds = 0;
          const auto values = exponential_by_contour_cuda(d.dev, g.option, grid, {}, &seconds);
          kernels = std::min(kernels, seconds);
          return values.value_or(std::vector<double>());
        }
      return exponential_by_contour(g.option, grid, {});
    });
    if (d.dev.is_cuda() && !std::isnan(c.seconds)) c.seconds = kernels;
    add(g, d.label, "double", "exponential", c);
  }

  // The same on logarithmic grids; on the CPU the nodes that a price needs, on a GPU the kernels alone.
  void sine(const grid_case& g, const fd_grid& grid, const bench_device& d) {
    const auto plan = plan_sine(g.option, grid, {});
    if (!plan || options_.stop()) return;
    const std::int64_t first = stencil_about(grid, g.option.plain.spot).first;
    double kernels = std::numeric_limits<double>::infinity();
    cell c = measure(g, grid, 3, [&] {
      if constexpr (built_with_cuda)
        if (d.dev.is_cuda()) {
          double seconds = 0;
          auto values = exponential_by_sine_cuda(d.dev, *plan, &seconds);
          kernels = std::min(kernels, seconds);
          return values;
        }
      return exponential_by_sine(*plan_sine(g.option, grid, {}), first, first + 6);
    });
    if (d.dev.is_cuda()) c.seconds = kernels;
    add(g, d.label, "double", "exponential by sines", c);
  }

  template <real T>
  void plain(const grid_case& g, const fd_grid& grid, const char* precision) {
    if (options_.stop()) return;
    options_.say(fmt::format("{}: the published scheme, {}", g.name, precision));
    const plain_run<T> run = plain_crank_nicolson<T>(g.option, grid, g.steps);
    const std::vector<double> values(run.values.begin(), run.values.end());
    cell c{run.seconds.total(), 0, 0};
    judge(g, grid, values, c);
    add(g, "cpu1", precision, "as published", c);
    const auto share = [&](double seconds) { return seconds_text(seconds / static_cast<double>(g.steps)); };
    phases.add({g.name, precision, share(run.seconds.right_hand_side), share(run.seconds.forward),
                share(run.seconds.backward), share(run.seconds.total()), small_text(c.error)});
  }

  const suite_options& options_;
  suite_results& results_;
};

// Observed orders of value, delta and gamma, by three grids at a constant ratio of steps to nodes.
text_table orders(suite_results& results) {
  text_table table(
      "Observed order of convergence, 400, 800 and 1600 nodes, an eighth as many steps",
      {{"grid", true}, {"scheme", true}, {"value"}, {"delta"}, {"gamma"}, {"gamma's error falls", true}});
  const contract c = call(103, 100, 0.05, 0.2, 1);
  const valuation exact = european_price(c.plain);
  const char* kinds[] = {"logarithmic", "uniform", "concentrated"};
  constexpr std::pair<time_scheme, const char*> schemes[] = {{time_scheme::rannacher, "rannacher"},
                                                             {time_scheme::crank_nicolson, "crank-nicolson"}};
  for (const auto& [scheme, name] : schemes)
    for (int kind = 0; kind < 3; ++kind) {
      double errors[3][3];
      for (int k = 0; k < 3; ++k) {
        fd_options o;
        o.scheme = scheme;
        o.grid = static_cast<grid_kind>(kind);
        o.space_nodes = 400 << k;
        o.time_steps = 50 << k;
        const valuation v = finite_difference_price(c, o).value;
        errors[0][k] = std::abs(v.price - exact.price);
        errors[1][k] = std::abs(v.delta - exact.delta);
        errors[2][k] = std::abs(v.gamma - exact.gamma);
      }
      const auto order = [&](int which) { return std::log2(errors[which][1] / errors[which][2]); };
      const bool falls = errors[2][2] < errors[2][1] && errors[2][1] < errors[2][0];
      table.add({kinds[kind], name, fmt::format("{:.2f}", order(0)), fmt::format("{:.2f}", order(1)),
                 fmt::format("{:.2f}", order(2)), falls ? "yes" : "no"});
      if (scheme != time_scheme::rannacher) continue;
      const char* what[] = {"order_value", "order_delta", "order_gamma"};
      for (int k = 0; k < 3; ++k)
        results.rows.push_back({std::string("convergence, ") + kinds[kind],
                                "cpu1",
                                "double",
                                what[k],
                                order(k),
                                "1",
                                {},
                                {},
                                {},
                                1.9,
                                order(k) >= 1.9});
    }
  return table;
}

}  // namespace

suite_results run_crank_nicolson_suite(const suite_options& options) {
  suite_results all;
  all.suite = "crank-nicolson";
  all.title = "The Black-Scholes equation by finite differences";
  suite_options asked = options;
  if (asked.devices.empty()) {
    asked.devices = {"cpu1"};
    if (cuda_may_be_present() && !cuda_devices().empty()) asked.devices.push_back("gpu");
  }
  const std::vector<bench_device> devices = open_devices(asked);
  all.machine = measure_machine(options, devices);
  runner run(options, all);
  for (const grid_case& g : cases(options.quick))
    if (!options.stop()) run.run(g, devices);
  for (const bench_device& d : devices)
    if (d.label == "cpu1" && !options.stop()) run.run_solvers(cases(true).front(), d);
  run.table.note(
      "mixed: values and right-hand sides in double, eliminations of the changes in single precision. The bars "
      "are on double.");
  run.table.note(
      "usual: spot and strike 100, rate 5 %, volatility 20 %, one year; published: spots to 100, strike 5, a "
      "quarter of a year, rate 0.8, volatility 0.03, priced at the strike.");
  run.table.note(
      "faster: than the published GPU. One option is one core's work: more cores take more options, which the "
      "suite options measures.");
  run.table.note("as published: matrix, values and right-hand side in one precision, no smooth start.");
  run.table.note(
      "GPU times are of the whole call, the transfer of matrix and values included; those of the "
      "exponential scheme are of its kernels.");
  run.layout.note(
      "One kernel takes all steps, so it has no phases to time apart. A thread holds 8 rows with their factors "
      "in "
      "registers; steps are bound by latency, not by occupancy.");
  std::vector<text_table> tables{run.table, run.phases};
  for (const bench_device& d : devices)
    if (d.dev.is_cuda()) tables.push_back(run.layout);
  if (!options.stop()) tables.push_back(orders(all));
  std::vector<figure> figures;
  for (const auto& [name, points] : run.points)
    figures.push_back(error_figure(name, "time in seconds", points));
  all.sections.push_back({"Steps in time", {}, std::move(tables), std::move(figures)});
  all.sections.push_back({"Bars", {bars_text(all.rows)}, {bars_table(all.rows)}, {}});
  all.interrupted = options.stop();
  return all;
}

}  // namespace vouch::bench
