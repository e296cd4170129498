#include "suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <vouch/solve/methods.hpp>
#include <vouch/solve/solver.hpp>

#include "test_systems.hpp"
#include "timed_solve.hpp"

namespace vouch::bench {
namespace {

// Every method of the table, those that take preconditioners with each.
std::vector<solve_options> choices(const test_system& system) {
  constexpr std::int64_t most_rows_dense = 4000;  // of a sparse matrix that is made dense
  std::vector<solve_options> all;
  for (const method* m : methods()) {
    const bool has_form = m->takes.has(system.is_dense() ? matrix_form::dense : matrix_form::sparse) ||
                          m->takes.has(matrix_form::tridiagonal);
    if (!has_form && (system.is_dense() || system.rows() > most_rows_dense)) continue;
    solve_options by_name;
    by_name.method = m->name;
    all.push_back(by_name);
    if (!m->options.has(method_option::preconditioner)) continue;
    for (const char* preconditioner : {"jacobi", "block-jacobi", "ssor", "ic0", "chebyshev"}) {
      by_name.preconditioner = preconditioner_choice{preconditioner};
      all.push_back(by_name);
    }
  }
  return all;
}

class auto_run {
 public:
  explicit auto_run(const suite_options& options) : options_(options), devices_(open_devices(options)) {
    if (options.devices.empty())
      std::erase_if(devices_, [](const bench_device& d) { return d.label == "cpu1"; });
    results_.suite = "auto";
    results_.title = "What auto takes";
    results_.machine = measure_machine(options, devices_);
    table_.note(
        "time: from the matrix in memory to the checked solution, by a new solver. others: the next best.");
  }

  const std::vector<bench_device>& devices() const { return devices_; }

  void measure(const test_system& system, const bench_device& d) {
    solve_options options;
    options.goal.rtol = 1e-8;
    if (d.dev.is_cuda()) options.run_on = d.dev;
    timed_solve taken = best_solve(options_, system, d, options, longest);
    // The first solve of a program starts threads and loads libraries; those by name come after it.
    constexpr double shortest = 0.5;
    if (taken.seconds < shortest)
      if (const timed_solve again = best_solve(options_, system, d, options, longest);
          again.seconds < taken.seconds)
        taken = again;
    // Who takes longer than twice auto's time is of no interest.
    const double limit = std::isfinite(taken.seconds) ? std::clamp(2 * taken.seconds, 0.05, longest) : longest;
    std::vector<timed_solve> others;
    for (solve_options by_name : choices(system)) {
      if (options_.stop()) return;
      by_name.goal.rtol = options.goal.rtol;
      by_name.run_on = options.run_on;
      others.push_back(best_solve(options_, system, d, by_name, limit));
    }
    std::stable_sort(others.begin(), others.end(),
                     [](const timed_solve& a, const timed_solve& b) { return a.seconds < b.seconds; });
    add(system, d, taken, others);
  }

  suite_results finish() {
    results_.interrupted = options_.stop();
    for (const bench_device& d : devices_) add_share(d);
    results_.sections.push_back({"What auto took", {}, {table_}, {}});
    results_.sections.push_back({"The bars: " + bars_text(results_.rows), {}, {bars_table(results_.rows)}, {}});
    return std::move(results_);
  }

 private:
  static constexpr double longest = 30;  // seconds

  void add(const test_system& system, const bench_device& d, const timed_solve& taken,
           const std::vector<timed_solve>& others) {
    const double best = std::min(taken.seconds, others.empty() ? taken.seconds : others.front().seconds);
    bench_row row{system.name, d.label, "double", "auto_over_best", {}, "1", 1.0, {}, {}, {}, {}};
    std::string ratio = "unsolved";
    if (std::isfinite(best)) {
      row.value = taken.seconds / best;  // infinite where auto did not solve what another method did
      row.bar = 10;
      row.pass = *row.value <= 10;
      ratio = fmt::format("{:.2f}", *row.value);
    }
    results_.rows.push_back(row);
    std::string rest;
    for (std::size_t k = 0; k < std::min<std::size_t>(3, others.size()); ++k)
      if (std::isfinite(others[k].seconds)) rest += (rest.empty() ? "" : "; ") + text_of(others[k]);
    table_.add({system.name, d.label, std::to_string(system.rows()), std::to_string(system.nonzeros()),
                text_of(taken), ratio, rest});
  }

  void add_share(const bench_device& d) {
    double solved = 0, near = 0;
    for (const bench_row& row : results_.rows) {
      if (row.device != d.label || !row.value) continue;
      ++solved;
      near += *row.value <= 2;
    }
    if (solved == 0) return;
    results_.rows.push_back({"all systems",
                             d.label,
                             "double",
                             "share_within_twice",
                             near / solved,
                             "1",
                             1.0,
                             {},
                             {},
                             0.9,
                             near / solved >= 0.9});
  }

  const suite_options& options_;
  std::vector<bench_device> devices_;
  suite_results results_;
  text_table table_{"Time of auto over the least time of any method",
                    {{"system", true},
                     {"device", true},
                     {"rows"},
                     {"nonzeros"},
                     {"auto", true},
                     {"over best"},
                     {"methods by name", true}}};
};

}  // namespace

suite_results run_auto_suite(const suite_options& options) {
  const device cpu = device::cpu(options.threads);
  auto_run run(options);
  for_each_system(cpu, options, [&](const test_system& system) {
    for (const bench_device& d : run.devices())
      if (!options.stop()) run.measure(system, d);
  });
  return run.finish();
}

}  // namespace vouch::bench
